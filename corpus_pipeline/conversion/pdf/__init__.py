"""The offline PDF engine: structure from geometry, without any model.

Here: what turns the words, lines and areas of PDF pages into headings, paragraphs, lists,
tables and reading order. Not here: worker processes, time and memory limits, routing and
quarantine, which belong to the conversion room; OCR.
"""

from corpus_pipeline.conversion.pdf.converter import (
    PDF_ENGINE_VERSION,
    assemble_pdf_slices,
    capture_pdf_slice,
    convert_pdf,
    pdf_slices,
)

__all__ = ["PDF_ENGINE_VERSION", "assemble_pdf_slices", "capture_pdf_slice", "convert_pdf", "pdf_slices"]
