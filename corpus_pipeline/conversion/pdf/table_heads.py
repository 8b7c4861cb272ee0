"""Cells over several columns in the head of a table without vertical rules."""

from __future__ import annotations

from collections.abc import Sequence

from corpus_pipeline.conversion.pdf.lines import Line
from corpus_pipeline.conversion.pdf.patterns import is_numeric_cell

__all__ = ["head_spans"]

HEAD_ROWS = 4
CENTRED = 0.08
"""A head is centred over columns whose middle is at most this share of their width away."""


def head_spans(rows: Sequence[Sequence[Line]], columns: Sequence[tuple[float, float]]) -> dict[int, tuple[int, int]]:
    """First and last column under each head that is centred over several, by ``id`` of its line.

    Args:
        rows: Printed lines of the table, each split into cells, top to bottom.
        columns: Intervals of x, left to right.
    """
    spans: dict[int, tuple[int, int]] = {}
    for row in rows[:HEAD_ROWS]:
        if len(row) >= len(columns) - 1 or any(is_numeric_cell(line.text) for line in row):
            break
        free = 0
        for position, line in enumerate(row):
            limit = row[position + 1].box.left if position + 1 < len(row) else float("inf")
            last_free = max((column for column, (left, _) in enumerate(columns) if left < limit), default=free)
            found = _centred_over(line, columns, free, last_free)
            if found:
                spans[id(line)] = found
                free = found[1] + 1
    return spans


def _centred_over(
    line: Line, columns: Sequence[tuple[float, float]], first_free: int, last_free: int
) -> tuple[int, int] | None:
    """The widest range of free columns whose middle is the middle of the line; ``None`` for a single column."""
    best: tuple[float, tuple[int, int]] | None = None
    for first in range(first_free, last_free + 1):
        for last in range(first, last_free + 1):
            left, right = columns[first][0], columns[last][1]
            if line.box.left < left - 2 or line.box.right > right + 2:
                continue
            error = abs(line.box.centre_x - (left + right) / 2) / (right - left)
            if best is None or error < best[0] - 0.01:
                best = (error, (first, last))
    if best is None or best[0] > CENTRED or best[1][0] == best[1][1]:
        return None
    return best[1]
