from __future__ import annotations

import pytest

from corpus_pipeline.conversion.catalogue import CATALOGUE, modules_to_preload
from corpus_pipeline.conversion.file_format import FileFormat
from corpus_pipeline.conversion.routing import RouteOptions, requested_converter, route
from corpus_pipeline.errors import ConversionError
from corpus_pipeline.records import QuarantineReason
from corpus_pipeline.registry import ConversionSpec

REFUSED = {
    FileFormat.ENCRYPTED_OFFICE: QuarantineReason.ENCRYPTED,
    FileFormat.BROKEN_ZIP: QuarantineReason.CORRUPT,
    FileFormat.BROKEN_OLE: QuarantineReason.CORRUPT,
    FileFormat.LEGACY_OFFICE: QuarantineReason.UNSUPPORTED,
    FileFormat.MEDIA: QuarantineReason.UNSUPPORTED,
    FileFormat.ARCHIVE: QuarantineReason.UNSUPPORTED,
    FileFormat.BINARY: QuarantineReason.UNSUPPORTED,
}


@pytest.mark.parametrize("file_format", list(FileFormat))
def test_every_format_has_a_route_of_known_converters_or_a_reason(file_format: FileFormat) -> None:
    if file_format in REFUSED:
        with pytest.raises(ConversionError) as caught:
            route(file_format, "auto")
        assert caught.value.reason == REFUSED[file_format]
        assert caught.value.remedy
    else:
        names = route(file_format, "auto")
        assert names
        assert set(names) <= set(CATALOGUE)
        assert "auto" not in names


def test_a_named_converter_has_no_fallback_and_may_refuse() -> None:
    assert route(FileFormat.DOCX, "docling") == ("docling",)
    assert route(FileFormat.PDF, "docling") == ("docling-native-geometry",)
    assert route(FileFormat.XLS, "docling") == ("libreoffice-docling",)
    assert route(FileFormat.PPTX, "markitdown") == ("markitdown",)
    assert route(FileFormat.RST, "unstructured") == ("unstructured",)
    assert route(FileFormat.MARKDOWN, "plain") == ("markdown-it",)
    with pytest.raises(ConversionError, match="does not read docx"):
        route(FileFormat.DOCX, "plain")


@pytest.mark.parametrize(
    ("grade", "ocr", "scanned", "names"),
    [
        ("geometry", "auto", False, ("docling-native-geometry", "pdfium-text")),
        ("models", "auto", False, ("docling-standard", "docling-native-geometry", "pdfium-text")),
        ("native", "off", True, ("docling-native", "pdfium-text")),
        ("geometry", "auto", True, ("rapidocr-geometry", "docling-native-geometry", "pdfium-text")),
        ("geometry", "on", True, ("rapidocr-geometry",)),
    ],
)
def test_a_pdf_goes_by_grade_and_its_scanned_pages_to_recognition(
    grade: str, ocr: str, scanned: bool, names: tuple[str, ...]
) -> None:
    assert route(FileFormat.PDF, "auto", RouteOptions(grade, ocr, scanned=scanned)) == names
    assert set(names) <= set(CATALOGUE)


def test_an_image_is_recognised_unless_that_is_switched_off() -> None:
    assert route(FileFormat.IMAGE, "auto", RouteOptions(ocr="on")) == ("rapidocr-geometry",)
    with pytest.raises(ConversionError, match="switched off") as caught:
        route(FileFormat.IMAGE, "auto", RouteOptions(ocr="off"))
    assert caught.value.reason == QuarantineReason.NO_TEXT


def test_options_matter_for_the_formats_they_name_only() -> None:
    options = RouteOptions("native", "on")
    assert options.of_format(FileFormat.PDF) == {"pdf_grade": "native", "ocr": "on"}
    assert options.of_format(FileFormat.IMAGE) == {"ocr": "on"}
    assert options.of_format(FileFormat.DOCX) == {}


def test_the_first_matching_glob_wins() -> None:
    spec = ConversionSpec(converter="docling", overrides={"logs/*": "plain", "**/*.html": "unstructured"})
    assert requested_converter(spec, "logs/a.html") == "plain"
    assert requested_converter(spec, "a.html") == "unstructured"
    assert requested_converter(spec, "deep/er/a.html") == "unstructured"
    assert requested_converter(spec, "a.docx") == "docling"


def test_a_fingerprint_tells_converters_formats_and_code_languages_apart() -> None:
    plain, docling = CATALOGUE["plain"], CATALOGUE["docling"]
    assert plain.fingerprint(FileFormat.TEXT, "txt") == plain.fingerprint(FileFormat.TEXT, "log")
    distinct = {
        plain.fingerprint(FileFormat.TEXT, "txt"),
        plain.fingerprint(FileFormat.CODE, "py"),
        plain.fingerprint(FileFormat.CODE, "sql"),
        docling.fingerprint(FileFormat.HTML, "html"),
        docling.fingerprint(FileFormat.EPUB, "epub"),
    }
    assert len(distinct) == 5


def test_processor_versions_name_libraries_and_fallbacks() -> None:
    assert CATALOGUE["docling"].processor_version().startswith("docling-slim 2.")
    assert CATALOGUE["unstructured"].processor_version(fallback_for=("docling",)).endswith("(fallback for docling)")


def test_light_corpora_preload_no_document_library() -> None:
    assert modules_to_preload({"md", "txt", "py", ""}, {"auto"}) == ("markdown_it",)
    assert "docling.document_converter" in modules_to_preload({"md", "docx"}, {"auto"})
    assert modules_to_preload({"docx"}, {"plain"}) == ()
