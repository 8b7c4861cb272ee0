"""docling's document tree to blocks in reading order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from corpus_pipeline.conversion.embedded_images import image_marks
from corpus_pipeline.conversion.inline_text import collapse, join_runs, list_marker
from corpus_pipeline.conversion.tables import table_block
from corpus_pipeline.records import Block, BlockKind

__all__ = ["LAYERS", "document_blocks"]

LAYERS = frozenset({"body", "notes"})
_TEXT_KINDS = {
    "caption": BlockKind.CAPTION,
    "footnote": BlockKind.FOOTNOTE,
    "formula": BlockKind.FORMULA,
    "code": BlockKind.CODE,
}
_FURNITURE = frozenset({"page_header", "page_footer"})
MAX_LEVEL = 6


def document_blocks(
    document: Any, *, shifted: bool = False, units_per_point: float | None = None, mark_images: bool = False
) -> list[Block]:
    """Blocks of a ``DoclingDocument``: its body and notes, without page furniture.

    Args:
        document: The document.
        shifted: Heading level 1 of this document is the second level below the title.
        units_per_point: Scale of the document's boxes; ``None`` when it has no pages, only sheets or nothing.
        mark_images: Whether blocks carry marks of their pictures among their links, for :func:`take_images`.
    """
    shift = 1 if shifted or _has_single_title(document) else 0
    walk = _Walk(document, shift=shift, units_per_point=units_per_point, mark_images=mark_images)
    for item in (*document.tables, *document.pictures):
        walk.seen.update(reference.cref for reference in item.captions)
    return [*walk.children(document.body, depth=0), *walk.notes()]


def _has_single_title(document: Any) -> bool:
    return sum(1 for item in document.texts if item.label.value == "title") == 1


@dataclass
class _Walk:
    document: Any
    shift: int
    units_per_point: float | None
    mark_images: bool = False
    seen: set[str] = field(default_factory=set)
    titled: bool = False
    counts: dict[str, int] = field(default_factory=dict)

    def children(self, node: Any, depth: int) -> Iterator[Block]:
        for reference in node.children:
            if reference.cref in self.seen:
                continue
            self.seen.add(reference.cref)
            yield from self.node(reference.resolve(self.document), depth)

    def notes(self) -> Iterator[Block]:
        """Footnotes and endnotes that docling keeps apart from the body."""
        for item in self.document.texts:
            apart = item.content_layer.value == "furniture" and item.label.value == "footnote"
            if apart and item.text.strip():
                yield Block(kind=BlockKind.FOOTNOTE, text=_lines(item.text), links=_links(item), **self.place(item))

    def node(self, item: Any, depth: int) -> Iterator[Block]:
        if item.content_layer.value not in LAYERS:
            return
        label = item.label.value
        if label == "inline":
            yield from self.inline(item, depth)
        elif label in {"list", "ordered_list"}:
            yield from self.children(item, depth + 1)
        elif label == "sheet":
            content = list(self.children(item, depth))
            if content:
                yield Block(kind=BlockKind.HEADING, text=_sheet_name(item.name), level=1)
            yield from content
        elif label in {"table", "document_index"} and hasattr(item, "data"):
            yield from self.table(item)
        elif label in {"picture", "chart"}:
            yield from self.picture(item, depth)
        else:
            yield from self.text(item, label, depth)

    def text(self, item: Any, label: str, depth: int) -> Iterator[Block]:
        if label in _FURNITURE:
            return
        if label == "list_item":
            yield from self.list_item(item, max(depth, 1))
            return
        text = getattr(item, "text", "") or ""
        if text.strip():
            yield self.plain(item, label, text)
        yield from self.children(item, depth)

    def plain(self, item: Any, label: str, text: str) -> Block:
        place = self.place(item)
        if label in {"title", "section_header"}:
            place["links"] = _links(item)
            return self.heading(label, getattr(item, "level", 1), collapse(text), place)
        kind = _TEXT_KINDS.get(label, BlockKind.PARAGRAPH)
        if kind is BlockKind.CODE:
            language = getattr(getattr(item, "code_language", None), "value", None)
            shown = None if language in {None, "unknown"} else str(language).lower()
            return Block(kind=kind, text=text.strip("\n"), code_language=shown, **place)
        if label in {"checkbox_selected", "checkbox_unselected"}:
            text = f"[{'x' if label == 'checkbox_selected' else ' '}] {text}"
        return Block(kind=kind, text=_lines(text), links=_links(item), **place)

    def heading(self, label: str, level: int, text: str, place: dict[str, Any]) -> Block:
        if label == "title":
            first, self.titled = not self.titled, True
            return Block(kind=BlockKind.TITLE if first else BlockKind.HEADING, text=text, level=1, **place)
        self.titled = True
        return Block(kind=BlockKind.HEADING, text=text, level=min(level + self.shift, MAX_LEVEL), **place)

    def list_item(self, item: Any, depth: int) -> Iterator[Block]:
        runs, links = [item.text], list(_links(item))
        rest: list[Any] = []
        for reference in item.children:
            child = reference.resolve(self.document)
            mergeable = child.label.value in {"inline", "text", "paragraph"}
            if mergeable and not rest and (child.label.value == "inline" or not item.text.strip()):
                self.seen.add(reference.cref)
                text, found = self.runs(child)
                runs.append(text)
                links.extend(found)
            else:
                rest.append(reference)
        text = join_runs(runs)
        if text:
            marker = list_marker(self.number(item), ordered=bool(item.enumerated))
            place = self.place(item)
            yield Block(kind=BlockKind.LIST_ITEM, text=marker + text, level=depth, links=_unique(links), **place)
        yield from self.children(item, depth)

    def number(self, item: Any) -> str | None:
        """The item's own marker, or its place in an ordered list that states none."""
        parent = item.parent.cref if item.parent else ""
        self.counts[parent] = self.counts.get(parent, 0) + 1
        own = (item.marker or "").strip()
        return f"{self.counts[parent]}." if item.enumerated and own in {"", "1."} else item.marker

    def inline(self, group: Any, depth: int) -> Iterator[Block]:
        text, links = self.runs(group)
        if text:
            first = group.children[0].resolve(self.document) if group.children else group
            parent = group.parent.resolve(self.document) if group.parent else group
            place = self.place(first)
            if parent.label.value in {"section_header", "title"} and not parent.text.strip():
                place["links"] = _unique(links)
                yield self.heading(parent.label.value, getattr(parent, "level", 1), text, place)
            else:
                yield Block(kind=BlockKind.PARAGRAPH, text=text, links=_unique(links), **place)
        yield from self.children(group, depth)

    def runs(self, node: Any) -> tuple[str, list[str]]:
        """Text and links of an inline group; only runs of text are taken, the rest is walked later."""
        own = getattr(node, "text", "") or ""
        texts, links = ([own] if own.strip() else []), list(_links(node))
        for reference in node.children:
            child = reference.resolve(self.document)
            if child.label.value in {"table", "picture", "list", "ordered_list"}:
                continue
            self.seen.add(reference.cref)
            text, found = self.runs(child)
            script = getattr(getattr(getattr(child, "formatting", None), "script", None), "value", "baseline")
            if script != "baseline" and texts and text:
                texts[-1] = texts[-1].rstrip() + text.strip()
            else:
                texts.append(text)
            links.extend(found)
        return join_runs(texts), links

    def table(self, item: Any) -> Iterator[Block]:
        for reference in item.footnotes:
            self.seen.add(reference.cref)
        caption = collapse(item.caption_text(self.document))
        place = self.place(item)
        if caption:
            yield Block(kind=BlockKind.CAPTION, text=caption, page=place["page"])
        rows, header, spans = self.cells(item.data)
        links = _unique([link for cell in item.data.table_cells for link in self.cell_links(cell)])
        links += self.marks(item)
        block = table_block(rows, header_rows=header, caption=caption, spans=spans, links=links, **place)
        if block:
            yield block
        for reference in item.footnotes:
            note = reference.resolve(self.document)
            yield Block(kind=BlockKind.FOOTNOTE, text=_lines(note.text), page=place["page"])

    def cell_links(self, cell: Any) -> Iterator[str]:
        """Targets of the links in a cell, which docling keeps in a tree of its own."""
        waiting = [cell.ref.resolve(self.document)] if hasattr(cell, "ref") else []
        while waiting:
            node = waiting.pop(0)
            yield from _links(node)
            waiting += [reference.resolve(self.document) for reference in node.children]

    def marks(self, item: Any) -> tuple[str, ...]:
        """Marks of a picture, or of the pictures in the cells of a table."""
        return image_marks(self.pictures_of(item)) if self.mark_images else ()

    def pictures_of(self, item: Any) -> Iterator[Any]:
        if item.label.value == "picture":
            yield item
            return
        for reference in getattr(item, "children", ()):
            yield from self.pictures_of(reference.resolve(self.document))

    def cells(self, data: Any) -> tuple[list[list[str]], int, list[tuple[int, int, int, int]]]:
        rows = [[""] * data.num_cols for _ in range(data.num_rows)]
        header = [False] * data.num_rows
        spans = []
        for cell in data.table_cells:
            text = cell.text
            if hasattr(cell, "ref") and not text.strip():
                text = cell._get_text(doc=self.document)  # noqa: SLF001
            top, bottom = max(cell.start_row_offset_idx, 0), min(cell.end_row_offset_idx, data.num_rows)
            left, right = max(cell.start_col_offset_idx, 0), min(cell.end_col_offset_idx, data.num_cols)
            if bottom - top > 1 or right - left > 1:
                spans.append((top, left, bottom - top, right - left))
            for y in range(top, bottom):
                rows[y][left:right] = [text] * (right - left)
                header[y] = header[y] or bool(cell.column_header)
        return rows, _header_rows(header), spans

    def place(self, item: Any) -> dict[str, Any]:
        provenance = getattr(item, "prov", None)
        if not provenance or self.units_per_point is None:
            return {"page": None, "bbox": None}
        first = provenance[0]
        page = self.document.pages.get(first.page_no)
        if page is None or page.size is None or first.bbox is None:
            return {"page": first.page_no or None, "bbox": None}
        box = first.bbox.to_top_left_origin(page.size.height)
        edges = tuple(round(float(edge) / self.units_per_point, 2) for edge in (box.l, box.t, box.r, box.b))
        return {"page": first.page_no, "bbox": edges if edges[2] > edges[0] and edges[3] > edges[1] else None}

    def picture(self, item: Any, depth: int) -> Iterator[Block]:
        place = self.place(item)
        caption = collapse(item.caption_text(self.document))
        marks = self.marks(item)
        if caption or marks:
            yield Block(kind=BlockKind.PICTURE, text=caption, links=_links(item) + marks, **place)
        chart = getattr(getattr(item, "meta", None), "tabular_chart", None)
        if chart is not None:
            rows, header, spans = self.cells(chart.chart_data)
            block = table_block(rows, header_rows=header, caption=caption, spans=spans, **place)
            if block:
                yield block
        yield from self.children(item, depth)


def _header_rows(header: list[bool]) -> int:
    """Leading rows with a column header; where all have one, only the first of several counts."""
    leading = next((number for number, is_header in enumerate(header) if not is_header), len(header))
    if leading < len(header):
        return leading
    return 1 if len(header) > 1 else 0


def _links(item: Any) -> tuple[str, ...]:
    target = getattr(item, "hyperlink", None)
    return (str(target),) if target else ()


def _unique(links: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(links))


def _lines(text: str) -> str:
    return "\n".join(line for line in (collapse(line) for line in text.split("\n")) if line)


def _sheet_name(name: str) -> str:
    return re.sub(r"^sheet:\s*", "", name)
