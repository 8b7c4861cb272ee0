"""The text of PDF pages and nothing else, for files whose structure the engine cannot read."""

from __future__ import annotations

import re

from corpus_pipeline.conversion.source import ConversionInput, ConverterFailure
from corpus_pipeline.errors import ConversionError
from corpus_pipeline.records import Block, BlockKind, ConvertedDocument, QuarantineReason

__all__ = ["PdfiumConverter"]

_PARAGRAPHS = re.compile(r"\n[ \t]*\n+")


class PdfiumConverter:
    """pdfium's text in its own order: no headings, no tables, but no text is lost."""

    def convert(self, source: ConversionInput) -> ConvertedDocument:
        """Paragraphs of each page.

        Raises:
            ConverterFailure: pdfium cannot load the file.
            ConversionError: ``too_large`` when there are too many pages.
        """
        import pypdfium2

        try:
            pdf = pypdfium2.PdfDocument(source.path, password=source.password)
        except pypdfium2.PdfiumError as error:
            raise ConverterFailure("pdfium cannot load the file") from error
        with pdf:
            pages = len(pdf)
            if pages > source.max_pages:
                raise ConversionError(
                    f"the file has {pages} pages; at most {source.max_pages} are accepted",
                    reason=QuarantineReason.TOO_LARGE,
                    remedy="Raise conversion.limits.max_pages, or split the file.",
                )
            blocks = [
                Block(kind=BlockKind.PARAGRAPH, text=text.strip(), page=number + 1)
                for number in range(pages)
                for text in _PARAGRAPHS.split(_page_text(pdf, number))
            ]
        return ConvertedDocument.from_blocks(blocks, page_count=pages)


def _page_text(pdf: object, number: int) -> str:
    import pypdfium2

    try:
        text = pdf[number].get_textpage().get_text_range()  # type: ignore[index]  # the library ships no types
    except pypdfium2.PdfiumError:
        return ""  # a damaged page among readable ones
    return str(text).replace("\r\n", "\n").replace("\r", "\n").replace("\ufffe", "-")
