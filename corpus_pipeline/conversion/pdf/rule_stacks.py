"""Tables set between horizontal rules of one width."""

from __future__ import annotations

from collections.abc import Sequence

from corpus_pipeline.conversion.pdf.columns import is_prose, reads_as_prose
from corpus_pipeline.conversion.pdf.geometry import Box
from corpus_pipeline.conversion.pdf.lines import Line, rows_of
from corpus_pipeline.conversion.pdf.rules import PageRules, Rule
from corpus_pipeline.conversion.pdf.table_columns import column_intervals
from corpus_pipeline.conversion.pdf.table_region import TableRegion

__all__ = ["rule_stacks"]


def rule_stacks(
    lines: Sequence[Line], rules: PageRules, tables: list[TableRegion], width: float, height: float
) -> list[TableRegion]:
    """Tables set between horizontal rules of one width, as in books and financial statements."""
    free = [
        rule
        for rule in rules.horizontal
        if rule.length >= 50 and not any(_holds_rule(table.box, rule) for table in tables)
    ]
    stacks: list[list[Rule]] = []
    for rule in sorted(free):
        for stack in stacks:
            if abs(stack[0].start - rule.start) <= 6 and abs(stack[0].end - rule.end) <= 6:
                stack.append(rule)
                break
        else:
            stacks.append([rule])
    return [region for stack in stacks for region in _regions_of_stack(stack, lines, width, height)]


def _holds_rule(box: Box, rule: Rule) -> bool:
    grown = box.grown(4)
    return grown.left <= rule.start and rule.end <= grown.right and grown.top <= rule.position <= grown.bottom


def _regions_of_stack(stack: list[Rule], lines: Sequence[Line], width: float, height: float) -> list[TableRegion]:
    regions = []
    first = 0
    while first < len(stack) - 1:
        last = first
        head = _header_between(stack[first], stack[first + 1], lines)
        while last + 1 < len(stack) and _rows_between(stack[last], stack[last + 1], lines, width, height, head):
            last += 1
        if last > first:
            box = Box(stack[first].start, stack[first].position, stack[first].end, stack[last].position)
            rows = rows_of([line for line in lines if box.holds_centre_of(line.box)])
            whole = not _has_text_beside(box, rows, lines, width)
            if whole and sum(len(row) >= 2 for row in rows) >= 2 and len(column_intervals(rows)) >= 2:
                rules = stack[first : last + 1]
                regions.append(TableRegion(box, PageRules(horizontal=rules), ys=[rule.position for rule in rules]))
        first = max(last, first + 1)
    return regions


def _has_text_beside(box: Box, rows: list[list[Line]], lines: Sequence[Line], width: float) -> bool:
    """Whether the rows go on beside the rules: those then underline single columns of a wider table."""
    outside = [
        line for line in lines if (line.box.right < box.left or line.box.left > box.right) and not is_prose(line, width)
    ]
    beside = sum(any(line.box.overlap_y(row[0].box) > 0.5 * row[0].box.height for line in outside) for row in rows)
    return beside > 0.5 * len(rows)


def _header_between(upper: Rule, lower: Rule, lines: Sequence[Line]) -> list[Line]:
    """The head of a table: short texts side by side, in at most three rows between two rules; else nothing."""
    box = Box(upper.start, upper.position, upper.end, lower.position)
    rows = rows_of([line for line in lines if box.holds_centre_of(line.box, margin=1)])
    widest = max(rows, key=len, default=[])
    short = all(line.word_count <= 6 for row in rows for line in row)
    return widest if 0 < len(rows) <= 3 and len(widest) >= 2 and short else []


def _rows_between(
    upper: Rule, lower: Rule, lines: Sequence[Line], width: float, height: float, head: Sequence[Line]
) -> bool:
    """Whether what stands between two rules of a stack can be rows of a table (or nothing).

    Below a head, cells may hold as much text as columns of prose do, if they keep to its columns.
    """
    box = Box(upper.start, upper.position, upper.end, lower.position)
    rows = rows_of([line for line in lines if box.holds_centre_of(line.box, margin=1)])
    if not rows:
        return True
    parted = [row for row in rows if len(row) >= 2]
    if not parted or box.height > 0.7 * height:
        return False
    if head:
        inside = [line for row in rows for line in row]
        crossing = sum(
            line.box.left < cell.box.left - 4 and line.box.right > cell.box.left + 4
            for line in inside
            for cell in head[1:]
        )
        return crossing <= 0.25 * len(inside)
    if len(parted) < 0.35 * len(rows):
        return False
    return not reads_as_prose(parted, width) or len(column_intervals(rows)) >= 3
