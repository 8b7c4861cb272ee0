"""Text as it is: paragraphs of plain text and logs, code in one piece, records line by line."""

from __future__ import annotations

import json
import re
from typing import Any

from corpus_pipeline.conversion.canonical_jsonl import canonical_document
from corpus_pipeline.conversion.decoding import decode_text
from corpus_pipeline.conversion.file_format import FileFormat, code_language
from corpus_pipeline.conversion.markdown_converter import markdown_blocks
from corpus_pipeline.conversion.source import ConversionInput
from corpus_pipeline.errors import ConversionError
from corpus_pipeline.records import Block, BlockKind, ConvertedDocument, QuarantineReason

__all__ = ["PlainConverter"]

_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n)+")


class PlainConverter:
    """Text, code, configuration, JSON, JSON lines and notebooks without any document library."""

    def convert(self, source: ConversionInput) -> ConvertedDocument:
        """Blocks of the decoded text; a form feed begins a page."""
        text = decode_text(source.path.read_bytes())
        if source.file_format is FileFormat.NOTEBOOK:
            return ConvertedDocument.from_blocks(_notebook_blocks(text))
        if source.file_format is FileFormat.JSONL:
            lines = [line for line in text.split("\n") if line.strip()]
            canonical = canonical_document(lines)
            if canonical is not None:
                return canonical
            return ConvertedDocument.from_blocks([Block(kind=BlockKind.PARAGRAPH, text=line) for line in lines])
        if source.file_format in {FileFormat.CODE, FileFormat.JSON, FileFormat.XML, FileFormat.HTML}:
            language = code_language(source.extension) or source.file_format.value
            code = Block(kind=BlockKind.CODE, text=text.strip("\n"), code_language=language)
            return ConvertedDocument.from_blocks([code])
        return _paged_text(text)


def _paged_text(text: str) -> ConvertedDocument:
    pages = text.split("\f")
    paged = len(pages) > 1
    blocks = [
        Block(kind=BlockKind.PARAGRAPH, text=paragraph.strip("\n").rstrip(), page=number if paged else None)
        for number, page in enumerate(pages, 1)
        for paragraph in _BLANK_LINES.split(page)
    ]
    return ConvertedDocument.from_blocks(blocks, page_count=len(pages) if paged else None)


def _notebook_blocks(text: str) -> list[Block]:
    try:
        notebook = json.loads(text)
        cells = notebook["cells"] if "cells" in notebook else notebook["worksheets"][0]["cells"]
        language = notebook.get("metadata", {}).get("kernelspec", {}).get("language") or "python"
        blocks: list[Block] = []
        for cell in cells:
            blocks.extend(_cell_blocks(cell, str(language)))
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise ConversionError(
            f"the notebook's JSON cannot be read: {type(error).__name__}",
            reason=QuarantineReason.CORRUPT,
            remedy="Open and save it in Jupyter, or restore it from its source.",
        ) from error
    return blocks


def _cell_blocks(cell: dict[str, Any], language: str) -> list[Block]:
    source = _joined(cell.get("source", cell.get("input", "")))
    if cell.get("cell_type") == "markdown":
        return markdown_blocks(source)
    if cell.get("cell_type") != "code":
        return [Block(kind=BlockKind.PARAGRAPH, text=source)]
    outputs = [
        _joined(output.get("text") or output.get("data", {}).get("text/plain", ""))
        for output in cell.get("outputs", [])
    ]
    return [
        Block(kind=BlockKind.CODE, text=source, code_language=language),
        *(Block(kind=BlockKind.CODE, text=output.strip("\n"), code_language="text") for output in outputs),
    ]


def _joined(value: str | list[str]) -> str:
    return value if isinstance(value, str) else "".join(value)
