"""Text that others have converted already: JSON lines, one block a line, taken as it is.

The contract, version 1. Each line is an object with ``text`` (a string, not blank) and, where
known, ``kind`` (a block kind; ``paragraph``), ``level``, ``page``, ``bbox``, ``rows`` and
``header_rows`` of a table, ``code_language``, ``links``. A line may carry ``metadata``, a flat
object; what all lines with that key agree on becomes a property of the document. The first line
may have no ``text`` but ``title``, ``language`` and ``metadata`` of the whole. A file with any
other line is no canonical text and is kept line by line.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from corpus_pipeline.conversion.tables import table_block
from corpus_pipeline.records import Block, BlockKind, ConvertedDocument

__all__ = ["BOUNDARY", "canonical_document"]

BOUNDARY = {"conversion_boundary": "outside"}
"""Property of a document whose text was made elsewhere: nothing is known here of how."""

_Flat = dict[str, str | int | float | bool | None]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Head(_Strict):
    title: str | None = None
    language: str | None = None
    metadata: _Flat = Field(default_factory=dict)


class _Line(_Strict):
    text: str = Field(pattern=r"\S")
    kind: str = BlockKind.PARAGRAPH.value
    level: int = Field(0, ge=0, le=6)
    page: int | None = Field(None, ge=1)
    bbox: list[float] | None = Field(None, min_length=4, max_length=4)
    rows: list[list[str]] | None = None
    header_rows: int = Field(0, ge=0)
    code_language: str | None = None
    links: list[str] = Field(default_factory=list)
    metadata: _Flat = Field(default_factory=dict)


def canonical_document(lines: Sequence[str]) -> ConvertedDocument | None:
    r"""The document of canonical lines; ``None`` when some line is none.

    >>> document = canonical_document(['{"title": "T"}', '{"text": "One."}', '{"text": "Two.", "page": 2}'])
    >>> document.title, document.text, document.page_count
    ('T', 'One.\n\nTwo.', 2)
    """
    try:
        values = [json.loads(line) for line in lines]
        headed = bool(values) and isinstance(values[0], dict) and "text" not in values[0]
        head = _Head.model_validate(values[0]) if headed else _Head()
        read = [_Line.model_validate(value) for value in values[1 if headed else 0 :]]
        blocks = [_block(line) for line in read]
    except (ValueError, ValidationError, RecursionError):
        return None
    shared = _shared(read)
    if not blocks or shared is None:
        return None
    pages = [line.page for line in read if line.page is not None]
    properties = {key: _shown(value) for key, value in {**shared, **head.metadata}.items() if value is not None}
    return ConvertedDocument.from_blocks(
        blocks,
        title=head.title or properties.get("title"),
        language=head.language or properties.get("language"),
        page_count=max(pages, default=None),
        properties=dict(sorted({**properties, **BOUNDARY}.items())),
    )


def _block(line: _Line) -> Block:
    box = (line.bbox[0], line.bbox[1], line.bbox[2], line.bbox[3]) if line.bbox else None
    kind = BlockKind(line.kind)
    if kind is BlockKind.TABLE and line.rows:
        table = table_block(line.rows, header_rows=line.header_rows, page=line.page, bbox=box, links=tuple(line.links))
        if table is not None:
            return table.model_copy(update={"text": line.text})
    level = line.level or (1 if kind in {BlockKind.TITLE, BlockKind.HEADING, BlockKind.LIST_ITEM} else 0)
    return Block(
        kind=kind,
        text=line.text,
        level=level,
        page=line.page,
        bbox=box,
        code_language=line.code_language,
        links=tuple(line.links),
    )


def _shared(lines: Sequence[_Line]) -> dict[str, Any] | None:
    """Metadata that lines agree on; ``None`` when they differ, for one document has one value."""
    found: dict[str, Any] = {}
    for line in lines:
        for key, value in line.metadata.items():
            if found.setdefault(key, value) != value:
                return None
    return found


def _shown(value: str | float | bool) -> str:
    return value if isinstance(value, str) else json.dumps(value)
