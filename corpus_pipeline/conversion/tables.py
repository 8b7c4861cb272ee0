"""Tables: cells to a block."""

from __future__ import annotations

from collections.abc import Sequence

from corpus_pipeline.conversion.inline_text import collapse
from corpus_pipeline.records import Block, BlockKind, TableData

__all__ = ["html_table_rows", "table_block"]

CELL_SEPARATOR = " | "


def table_block(
    rows: Sequence[Sequence[str]],
    *,
    header_rows: int = 0,
    caption: str = "",
    page: int | None = None,
    bbox: tuple[float, float, float, float] | None = None,
    links: tuple[str, ...] = (),
    spans: Sequence[tuple[int, int, int, int]] = (),
) -> Block | None:
    """A table block with rows padded to equal length; ``None`` when no cell has text.

    Args:
        rows: Cells, header rows first, spans repeated.
        header_rows: How many leading rows are header.
        caption: Kept with the table; the caption's own block is made elsewhere.
        page: 1-based.
        bbox: Points from the page's top left.
        links: Targets of links in the cells.
        spans: ``(row, column, row count, column count)`` of cells that cover several places.
    """
    width = max((len(row) for row in rows), default=0)
    cells = [tuple(collapse(cell) for cell in row) + ("",) * (width - len(row)) for row in rows]
    numbers = [number for number, row in enumerate(cells) if any(row)]
    kept = [cells[number] for number in numbers]
    if not kept:
        return None
    header = sum(1 for row in cells[:header_rows] if any(row))
    lines = [CELL_SEPARATOR.join(row) for row in kept]
    return Block(
        kind=BlockKind.TABLE,
        text="\n".join(lines),
        page=page,
        bbox=bbox,
        links=links,
        table=TableData(rows=tuple(kept), header_rows=header, caption=caption, spans=_kept_spans(spans, numbers)),
    )


def _kept_spans(
    spans: Sequence[tuple[int, int, int, int]], numbers: Sequence[int]
) -> tuple[tuple[int, int, int, int], ...]:
    """Spans counted in the rows that are kept; ``numbers`` are those rows' former numbers."""
    moved = []
    for top, left, height, width in spans:
        covered = [new for new, old in enumerate(numbers) if top <= old < top + height]
        if len(covered) > 1 or (covered and width > 1):
            moved.append((covered[0], left, len(covered), width))
    return tuple(sorted(moved))


def html_table_rows(html: str) -> tuple[list[list[str]], int]:
    """Rows of the first HTML table with spans repeated, and how many of them are header.

    A leading row counts as header when it lies in ``thead`` or has only ``th`` cells.
    """
    from lxml import html as parser

    root = parser.fromstring(html)
    grid: dict[tuple[int, int], str] = {}
    header = 0
    rows = list(root.iter("tr"))
    for y, row in enumerate(rows):
        cells = [cell for cell in row if cell.tag in {"td", "th"}]
        x = 0
        for cell in cells:
            while (y, x) in grid:
                x += 1
            _fill(grid, y, x, cell, len(rows))
            x += _span(cell.get("colspan"))
        in_head = row.getparent() is not None and row.getparent().tag == "thead"
        if header == y and cells and (in_head or all(cell.tag == "th" for cell in cells)):
            header += 1
    width = max((x for _, x in grid), default=-1) + 1
    return [[grid.get((y, x), "") for x in range(width)] for y in range(len(rows))], header


def _fill(grid: dict[tuple[int, int], str], y: int, x: int, cell: object, height: int) -> None:
    text = " ".join(cell.itertext())  # type: ignore[attr-defined]  # lxml ships no types
    down = min(_span(cell.get("rowspan")), height - y)  # type: ignore[attr-defined]  # lxml ships no types
    for row in range(y, y + down):
        for column in range(x, x + _span(cell.get("colspan"))):  # type: ignore[attr-defined]  # lxml ships no types
            grid[(row, column)] = text


def _span(value: str | None) -> int:
    most = 1000  # as browsers do
    return min(max(int(value), 1), most) if value and value.strip().isdigit() else 1
