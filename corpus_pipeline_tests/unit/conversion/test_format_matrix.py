"""One small real file of every format: kinds, headings, tables, links, and spans that are exact."""

from __future__ import annotations

import json
import shutil
import subprocess
import zipfile
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pypandoc
import pytest
from openpyxl import Workbook
from pptx import Presentation
from reportlab.pdfgen.canvas import Canvas

from corpus_pipeline.conversion import CATALOGUE, ConversionJob, ConversionOutcome
from corpus_pipeline.conversion.single_file import convert_file
from corpus_pipeline.records import ConvertedDocument
from corpus_pipeline.registry import ConversionLimits
from corpus_pipeline_tests.packing import legacy_word_bytes

SOURCE = """---
title: Sample report
lang: en-GB
---

# First section

A paragraph with a [link](https://example.org/a) and a note.[^1] It\u2019s “quoted” \u2013 and…

$$E = mc^2$$

## Steps

1. one
2. two

| Name | Price |
|------|-------|
| Bolt | 3     |

: Caption of the table

```python
print("hi")
```

[^1]: The text of the footnote.
"""
HEADINGS = ["First section", "Steps"]
TABLE = (("Name", "Price"), ("Bolt", "3"))


@cache
def pandoc(form: str) -> bytes:
    command = [pypandoc.get_pandoc_path(), "--standalone", "--mathml", "--from=markdown", f"--to={form}", "--output=-"]
    return subprocess.run(command, input=SOURCE.encode(), capture_output=True, check=True).stdout


def convert(path: Path, requested: str = "auto", **changes) -> ConversionOutcome:
    targets = {name: entry.target for name, entry in CATALOGUE.items()}
    limits = ConversionLimits().model_dump()
    return convert_file(
        ConversionJob(path.name, str(path), path.suffix[1:].lower(), requested, targets, limits, **changes)
    )


def document_of(outcome: ConversionOutcome) -> ConvertedDocument:
    assert not outcome.reason, outcome.message
    document = ConvertedDocument.model_validate_json(zlib.decompress(outcome.content))
    assert document.text.strip()
    assert document.text == "\n\n".join(block.text for block in document.blocks)
    for block in document.blocks:
        assert document.text[block.char_start : block.char_end] == block.text
    return document


def of_kind(document: ConvertedDocument, *kinds: str) -> list[str]:
    return [block.text for block in document.blocks if block.kind.value in kinds]


RICH = {
    "docx": {"formula", "footnote", "caption", "code"},
    "odt": {"formula", "footnote", "caption", "code"},
    "epub": {"formula", "footnote", "caption", "code"},
    "html": {"formula", "footnote", "caption", "code"},
    "latex": {"formula", "footnote", "caption"},
    "jats": {"formula", "footnote", "caption"},
    "org": {"formula", "footnote", "code"},
}
SUFFIX = {"latex": "tex", "jats": "nxml"}


@pytest.mark.parametrize("form", RICH)
def test_rich_formats_keep_what_things_are(form: str, tmp_path: Path) -> None:
    path = tmp_path / f"sample.{SUFFIX.get(form, form)}"
    path.write_bytes(pandoc({"jats": "jats_archiving"}.get(form, form)))
    document = document_of(convert(path))
    headings = [text for text in of_kind(document, "heading") if text != "Footnotes"]
    levels = [block.level for block in document.blocks if block.text in HEADINGS]
    assert headings == HEADINGS
    assert levels[1] == levels[0] + 1
    assert document.title == "Sample report"
    assert of_kind(document, "list_item") == ["1. one", "2. two"]
    assert [block.table.rows for block in document.blocks if block.table] == [TABLE]
    assert [block.table.header_rows for block in document.blocks if block.table] == [1]
    assert {block.kind.value for block in document.blocks} >= RICH[form]
    assert [text for text in of_kind(document, "footnote") if "The text of the footnote." in text]
    paragraph = next(block for block in document.blocks if block.text.startswith("A paragraph"))
    assert "https://example.org/a" in paragraph.links
    if form != "org":  # pandoc itself writes an apostrophe in ASCII there
        assert "It\u2019s “quoted” \u2013 and…" in paragraph.text
    if form in {"docx", "odt", "epub", "html"}:
        assert document.language == "en-GB"
    if "code" in RICH[form]:
        assert of_kind(document, "code") == ['print("hi")']


TEXTS = {
    "md": SOURCE,
    "adoc": "= Sample\n\n== Steps\n\n* one\n\n|===\n|Name |Price\n\n|Bolt |3\n|===\n",
    "rst": "Steps\n=====\n\n* one\n\n====  =====\nName  Price\n====  =====\nBolt  3\n====  =====\n",
    "csv": "Name,Price\nBolt,3\n",
    "tsv": "Name\tPrice\nBolt\t3\n",
    "txt": "Steps\n\nBolt costs 3.\n",
    "py": "def price():\n    return 'Bolt'\n",
    "json": '{"name": "Bolt"}\n',
    "jsonl": '{"name": "Bolt"}\n{"name": "Nut"}\n',
    "xml": "<?xml version='1.0'?><parts><part>Bolt</part></parts>",
    "vtt": "WEBVTT\n\n00:01.000 --> 00:02.000\nThe Bolt is tightened.\n",
    "eml": "From: a@example.org\nTo: b@example.org\nSubject: Bolt\nMIME-Version: 1.0\n"
    "Content-Type: text/plain; charset=utf-8\n\nThe Bolt costs 3.\n",
    "rtf": r"{\rtf1\ansi The Bolt costs 3.\par}",
    "ipynb": json.dumps({"cells": [{"cell_type": "markdown", "source": "# Bolt"}], "metadata": {}, "nbformat": 4}),
    "mhtml": "From: a\nSubject: Bolt\nMIME-Version: 1.0\nContent-Type: multipart/related; boundary=B\n\n--B\n"
    "Content-Type: text/html; charset=utf-8\nContent-Location: http://x/\n\n<h1>Bolt</h1><p>costs 3</p>\n--B--\n",
}
TABULAR = frozenset({"md", "adoc", "rst", "csv", "tsv"})
HEADED = frozenset({"md", "adoc", "rst"})


@pytest.mark.parametrize("extension", TEXTS)
def test_text_formats_are_read(extension: str, tmp_path: Path) -> None:
    path = tmp_path / f"sample.{extension}"
    path.write_text(TEXTS[extension], encoding="utf-8")
    document = document_of(convert(path))
    assert "Bolt" in document.text
    if extension in TABULAR:
        assert [block.table.rows for block in document.blocks if block.table] == [TABLE]
    if extension in HEADED:
        assert "Steps" in of_kind(document, "heading", "title")


def write_xlsx(path: Path) -> None:
    book = Workbook()
    sheet = book.active
    sheet.title = "Steps"
    sheet.append(["Name", "Price"])
    sheet.append(["Bolt", 3])
    book.save(path)


def write_pptx(path: Path) -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "Steps"
    slide.placeholders[1].text = "Bolt"
    deck.save(path)


def write_pdf(path: Path) -> None:
    canvas = Canvas(str(path))
    canvas.setFont("Helvetica-Bold", 20)
    canvas.drawString(72, 760, "Steps")
    canvas.setFont("Helvetica", 11)
    for line in range(10):
        canvas.drawString(72, 720 - 14 * line, f"Line {line} says that the Bolt is tightened with care by hand.")
    canvas.save()


def write_open_document(kind: str, body: str) -> Callable[[Path], None]:
    names = (
        'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
        'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
        'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" '
        'xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"'
    )

    def write(path: Path) -> None:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("mimetype", f"application/vnd.oasis.opendocument.{kind}")
            archive.writestr(
                "META-INF/manifest.xml",
                '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0" '
                f'manifest:version="1.2"><manifest:file-entry manifest:full-path="/" '
                f'manifest:media-type="application/vnd.oasis.opendocument.{kind}"/>'
                '<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/>'
                "</manifest:manifest>",
            )
            archive.writestr(
                "content.xml",
                f'<office:document-content {names} office:version="1.2"><office:body>{body}</office:body>'
                "</office:document-content>",
            )

    return write


CELL = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
ROWS = "".join(f"<table:table-row>{''.join(CELL.format(each) for each in row)}</table:table-row>" for row in TABLE)
WRITERS = {
    "xlsx": write_xlsx,
    "pptx": write_pptx,
    "pdf": write_pdf,
    "ods": write_open_document(
        "spreadsheet",
        f'<office:spreadsheet><table:table table:name="Steps">{ROWS}</table:table></office:spreadsheet>',
    ),
    "odp": write_open_document(
        "presentation",
        '<office:presentation><draw:page draw:name="Steps"><draw:frame><draw:text-box><text:p>Bolt</text:p>'
        "</draw:text-box></draw:frame></draw:page></office:presentation>",
    ),
}


@pytest.mark.parametrize("extension", WRITERS)
def test_office_and_pdf_files_are_read(extension: str, tmp_path: Path) -> None:
    path = tmp_path / f"sample.{extension}"
    WRITERS[extension](path)
    document = document_of(convert(path))
    assert "Bolt" in document.text
    if extension in {"xlsx", "pptx", "pdf"}:
        assert "Steps" in of_kind(document, "heading", "title")
    if extension in {"xlsx", "ods"}:
        table = next(block for block in document.blocks if block.table)
        assert table.table.rows[-2:] == TABLE


@pytest.mark.parametrize("extension", ["docx", "xlsx", "pptx", "html", "csv", "ipynb"])
def test_markitdown_is_one_more_converter(extension: str, tmp_path: Path) -> None:
    pytest.importorskip("markitdown")
    path = tmp_path / f"sample.{extension}"
    if extension in WRITERS:
        WRITERS[extension](path)
    elif extension in TEXTS:
        path.write_text(TEXTS[extension], encoding="utf-8")
    else:
        path.write_bytes(pandoc(extension))
    outcome = convert(path, "markitdown")
    assert outcome.tried == ("markitdown",)
    document = document_of(outcome)
    assert "Bolt" in document.text
    if extension in {"docx", "html"}:
        assert [text for text in of_kind(document, "heading", "title") if text in HEADINGS] == HEADINGS
    if extension in {"docx", "html", "csv"}:
        assert TABLE in [block.table.rows for block in document.blocks if block.table]


def test_a_missing_libreoffice_is_said_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "old.doc"
    path.write_bytes(legacy_word_bytes())
    monkeypatch.setenv("PATH", "/nonexistent")
    outcome = convert(path)
    assert outcome.reason == "unsupported"
    assert "LibreOffice" in outcome.message
    assert outcome.tried == ("libreoffice-docling",)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice (soffice) is not installed")
@pytest.mark.parametrize(("modern", "legacy"), [("docx", "doc"), ("xlsx", "xls"), ("pptx", "ppt")])
def test_legacy_office_is_read_through_libreoffice(modern: str, legacy: str, tmp_path: Path) -> None:
    given = tmp_path / f"sample.{modern}"
    given.write_bytes(pandoc("docx")) if modern == "docx" else WRITERS[modern](given)
    profile = f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}"
    command = ["soffice", profile, "--headless", "--convert-to", legacy, "--outdir", str(tmp_path), str(given)]
    subprocess.run(command, capture_output=True, check=True)
    outcome = convert(tmp_path / f"sample.{legacy}")
    document = document_of(outcome)
    assert outcome.converter == "libreoffice-docling"
    assert CATALOGUE["libreoffice-docling"].version.startswith("libreoffice ")
    assert "docling-slim" in CATALOGUE["libreoffice-docling"].version
    assert "Bolt" in document.text
    assert "Steps" in of_kind(document, "heading", "title")
