"""The layout of one page: its tables, pictures and blocks, not yet labelled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from corpus_pipeline.conversion.pdf.blocks import BlockLabel, PageBlock, build_blocks
from corpus_pipeline.conversion.pdf.capture import PageCapture, Word
from corpus_pipeline.conversion.pdf.geometry import Box
from corpus_pipeline.conversion.pdf.lines import CODE_GAP, LINE_GAP, Line, build_lines, close_gaps
from corpus_pipeline.conversion.pdf.table_cells import read_table
from corpus_pipeline.conversion.pdf.table_regions import find_tables
from corpus_pipeline.conversion.pdf.word_repairs import attach_drop_caps, name_bullets, recognise_monospaced

__all__ = ["PageLayout", "lay_out", "lay_out_natively"]

SMALLEST_PICTURE = 0.012
LARGEST_PICTURE = 0.9
"""Bitmaps outside these shares of the page are ornaments or backgrounds."""
TYPESCRIPT_SHARE = 0.9
"""Share of the characters of a page that are monospaced, from which on it is a typescript and not a page with code."""
BULLET_GAP = 2.5
"""A drawn bullet stands at most this many sizes before its text."""


@dataclass(slots=True)
class PageLayout:
    """Blocks of a page.

    Attributes:
        width: Of the frame the blocks are in, in points.
        height: Of the frame the blocks are in, in points.
        capture: Geometry of the page, to map boxes back; its words are dropped.
        geometric: Whether geometry made the blocks; else they are docling's lines.
    """

    number: int
    width: float
    height: float
    blocks: list[PageBlock]
    capture: PageCapture
    geometric: bool = True

    @property
    def has_body_text(self) -> bool:
        """Whether some text is neither running header nor footer; meant for labelled blocks."""
        return any(
            block.lines and block.label not in (BlockLabel.PAGE_HEADER, BlockLabel.PAGE_FOOTER) for block in self.blocks
        )


def lay_out(capture: PageCapture) -> PageLayout:
    """Builds blocks from the words and rules of a page whose words have nominal sizes."""
    width, height = capture.frame_width, capture.frame_height
    name_bullets(capture.words)
    recognise_monospaced(capture.words)
    capture.words = attach_drop_caps(capture.words) + _drawn_bullets(capture)
    # Text that is monospaced throughout is a typescript: gaps in it part columns, as elsewhere.
    code_gap = LINE_GAP if _is_typescript(capture.words) else CODE_GAP
    lines = build_lines(capture.words, capture.rules.vertical, code_gap=code_gap)
    lines = close_gaps(lines, capture.rules.vertical)
    blocks = []
    for region in find_tables(lines, capture.rules, width, height):
        words = [word for word in capture.words if region.box.holds_centre_of(word.box)]
        grid = read_table(region, words, capture.rules.horizontal)
        if grid is None:
            continue
        inside = [line for line in lines if region.box.holds_centre_of(line.box)]
        blocks.append(PageBlock(inside, region.box, BlockLabel.TABLE, grid, " ".join(line.text for line in inside)))
    taken = [block.box for block in blocks]
    free = [line for line in lines if not any(box.holds_centre_of(line.box) for box in taken)]
    blocks += [PageBlock([], box, BlockLabel.PICTURE) for box in _pictures(capture, taken)]
    blocks += build_blocks(free, capture.rules)
    blocks += _turned_blocks(capture.turned)
    return PageLayout(capture.number, width, height, blocks, _emptied(capture))


def _is_typescript(words: Sequence[Word]) -> bool:
    monospaced = sum(len(word.text) for word in words if word.font.monospaced)
    return monospaced > TYPESCRIPT_SHARE * sum(len(word.text) for word in words)


def _drawn_bullets(capture: PageCapture) -> list[Word]:
    """Bullets that are drawn, not set: a dot right before the first word of a line."""
    bullets = []
    for dot in capture.rules.dots:
        beside = [word for word in capture.words if word.box.top < dot.centre_y < word.box.bottom]
        after = min(
            (word for word in beside if word.box.left >= dot.right - 1), key=lambda word: word.box.left, default=None
        )
        if after is None or not 1 < after.box.left - dot.right < BULLET_GAP * after.size:
            continue
        before = max((word.box.right for word in beside if word.box.right <= dot.left + 1), default=None)
        if before is None or dot.left - before > BULLET_GAP * after.size:
            box = Box(dot.left, after.box.top, dot.right, after.box.bottom)
            bullets.append(Word("•", box, after.font, after.size))
    return bullets


def lay_out_natively(capture: PageCapture, lines: Sequence[Line]) -> PageLayout:
    """One text block for each of docling's own lines: the fallback for a page without a layout."""
    blocks = [PageBlock.of_lines([line]) for line in lines]
    return PageLayout(capture.number, capture.width, capture.height, blocks, _emptied(capture), geometric=False)


def _emptied(capture: PageCapture) -> PageCapture:
    capture.words, capture.turned = [], []
    return capture


def _pictures(capture: PageCapture, taken: Sequence[Box]) -> list[Box]:
    page_area = capture.frame_width * capture.frame_height
    return [
        image
        for image in dict.fromkeys(capture.images)
        if SMALLEST_PICTURE * page_area <= image.area <= LARGEST_PICTURE * page_area
        and not any(image.intersection_area(box) > 0.25 * image.area for box in taken)
    ]


def _turned_blocks(words: Sequence[Word]) -> list[PageBlock]:
    """Blocks of the words that stand at an angle to the page's text: one for each run along their direction."""
    runs: list[list[Word]] = []
    for word in words:
        previous = runs[-1][-1] if runs else None
        if previous and _goes_on(previous, word):
            runs[-1].append(word)
        else:
            runs.append([word])
    blocks = [PageBlock.of_lines([_plain_line(run)]) for run in runs]
    for block in blocks:
        block.turned = True
    return blocks


def _goes_on(previous: Word, word: Word) -> bool:
    reach = max(previous.size, word.size)
    return previous.box.grown(reach).intersection_area(word.box) > 0


def _plain_line(run: Sequence[Word]) -> Line:
    line = build_lines(run[:1])[0]
    for word in run[1:]:
        other = build_lines([word])[0]
        line.words += other.words
        line.text = f"{line.text} {other.text}"
        line.box = Box(
            min(line.box.left, other.box.left),
            min(line.box.top, other.box.top),
            max(line.box.right, other.box.right),
            max(line.box.bottom, other.box.bottom),
        )
    return line
