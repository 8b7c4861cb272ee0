"""The engines that the structure benchmark sets side by side; each turns a PDF into a structure."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.conversion.structure import (
    Element,
    Structure,
    from_converted,
    from_docling,
    from_markdown,
    table_element,
)

Engine = Callable[[Path], Structure]


def geometry(path: Path) -> Structure:
    """This project's offline engine."""
    from corpus_pipeline.conversion.pdf import convert_pdf

    return from_converted(convert_pdf(path, password=None, max_pages=5_000))


def docling_native(path: Path) -> Structure:
    """docling's own pipeline without models: one text item a line."""
    return from_docling(native_converter().convert(path).document)


def docling_standard(path: Path) -> Structure:
    """docling's layout and table models; needs their weights in a local folder or from a hub."""
    return from_docling(standard_converter().convert(path).document)


def unstructured_fast(path: Path) -> Structure:
    """unstructured's fast strategy."""
    from unstructured.partition.pdf import partition_pdf

    _use_installed_words()
    kinds = {"Title": "heading", "ListItem": "list_item"}
    structure = Structure()
    for element in partition_pdf(str(path), strategy="fast"):
        if element.category in {"Header", "Footer", "PageNumber"}:
            continue
        if element.category == "Table" and element.metadata.text_as_html:
            structure.elements.append(table_element(element.metadata.text_as_html))
        else:
            structure.elements.append(Element(kinds.get(element.category, "text"), element.text))
    return structure


def markitdown(path: Path) -> Structure:
    """markitdown, its Markdown read back."""
    return from_markdown(_markitdown().convert(str(path)).text_content)


@cache
def _use_installed_words() -> None:
    """Points unstructured at the language model that is installed as a package; it would download one."""
    from corpus_pipeline.conversion.unstructured_converter import UnstructuredConverter

    UnstructuredConverter()


@cache
def native_converter() -> Any:
    from docling.datamodel.base_models import InputFormat
    from docling.datamodel.pipeline_options import NativePdfPipelineOptions
    from docling.document_converter import DocumentConverter, PdfFormatOption
    from docling.pipeline.native_pdf_pipeline import NativePdfPipeline

    options = NativePdfPipelineOptions(parser_threads=1, generate_page_images=False, generate_picture_images=False)
    return DocumentConverter(
        format_options={InputFormat.PDF: PdfFormatOption(pipeline_cls=NativePdfPipeline, pipeline_options=options)}
    )


@cache
def standard_converter() -> Any:
    from docling.document_converter import DocumentConverter

    return DocumentConverter()


@cache
def _markitdown() -> Any:
    from markitdown import MarkItDown

    return MarkItDown()


ENGINES: dict[str, Engine] = {
    "geometry": geometry,
    "docling-native": docling_native,
    "docling-standard": docling_standard,
    "unstructured-fast": unstructured_fast,
    "markitdown": markitdown,
}
