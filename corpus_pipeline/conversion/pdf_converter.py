"""PDF through this room's own geometric engine on docling's native pipeline."""

from __future__ import annotations

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
