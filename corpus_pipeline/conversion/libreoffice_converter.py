"""Office formats from before 2007: LibreOffice writes the modern form, docling reads it."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from corpus_pipeline.conversion.docling_converter import convert_bytes
from corpus_pipeline.conversion.file_format import FileFormat, sniff_format
from corpus_pipeline.conversion.libreoffice import REFUSED, libreoffice_program, saved_as
from corpus_pipeline.conversion.properties import file_properties
from corpus_pipeline.conversion.source import ConversionInput, ConverterFailure
from corpus_pipeline.errors import ConversionError
from corpus_pipeline.records import ConvertedDocument, QuarantineReason

__all__ = ["LibreOfficeConverter"]

_MODERN = {FileFormat.DOC: "docx", FileFormat.XLS: "xlsx", FileFormat.PPT: "pptx"}


class LibreOfficeConverter:
    """LibreOffice to docx, xlsx or pptx, then docling."""

    def convert(self, source: ConversionInput) -> ConvertedDocument:
        """The document.

        Raises:
            ConversionError: ``unsupported``: LibreOffice is not installed; ``corrupt``: it refuses the file.
            ConverterFailure: LibreOffice failed.
        """
        program = libreoffice_program()
        if program is None:
            raise ConversionError(
                "the file is in an office format from before 2007 (doc, xls, ppt), which takes LibreOffice to read",
                reason=QuarantineReason.UNSUPPORTED,
                remedy="Install LibreOffice (the program soffice) where conversion runs, "
                "or save the file as docx, xlsx, pptx or PDF.",
            )
        with tempfile.TemporaryDirectory(prefix="libreoffice-") as name:
            target = _MODERN[source.file_format]
            modern, fault = saved_as(target, source.path, source.file_format.value, Path(name), program=program)
            if fault == REFUSED:
                raise ConversionError(
                    f"LibreOffice cannot open the file as {source.file_format.value}: it is damaged",
                    reason=QuarantineReason.CORRUPT,
                    remedy="Restore the file from its source, or save it again as docx, xlsx, pptx or PDF.",
                )
            if modern is None:
                raise ConverterFailure(f"LibreOffice wrote no {target} ({fault})")
            extension = modern.suffix[1:]
            modern_format = sniff_format(modern, extension)
            found = replace(source, path=modern, file_format=modern_format, extension=extension, password=None)
            return convert_bytes(
                modern.read_bytes(),
                found.file_format,
                file_properties(found),
                max_pages=source.max_pages,
                keep_images=source.keep_images,
            )
