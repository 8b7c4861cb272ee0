"""Files that are damaged, locked, empty, turned or hostile."""

from __future__ import annotations

import os
import resource
import signal
import time
from io import BytesIO
from pathlib import Path

import pytest
from reportlab.lib import pdfencrypt

from corpus_pipeline.errors import ConversionError
from corpus_pipeline.records import QuarantineReason

REASONS = QuarantineReason


def refusal(convert, path, **options):
    with pytest.raises(ConversionError) as caught:
        convert(path, **options)
    assert caught.value.remedy
    return caught.value.reason


@pytest.fixture
def plain(tmp_path, pages):
    return pages.draw(tmp_path / "plain.pdf", lambda canvas: pages.paragraph(canvas, 72, 100, pages.PARAGRAPH))


def test_encrypted_file_wants_its_password(tmp_path, pages, convert):
    lock = pdfencrypt.StandardEncryption("sesame", canPrint=0, strength=128)
    path = pages.draw(
        tmp_path / "locked.pdf", lambda canvas: pages.paragraph(canvas, 72, 100, pages.PARAGRAPH), encrypt=lock
    )

    assert refusal(convert, path) == REASONS.ENCRYPTED
    assert refusal(convert, path, password="wrong") == REASONS.ENCRYPTED
    assert convert(path, password="sesame").text == pages.PARAGRAPH


def test_zero_bytes_are_empty(tmp_path, convert):
    path = tmp_path / "empty.pdf"
    path.touch()
    assert refusal(convert, path) == REASONS.EMPTY


@pytest.mark.parametrize("content", [b"not a PDF at all", b"%PDF-1.7\n1 0 obj\n"])
def test_garbage_is_corrupt(tmp_path, convert, content):
    path = tmp_path / "garbage.pdf"
    path.write_bytes(content)
    assert refusal(convert, path) == REASONS.CORRUPT


def test_truncated_file_is_corrupt(tmp_path, plain, convert):
    path = tmp_path / "truncated.pdf"
    path.write_bytes(plain.read_bytes()[:300])
    assert refusal(convert, path) == REASONS.CORRUPT


def test_page_limit_is_checked_before_parsing(tmp_path, pages, convert):
    def page(canvas):
        pages.text(canvas, 72, 100, "a page")

    path = pages.draw(tmp_path / "long.pdf", *[page] * 4)
    assert refusal(convert, path, max_pages=3) == REASONS.TOO_LARGE


def test_pages_without_text_are_no_text(tmp_path, pages, convert):
    def scan(canvas):
        from PIL import Image
        from reportlab.lib.utils import ImageReader

        data = BytesIO()
        Image.new("L", (200, 260), 200).save(data, "PNG")
        data.seek(0)
        canvas.drawImage(ImageReader(data), 0, 0, 612, 792)

    assert refusal(convert, pages.draw(tmp_path / "scan.pdf", scan)) == REASONS.NO_TEXT
    assert refusal(convert, pages.draw(tmp_path / "blank.pdf", lambda _canvas: None)) == REASONS.NO_TEXT


def test_empty_page_among_others_is_counted(tmp_path, pages, convert):
    def page(canvas):
        pages.paragraph(canvas, 72, 100, pages.PARAGRAPH)

    document = convert(pages.draw(tmp_path / "gap.pdf", page, lambda _canvas: None, page))

    assert document.page_count == 3
    assert [block.page for block in document.blocks] == [1, 3]
    assert document.properties["pdf_blank_pages"] == "2"


def test_text_at_right_angles_is_read_as_text(tmp_path, pages, convert):
    def page(canvas):
        canvas.translate(612, 0)
        canvas.rotate(90)
        canvas.setFont("Helvetica", 10)
        for position, words in enumerate(("All text of this page stands upright", "when the page lies on its side.")):
            canvas.drawString(100, 500 - 12 * position, words)

    document = convert(pages.draw(tmp_path / "turned.pdf", page))

    assert document.text == "All text of this page stands upright when the page lies on its side."
    left, top, right, bottom = document.blocks[0].bbox
    assert bottom - top > right - left
    assert 0 <= left < right <= 612
    assert 0 <= top < bottom <= 792


def test_turned_words_beside_upright_text_do_not_mix_with_it(tmp_path, pages, convert):
    def page(canvas):
        pages.paragraph(canvas, 100, 100, pages.PARAGRAPH)
        canvas.saveState()
        canvas.translate(40, 300)
        canvas.rotate(90)
        canvas.setFont("Helvetica", 10)
        canvas.drawString(0, 0, "stamped in the margin")
        canvas.restoreState()

    document = convert(pages.draw(tmp_path / "stamp.pdf", page))

    assert pages.PARAGRAPH in document.text
    assert "stamped in the margin" in document.text


def test_right_to_left_lines_are_read_from_the_right(tmp_path, pages, convert):
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.ttfonts import TTFont

    font = hebrew_font()
    pdfmetrics.registerFont(TTFont("Hebrew", font))

    def page(canvas):
        canvas.setFont("Hebrew", 12)
        # As PDF producers do: glyphs in visual order, first word at the right.
        right = 500.0
        for word in ("שלום", "עולם", "ABC", "טוב"):
            canvas.drawRightString(right, 690, word[::-1] if word != "ABC" else word)
            right -= canvas.stringWidth(word, "Hebrew", 12) + 4

    document = convert(pages.draw(tmp_path / "hebrew.pdf", page))

    words = document.text.split()
    assert [word if word == "ABC" else sorted(word) for word in words] == [
        sorted("שלום"),
        sorted("עולם"),
        "ABC",
        sorted("טוב"),
    ]


def hebrew_font():
    for folder in ("/usr/share/fonts", "/usr/local/share/fonts"):
        for root, _, names in os.walk(folder):
            for name in names:
                if name in {"DejaVuSans.ttf", "NotoSansHebrew-Regular.ttf", "FreeSans.ttf"}:
                    return str(Path(root) / name)
    pytest.skip("no font with Hebrew letters is installed")


def test_information_dictionary_becomes_properties(tmp_path, pages, convert):
    def page(canvas):
        canvas.setTitle("Travel Rules 2026")
        canvas.setAuthor("Office of Travel")
        pages.paragraph(canvas, 72, 100, pages.PARAGRAPH)

    document = convert(pages.draw(tmp_path / "info.pdf", page))

    assert document.title == "Travel Rules 2026"
    assert document.properties["author"] == "Office of Travel"
    assert document.properties["created"][:2] == "20"
    assert document.properties["created"][10] == "T"


def test_page_range_converts_only_those_pages(tmp_path, pages, convert):
    def page(number):
        return lambda canvas: pages.text(canvas, 72, 300, f"This is the text of page {number}.")

    path = pages.draw(tmp_path / "range.pdf", *(page(number) for number in range(1, 7)))
    document = convert(path, page_range=(3, 4))

    assert document.text.split("\n\n") == ["This is the text of page 3.", "This is the text of page 4."]
    assert [block.page for block in document.blocks] == [3, 4]
    assert document.page_count == 6


def test_slices_make_the_same_document_as_one_piece(tmp_path, pages, convert, monkeypatch):
    from corpus_pipeline.conversion.pdf import converter

    def page(number):
        def drawn(canvas):
            pages.text(canvas, 72, 50, "Running header of the book", size=8)
            pages.text(canvas, 72, 100, f"{number}. Section", size=14, font="Helvetica-Bold")
            pages.paragraph(canvas, 72, 130, pages.PARAGRAPH)
            pages.text(canvas, 300, 760, str(number), size=8)

        return drawn

    path = pages.draw(tmp_path / "book.pdf", *(page(number) for number in range(1, 8)))
    whole = convert(path)
    monkeypatch.setattr(converter, "SLICE_PAGES", 2)
    sliced = convert(path)

    assert sliced.blocks == whole.blocks
    assert "Running header" not in whole.text


def test_a_page_without_a_layout_is_read_natively(tmp_path, pages, convert, monkeypatch):
    from corpus_pipeline.conversion.pdf import gathering

    lay_out = gathering.lay_out

    def failing(capture):
        if capture.number == 2:
            raise ArithmeticError("no layout")
        return lay_out(capture)

    monkeypatch.setattr(gathering, "lay_out", failing)
    path = pages.draw(tmp_path / "a.pdf", *[lambda canvas: pages.paragraph(canvas, 72, 100, pages.PARAGRAPH)] * 3)
    document = convert(path)

    assert document.properties["pdf_grade"] == "native"
    assert document.properties["pdf_native_pages"] == "2"
    assert document.text.replace("\n\n", " ").count("ends with the duty itself") == 3


SELF_REFERENCE = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R/Resources<</XObject<</F 5 0 R>>>>>>endobj\n"
    b"4 0 obj<</Length 5>>stream\n/F Do\nendstream endobj\n"
    b"5 0 obj<</Type/XObject/Subtype/Form/BBox[0 0 200 200]/Resources<</XObject<</F 5 0 R>>>>/Length 11>>stream\n"
    b"/F Do /F Do\nendstream endobj\ntrailer<</Root 1 0 R/Size 6>>\n"
)


def test_a_form_that_draws_itself_ends_under_the_limits_of_the_caller(tmp_path, plain, convert):
    """The parser may run without end on such a file: the caller's limits are what stops it."""
    path = tmp_path / "endless.pdf"
    path.write_bytes(SELF_REFERENCE)
    convert(plain)  # imports happen outside the limits
    child = os.fork()
    if child == 0:
        limited_conversion(convert, path)
    ended = has_ended(child, seconds=60)
    if not ended:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert ended, "the conversion outlived its limit of processor time"


def has_ended(child: int, *, seconds: float) -> bool:
    started = time.monotonic()
    while time.monotonic() - started < seconds:
        done, _ = os.waitpid(child, os.WNOHANG)
        if done:
            return True
        time.sleep(0.1)
    return False


def limited_conversion(convert, path):
    resource.setrlimit(resource.RLIMIT_CPU, (5, 6))
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    try:
        convert(path)
    except BaseException:  # noqa: BLE001 - how it fails is not the point here
        os._exit(1)
    os._exit(0)
