"""Columns of a table that no vertical rule marks: intervals of x that its cells share."""

from __future__ import annotations

from collections.abc import Sequence

from corpus_pipeline.conversion.pdf.geometry import merge_intervals
from corpus_pipeline.conversion.pdf.lines import Line

__all__ = ["column_intervals", "join_currency"]

WIDE_CELL = 0.6
"""A cell wider than this share of the table says nothing about single columns."""
COLUMN_GAP = 1.5
CURRENCY = frozenset({"$", "€", "£", "¥", "(", "$(", "US$"})
CLOSING = frozenset({")", "%", ")%", "*", "x", "pts"})


def column_intervals(rows: Sequence[Sequence[Line]]) -> list[tuple[float, float]]:
    """Intervals of x, left to right, in which the cells of the fullest rows stand.

    Rows with nearly the most cells decide; cells of other rows widen a column they touch
    alone, or add one where nothing stands. A cell over several columns changes nothing.
    """
    parted = [row for row in rows if len(row) > 1]
    if not parted:
        return []
    left = min(line.box.left for row in parted for line in row)
    right = max(line.box.right for row in parted for line in row)
    narrow = [[line for line in row if line.box.width <= WIDE_CELL * (right - left)] for row in parted]
    most = max(len(row) for row in narrow)
    if most == 0:
        return []
    full = [row for row in narrow if len(row) >= max(2, 0.75 * most)] or narrow
    columns = merge_intervals(((line.box.left, line.box.right) for row in full for line in row), COLUMN_GAP)
    for row in narrow:
        for line in row:
            columns = _with_cell(columns, line.box.left, line.box.right)
    return columns


def _with_cell(columns: list[tuple[float, float]], left: float, right: float) -> list[tuple[float, float]]:
    touched = [
        position
        for position, (start, end) in enumerate(columns)
        if left <= end + COLUMN_GAP and right >= start - COLUMN_GAP
    ]
    if len(touched) > 1:
        return columns
    if not touched:
        return sorted([*columns, (left, right)])
    position = touched[0]
    start, end = columns[position]
    return [*columns[:position], (min(start, left), max(end, right)), *columns[position + 1 :]]


def join_currency(columns: list[tuple[float, float]], rows: Sequence[Sequence[Line]]) -> list[tuple[float, float]]:
    """Joins columns of bare currency signs and closing brackets to the amounts they belong to."""
    kinds = []
    for left, right in columns:
        texts = {line.text for row in rows for line in row if min(right, line.box.right) > max(left, line.box.left)}
        kinds.append("open" if texts and texts <= CURRENCY else "close" if texts and texts <= CLOSING else "")
    joined: list[tuple[float, float]] = []
    opening: float | None = None
    for (left, right), kind in zip(columns, kinds, strict=True):
        if kind == "close" and joined:
            joined[-1] = (joined[-1][0], right)
        elif kind == "open":
            opening = left if opening is None else opening
        else:
            joined.append((left if opening is None else opening, right))
            opening = None
    if opening is not None:
        joined.append((opening, columns[-1][1]))
    return joined
