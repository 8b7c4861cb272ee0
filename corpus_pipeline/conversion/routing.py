"""Which converters are tried on a file, by what it is and what was asked for."""

from __future__ import annotations

from fnmatch import fnmatchcase

from corpus_pipeline.conversion.file_format import FileFormat
from corpus_pipeline.errors import ConversionError
from corpus_pipeline.records import QuarantineReason
from corpus_pipeline.registry import ConversionSpec

__all__ = ["ROUTING_VERSION", "requested_converter", "route"]

ROUTING_VERSION = 1
"""Raised when :func:`route` or the sniffing before it changes."""

_F = FileFormat
_AUTO: dict[FileFormat, tuple[str, ...]] = {
    _F.PDF: ("docling-native-geometry", "pdfium-text"),
    _F.DOCX: ("docling", "unstructured"),
    _F.PPTX: ("docling", "unstructured"),
    _F.XLSX: ("docling", "unstructured"),
    _F.ODT: ("docling", "unstructured"),
    _F.ODS: ("docling",),
    _F.ODP: ("docling",),
    _F.EPUB: ("docling", "pandoc-docling"),
    _F.HTML: ("docling", "unstructured"),
    _F.MHTML: ("docling",),
    _F.MARKDOWN: ("markdown-it",),
    _F.RST: ("docutils", "plain"),
    _F.ORG: ("pandoc-docling", "plain"),
    _F.RTF: ("pandoc-docling",),
    _F.ASCIIDOC: ("docling", "plain"),
    _F.LATEX: ("docling", "pandoc-docling", "plain"),
    _F.CSV: ("docling", "unstructured", "plain"),
    _F.TSV: ("unstructured", "plain"),
    _F.JATS: ("docling", "unstructured"),
    _F.USPTO: ("docling", "unstructured"),
    _F.XBRL: ("unstructured",),
    _F.XML: ("unstructured",),
    _F.EML: ("docling", "unstructured"),
    _F.MSG: ("docling", "unstructured"),
    _F.WEBVTT: ("docling", "plain"),
    _F.NOTEBOOK: ("plain",),
    _F.JSON: ("plain",),
    _F.JSONL: ("plain",),
    _F.CODE: ("plain",),
    _F.TEXT: ("plain",),
}
_DOCLING = frozenset(
    {_F.DOCX, _F.PPTX, _F.XLSX, _F.ODT, _F.ODS, _F.ODP, _F.EPUB, _F.HTML, _F.MHTML, _F.MARKDOWN, _F.ASCIIDOC}
    | {_F.LATEX, _F.CSV, _F.JATS, _F.USPTO, _F.EML, _F.MSG, _F.WEBVTT}
)
_UNSTRUCTURED = frozenset(
    {_F.DOCX, _F.PPTX, _F.XLSX, _F.ODT, _F.EPUB, _F.HTML, _F.MARKDOWN, _F.RST, _F.ORG, _F.RTF, _F.CSV, _F.TSV}
    | {_F.XML, _F.JATS, _F.USPTO, _F.XBRL, _F.EML, _F.MSG, _F.TEXT}
)
_NEVER: dict[FileFormat, tuple[QuarantineReason, str, str]] = {
    _F.ENCRYPTED_OFFICE: (
        QuarantineReason.ENCRYPTED,
        "the office document is encrypted",
        "Save an unprotected copy, or set conversion.password to the password it was saved with.",
    ),
    _F.BROKEN_ZIP: (
        QuarantineReason.CORRUPT,
        "the file begins as a ZIP container (office document, EPUB, archive) but its directory is missing or damaged",
        "It was probably cut off while it was copied; restore it from its source.",
    ),
    _F.BROKEN_OLE: (
        QuarantineReason.CORRUPT,
        "the file begins as a compound office file but its directory is damaged",
        "Restore it from its source, or open and save it in its own program.",
    ),
    _F.LEGACY_OFFICE: (
        QuarantineReason.UNSUPPORTED,
        "the file is in an office format from before 2007 (doc, xls, ppt)",
        "Save it as docx, xlsx, pptx or PDF.",
    ),
    _F.IMAGE: (
        QuarantineReason.NO_TEXT,
        "the file is an image, and text recognition is not installed",
        "Add a text version, or leave images out with source.exclude.",
    ),
    _F.MEDIA: (
        QuarantineReason.UNSUPPORTED,
        "the file is sound or video",
        "Add a transcript (txt, vtt), or leave it out with source.exclude.",
    ),
    _F.ARCHIVE: (
        QuarantineReason.UNSUPPORTED,
        "the file is an archive of a kind that is not opened (7z, rar, zst, or a package of a program)",
        "Unpack it into the source folder, pack it as zip or tar, or leave it out with source.exclude.",
    ),
    _F.BINARY: (
        QuarantineReason.UNSUPPORTED,
        "the content is no document format that is known here",
        "Save it in a document format, or leave it out with source.exclude.",
    ),
}


def requested_converter(spec: ConversionSpec, relative_path: str) -> str:
    """The policy for a file: the first glob of ``overrides`` that matches, else the corpus's converter.

    >>> requested_converter(ConversionSpec(overrides={"*.log": "plain"}), "a/b.log")
    'plain'
    """
    for glob, converter in spec.overrides.items():
        shorter = glob.removeprefix("**/")
        if fnmatchcase(relative_path, glob) or (shorter != glob and fnmatchcase(relative_path, shorter)):
            return converter
    return spec.converter


def route(file_format: FileFormat, requested: str) -> tuple[str, ...]:
    """Names of the converters to try, in order; those after the first are declared fallbacks.

    Args:
        file_format: What the file is.
        requested: ``auto``, or one converter that must be used and has no fallback.

    Raises:
        ConversionError: No converter reads this; the class says why.
    """
    if file_format in _NEVER:
        reason, message, remedy = _NEVER[file_format]
        raise ConversionError(message, reason=reason, remedy=remedy)
    if requested == "auto":
        return _AUTO[file_format]
    if requested == "docling" and file_format is FileFormat.PDF:
        return ("docling-native-geometry",)
    if requested == "docling" and file_format in _DOCLING:
        return ("docling",)
    if requested == "unstructured" and file_format in _UNSTRUCTURED:
        return ("unstructured",)
    if requested == "plain" and _is_text(file_format):
        return ("markdown-it",) if file_format is FileFormat.MARKDOWN else ("plain",)
    raise ConversionError(
        f"the converter {requested!r} was asked for, which does not read {file_format}",
        reason=QuarantineReason.UNSUPPORTED,
        remedy="Ask for another converter with conversion.overrides, or for `auto`.",
    )


def _is_text(file_format: FileFormat) -> bool:
    return file_format in _AUTO and file_format not in {
        FileFormat.PDF, FileFormat.DOCX, FileFormat.PPTX, FileFormat.XLSX, FileFormat.ODT, FileFormat.ODS,
        FileFormat.ODP, FileFormat.EPUB, FileFormat.MSG, FileFormat.RTF,
    }  # fmt: skip
