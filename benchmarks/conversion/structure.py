"""A document reduced to what the structure benchmark compares, from Markdown truth and from engines' output."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

HEADING = re.compile(r"^(#{1,6})\s+(.*)$")
ITEM = re.compile(r"^\s*(?:[-*+]|\d{1,3}[.)])\s+(.*)$")
TABLE = re.compile(r"<table.*?</table>", re.DOTALL | re.IGNORECASE)
TAG = re.compile(r"<[^>]+>")
MARKER = re.compile(r"^\s*(?:[•▪·o*–—-]|\(?(?:\d{1,3}|[A-Za-z]|[ivx]{1,5})[.)])\s+")


@dataclass
class Element:
    """One element in reading order; ``html`` for tables, ``level`` for headings."""

    kind: str  # heading, text, list_item, table or code
    text: str
    level: int = 0
    html: str = ""


@dataclass
class Structure:
    """Elements of one document in reading order."""

    elements: list[Element] = field(default_factory=list)

    def texts(self, kind: str) -> list[str]:
        return [element.text for element in self.elements if element.kind == kind]

    def tables(self) -> list[str]:
        return [element.html for element in self.elements if element.kind == "table"]

    def full_text(self) -> str:
        return "\n".join(element.text for element in self.elements)


def from_markdown(markdown: str) -> Structure:
    """Elements of Markdown with HTML tables, as the truth files are written; pipe tables are read too."""
    structure = Structure()
    position = 0
    for match in TABLE.finditer(markdown):
        structure.elements += _markdown_elements(markdown[position : match.start()])
        structure.elements.append(table_element(match.group()))
        position = match.end()
    structure.elements += _markdown_elements(markdown[position:])
    return structure


def table_element(table_html: str) -> Element:
    text = html.unescape(TAG.sub(" ", table_html))
    return Element("table", text, html=table_html)


def table_html(rows: Sequence[Sequence[str]], spans: Iterable[tuple[int, int, int, int]] = ()) -> str:
    """HTML of a grid of texts in which some cells cover several places."""
    given = list(spans)
    by_corner = {(row, column): (row_span, column_span) for row, column, row_span, column_span in given}
    covered = {
        (row + r, column + c)
        for row, column, row_span, column_span in given
        for r in range(row_span)
        for c in range(column_span)
        if r or c
    }
    lines = []
    for row, cells in enumerate(rows):
        parts = []
        for column, text in enumerate(cells):
            if (row, column) in covered:
                continue
            row_span, column_span = by_corner.get((row, column), (1, 1))
            attributes = f' rowspan="{row_span}"' if row_span > 1 else ""
            attributes += f' colspan="{column_span}"' if column_span > 1 else ""
            parts.append(f"<td{attributes}>{html.escape(text)}</td>")
        lines.append(f"<tr>{''.join(parts)}</tr>")
    return f"<table>{''.join(lines)}</table>"


def from_converted(document: Any) -> Structure:
    """Elements of our converted document."""
    kinds = {"title": "heading", "heading": "heading", "list_item": "list_item", "code": "code"}
    structure = Structure()
    for block in document.blocks:
        if block.table is not None:
            structure.elements.append(table_element(table_html(block.table.rows, block.table.spans)))
        else:
            kind = kinds.get(block.kind.value, "text")
            text = MARKER.sub("", block.text) if kind == "list_item" else block.text
            structure.elements.append(Element(kind, text, block.level))
    return structure


def from_docling(document: Any) -> Structure:
    """Elements of a DoclingDocument."""
    from docling_core.types.doc import CodeItem, ListItem, SectionHeaderItem, TableItem, TextItem

    structure = Structure()
    for item, _ in document.iterate_items():
        if isinstance(item, TableItem):
            spans = [
                (cell.start_row_offset_idx, cell.start_col_offset_idx, cell.row_span, cell.col_span)
                for cell in item.data.table_cells
                if cell.row_span > 1 or cell.col_span > 1
            ]
            rows = [[cell.text for cell in row] for row in item.data.grid]
            structure.elements.append(table_element(table_html(rows, spans)))
        elif isinstance(item, TextItem):
            kind = "text"
            for of_type, name in ((SectionHeaderItem, "heading"), (ListItem, "list_item"), (CodeItem, "code")):
                kind = name if isinstance(item, of_type) else kind
            structure.elements.append(Element(kind, item.text, getattr(item, "level", 0)))
    return structure


def _markdown_elements(markdown: str) -> list[Element]:
    elements: list[Element] = []
    paragraph: list[str] = []
    pipes: list[str] = []
    code: list[str] | None = None

    def close() -> None:
        if paragraph:
            elements.append(Element("text", " ".join(paragraph)))
            paragraph.clear()
        if pipes:
            rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in pipes]
            rows = [row for row in rows if not all(re.fullmatch(r":?-+:?", cell or "-") for cell in row)]
            elements.append(table_element(table_html(rows)))
            pipes.clear()

    for line in markdown.splitlines():
        if line.startswith("```"):
            close()
            if code is None:
                code = []
            else:
                elements.append(Element("code", "\n".join(code)))
                code = None
        elif code is not None:
            code.append(line)
        elif line.startswith("|"):
            pipes.append(line)
        elif match := HEADING.match(line):
            close()
            elements.append(Element("heading", match.group(2), len(match.group(1))))
        elif match := ITEM.match(line):
            close()
            elements.append(Element("list_item", match.group(1)))
        elif not line.strip():
            close()
        else:
            paragraph.append(line.strip())
    close()
    if code:
        elements.append(Element("code", "\n".join(code)))
    return elements
