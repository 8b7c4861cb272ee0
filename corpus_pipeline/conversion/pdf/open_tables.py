"""Tables without rules: runs of rows whose cells line up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median

from corpus_pipeline.conversion.pdf.columns import reads_as_prose
from corpus_pipeline.conversion.pdf.geometry import bounding_box
from corpus_pipeline.conversion.pdf.lines import Line, rows_of
from corpus_pipeline.conversion.pdf.patterns import has_leader, is_marker_only, is_numeric_cell
from corpus_pipeline.conversion.pdf.table_columns import column_intervals
from corpus_pipeline.conversion.pdf.table_region import TableRegion

__all__ = ["open_tables"]

ROW_GAP = 2.6
WIDEST_ROW_GAP = 4.5
"""White space between rows of a table in line heights: any rows, and rows that fill the same columns."""

SHORT_LABEL = 8
WRAPPED_LABEL = 12
"""Words of a label inside a table, and of one that goes on beside the amounts right below."""
HEADING_SIZE = 1.2
"""Rows set so much larger than most are no rows of the table."""


def open_tables(lines: Sequence[Line], width: float) -> list[TableRegion]:
    """Runs of rows whose cells line up, without any rule."""
    rows = rows_of(lines)
    regions = []
    position = 0
    while position < len(rows):
        if not _is_cell_row(rows[position], width):
            position += 1
            continue
        last = _run_end(rows, position, lambda row: _is_cell_row(row, width))
        run = _without_headings(rows[position : last + 1])
        if _lines_up(run, width):
            regions.append(TableRegion(bounding_box(line.box for row in run for line in row).grown(1)))
        position = last + 1
    return regions


def _without_headings(run: list[list[Line]]) -> list[list[Line]]:
    """A run of rows without those at its ends that are set larger: headings whose number stands apart."""
    size = median(line.size for row in run for line in row)
    while run and all(line.size > HEADING_SIZE * size for line in run[0]):
        run = run[1:]
    while run and all(line.size > HEADING_SIZE * size for line in run[-1]):
        run = run[:-1]
    return run


def _is_cell_row(row: Sequence[Line], width: float) -> bool:
    if len(row) < 2 or any(has_leader(line.text) for line in row):
        return False
    return not reads_as_prose([row], width) and not (len(row) == 2 and is_marker_only(row[0].text))


def _run_end(rows: list[list[Line]], first: int, is_cell_row: Callable[[list[Line]], bool]) -> int:
    """Index of the last row of the run of cell rows that starts at ``first``."""
    height = median(line.box.height for line in rows[first])
    columns = column_intervals(rows[first : first + 1])
    last = position = first
    while position + 1 < len(rows):
        row = rows[position + 1]
        gap = (min(line.box.top for line in row) - max(line.box.bottom for line in rows[position])) / height
        if is_cell_row(row):
            if not -1 <= gap <= (WIDEST_ROW_GAP if _fits(row, columns) else ROW_GAP):
                break
            last = position + 1
            columns = column_intervals(rows[first : last + 1])
        elif -1 <= gap <= 0.8 and _continues_cells(row, columns):
            last = position + 1
        elif not _is_passed_over(rows, position + 1, gap, columns, is_cell_row) or position + 1 - last > 2:
            break
        position += 1
    return last


def _is_passed_over(
    rows: list[list[Line]],
    position: int,
    gap: float,
    columns: Sequence[tuple[float, float]],
    is_cell_row: Callable[[list[Line]], bool],
) -> bool:
    """Whether a row with one text, such as a subheading inside the table, does not end the run."""
    row = rows[position]
    if not -1 <= gap <= ROW_GAP or (len(row) == 1 and row[0].word_count > 14):
        return False
    if len(row) > 1 or gap <= 1.3:
        return True
    if position + 1 == len(rows) or not is_cell_row(rows[position + 1]):
        return False
    below = rows[position + 1]
    tight = min(line.box.top for line in below) - row[0].box.bottom < 0.5 * row[0].box.height
    return row[0].word_count <= (WRAPPED_LABEL if tight else SHORT_LABEL) and _fits(below, columns)


def _fits(row: Sequence[Line], columns: Sequence[tuple[float, float]]) -> bool:
    """Whether a row fills the columns found so far: each text inside one of them, amounts among them."""
    inside = all(
        any(left - 3 <= line.box.left and line.box.right <= right + 3 for left, right in columns[1:])
        or line.box.left <= columns[0][1]
        for line in row
    )
    return bool(columns) and inside and any(is_numeric_cell(line.text) for line in row)


def _continues_cells(row: Sequence[Line], columns: Sequence[tuple[float, float]]) -> bool:
    """Whether each line of a row keeps to one column, and none to the first: cells of several lines."""
    if len(columns) < 2:
        return False
    for line in row:
        held = [
            position
            for position, (left, _) in enumerate(columns)
            if left - 2 <= line.box.left and (position + 1 == len(columns) or line.box.right < columns[position + 1][0])
        ]
        if not held or held[-1] == 0 or line.box.right > columns[held[-1]][1] + 3 * line.size:
            return False
    return True


def _lines_up(run: list[list[Line]], width: float) -> bool:
    parted = [row for row in run if _is_cell_row(row, width)]
    columns = column_intervals(run)
    if len(columns) < 2 or len(parted) < 2 or (len(parted) < 3 and max(map(len, parted)) < 3):
        return False
    if len(parted) < 0.5 * sum(row in parted or not _continues_cells(row, columns) for row in run):
        return False
    cells = [line for row in parted for line in row]
    words = sum(line.word_count for line in cells) / len(cells)
    numeric = sum(is_numeric_cell(line.text) for line in cells) / len(cells)
    in_one_column = sum(
        sum(min(right, line.box.right) > max(left, line.box.left) for left, right in columns) == 1 for line in cells
    )
    if in_one_column < 0.7 * len(cells) or (words > 4.5 and numeric <= 0.25):
        return False
    return len(columns) > 2 or numeric >= 0.15 or words <= 3.5
