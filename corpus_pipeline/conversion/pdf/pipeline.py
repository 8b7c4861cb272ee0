"""Our pipeline on docling's native one: geometry for every page, labels for the document as a whole."""

from __future__ import annotations

import logging
from typing import Any

from docling.datamodel.base_models import ConversionStatus, Page
from docling.datamodel.document import ConversionResult
from docling.datamodel.pipeline_options import NativePdfPipelineOptions
from docling.pipeline.native_pdf_pipeline import NativePdfPipeline

from corpus_pipeline.conversion.pdf.assembly import assemble_document
from corpus_pipeline.conversion.pdf.capture import PageCapture, Word, capture_page, font_style
from corpus_pipeline.conversion.pdf.font_names import FontNames
from corpus_pipeline.conversion.pdf.geometry import Box
from corpus_pipeline.conversion.pdf.labels import label_blocks
from corpus_pipeline.conversion.pdf.lines import build_lines
from corpus_pipeline.conversion.pdf.page_layout import PageLayout, lay_out, lay_out_natively
from corpus_pipeline.conversion.pdf.rules import PageRules
from corpus_pipeline.conversion.pdf.sizes import FontMeasures

__all__ = ["GeometricPdfPipeline", "pipeline_options"]

_log = logging.getLogger(__name__)


def pipeline_options() -> NativePdfPipelineOptions:
    """Options of docling for constant memory: no images of pages or pictures."""
    return NativePdfPipelineOptions(
        generate_page_images=False, generate_picture_images=False, parser_threads=1, document_timeout=None
    )


class GeometricPdfPipeline(NativePdfPipeline):
    """Collects one document slice by slice and assembles it once.

    An instance serves one document: :meth:`execute` once for every slice of pages, in order,
    then :meth:`finish`.
    """

    def __init__(self, options: NativePdfPipelineOptions, font_names: FontNames | None = None) -> None:
        super().__init__(options)
        self._font_names = font_names
        self._fonts = FontMeasures()
        self._captures: dict[int, PageCapture] = {}
        self._native: dict[int, list[Any]] = {}
        self._layouts: dict[int, PageLayout] = {}
        self._pages: list[Page] = []
        self._outline: list[Any] = []
        self.failed_pages: list[int] = []

    @property
    def layouts(self) -> dict[int, PageLayout]:
        """Layouts by page number."""
        return self._layouts

    def finish(self, last_slice: ConversionResult) -> ConversionResult:
        """Labels all pages and assembles the document.

        Args:
            last_slice: What :meth:`execute` returned for the last slice.
        """
        label_blocks(
            [self._layouts[number] for number in sorted(self._layouts)],
            [(item.title or "", item.page_no) for item in self._outline],
        )
        last_slice.pages = sorted(self._pages, key=lambda page: page.page_no)
        last_slice._pdf_outline = self._outline or None  # noqa: SLF001 - where the heading hierarchy looks for it
        return assemble_document(last_slice, self._layouts)

    def _build_document(self, conv_res: ConversionResult) -> ConversionResult:
        if not self._pages:
            self._outline = list(_pdf_backend(conv_res).get_document_outline() or [])
        return super()._build_document(conv_res)

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
            page.parsed_page.word_cells, page.parsed_page.char_cells, page.parsed_page.textline_cells = [], [], []
        return page

    def _assemble_document(self, conv_res: ConversionResult) -> ConversionResult:
        """Lays out the pages of a slice; the document is assembled by :meth:`finish`."""
        captures = [self._captures[page.page_no] for page in conv_res.pages]
        self._fonts.learn(word for capture in captures for word in capture.words)
        for capture in captures:
            self._layouts[capture.number] = self._lay_out(capture, self._native[capture.number])
        self._captures, self._native = {}, {}
        self._pages += conv_res.pages
        return conv_res

    def _lay_out(self, capture: PageCapture, native: list[Word]) -> PageLayout:
        if capture.words or not native:
            try:
                self._fonts.correct(capture.words)
                return lay_out(capture)
            except Exception:  # noqa: BLE001 - one page without a layout is read natively and recorded as such
                _log.warning("page %d: no layout", capture.number, exc_info=True)
        return lay_out_natively(capture, [line for word in native for line in build_lines([word])])

    def _determine_status(self, conv_res: ConversionResult) -> ConversionStatus:
        return ConversionStatus.PARTIAL_SUCCESS if conv_res.errors else ConversionStatus.SUCCESS


def _pdf_backend(conv_res: ConversionResult) -> Any:
    """The document backend, which docling keeps private on its input."""
    return conv_res.input._backend  # noqa: SLF001


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
