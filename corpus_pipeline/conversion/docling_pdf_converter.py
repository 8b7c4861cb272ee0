"""PDF by docling's own pipelines: the one with layout and table models, and the bare native one."""

from __future__ import annotations

from typing import Any

from corpus_pipeline.conversion.docling_mapping import document_blocks
from corpus_pipeline.conversion.pdf_models import MODELS_REMEDY, missing_for_models, model_folder
from corpus_pipeline.conversion.source import ConversionInput, ConverterFailure
from corpus_pipeline.errors import ConversionError, ModelUnavailableError
from corpus_pipeline.records import Block, BlockKind, ConvertedDocument, QuarantineReason

__all__ = ["ModelPdfConverter", "NativePdfConverter"]

SLICE_PAGES = 50
"""Pages that docling reads at a time; their images and cells are held in memory together."""


class NativePdfConverter:
    """docling's native pipeline as it is: a block a line, in the order of the file; no headings, no tables."""

    def convert(self, source: ConversionInput) -> ConvertedDocument:
        """The lines of each page.

        Raises:
            ConversionError: ``empty``, ``corrupt``, ``encrypted``, ``too_large``.
            ConverterFailure: docling failed on the file.
        """
        from docling.datamodel.pipeline_options import NativePdfPipelineOptions
        from docling.pipeline.native_pdf_pipeline import NativePdfPipeline

        options = NativePdfPipelineOptions(
            generate_page_images=False, generate_picture_images=False, parser_threads=1, document_timeout=None
        )
        return _convert(source, NativePdfPipeline, options, "native")


class ModelPdfConverter:
    """docling's standard pipeline with layout and table weights from a local folder."""

    def convert(self, source: ConversionInput) -> ConvertedDocument:
        """The document as the models see it.

        Raises:
            ModelUnavailableError: Weights or packages are missing; the message says which.
            ConversionError: As :class:`NativePdfConverter`.
            ConverterFailure: docling failed on the file.
        """
        missing = missing_for_models()
        if missing:
            raise ModelUnavailableError(
                f"the PDF grade `models` is asked for, and this machine lacks {', '.join(missing)}",
                remedy=MODELS_REMEDY,
            )
        from docling.datamodel.pipeline_options import PdfPipelineOptions
        from docling.pipeline.standard_pdf_pipeline import StandardPdfPipeline

        options = PdfPipelineOptions(artifacts_path=model_folder(), do_ocr=False, document_timeout=None)
        return _convert(source, StandardPdfPipeline, options, "models")


def _convert(source: ConversionInput, pipeline: Any, options: Any, grade: str) -> ConvertedDocument:
    from corpus_pipeline.conversion.pdf.document_info import read_info

    info = read_info(source.path, source.password)
    if info.page_count > source.max_pages:
        raise ConversionError(
            f"the PDF has {info.page_count} pages, more than the limit of {source.max_pages}",
            reason=QuarantineReason.TOO_LARGE,
            remedy="Raise conversion.limits.max_pages, or split the file.",
        )
    engine = _engine(source, pipeline, options)
    blocks: list[Block] = []
    for first in range(1, info.page_count + 1, SLICE_PAGES):
        blocks += _slice(engine, source, (first, min(first + SLICE_PAGES - 1, info.page_count)))
    title = next((block.text for block in blocks if block.kind is BlockKind.TITLE), info.properties.get("title"))
    properties = dict(sorted({**info.properties, "pdf_grade": grade}.items()))
    return ConvertedDocument.from_blocks(blocks, title=title, page_count=info.page_count, properties=properties)


def _engine(source: ConversionInput, pipeline: Any, options: Any) -> Any:
    from docling.datamodel.backend_options import ThreadedDoclingParseBackendOptions
    from docling.datamodel.base_models import InputFormat
    from docling.document_converter import DocumentConverter, PdfFormatOption

    password: Any = source.password or None
    backend = ThreadedDoclingParseBackendOptions(parser_threads=1, max_concurrent_results=4, password=password)
    pdf = PdfFormatOption(pipeline_cls=pipeline, pipeline_options=options, backend_options=backend)
    return DocumentConverter(allowed_formats=[InputFormat.PDF], format_options={InputFormat.PDF: pdf})


def _slice(engine: Any, source: ConversionInput, pages: tuple[int, int]) -> list[Block]:
    from io import BytesIO

    from docling.datamodel.base_models import ConversionStatus, DocumentStream

    stream = DocumentStream(name="document.pdf", stream=BytesIO(source.path.read_bytes()))
    result = engine.convert(stream, raises_on_error=False, page_range=pages)
    if result.status not in {ConversionStatus.SUCCESS, ConversionStatus.PARTIAL_SUCCESS}:
        parts = sorted({error.module_name for error in result.errors if error.module_name})
        raise ConverterFailure(f"docling ended with {result.status.value} in {', '.join(parts) or 'its pipeline'}")
    return document_blocks(result.document, units_per_point=1.0)
