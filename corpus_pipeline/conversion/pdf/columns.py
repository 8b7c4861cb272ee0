"""Text columns: the gutter of a two-column page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from corpus_pipeline.conversion.pdf.lines import Line

__all__ = ["Gutter", "find_gutter", "is_prose", "reads_as_prose"]

PROSE_WIDTH = 0.2
"""A line of running text covers at least this share of the page's width."""
PROSE_WORDS = 4
ENOUGH_PROSE = 5
SOME_PROSE = 2
"""So many lines of running text make a column, and so many hint at one."""


@dataclass(frozen=True, slots=True)
class Gutter:
    """The empty strip between two columns of running text, from ``top`` to ``bottom``."""

    x: float
    top: float
    bottom: float


def is_prose(line: Line, width: float) -> bool:
    """Whether a line looks like running text on a page of this width."""
    return line.word_count >= PROSE_WORDS and line.box.width >= PROSE_WIDTH * width


def reads_as_prose(rows: Sequence[Sequence[Line]], width: float) -> bool:
    """Whether most rows look like columns of running text rather than the cells of a table."""
    return sum(_row_is_prose(row, width) for row in rows) >= 0.5 * len(rows)


def _row_is_prose(row: Sequence[Line], width: float) -> bool:
    prose = sum(is_prose(line, width) for line in row)
    if prose >= 2:
        return True
    return (
        prose == 1
        and len(row) == 2
        and max(line.box.width for line in row) > 0.3 * width
        and all(line.box.width > 0.12 * width and line.word_count >= 2 for line in row)
    )


def find_gutter(lines: Sequence[Line], width: float, height: float) -> Gutter | None:
    """The strip that parts most running text into a left and a right column.

    Args:
        lines: Lines of a page.
        width: Page width in points.
        height: Page height in points.
    """
    prose = [line for line in lines if is_prose(line, width)]
    best: tuple[float, Gutter] | None = None
    for percent in range(30, 71):
        x = width * percent / 100
        left = [line for line in prose if line.box.right <= x + 1]
        right = [line for line in prose if line.box.left >= x - 1]
        if SOME_PROSE <= min(len(left), len(right)) < ENOUGH_PROSE <= max(len(left), len(right)):
            left, right = _with_short_lines(lines, x, left, right)
        if len(left) < ENOUGH_PROSE or len(right) < ENOUGH_PROSE:
            continue
        top = max(min(line.box.top for line in left), min(line.box.top for line in right))
        bottom = min(max(line.box.bottom for line in left), max(line.box.bottom for line in right))
        if bottom - top < 0.12 * height:
            continue
        beside = [line for line in lines if top - 2 <= line.box.centre_y <= bottom + 2]
        crossing = sum(line.box.left < x - 3 and line.box.right > x + 3 for line in beside)
        if crossing > 0.12 * len(beside):
            continue
        score = len(left) + len(right) - 3 * crossing
        if best is None or score > best[0]:
            best = (score, Gutter(x, top, bottom))
    return best[1] if best else None


def _with_short_lines(
    lines: Sequence[Line], x: float, left: list[Line], right: list[Line]
) -> tuple[list[Line], list[Line]]:
    """Both sides of ``x`` where one holds running text and the other short lines that are not its cells.

    Cells of a table stand on the baselines of the text beside them; the lines of another
    column do so by chance only.
    """
    dense = left if len(right) < len(left) else right
    sparse = [line for line in lines if (line.box.left >= x - 1 if dense is left else line.box.right <= x + 1)]
    level = sum(
        any(abs(line.box.centre_y - other.box.centre_y) < 0.15 * line.size for other in dense) for line in sparse
    )
    crossing = any(line.box.left < x - 3 and line.box.right > x + 3 and line.word_count < PROSE_WORDS for line in lines)
    if not sparse or level > 0.5 * len(sparse) or crossing:
        return left, right
    return (left, sparse) if dense is left else (sparse, right)
