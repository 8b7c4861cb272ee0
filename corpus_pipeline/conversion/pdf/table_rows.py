"""Rows of a table: which printed lines belong to one row of cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from corpus_pipeline.conversion.pdf.geometry import Box, index_between
from corpus_pipeline.conversion.pdf.lines import Line
from corpus_pipeline.conversion.pdf.patterns import is_numeric_cell, is_year
from corpus_pipeline.conversion.pdf.rules import Rule

__all__ = ["bands_of", "row_separators"]

RULED_SHARE = 0.35
"""Where rules stand in this share of the gaps between lines, rules part the rows."""
HEAD_GAP = 0.5
"""Lines of one head are at most this many line heights apart."""


@dataclass(frozen=True, slots=True)
class _Step:
    """The step from one printed line to the next.

    Attributes:
        gap: White space between the two in points.
        ruled: Whether a rule of the whole table runs in it.
        underlined: Whether a rule under some columns runs in it.
        above: Columns in which the upper line has text.
        below: Columns in which the lower line has text.
        numeric: Whether the lower line holds an amount.
        stacked: Whether a column has an amount in both lines.
        amounts_above: Whether the upper line holds an amount.
        small_start: Whether the lower line's first cell starts with a small letter.
        wrapped: Whether every cell of the lower line had to go there: its first word did not
            fit behind the cell above in the width of the column.
        headed: Whether the upper line holds a head over several columns.
        heads_on: Whether the lower line does.
        label_wrapped: Whether a text in the first column goes on beside the amounts of the lower line.
    """

    y: float
    gap: float
    ruled: bool
    underlined: bool
    above: frozenset[int]
    below: frozenset[int]
    numeric: bool
    stacked: bool
    amounts_above: bool
    small_start: bool
    wrapped: bool
    headed: bool
    heads_on: bool
    label_wrapped: bool


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
    spans: Mapping[int, tuple[int, int]] | None = None,
    rules: Sequence[Rule] = (),
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
        spans: Columns of each cell that heads several, by ``id`` of its line.
        rules: All horizontal rules in the table, those under single columns included.
    """
    steps = _steps(rows, ruled, _Columns(xs, spans or {}), rules)
    height = median(line.box.height for row in rows for line in row)
    rule_count = sum(step.ruled for step in steps)
    dense = rule_count >= 3 and rule_count >= RULED_SHARE * len(steps)
    threshold = _gap_between_rows(steps, height)
    separators = [box.top]
    in_head = True
    for position, step in enumerate(steps):
        in_head = in_head and 0 not in step.above
        if step.ruled or step.underlined or (in_head and _ends_head_row(step)):
            parted = True
        elif in_head and _goes_on_in_head(step, height):
            parted = False
        else:
            parted = _parts(step, position, dense=dense, threshold=threshold, height=height, columns=len(xs) - 1)
        if parted:
            separators.append(step.y)
    return [*separators, box.bottom]


@dataclass(frozen=True, slots=True)
class _Columns:
    """Borders of the columns, and the heads over several of them."""

    xs: Sequence[float]
    spans: Mapping[int, tuple[int, int]]

    def of(self, line: Line) -> frozenset[int]:
        """Columns that a cell covers: the one its middle is in, or those it heads."""
        if span := self.spans.get(id(line)):
            return frozenset(range(span[0], span[1] + 1))
        return frozenset((index_between(self.xs, line.box.centre_x),))

    def of_all(self, lines: Sequence[Line]) -> frozenset[int]:
        """Columns in which any of the cells stands."""
        return frozenset().union(*(self.of(line) for line in lines))


def _steps(
    rows: Sequence[Sequence[Line]], ruled: Sequence[float], columns: _Columns, rules: Sequence[Rule]
) -> list[_Step]:
    steps = []
    edges = _column_edges(rows, columns.xs)
    for upper, lower in pairwise(rows):
        bottom = max(line.box.bottom for line in upper)
        top = min(line.box.top for line in lower)
        steps.append(
            _Step(
                y=(bottom + top) / 2,
                gap=top - bottom,
                ruled=any(bottom - 3 <= y <= top + 3 for y in ruled),
                underlined=any(
                    bottom - 3 <= rule.position <= top + 3 and _parts_cells(rule, upper, lower) for rule in rules
                ),
                above=columns.of_all(upper),
                below=columns.of_all(lower),
                numeric=any(_is_amount(line, upper, columns) for line in lower),
                amounts_above=any(is_numeric_cell(line.text) for line in upper),
                stacked=_has_stacked_amounts(upper, lower, columns),
                small_start=lower[0].text[:1].islower(),
                wrapped=all(_is_wrapped(line, upper, edges, columns.xs) for line in lower),
                headed=any(id(line) in columns.spans for line in upper),
                heads_on=any(id(line) in columns.spans for line in lower),
                label_wrapped=_is_label_wrapped(upper, lower, edges, columns),
            )
        )
    return steps


def _parts_cells(rule: Rule, upper: Sequence[Line], lower: Sequence[Line]) -> bool:
    """Whether a rule runs between cells and is not the underline of a text."""
    over = [line for line in upper if line.box.left < rule.end and line.box.right > rule.start]
    under = [line for line in lower if line.box.left < rule.end and line.box.right > rule.start]
    underlines = any(abs(line.box.left - rule.start) < 2 and abs(line.box.right - rule.end) < 2 for line in over)
    return bool(over or under) and not underlines


def _is_amount(line: Line, upper: Sequence[Line], columns: _Columns) -> bool:
    """Whether a cell holds an amount; the year under ``June 30,`` is none."""
    if not is_numeric_cell(line.text):
        return False
    above = [other for other in upper if columns.of(other) == columns.of(line)]
    return not (is_year(line.text) and any(other.text.endswith(",") for other in above))


def _has_stacked_amounts(upper: Sequence[Line], lower: Sequence[Line], columns: _Columns) -> bool:
    """Whether some column has amounts in both lines, which are then never one cell."""
    amounts_above = columns.of_all([line for line in upper if is_numeric_cell(line.text)]) if upper else frozenset()
    amounts_below = columns.of_all([line for line in lower if is_numeric_cell(line.text)])
    return bool(amounts_above & amounts_below)


def _is_label_wrapped(
    upper: Sequence[Line], lower: Sequence[Line], edges: Mapping[int, float], columns: _Columns
) -> bool:
    """Whether the upper line is the first part of the label of the amounts below it.

    Its next word did not fit in the column, and it reads on: the lower line starts with a small
    letter, or the upper one ends with a comma.
    """
    if len(upper) > 1 or len(lower) < 2 or columns.of(upper[0]) != {0} or columns.of(lower[0]) != {0}:
        return False
    if upper[0].text.endswith((":", ".")) or is_numeric_cell(upper[0].text):
        return False
    reads_on = lower[0].text[:1].islower() or upper[0].text.endswith((",", "(", "-", "–", "&"))
    return reads_on and _is_wrapped(lower[0], upper, edges, columns.xs)


def _column_edges(rows: Sequence[Sequence[Line]], xs: Sequence[float]) -> dict[int, float]:
    """Right edge of the text in each column, from cells that stand in one column alone or have their line alone."""
    edges: dict[int, float] = {}
    for row in rows:
        for line in row:
            column = index_between(xs, line.box.left + 1)
            if len(row) == 1 or column == index_between(xs, line.box.right - 1):
                edges[column] = max(edges.get(column, 0.0), line.box.right)
    return edges


def _is_wrapped(line: Line, upper: Sequence[Line], edges: Mapping[int, float], xs: Sequence[float]) -> bool:
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
    return (step.headed and not step.heads_on) or (0 in step.below and step.numeric)


def _goes_on_in_head(step: _Step, height: float) -> bool:
    """Whether the lines of a head go on: each column of the upper line has text right below."""
    return step.gap < HEAD_GAP * height and step.above <= step.below


def _parts(step: _Step, position: int, *, dense: bool, threshold: float | None, height: float, columns: int) -> bool:
    """Whether a gap without a rule parts two rows of cells."""
    starts_row = 0 in step.below
    if step.stacked and starts_row:
        return True
    if step.label_wrapped and step.gap < (HEAD_GAP * height if threshold is None else threshold):
        return False
    if dense:
        return starts_row and step.gap > (0.9 * height if threshold is None else threshold)
    if threshold is not None:
        full = step.numeric and starts_row and len(step.below) >= 0.7 * columns
        return step.gap >= threshold or full
    return step.gap >= 0.75 * height or _parts_by_content(step, position, height, columns)


def _parts_by_content(step: _Step, position: int, height: float, columns: int) -> bool:
    """Whether two lines close together hold different rows, judged by the columns they fill."""
    if 0 not in step.below:
        return step.numeric and len(step.below) > max(1.0, 0.4 * columns) if position else True
    if step.below == {0} and len(step.above) > 1 and step.small_start:
        return False
    return not (step.below < step.above and step.wrapped and not step.numeric and step.gap < 0.5 * height)
