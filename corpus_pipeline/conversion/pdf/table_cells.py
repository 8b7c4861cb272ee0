"""Rows, columns and cells of a table region, with spans."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

from corpus_pipeline.conversion.pdf.capture import Word
from corpus_pipeline.conversion.pdf.geometry import Box, index_between
from corpus_pipeline.conversion.pdf.lines import Line, build_lines, rows_of
from corpus_pipeline.conversion.pdf.patterns import is_numeric_cell, is_year
from corpus_pipeline.conversion.pdf.rules import PageRules, Rule
from corpus_pipeline.conversion.pdf.table_columns import column_intervals, join_currency
from corpus_pipeline.conversion.pdf.table_heads import head_spans
from corpus_pipeline.conversion.pdf.table_region import TableRegion
from corpus_pipeline.conversion.pdf.table_rows import bands_of, row_separators
from corpus_pipeline.conversion.pdf.wording import runs_right_to_left

__all__ = ["GridCell", "TableGrid", "read_table"]

CELL_LIMIT = 20_000
SEPARATOR_TOLERANCE = 3.5
CELL_ENUMERATOR_GAP = 0.9
SHORTEST_RULE = 12.0
MOST_HEADER_ROWS = 6


@dataclass(slots=True)
class GridCell:
    """A cell and the half-open ranges of rows and columns it covers."""

    row: int
    row_end: int
    column: int
    column_end: int
    box: Box
    lines: list[str] = field(default_factory=list)
    bold: bool = False


@dataclass(slots=True)
class TableGrid:
    """A table of ``row_count`` by ``column_count`` places; every place belongs to one cell."""

    row_count: int
    column_count: int
    cells: list[GridCell]
    header_rows: int = 1


def read_table(region: TableRegion, words: Sequence[Word], rules: Sequence[Rule] = ()) -> TableGrid | None:
    """Reads the cells of a region.

    Args:
        region: Where the table is and which lines rule it.
        words: Words of the page in the region.
        rules: Horizontal rules of the page.

    Returns:
        The grid, or ``None`` where fewer than two columns or two rows hold text.
    """
    words = join_currency(words)
    lines = build_lines(words, region.rules.vertical, enumerator_gap=CELL_ENUMERATOR_GAP)
    if not lines:
        return None
    cells = _grid_cells(region, words) if region.grid else _open_cells(region, lines, _inside(rules, region.box))
    if cells is None:
        return None
    grid = _without_empty(cells)
    if grid is None:
        return None
    if runs_right_to_left("".join(word.text for word in words)):
        _mirror(grid)
    grid.header_rows = _header_rows(grid)
    return grid


def _grid_cells(region: TableRegion, words: Sequence[Word]) -> list[GridCell] | None:
    """Cells between the rules of a grid; where a rule is missing, cells grow together."""
    xs = _with_borders(region.xs, region.box.left, region.box.right, 8.0)
    ys = _with_borders(region.ys, region.box.top, region.box.bottom, 6.0)
    row_count, column_count = len(ys) - 1, len(xs) - 1
    if row_count < 1 or column_count < 2 or row_count * column_count > CELL_LIMIT:
        return None
    owner: dict[tuple[int, int], GridCell] = {}
    cells: list[GridCell] = []
    for row in range(row_count):
        for column in range(column_count):
            if (row, column) in owner:
                continue
            row_end, column_end = _extent(region.rules, xs, ys, row, column, owner)
            cell = GridCell(row, row_end, column, column_end, Box(xs[column], ys[row], xs[column_end], ys[row_end]))
            cells.append(cell)
            owner.update({(r, c): cell for r in range(row, row_end) for c in range(column, column_end)})
    held: dict[int, list[Word]] = {}
    for word in words:
        place = (index_between(ys, word.box.centre_y), index_between(xs, word.box.centre_x))
        held.setdefault(id(owner[place]), []).append(word)
    for cell in cells:
        _fill(cell, build_lines(held.get(id(cell), [])))
    return cells


def _with_borders(separators: list[float], start: float, end: float, margin: float) -> list[float]:
    """Separators with the region's own borders where no rule is near, and none twice."""
    bordered = list(separators)
    if bordered[0] - start > margin:
        bordered.insert(0, start)
    if end - bordered[-1] > margin:
        bordered.append(end)
    return [value for position, value in enumerate(bordered) if not position or value - bordered[position - 1] > 2.5]


def _extent(
    rules: PageRules,
    xs: list[float],
    ys: list[float],
    row: int,
    column: int,
    owner: dict[tuple[int, int], GridCell],
) -> tuple[int, int]:
    """Ends of the cell that starts at a place: first to the right, then down as far as it stays a rectangle."""
    column_end = column + 1
    while (
        column_end < len(xs) - 1
        and (row, column_end) not in owner
        and not _parted_beside(rules, xs[column_end], (ys[row] + ys[row + 1]) / 2)
    ):
        column_end += 1
    row_end = row + 1
    while row_end < len(ys) - 1 and _grows_down(rules, xs, ys, row_end, (column, column_end), owner):
        row_end += 1
    return row_end, column_end


def _grows_down(
    rules: PageRules,
    xs: list[float],
    ys: list[float],
    row: int,
    columns: tuple[int, int],
    owner: dict[tuple[int, int], GridCell],
) -> bool:
    first, end = columns
    middle = (ys[row] + ys[row + 1]) / 2
    return all(
        (row, column) not in owner and not _parted_below(rules, (xs[column] + xs[column + 1]) / 2, ys[row])
        for column in range(first, end)
    ) and not any(_parted_beside(rules, xs[column], middle) for column in range(first + 1, end))


def _parted_beside(rules: PageRules, x: float, y: float) -> bool:
    """Whether a vertical rule or the side of an area stands at ``x`` at height ``y``."""
    return any(abs(rule.position - x) <= SEPARATOR_TOLERANCE and rule.spans(y) for rule in rules.vertical) or any(
        min(abs(fill.left - x), abs(fill.right - x)) <= SEPARATOR_TOLERANCE and fill.top - 2 <= y <= fill.bottom + 2
        for fill in rules.fills
    )


def _parted_below(rules: PageRules, x: float, y: float) -> bool:
    """Whether a horizontal rule or the edge of an area runs at ``y`` over ``x``."""
    return any(abs(rule.position - y) <= SEPARATOR_TOLERANCE and rule.spans(x) for rule in rules.horizontal) or any(
        min(abs(fill.top - y), abs(fill.bottom - y)) <= SEPARATOR_TOLERANCE and fill.left - 2 <= x <= fill.right + 2
        for fill in rules.fills
    )


def _inside(rules: Sequence[Rule], box: Box) -> list[Rule]:
    """Rules in a table that are long enough to part cells."""
    return [
        rule
        for rule in rules
        if box.top - 2 <= rule.position <= box.bottom + 2
        and rule.start >= box.left - 6
        and rule.end <= box.right + 6
        and rule.length >= SHORTEST_RULE
    ]


def _open_cells(region: TableRegion, lines: Sequence[Line], rules: Sequence[Rule]) -> list[GridCell] | None:
    """Cells where white space parts the columns."""
    rows = rows_of(lines)
    columns = column_intervals(rows)
    if len(columns) < 2:
        return None
    middles = [(before[1] + after[0]) / 2 for before, after in itertools.pairwise(columns)]
    xs = [region.box.left, *middles, region.box.right]
    heads = head_spans(rows, columns, rules)
    ys = row_separators(bands_of(lines), region.ys, region.box, xs, heads, rules)
    if (len(ys) - 1) * len(columns) > CELL_LIMIT:
        return None
    places: dict[tuple[int, int], list[Line]] = {}
    spans: dict[tuple[int, int], int] = {}
    for line in lines:
        row = index_between(ys, line.box.centre_y)
        first, last = index_between(xs, line.box.left + 1), index_between(xs, line.box.right - 1)
        if last > first:
            first, last = _covered(columns, line, first, last)
        first, last = heads.get(id(line), (first, last))
        places.setdefault((row, first), []).append(line)
        spans[row, first] = max(spans.get((row, first), 0), last - first + 1)
    return _placed(places, spans, xs, ys)


def _covered(columns: list[tuple[float, float]], line: Line, first: int, last: int) -> tuple[int, int]:
    """The columns a wide cell really covers: a slight overhang into a neighbour does not count."""
    covered = [
        column
        for column in range(first, last + 1)
        if min(columns[column][1], line.box.right) - max(columns[column][0], line.box.left)
        > 0.3 * min(columns[column][1] - columns[column][0], line.box.width)
    ]
    return (covered[0], covered[-1]) if covered else (first, first)


def _placed(
    places: dict[tuple[int, int], list[Line]], spans: dict[tuple[int, int], int], xs: list[float], ys: list[float]
) -> list[GridCell]:
    """One cell for every place; a span stops before the next place of its row that holds text."""
    cells = []
    for row in range(len(ys) - 1):
        column = 0
        while column < len(xs) - 1:
            end = column + 1
            while end < column + spans.get((row, column), 1) and end < len(xs) - 1 and (row, end) not in places:
                end += 1
            cell = GridCell(row, row + 1, column, end, Box(xs[column], ys[row], xs[end], ys[row + 1]))
            _fill(cell, places.get((row, column), []))
            cells.append(cell)
            column = end
    return cells


def _fill(cell: GridCell, lines: Sequence[Line]) -> None:
    rows = rows_of(lines)
    cell.lines = [" ".join(line.text for line in row) for row in rows]
    cell.bold = bool(lines) and all(line.bold for line in lines)


def _without_empty(cells: list[GridCell]) -> TableGrid | None:
    """The grid without rows and columns in which no cell with text begins and ends."""
    filled = [cell for cell in cells if cell.lines]
    rows = _kept([(cell.row, cell.row_end) for cell in filled])
    columns = _kept([(cell.column, cell.column_end) for cell in filled])
    if len(rows) < 2 or len(columns) < 2:
        return None
    row_index = {row: position for position, row in enumerate(rows)}
    column_index = {column: position for position, column in enumerate(columns)}
    kept = []
    for cell in cells:
        own_rows = [row_index[row] for row in range(cell.row, cell.row_end) if row in row_index]
        own_columns = [column_index[column] for column in range(cell.column, cell.column_end) if column in column_index]
        if own_rows and own_columns:
            cell.row, cell.row_end = own_rows[0], own_rows[-1] + 1
            cell.column, cell.column_end = own_columns[0], own_columns[-1] + 1
            kept.append(cell)
    return TableGrid(len(rows), len(columns), kept)


def _kept(ranges: Sequence[tuple[int, int]]) -> list[int]:
    """Rows or columns that cells with text need: their own, and for a span one of those it covers."""
    kept = {start for start, end in ranges if end == start + 1}
    for start, end in sorted(ranges):
        if not kept.intersection(range(start, end)):
            kept.add(start)
    return sorted(kept)


def _mirror(grid: TableGrid) -> None:
    """Counts columns from the right: where text runs from right to left, tables do so too."""
    for cell in grid.cells:
        cell.column, cell.column_end = grid.column_count - cell.column_end, grid.column_count - cell.column
    grid.cells.sort(key=lambda cell: (cell.row, cell.column))


def _header_rows(grid: TableGrid) -> int:
    """How many rows head the columns: those above the amounts, else the leading bold rows, else one."""
    above = _rows_above_amounts(grid)
    if above:
        return above
    bold_rows = []
    for row in range(grid.row_count):
        cells = [cell for cell in grid.cells if cell.row == row and cell.lines]
        bold_rows.append(bool(cells) and all(cell.bold for cell in cells))
    leading = next((row for row, bold in enumerate(bold_rows) if not bold), grid.row_count)
    if 0 < leading <= min(4, grid.row_count - 1):
        return leading
    spanning = any(cell.row == 0 and cell.column_end - cell.column > 1 and cell.lines for cell in grid.cells)
    return 2 if spanning and grid.row_count > 3 and leading == 0 else 1


def _rows_above_amounts(grid: TableGrid) -> int:
    """Leading rows with heads and without amounts, in a table that has amounts; years are heads.

    Only one of them, which heads the first column too, has text there. 0 where that does not apply.
    """
    count, labelled = 0, False
    for row in range(grid.row_count):
        texts = [
            (cell.column, " ".join(cell.lines)) for cell in grid.cells if cell.row <= row < cell.row_end and cell.lines
        ]
        heads = [text for column, text in texts if column > 0]
        label = any(column == 0 for column, _ in texts)
        if not heads or (label and labelled) or any(_is_amount(text) for text in heads):
            break
        count, labelled = count + 1, labelled or label
    amounts = any(_is_amount(" ".join(cell.lines)) for cell in grid.cells if cell.row >= count and cell.column > 0)
    return count if count <= MOST_HEADER_ROWS and amounts else 0


def _is_amount(text: str) -> bool:
    return is_numeric_cell(text) and not is_year(text)
