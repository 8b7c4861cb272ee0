"""docling, unstructured and pandoc on files made here, in this process."""

from __future__ import annotations

import socket
from email.message import EmailMessage
from io import BytesIO
from pathlib import Path

import docx
import pytest
from docx.oxml import parse_xml
from openpyxl import Workbook
from PIL import Image
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE

from corpus_pipeline.conversion.catalogue import CATALOGUE, load_converter
from corpus_pipeline.conversion.file_format import sniff_format
from corpus_pipeline.conversion.source import ConversionInput
from corpus_pipeline.records import BlockKind, ConvertedDocument


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a converter reached for the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def convert(path: Path, converter: str) -> ConvertedDocument:
    extension = path.suffix[1:]
    source = ConversionInput(path, sniff_format(path, extension), extension)
    return load_converter(CATALOGUE[converter].target).convert(source)


def shape(document: ConvertedDocument) -> list[tuple[str, int, str]]:
    return [(block.kind.value, block.level, block.text) for block in document.blocks]


def write_docx(path: Path) -> None:
    document = docx.Document()
    document.core_properties.title = "Refund policy"
    document.core_properties.language = "en"
    document.add_heading("Refund policy", 0)
    document.add_heading("Scope", 1)
    paragraph = document.add_paragraph("Holds for ")
    paragraph.add_run("all").bold = True
    paragraph.add_run(", without exception.")
    document.add_heading("Detail", 2)
    document.add_paragraph("one", style="List Bullet")
    document.add_paragraph("inner", style="List Bullet 2")
    document.add_paragraph("first", style="List Number")
    table = document.add_table(rows=3, cols=3)
    for row in range(3):
        for column in range(3):
            table.cell(row, column).text = f"r{row}c{column}"
    table.cell(1, 0).merge(table.cell(2, 0)).text = "both"
    document.save(path)


def test_docx_keeps_headings_lists_and_tables_with_spans(tmp_path: Path) -> None:
    write_docx(tmp_path / "a.docx")
    document = convert(tmp_path / "a.docx", "docling")
    assert shape(document) == [
        ("title", 1, "Refund policy"),
        ("heading", 2, "Scope"),
        ("paragraph", 0, "Holds for all, without exception."),
        ("heading", 3, "Detail"),
        ("list_item", 1, "- one"),
        ("list_item", 2, "- inner"),
        ("list_item", 1, "1. first"),
        ("table", 0, "r0c0 | r0c1 | r0c2\nboth | r1c1 | r1c2\n | r2c1 | r2c2"),
    ]
    table = document.blocks[-1].table
    assert table.header_rows == 1
    assert table.rows[2] == ("both", "r2c1", "r2c2")
    assert table.spans == ((1, 0, 2, 1),)
    assert (document.title, document.language) == ("Refund policy", "en")


def test_xlsx_has_a_heading_a_sheet_and_header_rows(tmp_path: Path) -> None:
    book = Workbook()
    book.active.title = "Plans"
    for row in (["Plan", "Price"], ["Free", 0]):
        book.active.append(row)
    book.create_sheet("Empty")
    limits = book.create_sheet("Limits")
    limits.append(["Limit"])
    limits.append([5])
    book.save(tmp_path / "a.xlsx")
    document = convert(tmp_path / "a.xlsx", "docling")
    assert shape(document) == [
        ("heading", 1, "Plans"),
        ("table", 0, "Plan | Price\nFree | 0"),
        ("heading", 1, "Limits"),
        ("table", 0, "Limit\n5"),
    ]
    assert document.blocks[1].table.header_rows == 1


def test_pptx_has_slides_as_pages_and_keeps_notes_picture_texts_and_chart_data(tmp_path: Path) -> None:
    deck = Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[0])
    first.shapes.title.text = "Deck"
    second = deck.slides.add_slide(deck.slide_layouts[1])
    second.shapes.title.text = "Second"
    second.placeholders[1].text = "point a\npoint b"
    drawing = BytesIO()
    Image.new("RGB", (4, 4)).save(drawing, "PNG")
    picture = second.shapes.add_picture(drawing, 0, 0)
    picture._element.nvPicPr.cNvPr.set("descr", "What the picture shows")
    chart = CategoryChartData()
    chart.categories = ["2023", "2024"]
    chart.add_series("Refunds", (5, 7))
    third = deck.slides.add_slide(deck.slide_layouts[5])
    third.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, 900_000, 900_000, chart)
    second.notes_slide.notes_text_frame.text = "Say this aloud."
    deck.save(tmp_path / "a.pptx")
    document = convert(tmp_path / "a.pptx", "docling")
    assert [(block.kind.value, block.text, block.page) for block in document.blocks] == [
        ("title", "Deck", 1),
        ("heading", "Second", 2),
        ("list_item", "- point a", 2),
        ("list_item", "- point b", 2),
        ("paragraph", "Say this aloud.", 2),
        ("picture", "What the picture shows", 2),
        ("table", " | Refunds\n2023 | 5\n2024 | 7", 3),
    ]
    assert document.page_count == 3
    left, top, right, bottom = document.blocks[0].bbox
    assert 0 <= left < right <= 721
    assert 0 <= top < bottom <= 541


HTML = """<!doctype html><html lang="de"><head><title>Seite &amp; mehr</title><meta name="author" content="Ann"></head>
<body><h1>Top</h1><p>See <a href="https://example.com/x">this <b>page</b></a>, please.</p><h2>Part</h2>
<ul><li>one <i>em</i><ul><li>nested</li></ul></li></ul><ol start="3"><li>three</li></ol>
<pre><code class="language-python">x = 1
y = 2</code></pre>
<table><caption>Prices</caption><thead><tr><th>A</th><th>B</th></tr></thead>
<tbody><tr><td rowspan="2">1</td><td>2</td></tr><tr><td>3</td></tr></tbody></table>
<p>x<sup>2</sup></p><img src="http://127.0.0.1:9/x.png" alt="A picture"><img src="file:///etc/passwd">
<script src="http://127.0.0.1:9/x.js"></script><link rel="stylesheet" href="http://127.0.0.1:9/x.css"></body></html>"""


def test_html_keeps_structure_and_fetches_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(HTML)
    document = convert(tmp_path / "a.html", "docling")
    assert shape(document) == [
        ("title", 1, "Top"),
        ("paragraph", 0, "See this page, please."),
        ("heading", 2, "Part"),
        ("list_item", 1, "- one em"),
        ("list_item", 2, "- nested"),
        ("list_item", 1, "3. three"),
        ("code", 0, "x = 1\ny = 2"),
        ("caption", 0, "Prices"),
        ("table", 0, "A | B\n1 | 2\n | 3"),
        ("paragraph", 0, "x2"),
        ("picture", 0, "A picture"),
    ]
    table = next(block for block in document.blocks if block.kind is BlockKind.TABLE).table
    assert (table.header_rows, table.caption) == (1, "Prices")
    assert document.blocks[1].links == ("https://example.com/x",)
    assert (document.title, document.language) == ("Seite & mehr", "de")
    assert document.properties["author"] == "Ann"


def test_csv_rows_are_a_table_with_a_header(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("Plan;Preis\nFrei;0 €\n".encode("cp1252"))
    block = convert(tmp_path / "a.csv", "docling").blocks[0]
    assert block.table.rows == (("Plan", "Preis"), ("Frei", "0 €"))
    assert block.table.header_rows == 1


JATS = """<!DOCTYPE article PUBLIC "-//NLM//DTD JATS" "j.dtd"><article><front><article-meta><title-group>
<article-title>Study</article-title></title-group></article-meta></front><body><sec><title>Methods</title>
<p>We looked.</p></sec></body></article>"""


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.adoc", "= Title\n\n== Part\n\nText.\n\n* item\n\n----\ncode\n----\n",
         [("title", 1, "Title"), ("heading", 2, "Part"), ("paragraph", 0, "Text."), ("list_item", 1, "- item"),
          ("code", 0, "code")]),
        ("a.tex", "\\documentclass{article}\\begin{document}\\section{One}Text.\\subsection{Two}More.\\end{document}",
         [("heading", 1, "One"), ("paragraph", 0, "Text."), ("heading", 2, "Two"), ("paragraph", 0, "More.")]),
        ("a.vtt", "WEBVTT\n\n00:00.000 --> 00:02.000\nHello there\n", [("paragraph", 0, "Hello there")]),
        ("a.xml", JATS,
         [("title", 1, "Study"), ("heading", 2, "Methods"), ("paragraph", 0, "We looked.")]),
    ],
)  # fmt: skip
def test_other_text_formats_keep_their_structure(
    tmp_path: Path, name: str, text: str, expected: list[tuple[str, int, str]]
) -> None:
    (tmp_path / name).write_text(text)
    assert shape(convert(tmp_path / name, "docling")) == expected


def test_mail_keeps_subject_sender_and_body(tmp_path: Path) -> None:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "ann@example.com", "bob@example.com", "The refund rule"
    message.set_content("It changed.\n\nSee the policy.\n")
    (tmp_path / "a.eml").write_bytes(message.as_bytes())
    document = convert(tmp_path / "a.eml", "docling")
    assert document.title == "The refund rule"
    assert "ann@example.com" in document.text
    assert document.text.endswith("It changed.\n\nSee the policy.")


def test_org_and_rtf_go_through_sandboxed_pandoc(tmp_path: Path) -> None:
    (tmp_path / "secret.org").write_text("* The secret words\n")
    (tmp_path / "a.org").write_text(f'#+TITLE: Plan\n#+INCLUDE: "{tmp_path}/secret.org"\n* Head\nText.\n')
    assert "secret words" not in convert(tmp_path / "a.org", "pandoc-docling").text
    (tmp_path / "b.org").write_text("* Head\nText.\n** Sub\n- item\n\n| A | B |\n|---+---|\n| 1 | 2 |\n")
    assert shape(convert(tmp_path / "b.org", "pandoc-docling")) == [
        ("title", 1, "Head"),
        ("paragraph", 0, "Text."),
        ("heading", 2, "Sub"),
        ("list_item", 1, "- item"),
        ("table", 0, "A | B\n1 | 2"),
    ]
    (tmp_path / "a.rtf").write_text(r"{\rtf1\ansi Hello \b bold\b0  text.\par Second.\par}")
    assert convert(tmp_path / "a.rtf", "pandoc-docling").text == "Hello bold text.\n\nSecond."


def test_unstructured_reads_tsv_and_generic_xml(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("Plan\tPrice\nFree\t0\n")
    block = convert(tmp_path / "a.tsv", "unstructured").blocks[0]
    assert block.table.rows == (("Plan", "Price"), ("Free", "0"))
    (tmp_path / "a.xml").write_text(
        "<?xml version='1.0'?><rule><name>Refunds</name><text>Within thirty days.</text></rule>"
    )
    assert "Within thirty days." in convert(tmp_path / "a.xml", "unstructured").text


def test_unstructured_stands_in_for_docling_on_docx(tmp_path: Path) -> None:
    write_docx(tmp_path / "a.docx")
    document = convert(tmp_path / "a.docx", "unstructured")
    assert ("heading", 1, "Scope") in shape(document)
    assert "both | r1c1 | r1c2" in document.text


def test_the_text_of_a_pdf_can_be_had_without_structure(tmp_path: Path) -> None:
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(tmp_path / "a.pdf"))
    for page in (1, 2):
        canvas.drawString(72, 700, f"Words of page {page}.")
        canvas.showPage()
    canvas.save()
    document = convert(tmp_path / "a.pdf", "pdfium-text")
    assert [(block.text, block.page) for block in document.blocks] == [("Words of page 1.", 1), ("Words of page 2.", 2)]


SHAPE = (
    '<w:p xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:r><w:drawing>'
    '<wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing">'
    '<wp:extent cx="914400" cy="914400"/><wp:docPr id="1" name="Shape"/>'
    '<a:graphic xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main">'
    '<a:graphicData uri="http://schemas.microsoft.com/office/word/2010/wordprocessingShape">'
    '<wps:wsp xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"><wps:spPr>'
    '<a:prstGeom prst="ellipse"><a:avLst/></a:prstGeom></wps:spPr><wps:bodyPr/></wps:wsp>'
    "</a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>"
)


def test_shapes_are_not_drawn_by_a_libreoffice_that_happens_to_be_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, called = tmp_path / "soffice", tmp_path / "called"
    program.write_text(f"#!/bin/sh\ntouch {called}\n")
    program.chmod(0o755)
    monkeypatch.setenv("DOCLING_LIBREOFFICE_CMD", str(program))
    document = docx.Document()
    document.add_paragraph("Before the shape.")
    document.element.body.insert(1, parse_xml(SHAPE))
    document.save(tmp_path / "shape.docx")
    converted = convert(tmp_path / "shape.docx", "docling")
    assert [block.text for block in converted.blocks if block.text] == ["Before the shape."]
    assert not called.exists()
