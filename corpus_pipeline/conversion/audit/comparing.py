"""What each candidate converter makes of a file, in figures and in blocks."""

from __future__ import annotations

import json
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from corpus_pipeline.conversion.job import ConversionOutcome
from corpus_pipeline.conversion.measures import measure_document
from corpus_pipeline.records import Block, BlockKind, ConvertedDocument, canonical_json, sha256_hex

__all__ = ["ConvertedSide", "converted_side", "opened", "repeated_lines"]

SHOWN_BLOCKS = 220
SHOWN_CHARACTERS = 60_000
SHOWN_ROWS = 40
SHOWN_OUTLINE = 80
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True)
class ConvertedSide:
    """One converter's result.

    Attributes:
        figures: Metric to value, in the order shown.
        outline: Level and text of headings.
        blocks: What is shown, as plain values for the page.
        more: How many blocks are not shown.
        fault: Why there is no document.
        document_sha256: Of the whole document.
    """

    converter: str
    version: str
    identity: str
    in_route: bool
    figures: dict[str, str] = field(default_factory=dict)
    outline: list[tuple[int, str]] = field(default_factory=list)
    blocks: list[dict[str, Any]] = field(default_factory=list)
    more: int = 0
    fault: str = ""
    document_sha256: str = ""


def opened(outcome: ConversionOutcome) -> ConvertedDocument:
    """The document of an outcome that has one."""
    return ConvertedDocument.model_validate_json(zlib.decompress(outcome.content))


def converted_side(
    side: ConvertedSide, outcome: ConversionOutcome, repeated: Sequence[str], shown_pages: int
) -> ConvertedSide:
    """The result of a converter for the page.

    Args:
        side: Names the converter.
        outcome: What its worker said.
        repeated: Lines at the edges of the source's pages that repeat.
        shown_pages: Blocks of later pages are left out.
    """
    if outcome.reason:
        return _with(side, fault=f"{outcome.reason}: {outcome.message}")
    document = opened(outcome)
    shown = _shown(document.blocks, shown_pages)
    return _with(
        side,
        figures=_figures(document, repeated, outcome.elapsed_seconds),
        outline=[
            (block.level, block.text) for block in document.blocks if block.kind in {BlockKind.TITLE, BlockKind.HEADING}
        ][:SHOWN_OUTLINE],
        blocks=[_block_values(number, block) for number, block in shown],
        more=len(document.blocks) - len(shown),
        document_sha256=document.document_sha256,
    )


def _with(side: ConvertedSide, **changes: Any) -> ConvertedSide:
    from dataclasses import replace

    return replace(side, **changes)


def _shown(blocks: Sequence[Block], shown_pages: int) -> list[tuple[int, Block]]:
    shown: list[tuple[int, Block]] = []
    characters = 0
    for number, block in enumerate(blocks, start=1):
        characters += len(block.text)
        past = block.page is not None and shown_pages and block.page > shown_pages
        if len(shown) >= SHOWN_BLOCKS or characters > SHOWN_CHARACTERS or past:
            break
        shown.append((number, block))
    return shown


def _block_values(number: int, block: Block) -> dict[str, Any]:
    return {
        "number": number,
        "kind": block.kind.value,
        "level": block.level,
        "page": block.page,
        "bbox": block.bbox,
        "text": block.text,
        "rows": [list(row) for row in block.table.rows[:SHOWN_ROWS]] if block.table else [],
        "rows_left": max(0, len(block.table.rows) - SHOWN_ROWS) if block.table else 0,
        "header_rows": block.table.header_rows if block.table else 0,
    }


def _figures(document: ConvertedDocument, repeated: Sequence[str], seconds: float) -> dict[str, str]:
    kinds = Counter(block.kind for block in document.blocks)
    measures = measure_document(document)
    figures = {
        "words": f"{len(document.text.split()):,}",
        "blocks": f"{len(document.blocks):,}",
        "headings": str(kinds[BlockKind.HEADING] + kinds[BlockKind.TITLE]),
        "list items": str(kinds[BlockKind.LIST_ITEM]),
        "tables kept of found": f"{measures['tables']} of {measures['tables'] + measures['tables_dropped']}",
        "table cells": f"{_cells(document):,}",
        "code, formulas": str(kinds[BlockKind.CODE] + kinds[BlockKind.FORMULA]),
        "links": str(sum(len(block.links) for block in document.blocks)),
        "pages covered": _coverage(document, measures),
        "characters a page": str(measures.get("characters_per_page") or "-"),
        "unreadable characters": f"{measures['garbled_ratio']:.2%}",
        "language": f"{document.language or '-'} declared, {measures.get('language', '-')} found",
    }
    if repeated:
        figures["repeated headers left in"] = f"{_left_in(document, repeated)} of {len(repeated)}"
    return {**figures, "seconds": f"{seconds:.2f}"}


def _cells(document: ConvertedDocument) -> int:
    tables = [block.table for block in document.blocks if block.table]
    return sum(bool(cell.strip()) for table in tables for row in table.rows for cell in row)


def _coverage(document: ConvertedDocument, measures: dict[str, Any]) -> str:
    if "uncovered_pages" not in measures:
        return "no pages"
    missing = measures["uncovered_pages"]
    covered = f"{measures['text_pages'] - len(missing)} of {measures['text_pages']}"
    blank = (document.page_count or 0) - measures["text_pages"]
    return f"{covered}{f', {blank} blank' if blank else ''}{f', without {missing[:6]}' if missing else ''}"


def repeated_lines(edges: Iterable[Sequence[str]]) -> list[str]:
    """Lines that stand at the edges of at least three pages (two of a short document), numbers aside.

    >>> repeated_lines([["Report", "1"], ["Report", "2"], ["Other", "3"]])
    ['Report', '1']
    """
    pages = list(edges)
    found: Counter[str] = Counter()
    example: dict[str, str] = {}
    for lines in pages:
        for key in {_key(line) for line in lines}:
            found[key] += 1
        for line in lines:
            example.setdefault(_key(line), line)
    needed = 3 if len(pages) > 4 else 2  # noqa: PLR2004 - as for running headers in the PDF engine
    return [line for key, line in example.items() if found[key] >= needed]


def _key(line: str) -> str:
    return _DIGITS.sub("#", " ".join(line.lower().split()))


def _left_in(document: ConvertedDocument, repeated: Sequence[str]) -> int:
    """How many repeated lines still stand as a line of their own in at least two places, tables aside."""
    blocks = (block for block in document.blocks if block.kind is not BlockKind.TABLE)
    found = Counter(_key(line) for block in blocks for line in block.text.splitlines())
    return sum(found[_key(line)] > 1 for line in repeated)


def edges_of(rendering: ConvertedDocument) -> list[list[str]]:
    """The lines at the edges of each page of a rendering."""
    return list(json.loads(rendering.properties.get("edges", "[]")))


def side_digest(side: ConvertedSide) -> str:
    """Digest of what a converter's result shows; time aside."""
    return sha256_hex(canonical_json([side.converter, side.identity, side.document_sha256, side.fault]))
