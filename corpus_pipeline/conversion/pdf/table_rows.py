"""Rows of a table: which printed lines belong to one row of cells."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from corpus_pipeline.conversion.pdf.geometry import Box, index_between
from corpus_pipeline.conversion.pdf.lines import Line
from corpus_pipeline.conversion.pdf.patterns import is_numeric_cell

__all__ = ["bands_of", "row_separators"]

RULED_SHARE = 0.35
"""Where rules stand in this share of the gaps between lines, rules part the rows."""


@dataclass(frozen=True, slots=True)
class _Step:
    """The step from one printed line to the next.

    Attributes:
        gap: White space between the two in points.
        ruled: Whether a rule runs in it.
        above: Columns in which the upper line has text.
        below: Columns in which the lower line has text.
        numeric: Whether the lower line holds an amount.
        small_start: Whether the lower line's first cell starts with a small letter.
        wrapped: Whether every cell of the lower line had to go there: its first word did not
            fit behind the cell above in the width of the column.
        headed: Whether the upper line holds a head over several columns.
    """

    y: float
    gap: float
    ruled: bool
    above: frozenset[int]
    below: frozenset[int]
    numeric: bool
    small_start: bool
    wrapped: bool
    headed: bool


def bands_of(lines: Sequence[Line]) -> list[list[Line]]:
    """Groups of lines that no white strip across the table parts, top to bottom.

    A cell of one line beside the middle of a cell of two lines stands in one band with both.
    """
    bands: list[list[Line]] = []
    bottom = float("-inf")
    for line in sorted(lines, key=lambda line: (line.box.top, line.box.left)):
        trim = 0.2 * line.box.height
        if bands and line.box.top + trim < bottom:
            bands[-1].append(line)
        else:
            bands.append([line])
            bottom = float("-inf")
        bottom = max(bottom, line.box.bottom - trim)
    for band in bands:
        band.sort(key=lambda line: (line.box.left, line.box.top))
    return bands


def row_separators(
    rows: Sequence[Sequence[Line]],
    ruled: Sequence[float],
    box: Box,
    xs: Sequence[float],
    spanning: Collection[int] = (),
) -> list[float]:
    """Heights of the borders of the table's rows, its top and bottom included.

    A cell of several printed lines stays one cell: lines are parted by rules where there are
    some between most rows, else by gaps wider than those inside cells, else wherever a line
    has text in the first column.

    Args:
        rows: Printed lines, each split into cells, top to bottom.
        ruled: y of horizontal rules.
        box: The table.
        xs: x of the columns' borders.
        spanning: ``id`` of each cell that heads several columns.
    """
    steps = _steps(rows, ruled, xs, spanning)
    height = median(line.box.height for row in rows for line in row)
    rule_count = sum(step.ruled for step in steps)
    dense = rule_count >= 3 and rule_count >= RULED_SHARE * len(steps)
    threshold = _gap_between_rows(steps, height)
    separators = [box.top]
    in_head = True
    for position, step in enumerate(steps):
        in_head = in_head and not step.ruled and 0 not in step.above
        if (
            step.ruled
            or (in_head and _ends_head_row(step))
            or _parts(step, position, dense=dense, threshold=threshold, height=height, columns=len(xs) - 1)
        ):
            separators.append(step.y)
    return [*separators, box.bottom]


def _steps(
    rows: Sequence[Sequence[Line]], ruled: Sequence[float], xs: Sequence[float], spanning: Collection[int]
) -> list[_Step]:
    steps = []
    edges = _column_edges(rows, xs)
    for upper, lower in pairwise(rows):
        bottom = max(line.box.bottom for line in upper)
        top = min(line.box.top for line in lower)
        steps.append(
            _Step(
                y=(bottom + top) / 2,
                gap=top - bottom,
                ruled=any(bottom - 3 <= y <= top + 3 for y in ruled),
                above=frozenset(index_between(xs, line.box.centre_x) for line in upper),
                below=frozenset(index_between(xs, line.box.centre_x) for line in lower),
                numeric=any(is_numeric_cell(line.text) for line in lower),
                small_start=lower[0].text[:1].islower(),
                headed=any(id(line) in spanning for line in upper),
                wrapped=all(_is_wrapped(line, upper, edges, xs) for line in lower),
            )
        )
    return steps


def _column_edges(rows: Sequence[Sequence[Line]], xs: Sequence[float]) -> dict[int, float]:
    """Right edge of the text in each column, from cells that stand in one column alone."""
    edges: dict[int, float] = {}
    for line in (line for row in rows for line in row):
        column = index_between(xs, line.box.left + 1)
        if column == index_between(xs, line.box.right - 1):
            edges[column] = max(edges.get(column, 0.0), line.box.right)
    return edges


def _is_wrapped(line: Line, upper: Sequence[Line], edges: dict[int, float], xs: Sequence[float]) -> bool:
    column = index_between(xs, line.box.left + 1)
    above = [other for other in upper if index_between(xs, other.box.left + 1) == column]
    if not above:
        return False
    last = max(above, key=lambda other: other.box.bottom)
    room = edges.get(column, last.box.right) - last.box.right
    return room < line.words[0].box.width + 0.2 * line.size


def _gap_between_rows(steps: Sequence[_Step], height: float) -> float | None:
    """The width that tells gaps between rows from gaps inside cells, where the two differ clearly."""
    gaps = sorted(step.gap for step in steps if not step.ruled)
    if len(gaps) < 3:
        return None
    jump = max(range(len(gaps) - 1), key=lambda position: gaps[position + 1] - gaps[position])
    narrow, wide = gaps[: jump + 1], gaps[jump + 1 :]
    clear = wide[0] - narrow[-1] > 0.25 * height and narrow[-1] < 0.6 * height
    both_usual = min(len(narrow), len(wide)) >= 0.15 * len(gaps)
    return (narrow[-1] + wide[0]) / 2 if clear and both_usual else None


def _ends_head_row(step: _Step) -> bool:
    """Whether heads of single columns follow a head over several, or the first row of amounts follows the heads."""
    return (step.headed and len(step.below) > len(step.above)) or (0 in step.below and step.numeric)


def _parts(step: _Step, position: int, *, dense: bool, threshold: float | None, height: float, columns: int) -> bool:
    """Whether a gap without a rule parts two rows of cells."""
    starts_row = 0 in step.below
    if dense:
        return starts_row and step.gap > (0.9 * height if threshold is None else threshold)
    if threshold is not None:
        full = step.numeric and starts_row and len(step.below) >= 0.7 * columns
        return step.gap >= threshold or full
    if step.gap >= 0.75 * height:
        return True
    if not starts_row:
        return step.numeric and len(step.below) > max(1.0, 0.4 * columns) if position else True
    if step.below == {0} and len(step.above) > 1 and step.small_start:
        return False
    return not (step.below < step.above and step.wrapped and not step.numeric and step.gap < 0.5 * height)
