"""Pieces: what belongs together in a section, and how a piece that is too large comes apart.

A piece is a span of the text. Pieces in a row tile their section; a piece's finer pieces tile
it. White space between two pieces belongs to the first of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Enum, auto
from itertools import pairwise

from corpus_pipeline.chunking.sentences import begins_exception, last_sentence_start, paragraph_starts, sentence_starts
from corpus_pipeline.chunking.tables import TableLines, table_lines
from corpus_pipeline.records import Block, BlockKind

__all__ = ["Grain", "Piece", "finer", "glued", "section_pieces"]

SHORT_LEAD_CHARS = 200
"""A paragraph before a list leads in when it ends in a colon or is no longer than this."""

_WORD = re.compile(r"\S+\s*")
_LINE = re.compile(r"[^\n]*\n+|[^\n]+")
_BREAKABLE_LINES = re.compile(r"(?:[^\n]*\S[^\n]*(?:\n|$))+\s*")
_AFTER_LEAD = (BlockKind.LIST_ITEM, BlockKind.CODE, BlockKind.FORMULA)


class Grain(Enum):
    """How a piece comes apart."""

    PARTS = auto()  # into the parts it lists
    PROSE = auto()  # into paragraphs, where each line is one
    PARAGRAPH = auto()  # into sentences, an exception staying with its rule
    RULE = auto()  # sentences that belong together: one by one
    CODE = auto()  # at blank lines
    LINES = auto()  # into lines
    WORDS = auto()  # at white space
    TOKENS = auto()  # one word: anywhere


@dataclass(frozen=True, slots=True)
class Piece:
    """A span that should stay whole.

    Attributes:
        parts: Finer pieces, for :attr:`Grain.PARTS`.
        sticky: Must not end a fragment: a heading, a lead-in, a caption before its table.
        prefix: Put before the text of a fragment that begins here: the table's caption and header.
        lead: Added to the context of a fragment that begins here: the lead-in of the list or code.
    """

    char_start: int
    char_end: int
    grain: Grain = Grain.PROSE
    parts: tuple[Piece, ...] = ()
    sticky: bool = False
    prefix: str = ""
    lead: str = ""


Marks = Callable[[int, int], list[int]]


def finer(piece: Piece, text: str, marks: Marks) -> tuple[Piece, ...]:
    """The next finer pieces that tile a piece; empty when it cannot come apart.

    Args:
        piece: Any piece.
        text: The document's text.
        marks: Gives the places where tokens begin in a span.
    """
    if piece.grain is Grain.PARTS:
        return piece.parts
    if piece.grain is Grain.TOKENS:
        return _tiles(piece, [at - piece.char_start for at in marks(piece.char_start, piece.char_end)], Grain.TOKENS)
    cuts, grain = _CUTS[piece.grain]
    tiles = _tiles(piece, cuts(text[piece.char_start : piece.char_end]), grain)
    return tiles or finer(replace(piece, grain=grain), text, marks)


def _tiles(piece: Piece, cuts: list[int], grain: Grain) -> tuple[Piece, ...]:
    """Pieces between the cuts (offsets in the piece); the first begins at the piece's own beginning."""
    inner = sorted({cut for cut in cuts if 0 < cut < piece.char_end - piece.char_start})
    if not inner:
        return ()
    edges = [0, *inner, piece.char_end - piece.char_start]
    return tuple(
        Piece(
            piece.char_start + start,
            piece.char_start + end,
            grain,
            sticky=piece.sticky and end == edges[-1],
            prefix=piece.prefix,
            lead=piece.lead,
        )
        for start, end in pairwise(edges)
    )


def _rule_starts(text: str) -> list[int]:
    starts = sentence_starts(text)
    ends = [*starts[1:], len(text)]
    return [
        start for start, end in zip(starts, ends, strict=True) if start == 0 or not begins_exception(text[start:end])
    ]


_CUTS: dict[Grain, tuple[Callable[[str], list[int]], Grain]] = {
    Grain.PROSE: (paragraph_starts, Grain.PARAGRAPH),
    Grain.PARAGRAPH: (_rule_starts, Grain.RULE),
    Grain.RULE: (sentence_starts, Grain.WORDS),
    Grain.CODE: (lambda text: [match.start() for match in _BREAKABLE_LINES.finditer(text)], Grain.LINES),
    Grain.LINES: (lambda text: [match.start() for match in _LINE.finditer(text)], Grain.WORDS),
    Grain.WORDS: (lambda text: [match.start() for match in _WORD.finditer(text)], Grain.TOKENS),
}


def section_pieces(blocks: tuple[Block, ...], char_end: int) -> list[Piece]:
    """Pieces of a section in order: headings stick to what follows; what belongs together is one piece.

    Together stay: a paragraph with the list, code or formula it leads in to; the items of a list
    with code between them; a caption with its table or picture; an exception with the paragraph
    before it.

    Args:
        blocks: The section's blocks in order.
        char_end: End of the section, white space after the last block included.
    """
    pieces: list[Piece] = []
    for group in _groups(blocks):
        after = next((b.char_start for b in blocks if b.char_start > group[-1].char_start), char_end)
        pieces.append(glued(list(_group_pieces(group, after))))
    return pieces


def glued(pieces: list[Piece]) -> Piece:
    """One piece of several; a single one stays as it is."""
    if len(pieces) == 1:
        return pieces[0]
    first = pieces[0]
    return Piece(
        first.char_start,
        pieces[-1].char_end,
        Grain.PARTS,
        tuple(pieces),
        sticky=pieces[-1].sticky,
        prefix=first.prefix,
        lead=first.lead,
    )


def _groups(blocks: tuple[Block, ...]) -> Iterator[list[Block]]:
    group: list[Block] = []
    for block in blocks:
        if group and not _belongs(group, block):
            yield group
            group = []
        group.append(block)
    if group:
        yield group


def _belongs(group: list[Block], block: Block) -> bool:
    """Whether a block joins the group before it; nothing joins a heading, which sticks by itself."""
    rule = _RULES.get(block.kind)
    return rule is not None and group[-1].kind not in (BlockKind.TITLE, BlockKind.HEADING) and rule(group, block)


def _caption_joins(group: list[Block], _block: Block) -> bool:
    captioned = any(held.kind is BlockKind.CAPTION for held in group)
    return group[-1].kind in (BlockKind.TABLE, BlockKind.PICTURE) and not captioned


def _item_joins(group: list[Block], block: Block) -> bool:
    last = group[-1]
    in_list = any(held.kind is BlockKind.LIST_ITEM for held in group)
    return last.kind is block.kind or (last.kind is BlockKind.CODE and in_list) or _leads_to_list(last)


def _code_joins(group: list[Block], block: Block) -> bool:
    return group[-1].kind in (BlockKind.PARAGRAPH, BlockKind.LIST_ITEM, block.kind) or _is_caption(group)


def _table_joins(group: list[Block], _block: Block) -> bool:
    leads = group[-1].kind is BlockKind.PARAGRAPH and group[-1].text.rstrip().endswith(":")
    return leads or _is_caption(group)


def _paragraph_joins(group: list[Block], block: Block) -> bool:
    explains = len(group) == 1 and group[0].kind is BlockKind.CODE
    limits = group[-1].kind in (BlockKind.PARAGRAPH, BlockKind.LIST_ITEM) and begins_exception(block.text)
    return explains or limits


def _is_caption(group: list[Block]) -> bool:
    return len(group) == 1 and group[0].kind is BlockKind.CAPTION


_RULES: dict[BlockKind, Callable[[list[Block], Block], bool]] = {
    BlockKind.CAPTION: _caption_joins,
    BlockKind.LIST_ITEM: _item_joins,
    BlockKind.CODE: _code_joins,
    BlockKind.FORMULA: _code_joins,
    BlockKind.TABLE: _table_joins,
    BlockKind.PICTURE: lambda group, _block: _is_caption(group),
    BlockKind.PARAGRAPH: _paragraph_joins,
}


def _leads_to_list(block: Block) -> bool:
    text = block.text.rstrip()
    return block.kind is BlockKind.PARAGRAPH and (text.endswith(":") or len(text) <= SHORT_LEAD_CHARS)


def _group_pieces(group: list[Block], char_end: int) -> Iterator[Piece]:
    lead = ""
    caption = next((block.text for block in group if block.kind is BlockKind.CAPTION), "")
    for position, block in enumerate(group):
        following = group[position + 1] if position + 1 < len(group) else None
        end = following.char_start if following else char_end
        if block.kind is BlockKind.TABLE:
            yield _table_piece(block, end, caption)
        elif block.kind in (BlockKind.TITLE, BlockKind.HEADING, BlockKind.CAPTION):
            yield Piece(block.char_start, end, sticky=block.kind is not BlockKind.CAPTION or following is not None)
        elif block.kind is BlockKind.PARAGRAPH and following and following.kind in (*_AFTER_LEAD, BlockKind.TABLE):
            start = last_sentence_start(block.text)
            lead = block.text[start:]
            yield _lead_piece(block, start, end)
        else:
            grain = Grain.CODE if block.kind is BlockKind.CODE else Grain.PROSE
            yield Piece(block.char_start, end, grain, lead=lead)


def _lead_piece(block: Block, start: int, end: int) -> Piece:
    if start == 0:
        return Piece(block.char_start, end, sticky=True)
    cut = block.char_start + start
    return glued([Piece(block.char_start, cut), Piece(cut, end, Grain.RULE, sticky=True)])


def _table_piece(block: Block, char_end: int, caption: str) -> Piece:
    lines: TableLines = table_lines(block, caption)
    edges = [block.char_start, *lines.row_starts[1:], char_end]
    if len(edges) <= 2:  # noqa: PLR2004 - a single row
        return Piece(block.char_start, char_end, Grain.WORDS)
    rows = [Piece(start, end, Grain.WORDS, prefix=lines.prefix) for start, end in pairwise(edges)]
    rows[0] = replace(rows[0], prefix="")
    head = [replace(row, prefix="", sticky=True) for row in rows[: lines.head_lines]]
    return Piece(block.char_start, char_end, Grain.PARTS, (*head, *rows[lines.head_lines :]))
