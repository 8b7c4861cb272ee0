"""PDF through this room's own geometric engine on docling's native pipeline."""

from __future__ import annotations

from pathlib import Path

from corpus_pipeline.conversion.source import ConversionInput
from corpus_pipeline.records import ConvertedDocument

__all__ = ["PdfConverter"]


class PdfConverter:
    """Adapter of :func:`corpus_pipeline.conversion.pdf.convert_pdf`."""

    def convert(self, source: ConversionInput) -> ConvertedDocument:
        """The document; see ``conversion.pdf`` for how it is read.

        Raises:
            ConversionError: ``encrypted``, ``corrupt``, ``too_large`` or ``no_text``.
        """
        from corpus_pipeline.conversion.pdf import convert_pdf

        return convert_pdf(source.path, password=source.password, max_pages=source.max_pages)

    def slices(self, source: ConversionInput) -> list[tuple[int, int]]:
        """Ranges of pages.

        Raises:
            ConversionError: ``encrypted``, ``corrupt``, ``empty`` or ``too_large``.
        """
        from corpus_pipeline.conversion.pdf import pdf_slices

        return pdf_slices(source.path, password=source.password, max_pages=source.max_pages)

    def capture_slice(self, source: ConversionInput, pages: tuple[int, int]) -> bytes:
        """What stands on the pages of a slice.

        Raises:
            ConversionError: ``corrupt``.
        """
        from corpus_pipeline.conversion.pdf import capture_pdf_slice

        return capture_pdf_slice(source.path, password=source.password, page_range=pages)

    def assemble_slices(self, source: ConversionInput, files: list[Path]) -> ConvertedDocument:
        """The document that :meth:`convert` would have made.

        Raises:
            ConversionError: ``corrupt`` or ``no_text``.
        """
        from corpus_pipeline.conversion.pdf import assemble_pdf_slices

        return assemble_pdf_slices(source.path, password=source.password, max_pages=source.max_pages, slices=files)
