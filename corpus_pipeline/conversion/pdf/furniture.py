"""Running headers, footers and page numbers: found by what repeats from page to page."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from corpus_pipeline.conversion.pdf.blocks import BlockLabel, PageBlock
from corpus_pipeline.conversion.pdf.lines import rows_of
from corpus_pipeline.conversion.pdf.page_layout import PageLayout
from corpus_pipeline.conversion.pdf.patterns import is_footnote, is_page_number

__all__ = ["label_furniture"]

HEADER_ZONE = 0.14
FOOTER_ZONE = 0.86
OUTER_HEADER_ZONE = 0.095
OUTER_FOOTER_ZONE = 0.905
"""Shares of the page's height: where repeated text, and where any set-off text, is furniture."""
MOST_ROWS = 3
DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class _Edge:
    """One end of the page."""

    label: BlockLabel
    at_top: bool

    def zone(self, block: PageBlock, page: PageLayout) -> bool:
        if self.at_top:
            return block.box.bottom < HEADER_ZONE * page.height
        return block.box.top > FOOTER_ZONE * page.height

    def outer_zone(self, block: PageBlock, page: PageLayout) -> bool:
        if self.at_top:
            return block.box.bottom < OUTER_HEADER_ZONE * page.height
        return block.box.top > OUTER_FOOTER_ZONE * page.height

    def distance(self, block: PageBlock, page: PageLayout) -> float:
        """White space between the block and the page's body."""
        others = [other for other in page.blocks if other is not block and other.label is not self.label]
        if self.at_top:
            gaps = [other.box.top - block.box.bottom for other in others if other.box.top >= block.box.bottom - 2]
        else:
            gaps = [block.box.top - other.box.bottom for other in others if other.box.bottom <= block.box.top + 2]
        return min(gaps, default=99.0)


EDGES = (_Edge(BlockLabel.PAGE_HEADER, at_top=True), _Edge(BlockLabel.PAGE_FOOTER, at_top=False))


def label_furniture(pages: Sequence[PageLayout], body_size: float) -> None:
    """Labels running headers and footers in place.

    A block at the edge of the page is furniture if the same text, digits aside, stands at the
    same height on several pages; or if it is set off from the body and small, or a page number.
    A large line that repeats only but for its number, such as "Chapter 3", heads a chapter.

    Args:
        pages: All pages of the document.
        body_size: Nominal height of the running text in points.
    """
    for edge in EDGES:
        _label_counting(pages, edge)
        seen = _occurrences(pages, edge)
        for page in pages:
            candidates = [block for block in page.blocks if _can_be_furniture(block) and edge.zone(block, page)]
            candidates.sort(key=lambda block: block.box.top, reverse=not edge.at_top)
            for block in candidates:
                if _repeats(block, seen, body_size, len(pages)) or _is_set_off(block, page, edge, body_size):
                    block.label = edge.label


def _label_counting(pages: Sequence[PageLayout], edge: _Edge) -> None:
    """Labels outermost lines that repeat but for a number that counts the pages, wherever they stand.

    On pages printed from HTML the footer follows the text and not the edge of the paper.
    """
    outermost: dict[str, list[tuple[PageLayout, PageBlock]]] = defaultdict(list)
    for page in pages:
        blocks = [block for block in page.blocks if block.lines]
        block = (min if edge.at_top else max)(blocks, key=lambda block: block.box.centre_y, default=None)
        if block is not None and block.label is BlockLabel.TEXT and len(rows_of(block.lines)) == 1:
            outermost[_key(block.text)].append((page, block))
    for found in outermost.values():
        offsets: Counter[int] = Counter()
        for page, block in found:
            offsets.update({int(number) - page.number for number in DIGITS.findall(block.text) if len(number) < 5})
        if offsets and max(offsets.values()) >= 3:
            for _, block in found:
                block.label = edge.label


def _can_be_furniture(block: PageBlock) -> bool:
    if not block.lines or block.label is BlockLabel.PICTURE:
        return False
    if block.label is BlockLabel.TABLE and len(block.lines) > 6:
        return False
    return len(rows_of(block.lines)) <= MOST_ROWS


_Seen = dict[tuple[str, int], set[tuple[int, str]]]


def _occurrences(pages: Sequence[PageLayout], edge: _Edge) -> _Seen:
    """Pages and exact texts, by text without digits and by height on the page in 12-point steps."""
    seen: _Seen = defaultdict(set)
    for page in pages:
        for block in page.blocks:
            if _can_be_furniture(block) and edge.zone(block, page):
                seen[_key(block.text), round(block.box.top / 12)].add((page.number, block.text))
    return seen


def _key(text: str) -> str:
    return DIGITS.sub("#", " ".join(text.lower().split()))[:80]


def _repeats(block: PageBlock, seen: _Seen, body_size: float, page_count: int) -> bool:
    step = round(block.box.top / 12)
    found = {entry for near in (step - 1, step, step + 1) for entry in seen.get((_key(block.text), near), ())}
    needed = 2 if page_count <= 4 else 3
    if len({number for number, _ in found}) < needed:
        return False
    if block.size < 1.15 * body_size or is_page_number(block.text):
        return True
    return len({number for number, text in found if text == block.text}) >= needed


def _is_set_off(block: PageBlock, page: PageLayout, edge: _Edge, body_size: float) -> bool:
    if not edge.outer_zone(block, page):
        return False
    if is_page_number(block.text):
        return True
    if not any(other.lines and other.label is not edge.label and other is not block for other in page.blocks):
        return False
    if block.word_count > (16 if edge.at_top else 20) or (not edge.at_top and is_footnote(block.text)):
        return False
    largest = max(line.size for line in block.lines)
    distance = edge.distance(block, page)
    if distance > 0.8 * largest and largest < 0.92 * body_size:
        return True
    return distance > 1.2 * largest and largest <= 1.08 * body_size
