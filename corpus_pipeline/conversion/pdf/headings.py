"""Which blocks are headings: larger, bold, numbered or capital, short, and not one of a list."""

from __future__ import annotations

import re

from corpus_pipeline.conversion.pdf.blocks import PageBlock
from corpus_pipeline.conversion.pdf.body_style import BodyStyle
from corpus_pipeline.conversion.pdf.page_layout import PageLayout
from corpus_pipeline.conversion.pdf.patterns import (
    has_leader,
    is_bullet,
    is_list_item,
    is_section_number,
    looks_numbered_deep,
)

__all__ = ["is_heading"]

LARGER = 1.12
MUCH_LARGER = 1.2
"""Sizes over the body's: with another sign of a heading, and without."""
LONGEST_HEADING = 170
MOST_LINES = 3
MOST_BOLD_LINES = 5
OPEN_END = re.compile(r"[,;]$|[a-z]\.$")
BRACKETED = re.compile(r"^[\[(<{].*[\])>}]$")


def is_heading(block: PageBlock, page: PageLayout, body: BodyStyle) -> bool:
    """Whether a block of text is a heading, judged by its look against the body's."""
    if block.turned or not _is_short(block, body):
        return False
    return (
        _is_larger(block, body)
        or _is_bold_heading(block, page, body)
        or _is_numbered_heading(block, page, body)
        or _is_in_capitals(block, page, body)
        or _is_italic_heading(block, page, body)
    )


def _is_short(block: PageBlock, body: BodyStyle) -> bool:
    """Whether the block has the length of a heading, mostly letters, and does not end like a sentence."""
    text = block.text.strip()
    letters = sum(character.isalpha() for character in text)
    most_lines = MOST_BOLD_LINES if _is_bold(block) else MOST_LINES
    if (
        len(block.lines) > most_lines
        or len(text) > LONGEST_HEADING
        or is_bullet(text)
        or BRACKETED.match(text)
        or has_leader(text)
    ):
        return False
    if letters < max(2, 0.4 * len(text.replace(" ", ""))):
        return False
    large_line = block.size >= LARGER * body.size and len(block.lines) == 1
    return large_line or not OPEN_END.search(text)


def _is_bold(block: PageBlock) -> bool:
    return all(line.bold for line in block.lines)


def _is_larger(block: PageBlock, body: BodyStyle) -> bool:
    if block.size >= MUCH_LARGER * body.size:
        return True
    enumerated = is_list_item(block.text) and not is_section_number(block.text)
    return block.size >= LARGER * body.size and (_is_bold(block) or not enumerated)


def _is_bold_heading(block: PageBlock, page: PageLayout, body: BodyStyle) -> bool:
    text = block.text.strip()
    if not _is_bold(block) or body.bold:
        return False
    if text.endswith(":"):
        return len(block.lines) == 1 and _stands_alone(block, page) and not _is_term(block, page)
    if block.size < 0.93 * body.size:
        return False
    if is_section_number(text):
        return True
    return not is_list_item(text) and not _heads_short_lines(block, page)


def _is_numbered_heading(block: PageBlock, page: PageLayout, body: BodyStyle) -> bool:
    return (
        len(block.lines) == 1
        and looks_numbered_deep(block.text.strip())
        and block.word_count <= 12
        and block.size >= 0.95 * body.size
        and not _is_listed(block, page)
    )


def _is_in_capitals(block: PageBlock, page: PageLayout, body: BodyStyle) -> bool:
    text = block.text.strip()
    capitals = sum(character.isalpha() for character in text) >= 5 and text.upper() == text
    return capitals and len(block.lines) <= 2 and block.size >= 0.9 * body.size and _stands_alone(block, page)


def _is_italic_heading(block: PageBlock, page: PageLayout, body: BodyStyle) -> bool:
    """Whether one italic line stands right above upright text of its column."""
    line = block.lines[0]
    below = _below(block, page)
    if len(block.lines) > 1 or not line.italic or line.word_count > 10 or below is None or below.grid is not None:
        return False
    return (
        not is_list_item(block.text)
        and not block.text.rstrip().endswith((".", ":", '"'))
        and block.text[:1].isupper()
        and 0.93 * body.size <= block.size
        and not all(other.italic for other in below.lines)
        and below.word_count >= 8
        and abs(below.box.left - block.box.left) < block.size
        and below.box.top - block.box.bottom < 0.9 * line.box.height
        and _stands_alone(block, page)
    )


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
