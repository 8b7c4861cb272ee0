from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from corpus_pipeline.conversion.containers import check_xml, check_zip
from corpus_pipeline.conversion.file_format import FileFormat
from corpus_pipeline.errors import ConversionError
from corpus_pipeline.records import QuarantineReason

LAUGHS = b"""<?xml version="1.0"?><!DOCTYPE lolz [
<!ENTITY lol "lol"><!ENTITY lol2 "&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;"><!ENTITY lol3 "&lol2;&lol2;&lol2;&lol2;">
]><lolz>&lol3;</lolz>"""


def container(path: Path, members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def refusal(path: Path, file_format: FileFormat = FileFormat.DOCX, most: int = 10**9) -> str:
    with pytest.raises(ConversionError) as caught:
        check_zip(path, file_format, max_expanded_bytes=most, max_members=20_000)
    assert caught.value.remedy
    return caught.value.reason


def test_a_sound_container_passes(tmp_path: Path) -> None:
    check_zip(
        container(tmp_path / "a", {"word/document.xml": b"<w/>"}),
        FileFormat.DOCX,
        max_expanded_bytes=1000,
        max_members=20_000,
    )


def test_a_container_that_expands_beyond_the_limit_is_a_bomb(tmp_path: Path) -> None:
    path = container(tmp_path / "a", {"word/document.xml": bytes(2_000_000)})
    assert refusal(path, most=1_000_000) == QuarantineReason.BOMB


def test_a_container_that_expands_hundreds_of_times_is_a_bomb(tmp_path: Path) -> None:
    path = container(tmp_path / "a", {"xl/media.bin": bytes(60_000_000)})
    assert refusal(path, FileFormat.XLSX) == QuarantineReason.BOMB


def test_a_container_with_too_many_members_is_a_bomb(tmp_path: Path) -> None:
    path = container(tmp_path / "a", {f"m{n}": b"" for n in range(20_001)}, zipfile.ZIP_STORED)
    assert refusal(path) == QuarantineReason.BOMB


def test_entities_in_an_office_part_are_a_bomb(tmp_path: Path) -> None:
    assert refusal(container(tmp_path / "a", {"word/document.xml": LAUGHS})) == QuarantineReason.BOMB


def test_a_damaged_member_is_corrupt(tmp_path: Path) -> None:
    path = container(tmp_path / "a", {"word/document.xml": b"<w>" + b"text" * 500}, zipfile.ZIP_STORED)
    path.write_bytes(path.read_bytes().replace(b"texttext", b"TEXTtext", 1))
    assert refusal(path) == QuarantineReason.CORRUPT


@pytest.mark.parametrize(
    "data",
    [LAUGHS, b'<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><r>&x;</r>',
     b'<!DOCTYPE r [<!ENTITY % x PUBLIC "a" "http://example.com/x.dtd"> %x;]><r/>'],
)  # fmt: skip
def test_hostile_entities_of_xml_are_refused(data: bytes) -> None:
    with pytest.raises(ConversionError) as caught:
        check_xml(data)
    assert caught.value.reason == QuarantineReason.BOMB


def test_harmless_entities_and_external_document_types_pass() -> None:
    check_xml(b'<!DOCTYPE article PUBLIC "-//NLM//DTD JATS" "JATS.dtd" [<!ENTITY copy "&#169;">]><article/>')
