"""Which converters are tried on a file, by what it is and what was asked for."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

from corpus_pipeline.conversion.embedded_images import IMAGE_FORMATS, IMAGES_VERSION
from corpus_pipeline.conversion.file_format import FileFormat
from corpus_pipeline.conversion.markitdown_converter import MARKITDOWN_FORMATS
from corpus_pipeline.errors import ConversionError
from corpus_pipeline.records import QuarantineReason
from corpus_pipeline.registry import ConversionSpec

__all__ = ["ROUTING_VERSION", "RouteOptions", "requested_converter", "route"]

ROUTING_VERSION = 2
"""Raised when :func:`route` or the sniffing before it changes."""

_F = FileFormat
_AUTO: dict[FileFormat, tuple[str, ...]] = {
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
    _F.LATEX: ("pandoc-docling", "docling", "plain"),
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
    _F.DOC: ("libreoffice-docling",),
    _F.XLS: ("libreoffice-docling",),
    _F.PPT: ("libreoffice-docling",),
}
_PDF_GRADES = {"models": "docling-standard", "geometry": "docling-native-geometry", "native": "docling-native"}
_PDF_FALLBACKS = {
    "models": ("docling-native-geometry", "pdfium-text"),
    "geometry": ("pdfium-text",),
    "native": ("pdfium-text",),
}
_OCR = "rapidocr-geometry"
_DOCLING = frozenset(
    {_F.DOCX, _F.PPTX, _F.XLSX, _F.ODT, _F.ODS, _F.ODP, _F.EPUB, _F.HTML, _F.MHTML, _F.MARKDOWN, _F.ASCIIDOC}
    | {_F.LATEX, _F.CSV, _F.JATS, _F.USPTO, _F.EML, _F.MSG, _F.WEBVTT}
)
_LEGACY = frozenset({_F.DOC, _F.XLS, _F.PPT})
_UNSTRUCTURED = frozenset(
    {_F.DOCX, _F.PPTX, _F.XLSX, _F.ODT, _F.EPUB, _F.HTML, _F.MARKDOWN, _F.RST, _F.ORG, _F.RTF, _F.CSV, _F.TSV}
    | {_F.XML, _F.JATS, _F.USPTO, _F.XBRL, _F.EML, _F.MSG, _F.TEXT}
)
_NOT_TEXT = frozenset(
    {_F.DOCX, _F.PPTX, _F.XLSX, _F.ODT, _F.ODS, _F.ODP, _F.EPUB, _F.MSG, _F.RTF, _F.DOC, _F.XLS, _F.PPT}
)
_ROUTES: dict[str, dict[FileFormat, tuple[str, ...]]] = {
    "auto": _AUTO,
    "docling": {**dict.fromkeys(_DOCLING, ("docling",)), **dict.fromkeys(_LEGACY, ("libreoffice-docling",))},
    "unstructured": dict.fromkeys(_UNSTRUCTURED, ("unstructured",)),
    "markitdown": dict.fromkeys(MARKITDOWN_FORMATS, ("markitdown",)),
    "plain": {**dict.fromkeys(_AUTO.keys() - _NOT_TEXT, ("plain",)), _F.MARKDOWN: ("markdown-it",)},
}
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
        "the file is a compound office file of a kind that is not known here (not doc, xls, ppt or msg)",
        "Save it as docx, xlsx, pptx or PDF, or leave it out with source.exclude.",
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


@dataclass(frozen=True)
class RouteOptions:
    """What a corpus has chosen, and what a look at the file has shown.

    Attributes:
        pdf_grade: ``models``, ``geometry`` or ``native``.
        ocr: ``auto``, ``on`` or ``off``.
        scanned: Whether a PDF has pages that are pictures.
        keep_images: Whether pictures in the file become part of the document.
        models_found: False when the grade ``models`` is asked for and cannot run: then nothing stands in for it.
    """

    pdf_grade: str = "geometry"
    ocr: str = "auto"
    scanned: bool = False
    keep_images: bool = False
    models_found: bool = True

    def of_format(self, file_format: FileFormat) -> dict[str, str]:
        """The choices that matter for a format."""
        if file_format is FileFormat.PDF:
            return {"pdf_grade": self.pdf_grade, "ocr": self.ocr}
        return {"ocr": self.ocr} if file_format is FileFormat.IMAGE else self.of_output(file_format)

    def of_output(self, file_format: FileFormat) -> dict[str, str]:
        """The choices that change what one converter makes of a format, and so belong to its fingerprint."""
        kept = self.keep_images and file_format in IMAGE_FORMATS
        return {"embedded_images": IMAGES_VERSION} if kept else {}


def route(file_format: FileFormat, requested: str, options: RouteOptions = RouteOptions()) -> tuple[str, ...]:
    """Names of the converters to try, in order; those after the first are declared fallbacks.

    Args:
        file_format: What the file is.
        requested: ``auto``, or one converter that must be used and has no fallback.
        options: Of the corpus and the file.

    Raises:
        ConversionError: No converter reads this; the class says why.
    """
    if file_format in _NEVER:
        reason, message, remedy = _NEVER[file_format]
        raise ConversionError(message, reason=reason, remedy=remedy)
    if requested in {"auto", "docling"} and file_format in {FileFormat.PDF, FileFormat.IMAGE}:
        return _picture_route(options) if file_format is FileFormat.IMAGE else _pdf_route(requested, options)
    names = _ROUTES[requested].get(file_format)
    if names is not None:
        return names
    raise ConversionError(
        f"the converter {requested!r} was asked for, which does not read {file_format}",
        reason=QuarantineReason.UNSUPPORTED,
        remedy="Ask for another converter with conversion.overrides, or for `auto`.",
    )


def _pdf_route(requested: str, options: RouteOptions) -> tuple[str, ...]:
    """Recognition comes first where pages are scanned; ``on`` lets nothing take its place."""
    if options.scanned and options.ocr == "on":
        return (_OCR,)
    grade = _PDF_GRADES[options.pdf_grade]
    names = (grade, *_PDF_FALLBACKS[options.pdf_grade]) if requested == "auto" and options.models_found else (grade,)
    return (_OCR, *names) if options.scanned and options.ocr == "auto" else names


def _picture_route(options: RouteOptions) -> tuple[str, ...]:
    if options.ocr != "off":
        return (_OCR,)
    raise ConversionError(
        "the file is an image, and text recognition is switched off",
        reason=QuarantineReason.NO_TEXT,
        remedy="Set conversion.ocr to auto, add a text version, or leave images out with source.exclude.",
    )
