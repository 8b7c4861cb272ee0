"""Labels for the blocks of a whole document: what is a heading depends on what the body looks like."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from corpus_pipeline.conversion.pdf.blocks import BlockLabel, PageBlock
from corpus_pipeline.conversion.pdf.furniture import label_furniture
from corpus_pipeline.conversion.pdf.page_layout import PageLayout
from corpus_pipeline.conversion.pdf.patterns import (
    is_bullet,
    is_caption,
    is_footnote,
    is_list_item,
    is_section_number,
    looks_numbered_deep,
)

__all__ = ["BodyStyle", "body_style", "label_blocks"]

LARGER = 1.12
MUCH_LARGER = 1.2
LONGEST_HEADING = 170
OPEN_END = re.compile(r"[,;]$|[a-z]\.$")
BRACKETED = re.compile(r"^[\[(<{].*[\])>}]$")
CAPTION_DISTANCE = 30.0


@dataclass(frozen=True, slots=True)
class BodyStyle:
    """How the running text of a document is set."""

    size: float
    bold: bool
    monospaced: bool


def body_style(pages: Sequence[PageLayout]) -> BodyStyle | None:
    """The size and weight of most characters; ``None`` for a document without text."""
    sizes: Counter[float] = Counter()
    bold = monospaced = 0
    for line in (line for page in pages for block in page.blocks for line in block.lines):
        sizes[round(line.size * 2) / 2] += len(line.text)
        bold += len(line.text) if line.bold else 0
        monospaced += len(line.text) if line.monospaced else 0
    if not sizes:
        return None
    text_only: Counter[float] = Counter()
    for page in pages:
        for block in page.blocks:
            if block.label is BlockLabel.TEXT:
                for line in block.lines:
                    if not line.monospaced:
                        text_only[round(line.size * 2) / 2] += len(line.text)
    counted = text_only or sizes

    def support(size: float) -> tuple[float, float]:
        return counted[size] + 0.5 * (counted[size + 0.5] + counted[size - 0.5]), -size

    return BodyStyle(max(counted, key=support), bold * 2 > sizes.total(), monospaced * 2 > sizes.total())


def label_blocks(pages: Sequence[PageLayout], outline: Collection[tuple[str, int | None]] = ()) -> None:
    """Labels all blocks in place.

    Args:
        pages: All pages of the document.
        outline: Titles of the PDF's bookmarks with their pages.
    """
    body = body_style(pages)
    if body is None:
        return
    geometric = [page for page in pages if page.geometric]
    label_furniture(geometric, body.size)
    _keep_some_text(geometric)
    bookmarks = {(_bare(title), page) for title, page in outline}
    for page in geometric:
        for block in page.blocks:
            if block.label is BlockLabel.TEXT:
                block.label = _label(block, page, body, bookmarks)


def _keep_some_text(pages: Sequence[PageLayout]) -> None:
    """A document whose every line looks like a running header has none: its text is its text."""
    blocks = [block for page in pages for block in page.blocks if block.lines]
    if all(block.label in (BlockLabel.PAGE_HEADER, BlockLabel.PAGE_FOOTER) for block in blocks):
        for block in blocks:
            block.label = BlockLabel.TABLE if block.grid is not None else BlockLabel.TEXT


def _bare(text: str) -> str:
    return "".join(character for character in text.lower() if character.isalnum())


def _label(
    block: PageBlock, page: PageLayout, body: BodyStyle, bookmarks: Collection[tuple[str, int | None]]
) -> BlockLabel:
    text = block.text
    if not body.monospaced and _is_code(block):
        return BlockLabel.CODE
    if is_caption(text) and block.size <= 1.1 * body.size and _is_caption_like(block, page):
        return BlockLabel.CAPTION
    if _is_heading(block, page, body) or _is_bookmarked(block, page, bookmarks):
        return BlockLabel.HEADING
    if is_list_item(text):
        return BlockLabel.LIST_ITEM
    if block.size < 0.9 * body.size and block.box.top > 0.6 * page.height and is_footnote(text):
        return BlockLabel.FOOTNOTE
    return BlockLabel.TEXT


def _is_bookmarked(block: PageBlock, page: PageLayout, bookmarks: Collection[tuple[str, int | None]]) -> bool:
    """Whether a bookmark names the block; of several with its text, as in a table of contents, the most prominent."""
    bare = _bare(block.text)
    if len(block.lines) > 3 or (bare, page.number) not in bookmarks:
        return False
    same = [other for other in page.blocks if other.lines and _bare(other.text) == bare]
    return max(same, key=lambda other: (other.size, other.lines[0].bold, other.box.top)) is block


def _is_caption_like(block: PageBlock, page: PageLayout) -> bool:
    return all(line.bold for line in block.lines) or any(
        other.label in (BlockLabel.TABLE, BlockLabel.PICTURE)
        and other.box.overlap_x(block.box) > 0
        and -4 <= -other.box.overlap_y(block.box) < CAPTION_DISTANCE
        for other in page.blocks
    )


def _is_heading(block: PageBlock, page: PageLayout, body: BodyStyle) -> bool:
    text = block.text.strip()
    letters = sum(character.isalpha() for character in text)
    solid = len(text.replace(" ", ""))
    if len(block.lines) > 3 or len(text) > LONGEST_HEADING or letters < max(2, 0.4 * solid) or is_bullet(text):
        return False
    size = block.size
    larger = size >= LARGER * body.size
    if BRACKETED.match(text) or (OPEN_END.search(text) and not (larger and len(block.lines) == 1)):
        return False
    listed, numbered = is_list_item(text), is_section_number(text)
    bold = all(line.bold for line in block.lines)
    if larger and (size >= MUCH_LARGER * body.size or bold or not listed or numbered):
        return True
    if bold and not body.bold:
        if text.endswith(":"):
            return len(block.lines) == 1 and _stands_alone(block, page) and not _is_term(block, page)
        if (not listed or numbered) and size >= 0.93 * body.size:
            return numbered or not _heads_short_lines(block, page)
    if len(block.lines) == 1 and looks_numbered_deep(text) and block.word_count <= 12 and size >= 0.95 * body.size:
        return not _is_listed(block, page)
    capitals = letters >= 5 and text.upper() == text and len(block.lines) <= 2
    return capitals and size >= 0.9 * body.size and _stands_alone(block, page)


def _is_code(block: PageBlock) -> bool:
    monospaced = all(line.monospaced for line in block.lines) and len(block.text) > 3
    return monospaced and not all(line.bold for line in block.lines)


def _below(block: PageBlock, page: PageLayout) -> PageBlock | None:
    """The nearest block of text under a block."""
    under = [
        other
        for other in page.blocks
        if other is not block
        and other.lines
        and other.box.overlap_x(block.box) > 0
        and other.box.top >= block.box.bottom - 2
    ]
    return min(under, key=lambda other: other.box.top, default=None)


def _is_term(block: PageBlock, page: PageLayout) -> bool:
    """Whether the block is a term whose indented explanation follows."""
    below = _below(block, page)
    return below is not None and below.box.left > block.box.left + block.size and not is_list_item(below.text)


def _heads_short_lines(block: PageBlock, page: PageLayout) -> bool:
    """Whether short lines follow without a gap, as the address follows a name."""
    below = _below(block, page)
    if below is None or below.grid is not None or below.box.top - block.box.bottom > 0.45 * block.lines[0].box.height:
        return False
    return (
        abs(below.box.left - block.box.left) < block.size
        and below.box.width < 0.45 * page.width
        and not below.text.endswith((".", ":"))
        and not is_list_item(below.text)
        and below.word_count < 7 * len(below.lines)
    )


def _is_listed(block: PageBlock, page: PageLayout) -> bool:
    """Whether numbered lines stand right above or below: entries of a table of contents."""
    height = block.lines[0].box.height
    return any(
        other is not block
        and other.grid is None
        and len(other.lines) == 1
        and abs(other.size - block.size) < 0.05 * block.size
        and (is_section_number(other.text) or is_list_item(other.text))
        and -2 <= max(other.box.top - block.box.bottom, block.box.top - other.box.bottom) < 1.2 * height
        for other in page.blocks
    )


def _stands_alone(block: PageBlock, page: PageLayout) -> bool:
    """Whether white space parts the block from whatever stands above it."""
    height = block.lines[0].box.height
    return not any(
        other is not block
        and other.box.overlap_x(block.box) > 0
        and -2 <= block.box.top - other.box.bottom < 0.35 * height
        for other in page.blocks
    )
