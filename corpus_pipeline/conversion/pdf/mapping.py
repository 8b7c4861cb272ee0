"""From a docling document to our records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from docling_core.types.doc import (
    CodeItem,
    DocItemLabel,
    DoclingDocument,
    ListItem,
    PictureItem,
    SectionHeaderItem,
    TableItem,
    TextItem,
)

from corpus_pipeline.records import Block, BlockKind, TableData

__all__ = ["blocks_of"]

DEEPEST_HEADING = 6
KINDS = {
    DocItemLabel.CAPTION: BlockKind.CAPTION,
    DocItemLabel.FOOTNOTE: BlockKind.FOOTNOTE,
    DocItemLabel.FORMULA: BlockKind.FORMULA,
}
LIST_INDENT = 6.0
"""List items whose left sides differ by more points are at different depths."""


def blocks_of(document: DoclingDocument) -> list[Block]:
    """Blocks in reading order, page headers and footers left out."""
    levels = _heading_levels(document)
    depths = _ListDepths()
    blocks: list[Block] = []
    for item in _items(document):
        block = _block(item, document, levels, depths)
        if block is not None:
            blocks.append(block)
    return blocks


def _items(document: DoclingDocument) -> Iterator[Any]:
    """Items of the body; the captions of tables and pictures come before them, their footnotes after."""
    attached = {
        reference.cref
        for item in [*document.tables, *document.pictures]
        for reference in [*item.captions, *item.footnotes]
    }
    for item, _ in document.iterate_items(traverse_pictures=True):
        if item.self_ref in attached:
            continue
        if isinstance(item, TableItem | PictureItem):
            yield from (reference.resolve(document) for reference in item.captions)
            yield item
            yield from (reference.resolve(document) for reference in item.footnotes)
        else:
            yield item


def _block(item: Any, document: DoclingDocument, levels: dict[str, int], depths: _ListDepths) -> Block | None:
    place = _place(item, document)
    if isinstance(item, ListItem):
        marker = item.marker if item.enumerated else "-"
        return Block(kind=BlockKind.LIST_ITEM, text=f"{marker} {item.text}", level=depths.depth(place), **place)
    depths.leave()
    if isinstance(item, SectionHeaderItem):
        level = levels[item.self_ref]
        kind = BlockKind.TITLE if level == 0 else BlockKind.HEADING
        return Block(kind=kind, text=item.text, level=max(1, level), **place)
    if isinstance(item, TableItem):
        return _table_block(item, document, place)
    if isinstance(item, CodeItem):
        return Block(kind=BlockKind.CODE, text=item.text, **place)
    if isinstance(item, TextItem):
        kind = KINDS.get(item.label, BlockKind.PARAGRAPH)
        links = (str(item.hyperlink),) if item.hyperlink else ()
        return Block(kind=kind, text=item.text or item.orig, links=links, **place)
    return None


def _place(item: Any, document: DoclingDocument) -> dict[str, Any]:
    """Page and box of an item that may run over several pages: where it begins."""
    if not item.prov:
        return {}
    provenance = item.prov[0]
    box = provenance.bbox.to_top_left_origin(document.pages[provenance.page_no].size.height)
    return {
        "page": provenance.page_no,
        "bbox": (round(box.l, 2), round(box.t, 2), round(box.r, 2), round(box.b, 2)),
    }


class _ListDepths:
    """Nesting depth of list items by their indents, for lists that follow one another."""

    def __init__(self) -> None:
        self._indents: list[float] = []

    def leave(self) -> None:
        """Whatever stands between two lists ends the first."""
        self._indents = []

    def depth(self, place: dict[str, Any]) -> int:
        """Depth from 1 of an item, given where it stands."""
        left = place["bbox"][0] if place else 0.0
        while self._indents and left < self._indents[-1] - LIST_INDENT:
            self._indents.pop()
        if not self._indents or left > self._indents[-1] + LIST_INDENT:
            self._indents.append(left)
        return len(self._indents)


def _heading_levels(document: DoclingDocument) -> dict[str, int]:
    """Level of each heading; 0 marks the title.

    A heading that opens the document and is the only one of its level is the title; where
    other headings would share level 1 with it they move down one.
    """
    headings = [item for item in document.texts if isinstance(item, SectionHeaderItem)]
    levels = {item.self_ref: min(max(1, item.level), DEEPEST_HEADING) for item in headings}
    if len(headings) < 2:
        return levels
    first = headings[0].self_ref
    others = [level for reference, level in levels.items() if reference != first]
    if headings[0].prov and headings[0].prov[0].page_no == 1 and levels[first] < min(others):
        levels[first] = 0
    return levels


def _table_block(item: TableItem, document: DoclingDocument, place: dict[str, Any]) -> Block | None:
    data = item.data
    if not data.table_cells:
        return None
    rows = [["" for _ in range(data.num_cols)] for _ in range(data.num_rows)]
    shown = [["" for _ in range(data.num_cols)] for _ in range(data.num_rows)]
    for cell in data.table_cells:
        text = " ".join(cell.text.split())
        shown[cell.start_row_offset_idx][cell.start_col_offset_idx] = text
        for row in range(cell.start_row_offset_idx, cell.end_row_offset_idx):
            for column in range(cell.start_col_offset_idx, cell.end_col_offset_idx):
                rows[row][column] = text
    header_rows = len({cell.start_row_offset_idx for cell in data.table_cells if cell.column_header})
    caption = " ".join(reference.resolve(document).text for reference in item.captions)
    spans = tuple(
        (cell.start_row_offset_idx, cell.start_col_offset_idx, cell.row_span, cell.col_span)
        for cell in data.table_cells
        if cell.row_span > 1 or cell.col_span > 1
    )
    table = TableData(rows=tuple(tuple(row) for row in rows), header_rows=header_rows, caption=caption, spans=spans)
    return Block(kind=BlockKind.TABLE, text="\n".join(" | ".join(row).rstrip() for row in shown), table=table, **place)
