"""Pictures inside documents: cut by default, kept beside the text where a corpus asks for it."""

from __future__ import annotations

import base64
import json
import zlib
from io import BytesIO
from pathlib import Path

import docx
import pytest
from PIL import Image
from pptx import Presentation

from corpus_pipeline.conversion import embedded_images
from corpus_pipeline.conversion.catalogue import CATALOGUE, load_converter
from corpus_pipeline.conversion.file_format import FileFormat, sniff_format
from corpus_pipeline.conversion.job import ConversionJob
from corpus_pipeline.conversion.routing import RouteOptions
from corpus_pipeline.conversion.single_file import convert_file
from corpus_pipeline.conversion.source import ConversionInput
from corpus_pipeline.records import Block, BlockKind, ConvertedDocument, EmbeddedImage, canonical_json
from corpus_pipeline.registry import ConversionLimits


def picture(colour: str, kind: str = "PNG") -> bytes:
    drawn = BytesIO()
    Image.new("RGB", (40, 30), colour).save(drawn, kind)
    return drawn.getvalue()


def write_docx(path: Path, *pictures: bytes) -> None:
    document = docx.Document()
    document.add_heading("Scope", 1)
    for number, content in enumerate(pictures):
        document.add_paragraph(f"Before picture {number}.")
        document.add_picture(BytesIO(content))
    document.add_paragraph("After all.")
    document.save(path)


def convert(path: Path, *, keep: bool) -> ConvertedDocument:
    extension = path.suffix[1:]
    source = ConversionInput(path, sniff_format(path, extension), extension, keep_images=keep)
    return load_converter(CATALOGUE["docling"].target).convert(source)


def test_text_is_the_same_with_and_without_pictures(tmp_path: Path) -> None:
    path = tmp_path / "plan.docx"
    write_docx(path, picture("red"), picture("blue", "JPEG"), picture("red"))
    cut, kept = convert(path, keep=False), convert(path, keep=True)
    assert cut.images == ()
    assert (kept.text, kept.blocks) == (cut.text, cut.blocks)
    assert [base64.b64decode(image.data) for image in kept.images] == [picture("red"), picture("blue", "JPEG")]
    assert [image.media_type for image in kept.images] == ["image/png", "image/jpeg"]
    places = [[kept.blocks[number].text for number in image.blocks] for image in kept.images]
    assert places == [["Before picture 1.", "After all."], ["Before picture 2."]]


def test_pictures_of_slides_stay_on_their_slides(tmp_path: Path) -> None:
    presentation = Presentation()
    for colour in ("green", "yellow"):
        slide = presentation.slides.add_slide(presentation.slide_layouts[5])
        slide.shapes.title.text = f"About {colour}"
        slide.shapes.add_picture(BytesIO(picture(colour, "JPEG")), 0, 0)  # above the title
    presentation.save(tmp_path / "talk.pptx")
    document = convert(tmp_path / "talk.pptx", keep=True)
    assert [image.uri[:30] for image in document.images] == ["data:image/jpeg;base64,/9j/4AA"] * 2
    places = [[document.blocks[number].text for number in image.blocks] for image in document.images]
    assert places == [["About green"], ["About yellow"]]


@pytest.mark.filterwarnings("ignore:Could not process an image")
def test_pictures_in_a_web_page_are_kept_and_nothing_is_fetched_for_it(tmp_path: Path) -> None:
    (tmp_path / "near.png").write_bytes(picture("black"))
    inside = base64.b64encode(picture("white")).decode()
    (tmp_path / "page.html").write_text(
        f"<h1>Page</h1><p>One.</p><img src='data:image/png;base64,{inside}' alt='A white field'><p>Two.</p>"
        f"<img src='{tmp_path / 'near.png'}'><img src='near.png'><img src='http://127.0.0.1:9/far.png'>"
    )
    document = convert(tmp_path / "page.html", keep=True)
    assert [image.data for image in document.images] == [inside]
    assert document.text == convert(tmp_path / "page.html", keep=False).text


def test_too_large_pictures_are_left_out_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_docx(tmp_path / "plan.docx", picture("red"), picture("blue"), picture("green", "BMP"))
    monkeypatch.setattr(embedded_images, "IMAGE_BYTES", 1000)
    monkeypatch.setattr(embedded_images, "DOCUMENT_BYTES", len(picture("red")) + 10)
    document = convert(tmp_path / "plan.docx", keep=True)
    assert [base64.b64decode(image.data) for image in document.images] == [picture("red")]
    assert document.properties["images_left_out"] == "2"


def test_the_job_decides_and_cleaning_keeps_pictures(tmp_path: Path) -> None:
    path = tmp_path / "plan.docx"
    document = docx.Document()
    document.add_paragraph("One\ufeff two.")
    document.add_picture(BytesIO(picture("red")))
    document.save(path)
    targets = {name: entry.target for name, entry in CATALOGUE.items()}
    job = ConversionJob("a", str(path), "docx", "auto", targets, ConversionLimits().model_dump(), keep_images=True)
    outcome = convert_file(ConversionJob.from_head(json.loads(json.dumps(job.to_head()))))
    found = ConvertedDocument.model_validate_json(zlib.decompress(outcome.content))
    assert found.text == "One two."
    assert [image.blocks for image in found.images] == [(1,)]


def test_pictures_follow_their_blocks_when_blocks_without_text_go() -> None:
    image = EmbeddedImage(sha256="00", media_type="image/png", data="", blocks=(0, 2, 3))
    texts = ("", "one", "  ", "two")
    document = ConvertedDocument.from_blocks(
        [Block(kind=BlockKind.PARAGRAPH, text=text) for text in texts], images=(image,)
    )
    assert [block.text for block in document.blocks] == ["one", "two"]
    assert document.images[0].blocks == (0, 1, 1)


def test_documents_without_pictures_are_written_as_before() -> None:
    document = ConvertedDocument.from_blocks([Block(kind=BlockKind.PARAGRAPH, text="one")])
    assert "images" not in json.loads(canonical_json(document))


def test_the_option_counts_where_pictures_are_kept_alone() -> None:
    keep, cut = RouteOptions(keep_images=True), RouteOptions()
    assert keep.of_format(FileFormat.DOCX) != cut.of_format(FileFormat.DOCX) == {}
    assert keep.of_format(FileFormat.PDF) == cut.of_format(FileFormat.PDF)
    entry = CATALOGUE["docling"]
    kept = entry.fingerprint(FileFormat.DOCX, "docx", keep.of_output(FileFormat.DOCX))
    assert kept != entry.fingerprint(FileFormat.DOCX, "docx", cut.of_output(FileFormat.DOCX))
    assert entry.fingerprint(FileFormat.DOCX, "docx", {}) == entry.fingerprint(FileFormat.DOCX, "docx")
