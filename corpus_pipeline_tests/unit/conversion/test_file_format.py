from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from corpus_pipeline.conversion.decoding import clean_text, decode_text, looks_like_text
from corpus_pipeline.conversion.file_format import FileFormat, sniff_format


def zipped(**members: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in members.items():
            archive.writestr(name.replace("__", "/").replace("_xml", ".xml"), text)
    return buffer.getvalue()


CONTENT_TYPES = {"[Content_Types].xml": "<Types/>"}
CASES = [
    (b"%PDF-1.7\n", "pdf", FileFormat.PDF),
    (b"%PDF-1.7\n", "docx", FileFormat.PDF),
    (b"\n\njunk%PDF-1.4", "pdf", FileFormat.PDF),
    (zipped(**CONTENT_TYPES, word__document_xml="x"), "zip", FileFormat.DOCX),
    (zipped(**CONTENT_TYPES, ppt__presentation_xml="x"), "bin", FileFormat.PPTX),
    (zipped(**CONTENT_TYPES, xl__workbook_xml="x"), "docx", FileFormat.XLSX),
    (zipped(mimetype="application/epub+zip"), "zip", FileFormat.EPUB),
    (zipped(mimetype="application/vnd.oasis.opendocument.text"), "zip", FileFormat.ODT),
    (zipped(a="b"), "zip", FileFormat.ARCHIVE),
    (zipped(a="b"), "xlsx", FileFormat.BROKEN_ZIP),
    (zipped(**CONTENT_TYPES, word__document_xml="x" * 999)[:120], "docx", FileFormat.BROKEN_ZIP),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "doc", FileFormat.BROKEN_OLE),
    (b"{\\rtf1 a}", "doc", FileFormat.RTF),
    (b"\x89PNG\r\n\x1a\n....", "txt", FileFormat.IMAGE),
    (b"\x1f\x8b\x08", "txt", FileFormat.ARCHIVE),
    (bytes(range(256)), "txt", FileFormat.BINARY),
    (b"<!DOCTYPE html><p>x", "txt", FileFormat.HTML),
    (b"<html><p>x", "xls", FileFormat.HTML),
    (b"# A\n", "md", FileFormat.MARKDOWN),
    (b"A\n=\n", "rst", FileFormat.RST),
    (b"A\n=\n", "txt", FileFormat.TEXT),
    (b"print('<html>')", "py", FileFormat.CODE),
    (b'{"a": 1}\n{"a": 2}\n', "json", FileFormat.JSONL),
    (b'{"a": 1}', "json", FileFormat.JSON),
    (b'{"cells": [], "nbformat": 4}', "ipynb", FileFormat.NOTEBOOK),
    (b'<?xml version="1.0"?><root/>', "", FileFormat.XML),
    (b'<?xml version="1.0"?><!DOCTYPE article PUBLIC "-//NLM//DTD JATS"><article/>', "xml", FileFormat.JATS),
    (b"WEBVTT\n\n", "", FileFormat.WEBVTT),
    (b"From: a@b.c\nTo: d@e.f\nSubject: x\nDate: y\n\nBody\n", "", FileFormat.EML),
    ("Grüße aus Köln".encode("latin-1"), "txt", FileFormat.TEXT),
    ("Grüße".encode("utf-16"), "txt", FileFormat.TEXT),
]


@pytest.mark.parametrize(("data", "extension", "expected"), CASES)
def test_content_decides_and_the_extension_only_between_kinds_of_text(
    tmp_path: Path, data: bytes, extension: str, expected: FileFormat
) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    assert sniff_format(path, extension) is expected


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le"])
def test_unicode_encodings_are_recognised(encoding: str) -> None:
    text = "Straßenbahn, naïve café; 30 days.\n" * 20
    assert decode_text(text.encode(encoding)) == text


def test_older_encodings_are_guessed() -> None:
    text = "Die Grüße der Straßenbahngesellschaft überraschten die Kölner Bürger sehr. " * 30
    assert decode_text(text.encode("cp1252")) == text


def test_a_character_cut_at_the_end_of_a_sample_does_no_harm() -> None:
    assert decode_text("aé".encode()[:2], whole=False) == "a"


def test_control_characters_that_databases_refuse_are_removed() -> None:
    assert clean_text("a\x00b\ud800c\x1b[31md\te\n") == "abc[31md\te\n"
    assert not looks_like_text(bytes(100))
