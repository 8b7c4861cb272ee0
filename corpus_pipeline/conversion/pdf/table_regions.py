"""Where tables stand on a page: ruled grids, stacks of rules, and aligned rows without any rule."""

from __future__ import annotations

import re
from collections.abc import Sequence
from statistics import median

from corpus_pipeline.conversion.pdf.columns import Gutter, find_gutter, reads_as_prose
from corpus_pipeline.conversion.pdf.geometry import Box, bounding_box, cluster_centres, index_between, merge_intervals
from corpus_pipeline.conversion.pdf.lines import Line, rows_of
from corpus_pipeline.conversion.pdf.open_tables import open_tables
from corpus_pipeline.conversion.pdf.patterns import is_numeric_cell
from corpus_pipeline.conversion.pdf.rule_stacks import rule_stacks
from corpus_pipeline.conversion.pdf.rules import PageRules, Rule
from corpus_pipeline.conversion.pdf.table_columns import column_intervals
from corpus_pipeline.conversion.pdf.table_region import TableRegion

__all__ = ["find_tables"]

LATTICE_LIMIT = 1_500
"""More shapes than this in one place are a drawing."""
LINE_TOLERANCE = 3.0
CELL_SPACING = 15.0
"""White space between shaded cells of one row is at most this wide."""
LEAST_FILLED = 0.08
"""Share of a grid's places that hold text; a drawing with labels has fewer."""
LEAST_COVER = 0.4
FULL_COVER = 0.55
"""Share of a grid's height and width that its lines run through on average: of any, and of a nearly empty one."""
MOST_INNER_ROWS = 2
SHORT_LABEL = 8
WRAPPED_LABEL = 12
"""Words of a label inside a table, and of one that goes on beside the amounts right below."""
MOST_HEAD_ROWS = 5
CENTRED = 0.5
"""The middles of two lines of one centred head differ by at most this many sizes."""
UNIT = re.compile(r"^\(.{3,60}\)$")


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
    tables += rule_stacks(lines, rules, tables, width, height)
    tables += open_tables(_free(lines, tables), width)
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
    between = rows_of(
        line
        for line in lines
        if above.bottom - 1 <= line.box.centre_y <= below.top + 1 and line.box.overlap_x(below) > 0
    )
    gap = below.top - above.bottom
    headless = above.left > below.left + 0.15 * below.width
    if not between and headless:
        return -2 <= gap < 1.8 * height and above.right <= below.right + 8
    inner = all(len(row) == 1 and _is_inner_row(row[0], above, below, height) for row in between)
    most = 1.0 + 1.5 * len(between) if between and inner and len(between) <= MOST_INNER_ROWS else 0.75
    return -2 <= gap < most * height and above.right <= below.right + 8 and above.left >= below.left - 8


def _is_inner_row(line: Line, above: Box, below: Box, height: float) -> bool:
    """Whether a text by itself can stand inside a table: a unit in brackets under the heads, or a label in the stub."""
    if UNIT.match(line.text) and above.left <= line.box.centre_x <= above.right:
        return True
    most = WRAPPED_LABEL if below.top - line.box.bottom < 0.5 * height else SHORT_LABEL
    return line.word_count <= most and abs(line.box.left - below.left) < 2 * height


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
        if _is_grid(region, inside, width, height):
            region.grid = not _is_statement(region, inside)
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
            if box.overlap_x(other) >= -LINE_TOLERANCE or _in_one_row(box, other):
                parents[root(second)] = root(first)
    groups: dict[int, PageRules] = {}
    for member, (_, shape, kind) in enumerate(shapes):
        group = groups.setdefault(root(member), PageRules())
        (group.horizontal, group.vertical, group.fills)[kind].append(shape)  # type: ignore[arg-type]
    return list(groups.values())


def _in_one_row(box: Box, other: Box) -> bool:
    """Whether two areas are shaded cells of one row, with a strip of white between them."""
    return (
        min(box.height, other.height) > LINE_TOLERANCE
        and abs(box.top - other.top) < 1.5
        and abs(box.bottom - other.bottom) < 1.5
        and box.overlap_x(other) >= -CELL_SPACING
    )


def _is_statement(region: TableRegion, inside: list[Line]) -> bool:
    """Whether amounts stand on shaded cells that no vertical rule parts, as in financial statements.

    The shades of such tables part a currency sign from its amount; white space tells their columns better.
    """
    verticals = [(rule.position, rule.start, rule.end) for rule in region.rules.vertical]
    numeric = sum(is_numeric_cell(line.text) for line in inside)
    return numeric >= 0.35 * len(inside) and _mean_cover(region.xs, verticals, region.box.height) < LEAST_COVER


def _is_grid(region: TableRegion, inside: list[Line], width: float, height: float) -> bool:
    if region.box.width > 0.97 * width or len(region.xs) < 3 or len(region.ys) < 3 or region.box.height > 0.97 * height:
        return False
    if not region.rules.vertical and not _is_tiled(region):
        return False
    cover = _cover(region)
    if cover < LEAST_COVER:
        return False
    cells = {
        (index_between(region.ys, line.box.centre_y), index_between(region.xs, line.box.centre_x)) for line in inside
    }
    filled = len(cells) / ((len(region.xs) - 1) * (len(region.ys) - 1))
    rows, columns = {row for row, _ in cells}, {column for _, column in cells}
    return len(cells) >= 4 and len(rows) >= 2 and len(columns) >= 2 and (filled >= LEAST_FILLED or cover >= FULL_COVER)


def _cover(region: TableRegion) -> float:
    """Share of the region's height and width that its grid lines run through on average, the lesser of both."""
    box, rules = region.box, region.rules
    sides = [(x, fill.top, fill.bottom) for fill in rules.fills for x in (fill.left, fill.right)]
    sides += [(rule.position, rule.start, rule.end) for rule in rules.vertical]
    edges = [(y, fill.left, fill.right) for fill in rules.fills for y in (fill.top, fill.bottom)]
    edges += [(rule.position, rule.start, rule.end) for rule in rules.horizontal]
    return min(_mean_cover(region.xs, sides, box.height), _mean_cover(region.ys, edges, box.width))


def _mean_cover(positions: Sequence[float], strokes: Sequence[tuple[float, float, float]], length: float) -> float:
    """Mean share of ``length`` that strokes at each position cover."""
    covered = 0.0
    for position in positions:
        pieces = merge_intervals(
            ((start, end) for at, start, end in strokes if abs(at - position) <= LINE_TOLERANCE + 0.5), 1.0
        )
        covered += sum(end - start for start, end in pieces)
    return covered / length / len(positions)


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


def _take_header_above(table: TableRegion, lines: Sequence[Line], tables: list[TableRegion], width: float) -> None:
    """Grows a table without vertical rules upwards over the rows that head its columns."""
    if table.grid:
        return
    inside = [line for line in lines if table.box.holds_centre_of(line.box)]
    columns = column_intervals(rows_of(inside))
    if len(columns) < 2:
        return
    height = median(line.box.height for line in inside)
    stub_end = (columns[0][1] + columns[1][0]) / 2
    taken: Line | None = None
    for _ in range(MOST_HEAD_ROWS):
        row = _row_above(table, lines, tables, height)
        heads = len(row) >= 2 and not reads_as_prose([row], width) and all(line.word_count <= 8 for line in row)
        beyond_stub = len(row) == 1 and row[0].box.left > stub_end and row[0].word_count <= 6
        if not heads and not beyond_stub and not _goes_on_below(row, taken, stub_end):
            return
        taken = row[0] if len(row) == 1 else None
        table.box = Box(table.box.left, min(line.box.top for line in row) - 1, table.box.right, table.box.bottom)


def _goes_on_below(row: Sequence[Line], below: Line | None, stub_end: float) -> bool:
    """Whether a text over the columns goes on in the text right below it, centred like it."""
    if len(row) != 1 or below is None or row[0].box.left < stub_end:
        return False
    line = row[0]
    near = below.box.top - line.box.bottom < 0.35 * line.box.height
    return near and line.bold == below.bold and abs(line.box.centre_x - below.box.centre_x) < CENTRED * line.size


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
