"""Where tables stand on a page: ruled grids, stacks of rules, and aligned rows without any rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median

from corpus_pipeline.conversion.pdf.columns import Gutter, find_gutter, is_prose, reads_as_prose
from corpus_pipeline.conversion.pdf.geometry import Box, bounding_box, cluster_centres, index_between
from corpus_pipeline.conversion.pdf.lines import Line, rows_of
from corpus_pipeline.conversion.pdf.patterns import has_leader, is_marker_only, is_numeric_cell
from corpus_pipeline.conversion.pdf.rules import PageRules, Rule
from corpus_pipeline.conversion.pdf.table_columns import column_intervals

__all__ = ["TableRegion", "find_tables"]

LATTICE_LIMIT = 1_500
"""More shapes than this in one place are a drawing."""
LINE_TOLERANCE = 3.0
ROW_GAP = 2.6
WIDEST_ROW_GAP = 4.5
"""White space between rows of a table in line heights: any rows, and rows that fill the same columns."""


@dataclass(slots=True)
class TableRegion:
    """A table before its cells are known.

    Attributes:
        grid: Whether vertical rules part its columns; ``xs`` and ``ys`` are then the grid lines.
        ys: Horizontal rules that part rows, ascending.
    """

    box: Box
    rules: PageRules = field(default_factory=PageRules)
    grid: bool = False
    xs: list[float] = field(default_factory=list)
    ys: list[float] = field(default_factory=list)


def find_tables(lines: Sequence[Line], rules: PageRules, width: float, height: float) -> list[TableRegion]:
    """Finds the tables of a page.

    On a page with two columns of running text each column is searched by itself, so that
    neither passes for a column of a table.
    """
    grids = [region for region in _ruled_regions(lines, rules, width, height) if region.grid]
    lines = _free(lines, grids)
    rules = _without(rules, [region.rules for region in grids])
    gutter = find_gutter(lines, width, height)
    if gutter is None:
        return _without_overlaps(grids + _tables_of(lines, rules, width, height))
    band = _band(gutter, lines, rules, height)
    inside = [line for line in lines if band.top <= line.box.centre_y <= band.bottom]
    left = [line for line in inside if line.box.right <= gutter.x + LINE_TOLERANCE]
    right = [line for line in inside if line.box.left >= gutter.x - LINE_TOLERANCE and line not in left]
    outside = [line for line in lines if not band.top <= line.box.centre_y <= band.bottom]
    left_rules = rules.within(Box(0, band.top, gutter.x, band.bottom))
    right_rules = rules.within(Box(gutter.x, band.top, width, band.bottom))
    tables = grids + _tables_of(outside, _without(rules, [left_rules, right_rules]), width, height)
    tables += _tables_of(_free(left, tables), left_rules, width / 2, height)
    tables += _tables_of(_free(right, tables), right_rules, width / 2, height)
    return _without_overlaps(tables)


def _free(lines: Sequence[Line], tables: Sequence[TableRegion]) -> list[Line]:
    """Lines that stand in none of the tables."""
    return [line for line in lines if not any(table.box.holds_centre_of(line.box) for table in tables)]


def _without(rules: PageRules, parts: Sequence[PageRules]) -> PageRules:
    """The lines and areas that belong to none of the parts."""
    taken = {id(shape) for part in parts for shape in _members(part)}
    return PageRules(
        [rule for rule in rules.horizontal if id(rule) not in taken],
        [rule for rule in rules.vertical if id(rule) not in taken],
        [fill for fill in rules.fills if id(fill) not in taken],
    )


def _members(rules: PageRules) -> list[Rule | Box]:
    return [*rules.horizontal, *rules.vertical, *rules.fills]


def _band(gutter: Gutter, lines: Sequence[Line], rules: PageRules, height: float) -> Box:
    """The strip of the page in which two columns run, up to whatever crosses the gutter."""
    x = gutter.x
    crossings = [line.box.centre_y for line in lines if line.box.left < x - 3 and line.box.right > x + 3]
    crossings += [rule.position for rule in rules.horizontal if rule.start < x - 6 and rule.end > x + 6]
    crossings += [
        edge for fill in rules.fills if fill.left < x - 6 and fill.right > x + 6 for edge in (fill.top, fill.bottom)
    ]
    above = [y for y in crossings if y < gutter.top]
    below = [y for y in crossings if y > gutter.bottom]
    return Box(0, max(above) + 1 if above else 0.0, x, min(below) - 1 if below else height)


def _tables_of(lines: Sequence[Line], rules: PageRules, width: float, height: float) -> list[TableRegion]:
    tables = _without_overlaps(_ruled_regions(lines, rules, width, height))
    tables += _rule_stacks(lines, rules, tables, width, height)
    tables += _open_tables(_free(lines, tables), width)
    tables = _joined_parts(_without_overlaps(tables), lines)
    for table in tables:
        _take_header_above(table, lines, tables, width)
    return _without_overlaps(tables)


def _joined_parts(tables: list[TableRegion], lines: Sequence[Line]) -> list[TableRegion]:
    """Joins tables of one width that stand right below one another: a head and its body."""
    joined: list[TableRegion] = []
    for table in tables:
        above = joined[-1] if joined else None
        if above is None or above.grid or table.grid or not _is_part_below(above.box, table.box, lines):
            joined.append(table)
            continue
        above.box = bounding_box([above.box, table.box])
        above.ys = sorted({*above.ys, *table.ys})
        above.rules = PageRules(
            above.rules.horizontal + table.rules.horizontal,
            above.rules.vertical + table.rules.vertical,
            above.rules.fills + table.rules.fills,
        )
    return joined


def _is_part_below(above: Box, below: Box, lines: Sequence[Line]) -> bool:
    height = median(line.box.height for line in lines)
    return (
        -2 <= below.top - above.bottom < 0.75 * height
        and abs(above.right - below.right) <= 8
        and (abs(above.left - below.left) <= 8 or above.left > below.left)
    )


def _ruled_regions(lines: Sequence[Line], rules: PageRules, width: float, height: float) -> list[TableRegion]:
    """Connected rules and areas that hold text in at least two rows and two columns."""
    found = []
    for part in _connected(rules):
        box = bounding_box(part.shapes())
        if box.width < 60 or box.height < 16:
            continue
        inside = [line for line in lines if box.holds_centre_of(line.box)]
        if len(inside) < 4 or (sum(line.monospaced for line in inside) > 0.7 * len(inside) and not part.vertical):
            continue
        edges_x = [rule.position for rule in part.vertical if rule.length >= 7]
        edges_x += [edge for fill in part.fills for edge in (fill.left, fill.right)]
        edges_y = [rule.position for rule in part.horizontal if rule.length >= 12]
        edges_y += [edge for fill in part.fills for edge in (fill.top, fill.bottom)]
        region = TableRegion(
            box, part, xs=cluster_centres(edges_x, LINE_TOLERANCE), ys=cluster_centres(edges_y, LINE_TOLERANCE)
        )
        if _is_grid(region, inside, height):
            region.grid = True
            found.append(region)
        elif _is_banded(region, inside, width):
            found.append(region)
    return found


def _connected(rules: PageRules) -> list[PageRules]:
    """Groups of shapes that touch one another."""
    shapes: list[tuple[Box, Rule | Box, int]] = [
        (Box(rule.start, rule.position, rule.end, rule.position), rule, 0) for rule in rules.horizontal
    ]
    shapes += [(Box(rule.position, rule.start, rule.position, rule.end), rule, 1) for rule in rules.vertical]
    shapes += [(fill, fill, 2) for fill in rules.fills]
    if len(shapes) > LATTICE_LIMIT:
        return []
    shapes.sort(key=lambda shape: shape[0].top)
    parents = list(range(len(shapes)))

    def root(member: int) -> int:
        while parents[member] != member:
            parents[member] = parents[parents[member]]
            member = parents[member]
        return member

    for first, (box, _, _) in enumerate(shapes):
        for second in range(first + 1, len(shapes)):
            other = shapes[second][0]
            if other.top > box.bottom + LINE_TOLERANCE:
                break
            if box.overlap_x(other) >= -LINE_TOLERANCE:
                parents[root(second)] = root(first)
    groups: dict[int, PageRules] = {}
    for member, (_, shape, kind) in enumerate(shapes):
        group = groups.setdefault(root(member), PageRules())
        (group.horizontal, group.vertical, group.fills)[kind].append(shape)  # type: ignore[arg-type]
    return list(groups.values())


def _is_grid(region: TableRegion, inside: list[Line], height: float) -> bool:
    if len(region.xs) < 3 or len(region.ys) < 3 or region.box.height > 0.97 * height:
        return False
    if not region.rules.vertical and not _is_tiled(region):
        return False
    cells = {
        (index_between(region.ys, line.box.centre_y), index_between(region.xs, line.box.centre_x)) for line in inside
    }
    return len(cells) >= 4 and len({row for row, _ in cells}) >= 2 and len({column for _, column in cells}) >= 2


def _is_tiled(region: TableRegion) -> bool:
    """Whether areas side by side, one for each cell, fill the region."""
    fills = region.rules.fills
    return len(fills) >= 4 and sum(fill.area for fill in fills) >= 0.85 * region.box.area


def _is_banded(region: TableRegion, inside: list[Line], width: float) -> bool:
    """Whether rows between rules or on shaded bands have text in several columns."""
    if len(region.ys) < 3 and len(region.rules.fills) < 2:
        return False
    rows = rows_of(inside)
    parted = [row for row in rows if len(row) >= 2]
    return (
        len(parted) >= max(2, 0.4 * len(rows))
        and len(column_intervals(rows)) >= 2
        and not reads_as_prose(parted, width)
    )


def _rule_stacks(
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


def _open_tables(lines: Sequence[Line], width: float) -> list[TableRegion]:
    """Runs of rows whose cells line up, without any rule."""
    rows = rows_of(lines)
    regions = []
    position = 0
    while position < len(rows):
        if not _is_cell_row(rows[position], width):
            position += 1
            continue
        last = _run_end(rows, position, lambda row: _is_cell_row(row, width))
        run = rows[position : last + 1]
        if _lines_up(run, width):
            regions.append(TableRegion(bounding_box(line.box for row in run for line in row).grown(1)))
        position = last + 1
    return regions


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
    follows = position + 1 < len(rows) and is_cell_row(rows[position + 1])
    return follows and row[0].word_count <= 8 and _fits(rows[position + 1], columns)


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
            if left - 2 <= line.box.left
            and (position + 1 == len(columns) or line.box.right < columns[position + 1][0])
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


def _take_header_above(table: TableRegion, lines: Sequence[Line], tables: list[TableRegion], width: float) -> None:
    """Grows a table without vertical rules upwards over the rows that head its columns."""
    if table.grid:
        return
    inside = [line for line in lines if table.box.holds_centre_of(line.box)]
    columns = column_intervals(rows_of(inside))
    if len(columns) < 2:
        return
    height = median(line.box.height for line in inside)
    for _ in range(5):
        row = _row_above(table, lines, tables, height)
        heads = len(row) >= 2 and not reads_as_prose([row], width) and all(line.word_count <= 8 for line in row)
        beyond_stub = len(row) == 1 and row[0].box.left > columns[0][1] - 2 and row[0].word_count <= 6
        if not heads and not beyond_stub:
            return
        table.box = Box(table.box.left, min(line.box.top for line in row) - 1, table.box.right, table.box.bottom)


def _row_above(table: TableRegion, lines: Sequence[Line], tables: list[TableRegion], height: float) -> list[Line]:
    """The row right above a table and within its width; empty where there is none."""
    box = table.box
    near = [
        line
        for line in lines
        if line.box.bottom <= box.top + 2
        and box.top - line.box.bottom < 1.1 * height
        and line.box.left >= box.left - 6
        and line.box.right <= box.right + 6
        and not any(other is not table and other.box.holds_centre_of(line.box) for other in tables)
    ]
    if not near:
        return []
    y = max(line.box.centre_y for line in near)
    row = [line for line in near if abs(line.box.centre_y - y) < 0.6 * height]
    stray = any(
        line not in row and abs(line.box.centre_y - y) < 0.6 * height and box.grown(6).overlap_x(line.box) >= 0
        for line in lines
    )
    return [] if stray else sorted(row, key=lambda line: line.box.left)


def _without_overlaps(tables: list[TableRegion]) -> list[TableRegion]:
    """Of tables that cover one another only the largest."""
    kept: list[TableRegion] = []
    for table in sorted(tables, key=lambda table: -table.box.area):
        if all(table.box.intersection_area(other.box) <= 0.3 * min(table.box.area, other.box.area) for other in kept):
            kept.append(table)
    return sorted(kept, key=lambda table: (table.box.top, table.box.left))
