"""From captured slices to one assembled document: fonts, layouts and labels are those of all pages together."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from docling.backend.docling_parse_backend import ThreadedDoclingParseDocumentBackend
from docling.backend.pypdfium2_backend import PyPdfiumDocumentBackend
from docling.datamodel.backend_options import PdfBackendOptions, ThreadedDoclingParseBackendOptions
from docling.datamodel.base_models import InputFormat, Page
from docling.datamodel.document import ConversionResult, InputDocument
from docling.datamodel.settings import DocumentLimits
from docling_core.types.doc import Size

from corpus_pipeline.conversion.pdf.assembly import assemble_document
from corpus_pipeline.conversion.pdf.blocks import BlockLabel
from corpus_pipeline.conversion.pdf.font_names import FontNames
from corpus_pipeline.conversion.pdf.labels import label_blocks
from corpus_pipeline.conversion.pdf.lines import build_lines
from corpus_pipeline.conversion.pdf.page_layout import PageLayout, lay_out, lay_out_natively
from corpus_pipeline.conversion.pdf.pipeline import GeometricPdfPipeline, pipeline_options
from corpus_pipeline.conversion.pdf.sizes import FontEvidence, FontMeasures
from corpus_pipeline.conversion.pdf.slices import CapturedPage, PdfSlice
from corpus_pipeline.errors import ConversionError
from corpus_pipeline.records import QuarantineReason

__all__ = ["Gathered", "capture_slice"]

_log = logging.getLogger(__name__)


def capture_slice(path: Path, password: str | None, first: int, last: int) -> PdfSlice:
    """Reads the pages ``first`` to ``last``, 1-based and inclusive.

    Raises:
        ConversionError: docling cannot load the file.
    """
    with FontNames(path, password) as font_names:
        pipeline = GeometricPdfPipeline(pipeline_options(), font_names)
        pipeline.execute(_input(path, password, first, last), raises_on_error=True)
    return PdfSlice(pipeline.captured, pipeline.failed_pages)


def _input(path: Path, password: str | None, first: int, last: int) -> InputDocument:
    # Shapes, and with them ruled tables, are only read while a page image is rendered: a tiny one.
    options = ThreadedDoclingParseBackendOptions(
        parser_threads=1, max_concurrent_results=4, render_scale=0.25, password=password or None
    )
    source = InputDocument(
        path_or_stream=path,
        format=InputFormat.PDF,
        backend=ThreadedDoclingParseDocumentBackend,
        backend_options=options,
        limits=DocumentLimits(page_range=(first, last)),
    )
    if not source.valid:
        raise ConversionError(
            "docling cannot load the PDF although it opens elsewhere",
            reason=QuarantineReason.CORRUPT,
            remedy="Open the file in a viewer and export it again.",
        )
    return source


def _outlined(path: Path, password: str | None) -> InputDocument:
    """The document for its bookmarks alone: pdfium gives them without parsing a page."""
    return InputDocument(
        path_or_stream=path,
        format=InputFormat.PDF,
        backend=PyPdfiumDocumentBackend,
        backend_options=PdfBackendOptions(password=password or None),
    )


class Gathered:
    """The pages of a document, laid out slice by slice, labelled and assembled once.

    Args:
        evidence: What each page teaches about fonts, in the order of the pages.
    """

    def __init__(self, evidence: Iterable[FontEvidence]) -> None:
        self._fonts = FontMeasures()
        for page in evidence:
            self._fonts.learn(page)
        self._pages: list[Page] = []
        self.layouts: dict[int, PageLayout] = {}
        self.failed_pages: list[int] = []

    def add(self, pages: PdfSlice) -> None:
        """Lays out the pages of a slice; slices come in order."""
        self.failed_pages += pages.failed_pages
        for captured in pages.pages:
            number = captured.capture.number
            self._pages.append(Page(page_no=number, size=Size(width=captured.size[0], height=captured.size[1])))
            self._pages[-1].parsed_page = captured.parsed
            self.layouts[number] = self._lay_out(captured)
            _forget_words(self.layouts[number])

    @property
    def table_count(self) -> int:
        """Tables found on the pages that are no part of a running header or footer."""
        return sum(block.label is BlockLabel.TABLE for layout in self.layouts.values() for block in layout.blocks)

    def assemble(self, path: Path, password: str | None) -> Any:
        """The docling document of all pages.

        Args:
            path: The PDF, opened once more for its bookmarks.
            password: For an encrypted file.
        """
        source = _outlined(path, password)
        result = ConversionResult(input=source)
        backend: Any = source._backend  # noqa: SLF001 - docling keeps the backend private on its input
        try:
            outline = list(backend.get_document_outline() or [])
        finally:
            backend.unload()
        label_blocks(
            [self.layouts[number] for number in sorted(self.layouts)],
            [(item.title or "", item.page_no) for item in outline],
        )
        result.pages = sorted(self._pages, key=lambda page: page.page_no)
        result._pdf_outline = outline or None  # noqa: SLF001 - where the heading hierarchy looks for it
        return assemble_document(result, self.layouts).document

    def _lay_out(self, captured: CapturedPage) -> PageLayout:
        capture = captured.capture
        if capture.words or not captured.native:
            try:
                self._fonts.correct(capture.words)
                return lay_out(capture)
            except Exception:  # noqa: BLE001 - one page without a layout is read natively and recorded as such
                _log.warning("page %d: no layout", capture.number, exc_info=True)
        return lay_out_natively(capture, [line for word in captured.native for line in build_lines([word])])


def _forget_words(layout: PageLayout) -> None:
    """Leaves of the words of each line the first and their number, which is all that labels ask for.

    The words of a thousand pages are most of what a document takes in memory.
    """
    for block in layout.blocks:
        for line in block.lines:
            line.words = line.words[:1] * len(line.words)
