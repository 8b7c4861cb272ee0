"""One file through checks, route and fallback, in this process."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import pytest
from msoffcrypto.format.ooxml import OOXMLFile
from openpyxl import Workbook

from corpus_pipeline.conversion.catalogue import CATALOGUE
from corpus_pipeline.conversion.job import ConversionJob, ConversionOutcome
from corpus_pipeline.conversion.single_file import convert_file
from corpus_pipeline.conversion.source import ConversionInput, ConverterFailure
from corpus_pipeline.errors import ConversionError
from corpus_pipeline.records import Block, BlockKind, ConvertedDocument, QuarantineReason
from corpus_pipeline.registry import ConversionLimits


class Failing:
    def convert(self, source: ConversionInput) -> ConvertedDocument:
        raise ConverterFailure("the parser gave up in its third pass")


class Refusing:
    def convert(self, source: ConversionInput) -> ConvertedDocument:
        raise ConversionError("an expanding part", reason=QuarantineReason.BOMB)


class Silent:
    def convert(self, source: ConversionInput) -> ConvertedDocument:
        return ConvertedDocument.from_blocks([])


class Reading:
    def convert(self, source: ConversionInput) -> ConvertedDocument:
        return ConvertedDocument.from_blocks([Block(kind=BlockKind.PARAGRAPH, text=source.path.read_text())])


class Nesting:
    def convert(self, source: ConversionInput) -> ConvertedDocument:
        return self.convert(source)


HERE = {
    each.__name__: f"test_single_file_converters:{each.__name__}"
    for each in (Failing, Refusing, Silent, Reading, Nesting)
}


@pytest.fixture(autouse=True)
def converters(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "test_single_file_converters", sys.modules[__name__])


def convert(
    path: Path, *candidates: str, password: str | None = None, extension: str | None = None
) -> ConversionOutcome:
    targets = {**HERE, **{name: entry.target for name, entry in CATALOGUE.items()}}
    extension = path.suffix[1:] if extension is None else extension
    limits = ConversionLimits().model_dump()
    return convert_file(ConversionJob("key", str(path), extension, "auto", targets, limits, candidates, password))


@pytest.fixture
def text_file(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_text("Words.")
    return tmp_path / "a.txt"


def test_a_fallback_is_recorded_with_what_it_stands_in_for(text_file: Path) -> None:
    outcome = convert(text_file, "Failing", "Silent", "Reading")
    assert (outcome.reason, outcome.converter) == ("", "Reading")
    assert outcome.tried == ("Failing", "Silent", "Reading")


def test_when_all_fail_the_first_failure_is_told(text_file: Path) -> None:
    outcome = convert(text_file, "Failing", "Silent")
    assert outcome.reason == QuarantineReason.CONVERTER_ERROR
    assert "third pass" in outcome.message
    assert convert(text_file, "Silent").reason == QuarantineReason.NO_TEXT


def test_a_bomb_is_not_given_to_another_converter(text_file: Path) -> None:
    outcome = convert(text_file, "Refusing", "Reading")
    assert (outcome.reason, outcome.tried) == (QuarantineReason.BOMB, ("Refusing",))


def test_endless_nesting_is_a_converter_error(text_file: Path) -> None:
    outcome = convert(text_file, "Nesting")
    assert outcome.reason == QuarantineReason.CONVERTER_ERROR
    assert "nesting" in outcome.message


@pytest.mark.parametrize("data", [b"", b" \n\t\r\n", b"\xef\xbb\xbf", b"\x00" * 100])
def test_a_file_without_content_is_empty(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.docx").write_bytes(data)
    assert convert(tmp_path / "a.docx").reason == QuarantineReason.EMPTY


def test_the_outcome_has_hashes_of_the_document_it_carries(text_file: Path) -> None:
    outcome = convert(text_file)
    document = ConvertedDocument.model_validate_json(zlib.decompress(outcome.content))
    assert outcome.summary["document_sha256"] == document.document_sha256
    assert json.loads(zlib.decompress(outcome.content))["text"] == "Words."
    assert convert(text_file).content == outcome.content


def test_an_encrypted_workbook_opens_with_its_password_only(tmp_path: Path) -> None:
    book = Workbook()
    book.active.append(["Plan", "Price"])
    book.active.append(["Free", 0])
    book.save(tmp_path / "open.xlsx")
    with (tmp_path / "open.xlsx").open("rb") as source, (tmp_path / "shut.xlsx").open("wb") as target:
        OOXMLFile(source).encrypt("open sesame", target)
    path = tmp_path / "shut.xlsx"
    assert convert(path).reason == QuarantineReason.ENCRYPTED
    wrong = convert(path, password="mellon")
    assert wrong.reason == QuarantineReason.ENCRYPTED
    assert "does not open it" in wrong.message
    assert "mellon" not in wrong.message
    opened = convert(path, password="open sesame")
    assert (opened.reason, opened.file_format) == ("", "xlsx")
