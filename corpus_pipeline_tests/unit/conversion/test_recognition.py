"""Scans and images: found by looking, recognised where that is installed, never published empty."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from corpus_pipeline.conversion import CATALOGUE, ConversionJob, ConversionOutcome, recognition
from corpus_pipeline.conversion.pdf import convert_pdf
from corpus_pipeline.conversion.scanned_pages import scanned_pages
from corpus_pipeline.conversion.single_file import convert_file
from corpus_pipeline.conversion.text_layer import RecognisedLine, TextPage, text_layer
from corpus_pipeline.records import ConvertedDocument
from corpus_pipeline.registry import ConversionLimits

WORDS = "The refund is paid within thirty days"


def convert(path: Path, **changes) -> ConversionOutcome:
    targets = {name: entry.target for name, entry in CATALOGUE.items()}
    limits = ConversionLimits().model_dump()
    return convert_file(ConversionJob(path.name, str(path), path.suffix[1:], "auto", targets, limits, **changes))


def document_of(outcome: ConversionOutcome) -> ConvertedDocument:
    assert not outcome.reason, outcome.message
    return ConvertedDocument.model_validate_json(zlib.decompress(outcome.content))


def picture(text: str = WORDS) -> Image.Image:
    image = Image.new("RGB", (900, 300), "white")
    ImageDraw.Draw(image).text((40, 100), text, fill="black", font=ImageFont.load_default(40))
    return image


def write_mixed_pdf(path: Path, *, text_pages: bool = True) -> None:
    canvas = Canvas(str(path), pagesize=(595, 842))
    if text_pages:
        canvas.drawString(72, 700, "This first page is text, and it is long enough to be read as such by anyone.")
        canvas.drawString(72, 680, "Its second line says that the next page was scanned by somebody.")
        canvas.showPage()
    canvas.drawImage(ImageReader(picture()), 0, 500, width=595, height=198)
    canvas.drawImage(ImageReader(Image.new("RGB", (60, 60), "white")), 0, 0, width=595, height=500)
    canvas.showPage()
    canvas.save()


@pytest.fixture
def without_recognition(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(name: str) -> None:
        return None

    monkeypatch.setattr(recognition, "find_spec", nothing)
    from corpus_pipeline.conversion.catalogue import load_converter

    load_converter.cache_clear()
    yield
    load_converter.cache_clear()


def test_pages_that_are_pictures_are_found(tmp_path: Path) -> None:
    path = tmp_path / "mixed.pdf"
    write_mixed_pdf(path)
    assert scanned_pages(path, None, max_pages=10) == (2,)


def test_a_text_layer_is_read_with_its_places_in_any_script(tmp_path: Path) -> None:
    path = tmp_path / "layer.pdf"
    lines = [RecognisedLine("Prüfung 漢字 Ж", (60, 100, 150, 114)), RecognisedLine("and more", (60, 116, 120, 130))]
    path.write_bytes(text_layer([TextPage(595, 842, lines)]))
    document = convert_pdf(path, password=None, max_pages=1)
    assert "Prüfung 漢字 Ж" in document.text
    box = document.blocks[0].bbox
    assert box is not None
    assert box[0] == pytest.approx(60, abs=2)
    assert 95 < box[1] < 110


def test_without_recognition_a_scan_is_quarantined_with_the_extra_named(
    tmp_path: Path, without_recognition: None
) -> None:
    write_mixed_pdf(tmp_path / "scan.pdf", text_pages=False)
    picture().save(tmp_path / "scan.png")
    for name in ("scan.pdf", "scan.png"):
        outcome = convert(tmp_path / name)
        assert outcome.reason == "no_text"
        assert "corpus-pipeline[ocr]" in outcome.message
        assert outcome.tried[0] == "rapidocr-geometry"  # its installation has the file tried again


def test_without_recognition_the_text_pages_of_a_mixed_file_stay(tmp_path: Path, without_recognition: None) -> None:
    write_mixed_pdf(tmp_path / "mixed.pdf")
    outcome = convert(tmp_path / "mixed.pdf")
    document = document_of(outcome)
    assert outcome.tried == ("rapidocr-geometry", "docling-native-geometry")
    assert document.properties["pdf_blank_pages"] == "2"
    refused = convert(tmp_path / "mixed.pdf", ocr="on")
    assert refused.reason == "no_text"
    assert "corpus-pipeline[ocr]" in refused.message


def test_recognition_that_is_switched_off_is_not_tried(tmp_path: Path) -> None:
    write_mixed_pdf(tmp_path / "mixed.pdf")
    assert convert(tmp_path / "mixed.pdf", ocr="off").tried == ("docling-native-geometry",)


@pytest.mark.slow
@pytest.mark.parametrize("extension", ["png", "jpg", "tiff", "webp", "bmp"])
def test_an_image_gives_its_text_with_page_and_place(extension: str, tmp_path: Path) -> None:
    pytest.importorskip("rapidocr")
    path = tmp_path / f"scan.{extension}"
    picture().save(path, dpi=(200, 200))
    document = document_of(convert(path))
    assert document.text == WORDS
    assert document.page_count == 1
    block = document.blocks[0]
    assert block.page == 1
    assert block.bbox is not None
    assert block.bbox[0] == pytest.approx(40 * 842 / 900 if extension == "webp" else 40 * 72 / 200, abs=6)


@pytest.mark.slow
def test_only_the_scanned_pages_of_a_mixed_file_are_recognised(tmp_path: Path) -> None:
    pytest.importorskip("rapidocr")
    write_mixed_pdf(tmp_path / "mixed.pdf")
    outcome = convert(tmp_path / "mixed.pdf")
    document = document_of(outcome)
    assert outcome.converter == "rapidocr-geometry"
    assert document.properties["ocr_pages"] == "2"
    assert [block.page for block in document.blocks] == [1, 2]
    assert document.blocks[1].text == WORDS
    assert document.blocks[0].text.startswith("This first page is text")


@pytest.mark.slow
def test_a_picture_without_text_is_quarantined(tmp_path: Path) -> None:
    pytest.importorskip("rapidocr")
    Image.new("RGB", (400, 300), "white").save(tmp_path / "blank.png")
    outcome = convert(tmp_path / "blank.png")
    assert outcome.reason == "no_text"
    assert "found no text" in outcome.message


@pytest.mark.slow
@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_a_page_on_its_side_or_head_is_turned_upright(degrees: int, tmp_path: Path) -> None:
    pytest.importorskip("rapidocr")
    image = Image.new("RGB", (900, 600), "white")
    for line, text in enumerate((WORDS, "when the goods came back in full", "and nobody asks for more")):
        ImageDraw.Draw(image).text((40, 100 + 80 * line), text, fill="black", font=ImageFont.load_default(40))
    image.rotate(degrees, expand=True).save(tmp_path / "scan.png", dpi=(200, 200))
    document = document_of(convert(tmp_path / "scan.png"))
    read = " ".join(document.text.split())
    assert read == f"{WORDS} when the goods came back in full and nobody asks for more"
    box = document.blocks[0].bbox
    assert box is not None
    assert box[:2] == pytest.approx((40 * 72 / 200, 110 * 72 / 200), abs=8)  # on the page as it is read
