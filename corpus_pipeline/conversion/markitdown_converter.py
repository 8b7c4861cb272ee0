"""markitdown: documents as Markdown, whose blocks our own reader finds."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from corpus_pipeline.conversion.decoding import decode_text
from corpus_pipeline.conversion.file_format import FileFormat
from corpus_pipeline.conversion.markdown_converter import markdown_blocks
from corpus_pipeline.conversion.properties import file_properties
from corpus_pipeline.conversion.source import ConversionInput
from corpus_pipeline.errors import ModelUnavailableError
from corpus_pipeline.records import Block, BlockKind, ConvertedDocument

__all__ = ["MARKITDOWN_FORMATS", "MarkitdownConverter"]

_EXTENSIONS = {
    FileFormat.DOCX: ".docx",
    FileFormat.PPTX: ".pptx",
    FileFormat.XLSX: ".xlsx",
    FileFormat.PDF: ".pdf",
    FileFormat.HTML: ".html",
    FileFormat.EPUB: ".epub",
    FileFormat.CSV: ".csv",
    FileFormat.NOTEBOOK: ".ipynb",
    FileFormat.MSG: ".msg",
}
MARKITDOWN_FORMATS = frozenset(_EXTENSIONS)
_DECODED = frozenset({FileFormat.HTML, FileFormat.CSV, FileFormat.NOTEBOOK})


class MarkitdownConverter:
    """markitdown's built-in converters on bytes: no plugins, no network, no models."""

    def __init__(self) -> None:
        try:
            from markitdown import MarkItDown
        except ImportError as error:
            raise ModelUnavailableError(
                "the converter markitdown is asked for and not installed",
                remedy="pip install 'corpus-pipeline[markitdown]', or ask for `auto`.",
            ) from error
        self._engine: Any = MarkItDown(enable_builtins=True, enable_plugins=False)

    def convert(self, source: ConversionInput) -> ConvertedDocument:
        """The blocks of the Markdown that markitdown writes; a single first heading of level 1 is the title."""
        from markitdown import StreamInfo

        data = source.path.read_bytes()
        charset = None
        if source.file_format in _DECODED:
            data, charset = decode_text(data).encode(), "utf-8"
        told = StreamInfo(extension=_EXTENSIONS[source.file_format], charset=charset)
        result = self._engine.convert_stream(BytesIO(data), stream_info=told)
        properties = file_properties(source)
        blocks = markdown_blocks(result.markdown)
        tops = [block for block in blocks if block.kind is BlockKind.HEADING and block.level == 1]
        title = properties.get("title") or (tops[0].text if len(tops) == 1 else None)
        return ConvertedDocument.from_blocks(
            _titled(blocks, title), title=title, language=properties.get("language"), properties=properties
        )


def _titled(blocks: list[Block], title: str | None) -> list[Block]:
    tops = [block for block in blocks if block.kind is BlockKind.HEADING and block.level == 1]
    if len(tops) != 1 or tops[0].text != title:
        return blocks
    return [block.model_copy(update={"kind": BlockKind.TITLE}) if block is tops[0] else block for block in blocks]
