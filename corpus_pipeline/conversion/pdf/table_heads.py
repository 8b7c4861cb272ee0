"""Cells over several columns in the head of a table without vertical rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from corpus_pipeline.conversion.pdf.geometry import Box
from corpus_pipeline.conversion.pdf.lines import Line
from corpus_pipeline.conversion.pdf.patterns import is_numeric_cell
from corpus_pipeline.conversion.pdf.rules import Rule

__all__ = ["head_spans"]

HEAD_ROWS = 6
CENTRED = 0.08
"""A head is centred over columns whose middle is at most this share of their width away."""
RULE_REACH = 3.2
"""The rule under a head stands at most this many line heights below it: the head may have several lines."""

_Columns = Sequence[tuple[float, float]]
_Span = tuple[int, int]


def head_spans(rows: Sequence[Sequence[Line]], columns: _Columns, rules: Sequence[Rule] = ()) -> dict[int, _Span]:
    """First and last column under each head that stands over several, by ``id`` of its line.

    A head spans the columns that the rule under it covers; or those it is centred over; or, where
    several heads stand over a rule and divide the columns evenly, its share of them.

    Args:
        rows: Printed lines of the table, each split into cells, top to bottom.
        columns: Intervals of x, left to right.
        rules: Horizontal rules of the table.
    """
    spans: dict[int, _Span] = {}
    for row in _head_rows(rows, columns):
        ruled = {id(line): span for line in row if (span := _ruled_over(line, columns, rules))}
        spans |= ruled
        shares = {} if ruled else _even_shares(row, columns, rules)
        spans |= shares
        if not shares:
            spans |= _centred([line for line in row if id(line) not in ruled], row, columns)
    return spans


def _head_rows(rows: Sequence[Sequence[Line]], columns: _Columns) -> Iterator[Sequence[Line]]:
    """Rows above the first that holds amounts or fills all columns."""
    for row in rows[:HEAD_ROWS]:
        if len(row) >= len(columns) or any(is_numeric_cell(line.text) for line in row):
            return
        yield row


def _ruled_over(line: Line, columns: _Columns, rules: Sequence[Rule]) -> _Span | None:
    """The columns that the nearest rule under a head covers, where the rule leaves the first column free."""
    below = [
        rule
        for rule in rules
        if rule.start - 2 <= line.box.left
        and line.box.right <= rule.end + 2
        and -2 <= rule.position - line.box.bottom <= RULE_REACH * line.box.height
    ]
    if not below:
        return None
    rule = min(below)
    if rule.start < columns[0][1] - 2:
        return None
    covered = [
        position
        for position, (left, right) in enumerate(columns)
        if min(right, rule.end) - max(left, rule.start) > 0.5 * (right - left)
    ]
    return (covered[0], covered[-1]) if len(covered) > 1 else None


def _even_shares(row: Sequence[Line], columns: _Columns, rules: Sequence[Rule]) -> dict[int, _Span]:
    """Equal shares of the columns for heads that each touch no column of another's share."""
    heads = [line for line in row if line.box.left > columns[0][1] - 2]
    count = len(columns) - 1
    if len(heads) < 2 or count % len(heads) or count == len(heads) or not _stands_over_rule(heads[0].box, rules):
        return {}
    share = count // len(heads)
    spans = {}
    for position, line in enumerate(heads):
        first, last = 1 + position * share, (position + 1) * share
        beyond = any(
            line.box.left < right and line.box.right > left
            for column, (left, right) in enumerate(columns)
            if not first <= column <= last
        )
        within = any(line.box.left < right and line.box.right > left for left, right in columns[first : last + 1])
        if beyond or not within:
            return {}
        spans[id(line)] = (first, last)
    return spans


def _stands_over_rule(box: Box, rules: Sequence[Rule]) -> bool:
    return any(
        -2 <= rule.position - box.bottom <= RULE_REACH * box.height and rule.spans(box.centre_x) for rule in rules
    )


def _centred(heads: Sequence[Line], row: Sequence[Line], columns: _Columns) -> dict[int, _Span]:
    spans: dict[int, _Span] = {}
    if len(row) >= len(columns) - 1:
        return spans
    free = 0
    for line in heads:
        limit = min((other.box.left for other in row if other.box.left > line.box.left), default=float("inf"))
        last_free = max((column for column, (left, _) in enumerate(columns) if left < limit), default=free)
        first_free = free if line.box.left < columns[0][1] else max(free, 1)
        inside_one = any(left - 1 <= line.box.left and line.box.right <= right + 1 for left, right in columns)
        found = None if inside_one else _centred_over(line, columns, first_free, last_free)
        if found:
            spans[id(line)] = found
            free = found[1] + 1
    return spans


def _centred_over(line: Line, columns: _Columns, first_free: int, last_free: int) -> _Span | None:
    """The widest range of free columns whose middle is the middle of the line; ``None`` for a single column."""
    best: tuple[float, _Span] | None = None
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
