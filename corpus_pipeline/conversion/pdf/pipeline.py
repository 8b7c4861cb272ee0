"""Our pipeline on docling's native one: captures what stands on the pages of a slice."""

from __future__ import annotations

import logging
from typing import Any

from docling.datamodel.base_models import ConversionStatus, Page
from docling.datamodel.document import ConversionResult
from docling.datamodel.pipeline_options import NativePdfPipelineOptions
from docling.pipeline.native_pdf_pipeline import NativePdfPipeline

from corpus_pipeline.conversion.pdf.capture import PageCapture, Word, capture_page, font_style
from corpus_pipeline.conversion.pdf.font_names import FontNames
from corpus_pipeline.conversion.pdf.geometry import Box
from corpus_pipeline.conversion.pdf.rules import PageRules
from corpus_pipeline.conversion.pdf.sizes import FontMeasures, page_evidence
from corpus_pipeline.conversion.pdf.slices import CapturedPage

__all__ = ["GeometricPdfPipeline", "pipeline_options"]

_log = logging.getLogger(__name__)


def pipeline_options() -> NativePdfPipelineOptions:
    """Options of docling for constant memory: no images of pages or pictures."""
    return NativePdfPipelineOptions(
        generate_page_images=False, generate_picture_images=False, parser_threads=1, document_timeout=None
    )


class GeometricPdfPipeline(NativePdfPipeline):
    """Captures the pages of one slice; what they make up is decided for the document as a whole.

    An instance serves one call of :meth:`execute`; then :attr:`captured` holds the pages.
    """

    def __init__(self, options: NativePdfPipelineOptions, font_names: FontNames | None = None) -> None:
        super().__init__(options)
        self._font_names = font_names
        self._fonts = FontMeasures()
        self._captures: dict[int, PageCapture] = {}
        self._native: dict[int, list[Word]] = {}
        self.captured: list[CapturedPage] = []
        self.failed_pages: list[int] = []

    def _parse_page(self, timings: Any, conv_res: ConversionResult, page_backend: Any) -> Page | None:
        page = super()._parse_page(timings, conv_res, page_backend)
        if page is None:
            self.failed_pages.append(page_backend.page_no)
            return None
        try:
            self._captures[page.page_no] = capture_page(page_backend, self._font_names)
            if page.parsed_page is not None:
                self._native[page.page_no] = _native_words(page.parsed_page)
        except Exception:  # noqa: BLE001 - whatever one page does, the others are read; the page is read natively
            _log.warning("page %d: geometry not captured", page.page_no, exc_info=True)
            self._captures[page.page_no] = _bare_capture(page)
            self._native[page.page_no] = _native_words(page.parsed_page)
        if page.parsed_page is not None:
            page.parsed_page = _without_content(page.parsed_page)
        return page

    def _assemble_document(self, conv_res: ConversionResult) -> ConversionResult:
        """Keeps the pages of the slice in order."""
        for page in conv_res.pages:
            capture = self._captures.pop(page.page_no)
            self.captured.append(
                CapturedPage(
                    capture=capture,
                    native=self._native.pop(page.page_no, []),
                    parsed=page.parsed_page,
                    size=(page.size.width, page.size.height) if page.size else (capture.width, capture.height),
                    fonts=self._fonts.learn(page_evidence(capture.words)),
                )
            )
        return conv_res

    def _determine_status(self, conv_res: ConversionResult) -> ConversionStatus:
        return ConversionStatus.PARTIAL_SUCCESS if conv_res.errors else ConversionStatus.SUCCESS


def _without_content(parsed: Any) -> Any:
    """The page without what has been captured; hyperlinks and the page's frame stay."""
    parsed.word_cells, parsed.char_cells, parsed.textline_cells = [], [], []
    parsed.shapes, parsed.lines, parsed.bitmap_resources, parsed.widgets, parsed.image = [], [], [], [], None
    return parsed


def _native_words(parsed: Any) -> list[Word]:
    """Docling's own lines, each as one long word: the material of the native fallback."""
    words = []
    for cell in parsed.textline_cells:
        box = cell.rect.to_bounding_box()
        if cell.text.strip() and box.r > box.l and box.b != box.t:
            top, bottom = sorted((box.t, box.b))
            words.append(
                Word(cell.text.strip(), Box(box.l, top, box.r, bottom), font_style(cell.font_name), bottom - top)
            )
    return words


def _bare_capture(page: Page) -> PageCapture:
    width, height = (page.size.width, page.size.height) if page.size else (0.0, 0.0)
    return PageCapture(page.page_no, width, height, [], PageRules(), [])
