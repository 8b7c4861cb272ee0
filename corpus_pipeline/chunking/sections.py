"""The section tree of a converted document: headings, and the blocks below each."""

from __future__ import annotations

from dataclasses import dataclass

from corpus_pipeline.records import Block, BlockKind, ConvertedDocument

__all__ = ["Section", "one_line", "section_tree"]


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with the blocks up to the next heading, whatever that one's level.

    The sections of a document tile its text: each ends where the next begins.

    Attributes:
        index: Position in document order; 0 is the text before the first heading, often empty.
        parent: Index of the section one level up, ``None`` for section 0.
        path: Headings from the outermost to this one; a heading that repeats the title is left out.
        blocks: Own blocks, heading first.
    """

    index: int
    parent: int | None
    path: tuple[str, ...]
    level: int
    blocks: tuple[Block, ...]
    char_start: int
    char_end: int

    @property
    def is_heading_only(self) -> bool:
        """Whether nothing but the heading is in it."""
        return len(self.blocks) == 1 and _is_heading(self.blocks[0])


def one_line(text: str) -> str:
    r"""The text with every run of white space as one space.

    >>> one_line(" a\n b ")
    'a b'
    """
    return " ".join(text.split())


def section_tree(document: ConvertedDocument, title: str) -> list[Section]:
    """All sections in document order.

    Args:
        document: Its blocks are in reading order.
        title: The document's title; headings that say the same add nothing to a path.
    """
    starts = [0]
    for position, block in enumerate(document.blocks):
        if _is_heading(block):
            starts.append(position)
    sections: list[Section] = []
    for index, first in enumerate(starts):
        last = starts[index + 1] if index + 1 < len(starts) else len(document.blocks)
        blocks = document.blocks[first:last]
        if index == 0:
            blocks = document.blocks[: starts[1]] if len(starts) > 1 else document.blocks
        sections.append(_section(sections, index, blocks, document, last, title))
    return sections


def _section(
    before: list[Section], index: int, blocks: tuple[Block, ...], document: ConvertedDocument, last: int, title: str
) -> Section:
    end = document.blocks[last].char_start if last < len(document.blocks) else len(document.text)
    if index == 0:
        return Section(0, None, (), -1, blocks, 0, end)
    heading = blocks[0]
    level = 0 if heading.kind is BlockKind.TITLE else max(1, heading.level)
    above = before[-1]
    while above.level >= level and above.parent is not None:
        above = before[above.parent]
    name = one_line(heading.text)
    path = above.path if name.casefold() == title.casefold() else (*above.path, name)
    return Section(index, above.index, path, level, blocks, before[-1].char_end, end)


def _is_heading(block: Block) -> bool:
    return block.kind in (BlockKind.TITLE, BlockKind.HEADING)
