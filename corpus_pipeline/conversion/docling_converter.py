"""Office, HTML, mail, EPUB, LaTeX and XML articles through docling, without network or models."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

from corpus_pipeline.conversion.alternative_text import with_alternative_text
from corpus_pipeline.conversion.containers import check_xml
from corpus_pipeline.conversion.decoding import decode_text
from corpus_pipeline.conversion.docling_mapping import LAYERS, document_blocks
from corpus_pipeline.conversion.embedded_images import take_images
from corpus_pipeline.conversion.file_format import FileFormat
from corpus_pipeline.conversion.html_preparation import keep_characters, marked_blocks, prepared_epub, prepared_html
from corpus_pipeline.conversion.markup_details import (
    Details,
    docx_details,
    jats_details,
    odt_details,
    with_details,
)
from corpus_pipeline.conversion.properties import file_properties
from corpus_pipeline.conversion.source import ConversionInput, ConverterFailure
from corpus_pipeline.conversion.tables import dropped_tables
from corpus_pipeline.errors import ConversionError
from corpus_pipeline.records import Block, BlockKind, ConvertedDocument, EmbeddedImage, QuarantineReason

__all__ = ["DoclingConverter", "convert_bytes"]

_SUFFIX = {
    FileFormat.MARKDOWN: "md",
    FileFormat.ASCIIDOC: "adoc",
    FileFormat.LATEX: "tex",
    FileFormat.WEBVTT: "vtt",
    FileFormat.JATS: "nxml",
    FileFormat.USPTO: "xml",
}
_DECODED = frozenset(
    {
        FileFormat.MARKDOWN,
        FileFormat.ASCIIDOC,
        FileFormat.LATEX,
        FileFormat.WEBVTT,
        FileFormat.CSV,
    }
)
_JATS_TYPE = re.compile(rb"<!DOCTYPE\s+article\b[^>\[]*>")
_JATS_DECLARATION = (
    b'<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96) Journal Archiving and Interchange DTD v1.2 20190208//EN" '
    b'"JATS-archivearticle1.dtd">'
)
"""docling knows an article by this declaration only; older articles name their predecessors."""
_SHIFTED = frozenset({FileFormat.HTML, FileFormat.MHTML, FileFormat.MARKDOWN, FileFormat.ASCIIDOC, FileFormat.EPUB})
"""Formats whose docling backend counts the second heading level as 1."""
_DETAILS: dict[FileFormat, Callable[[Path], Details]] = {FileFormat.DOCX: docx_details, FileFormat.ODT: odt_details}
_UNITS_PER_POINT = {FileFormat.PPTX: 12700.0, FileFormat.ODP: 1.0}
"""Formats with pages (slides), and the scale of their boxes; PowerPoint counts in English metric units."""


class DoclingConverter:
    """docling's declarative backends; its PDF and image pipelines are not used here."""

    def convert(self, source: ConversionInput) -> ConvertedDocument:
        """The document as docling reads it.

        Raises:
            ConversionError: ``bomb`` for hostile XML, ``too_large`` for too many slides.
            ConverterFailure: docling failed on the file.
        """
        data = source.path.read_bytes()
        if source.file_format in {FileFormat.JATS, FileFormat.USPTO}:
            check_xml(data)
        if source.file_format is FileFormat.JATS:
            data = _JATS_TYPE.sub(_JATS_DECLARATION, data, count=1)
            if b"<!DOCTYPE" not in data[:4096]:
                data = data.replace(b"<article", _JATS_DECLARATION + b"<article", 1)
        if source.file_format in _DECODED:
            data = decode_text(data).encode()
        found = None
        if source.file_format is FileFormat.JATS:
            found = jats_details(data)
        elif source.file_format in _DETAILS:
            found = _DETAILS[source.file_format](source.path)
        properties = file_properties(source)
        return convert_bytes(
            data,
            source.file_format,
            properties,
            max_pages=source.max_pages,
            details=found,
            keep_images=source.keep_images,
        )


def convert_bytes(
    data: bytes,
    file_format: FileFormat,
    properties: dict[str, str],
    *,
    max_pages: int,
    details: Details | None = None,
    keep_images: bool = False,
) -> ConvertedDocument:
    """Runs docling on bytes under a name of our own, so that no path of the file is followed.

    Args:
        data: The file's bytes.
        file_format: Chooses docling's backend.
        properties: The document's own properties.
        max_pages: Most slides or sheets.
        details: What the file says of its parts besides.
        keep_images: Whether pictures in the file become part of the document.
    """
    from docling.datamodel.base_models import ConversionStatus, DocumentStream

    prepare = {FileFormat.HTML: prepared_html, FileFormat.EPUB: prepared_epub}.get(file_format)
    if prepare is not None:
        data = prepare(data)
    stream = DocumentStream(name=f"document.{_SUFFIX.get(file_format, file_format.value)}", stream=BytesIO(data))
    result = _engine(keep_images).convert(stream, raises_on_error=False)
    if result.status not in {ConversionStatus.SUCCESS, ConversionStatus.PARTIAL_SUCCESS}:
        parts = sorted({error.module_name for error in result.errors if error.module_name})
        raise ConverterFailure(f"docling ended with {result.status.value} in {', '.join(parts) or 'its pipeline'}")
    if len(result.document.pages) > max_pages:
        raise ConversionError(
            f"the file has {len(result.document.pages)} pages; at most {max_pages} are accepted",
            reason=QuarantineReason.TOO_LARGE,
            remedy="Raise conversion.limits.max_pages, or split the file.",
        )
    blocks = document_blocks(
        result.document,
        shifted=file_format in _SHIFTED,
        units_per_point=_UNITS_PER_POINT.get(file_format),
        mark_images=keep_images,
    )
    if file_format is FileFormat.PPTX:
        blocks = with_alternative_text(blocks, data)
    if prepare is not None:
        blocks = marked_blocks(blocks)
    if details is not None:
        blocks = with_details(blocks, details)
    images: tuple[EmbeddedImage, ...] = ()
    if keep_images:
        blocks, images, left_out = take_images(blocks, result.document, data)
        properties = properties | ({"images_left_out": str(left_out)} if left_out else {})
    title = next((block.text for block in blocks if block.kind is BlockKind.TITLE), None)
    return ConvertedDocument.from_blocks(
        blocks,
        title=properties.get("title") or title,
        language=properties.get("language"),
        page_count=len(result.document.pages) if file_format in _UNITS_PER_POINT else None,
        properties={**properties, **dropped_tables(_table_count(result.document), _kept_tables(blocks))},
        images=images,
    )


def _table_count(document: Any) -> int:
    """Tables with text that docling found outside page furniture; one in a cell of another is part of that cell."""
    return sum(
        item.content_layer.value in LAYERS
        and not _in_a_table(item, document)
        and any(cell.text.strip() for cell in item.data.table_cells)
        for item in document.tables
    )


def _in_a_table(item: Any, document: Any) -> bool:
    node = item
    while node.parent is not None:
        node = node.parent.resolve(document)
        if hasattr(node, "data"):
            return True
    return False


def _kept_tables(blocks: list[Block]) -> int:
    return sum(block.kind is BlockKind.TABLE for block in blocks)


@cache
def _engine(keep_images: bool) -> Any:
    from docling.datamodel.backend_options import HTMLBackendOptions
    from docling.datamodel.base_models import InputFormat
    from docling.document_converter import DocumentConverter, HTMLFormatOption

    keep_characters()
    _draw_nothing()
    if not keep_images:
        return DocumentConverter()
    # Pictures in the page itself; neither files nor other machines are asked.
    options = HTMLBackendOptions(fetch_images=True, enable_local_fetch=False, enable_remote_fetch=False)
    return DocumentConverter(format_options={InputFormat.HTML: HTMLFormatOption(backend_options=options)})


def _draw_nothing() -> None:
    """Keeps docling from having LibreOffice draw each shape and chart of an Office file as a picture.

    Where LibreOffice is installed it takes seconds a drawing, for pictures that are not used here.
    """
    from docling.backend import msexcel_backend, mspowerpoint_backend, msword_backend

    for backend in (msexcel_backend, mspowerpoint_backend, msword_backend):
        backend.get_docx_to_pdf_converter = _no_renderer  # type: ignore[attr-defined]  # a name it imports


def _no_renderer() -> None:
    return None
