"""``convert_pdf``: one PDF file to one converted document, offline and without any model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from corpus_pipeline.conversion.pdf.document_info import PdfInfo, read_info
from corpus_pipeline.errors import ConversionError
from corpus_pipeline.records import Block, BlockKind, ConvertedDocument, QuarantineReason

__all__ = ["PDF_ENGINE_VERSION", "convert_pdf"]

PDF_ENGINE_VERSION = "geometry-1"
"""Part of the converter's fingerprint; raised whenever the output for some file changes."""

SLICE_PAGES = 100


def convert_pdf(
    path: Path, *, password: str | None, max_pages: int, page_range: tuple[int, int] | None = None
) -> ConvertedDocument:
    """Converts a PDF by the geometry of its pages.

    Runs inside a worker process: a hostile file can take unlimited time and memory in the
    parser, which only the caller's limits on the process stop.

    Args:
        path: A local file.
        password: For an encrypted file.
        max_pages: A longer document is refused before it is parsed.
        page_range: First and last page to convert, 1-based and inclusive; all pages if ``None``.

    Returns:
        Blocks with pages and boxes. ``properties`` hold the information dictionary, and
        ``pdf_grade``: ``geometry``, or ``native`` when some page had to be read as bare lines.
        ``pdf_native_pages``, ``pdf_blank_pages`` (no text at all) and ``pdf_failed_pages`` (not
        parsed) list pages, where there are any.

    Raises:
        ConversionError: ``empty``, ``corrupt``, ``encrypted``, ``too_large``, ``no_text``, or
            ``converter_error`` when docling fails on every page.
    """
    info = read_info(path, password)
    if info.page_count > max_pages:
        raise ConversionError(
            f"the PDF has {info.page_count} pages, more than the limit of {max_pages}",
            reason=QuarantineReason.TOO_LARGE,
            remedy="Raise the page limit of the corpus or split the document.",
        )
    first, last = page_range or (1, info.page_count)
    pipeline, result = _run(path, password, max(1, first), min(last, info.page_count))
    if not pipeline.layouts:
        raise ConversionError(
            "no page of the PDF could be parsed",
            reason=QuarantineReason.CORRUPT,
            remedy="Open the file in a viewer and export it again.",
        )
    document = _document(info, pipeline, result)
    if not document.text:
        raise ConversionError(
            f"the PDF has {info.page_count} pages but no text: it is scanned or drawn",
            reason=QuarantineReason.NO_TEXT,
            remedy="Run OCR on the file, or install the OCR extra and switch it on for the corpus.",
        )
    return document


def _run(path: Path, password: str | None, first: int, last: int) -> tuple[Any, Any]:
    """Executes the pipeline slice by slice and assembles once."""
    from docling.backend.docling_parse_backend import ThreadedDoclingParseDocumentBackend
    from docling.datamodel.backend_options import ThreadedDoclingParseBackendOptions
    from docling.datamodel.base_models import InputFormat
    from docling.datamodel.document import InputDocument
    from docling.datamodel.settings import DocumentLimits

    from corpus_pipeline.conversion.pdf.font_names import FontNames
    from corpus_pipeline.conversion.pdf.pipeline import GeometricPdfPipeline, pipeline_options

    # Shapes, and with them ruled tables, are only read while a page image is rendered: a tiny one.
    options = ThreadedDoclingParseBackendOptions(
        parser_threads=1, max_concurrent_results=4, render_scale=0.25, password=password or None
    )
    result = None
    with FontNames(path, password) as font_names:
        pipeline = GeometricPdfPipeline(pipeline_options(), font_names)
        for start in range(first, last + 1, SLICE_PAGES):
            source = InputDocument(
                path_or_stream=path,
                format=InputFormat.PDF,
                backend=ThreadedDoclingParseDocumentBackend,
                backend_options=options,
                limits=DocumentLimits(page_range=(start, min(last, start + SLICE_PAGES - 1))),
            )
            if not source.valid:
                raise ConversionError(
                    "docling cannot load the PDF although it opens elsewhere",
                    reason=QuarantineReason.CORRUPT,
                    remedy="Open the file in a viewer and export it again.",
                )
            result = pipeline.execute(source, raises_on_error=True)
    if result is None:
        raise ConversionError(
            f"the PDF has no pages {first} to {last}",
            reason=QuarantineReason.CONVERTER_ERROR,
            remedy="Ask for pages that the document has.",
        )
    return pipeline, pipeline.finish(result)


def _document(info: PdfInfo, pipeline: Any, result: Any) -> ConvertedDocument:
    from corpus_pipeline.conversion.pdf.mapping import blocks_of

    blocks = blocks_of(result.document)
    native = sorted(number for number, layout in pipeline.layouts.items() if not layout.geometric)
    properties = dict(info.properties)
    properties["pdf_grade"] = "native" if native else "geometry"
    if native:
        properties["pdf_native_pages"] = ",".join(map(str, native))
    blank = [number for number, layout in sorted(pipeline.layouts.items()) if not any(b.lines for b in layout.blocks)]
    if blank:
        properties["pdf_blank_pages"] = ",".join(map(str, blank))
    if pipeline.failed_pages:
        properties["pdf_failed_pages"] = ",".join(map(str, sorted(pipeline.failed_pages)))
    return ConvertedDocument.from_blocks(
        blocks, title=_title(blocks, info), page_count=info.page_count, properties=properties
    )


def _title(blocks: list[Block], info: PdfInfo) -> str | None:
    for block in blocks:
        if block.kind is BlockKind.TITLE:
            return block.text
    return info.properties.get("title")
