"""Tables: cells to a block.

One convention for every format: the cells of :class:`~corpus_pipeline.records.TableData` repeat
the text of a cell in all places it covers, so that each row can be read alone; the text of the
block holds it once, at its first place, so that nothing is counted twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from corpus_pipeline.conversion.inline_text import collapse
from corpus_pipeline.records import Block, BlockKind, TableData

__all__ = ["Span", "dropped_tables", "html_table_rows", "table_block", "table_text"]

CELL_SEPARATOR = " | "
Span = tuple[int, int, int, int]
"""``(row, column, row count, column count)`` of a cell that covers several places."""


def table_block(
    rows: Sequence[Sequence[str]],
    *,
    header_rows: int = 0,
    caption: str = "",
    page: int | None = None,
    bbox: tuple[float, float, float, float] | None = None,
    links: tuple[str, ...] = (),
    spans: Sequence[Span] = (),
) -> Block | None:
    """A table block with rows padded to equal length; ``None`` when no cell has text.

    Args:
        rows: Cells, header rows first, spans repeated.
        header_rows: How many leading rows are header.
        caption: Kept with the table; the caption's own block is made elsewhere.
        page: 1-based.
        bbox: Points from the page's top left.
        links: Targets of links in the cells.
        spans: Cells that cover several places.
    """
    width = max((len(row) for row in rows), default=0)
    cells = [tuple(collapse(cell) for cell in row) + ("",) * (width - len(row)) for row in rows]
    numbers = [number for number, row in enumerate(cells) if any(row)]
    kept = [cells[number] for number in numbers]
    if not kept:
        return None
    header = sum(1 for row in cells[:header_rows] if any(row))
    moved = _kept_spans(spans, numbers)
    return Block(
        kind=BlockKind.TABLE,
        text=table_text(kept, moved),
        page=page,
        bbox=bbox,
        links=links,
        table=TableData(rows=tuple(kept), header_rows=header, caption=caption, spans=moved),
    )


def table_text(rows: Sequence[Sequence[str]], spans: Sequence[Span]) -> str:
    r"""One line a row; a cell that covers several places is written at the first of them.

    >>> table_text([["Price", "Price"], ["net", "gross"]], [(0, 0, 1, 2)])
    'Price |\\nnet | gross'
    """
    repeated = {
        (row, column)
        for top, left, height, width in spans
        for row in range(top, top + height)
        for column in range(left, left + width)
        if (row, column) != (top, left)
    }
    return "\n".join(
        CELL_SEPARATOR.join("" if (y, x) in repeated else cell for x, cell in enumerate(row)).rstrip()
        for y, row in enumerate(rows)
    )


def dropped_tables(found: int, kept: int) -> dict[str, str]:
    """The property of a document that says how many tables a converter saw and did not keep; empty when none.

    >>> dropped_tables(3, 2), dropped_tables(2, 2)
    ({'tables_dropped': '1'}, {})
    """
    return {"tables_dropped": str(found - kept)} if found > kept else {}


def _kept_spans(spans: Sequence[Span], numbers: Sequence[int]) -> tuple[Span, ...]:
    """Spans counted in the rows that are kept; ``numbers`` are those rows' former numbers."""
    moved = []
    for top, left, height, width in spans:
        covered = [new for new, old in enumerate(numbers) if top <= old < top + height]
        if len(covered) > 1 or (covered and width > 1):
            moved.append((covered[0], left, len(covered), width))
    return tuple(sorted(moved))


def html_table_rows(html: str) -> tuple[list[list[str]], int, list[Span]]:
    """Rows of the first HTML table with spans repeated, how many of them are header, and the spans.

    A leading row counts as header when it lies in ``thead`` or has only ``th`` cells.
    """
    from lxml import html as parser

    root = parser.fromstring(html)
    grid: dict[tuple[int, int], str] = {}
    spans: list[Span] = []
    header = 0
    rows = list(root.iter("tr"))
    for y, row in enumerate(rows):
        cells = [cell for cell in row if cell.tag in {"td", "th"}]
        x = 0
        for cell in cells:
            while (y, x) in grid:
                x += 1
            height, width = _fill(grid, y, x, cell, len(rows))
            if height > 1 or width > 1:
                spans.append((y, x, height, width))
            x += width
        in_head = row.getparent() is not None and row.getparent().tag == "thead"
        if header == y and cells and (in_head or all(cell.tag == "th" for cell in cells)):
            header += 1
    width = max((x for _, x in grid), default=-1) + 1
    return [[grid.get((y, x), "") for x in range(width)] for y in range(len(rows))], header, spans


def _fill(grid: dict[tuple[int, int], str], y: int, x: int, cell: Any, height: int) -> tuple[int, int]:
    """Writes a cell into all places it covers; their height and width."""
    text = " ".join(cell.itertext())
    down, across = min(_span(cell.get("rowspan")), height - y), _span(cell.get("colspan"))
    for row in range(y, y + down):
        for column in range(x, x + across):
            grid[(row, column)] = text
    return down, across


def _span(value: str | None) -> int:
    most = 1000  # as browsers do
    return min(max(int(value), 1), most) if value and value.strip().isdigit() else 1
