"""What comes out of archives and mails, good ones and hostile ones."""

from __future__ import annotations

import base64
import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from corpus_pipeline.errors import ConversionError
from corpus_pipeline.inventory.container_format import ContainerKind, may_be_container
from corpus_pipeline.inventory.unpacking import UnpackedMember, Unpacking
from corpus_pipeline.records import sha256_hex
from corpus_pipeline.registry import ConversionLimits
from corpus_pipeline_tests.packing import encrypted_zip_of, mail_of, overlapping_zip, special, tar_of, zip_of

# One member, "The vault opens at nine. " eight times, password "se sam"; written by pyzipper 0.4.
AES_DEFLATED = (
    "P)h>@6aWDLV*vLGeq8_n0024w0077U000UA3jlLvV{&D5E_8Tw0htE?0suip0|)>vo}5gHQ;-w+)SCgkvn{&$9_b<*_V5!hQd6(;c1DQtvdh}FAO"
    "urONJtF0PsHqvjzwvP6C~e5>QGAo0u%!j0097F0QU-hT>t<806G8w0LTCU015yL00000000000Du7i0001UWn*$>bS`vwbOD(M00IC(MFR)`P)h{{"
    "000000RRC2LjV8(Z2$lO000"
)
AES_STORED = (
    "P)h>@6aWDLV*vLGeq8_n007(o0077U000UA3jlLvV{&D5E_8Tw0htE?0suip0RRB%7b<V8&ZL9I!92cN;>?zY$!%pTVo5Zi+=o!Kzhdf)b}6$PK%"
    "5WAbPz<F6@SK`w&%+l!X<qrvPm^r?{O8!oiwM~GHElk9Optl4Dj&Sbx|Hf*61Nu_K^=*|ANQ*dai1zWQ)oAgfNnpvH$lZMMIleT&cNUnZ4CPS$7"
    "q3d;di!k)0A{nt_UyPu3WeZKoP7?-4h+vx~hby*Q8pz5%W{#@A+q??c?wKx?7gQqKe{0I8fTrkw1+TOd^I$OGKiSGv$LHY!#`zG9k%06%$r<AtD"
    "Y5L?zzO928D0~7!O0Am363VvMx0002o0002U0000A01E&B000000001h0RR910CQzya%FTbba-?DnFjy@06|3o002-+1qJ{B000310RTe)000jG00"
    "000"
)


@pytest.fixture
def unpack(tmp_path: Path) -> Any:
    def run(
        content: bytes, name: str = "a.zip", password: str | None = None, wanted: set[str] | None = None, **limits: int
    ) -> Unpacking:
        path, folder = tmp_path / "container", tmp_path / "members"
        path.write_bytes(content)
        folder.mkdir(exist_ok=True)
        unpacking = Unpacking(folder, ConversionLimits(**limits).model_dump(), password, wanted)
        unpacking.unpack(path, name)
        return unpacking

    return run


def texts(unpacking: Unpacking, folder: Path) -> dict[str, str]:
    return {one.path: (folder / "members" / one.file).read_text() for one in unpacking.members if one.file}


def refused(unpacking: Unpacking) -> dict[str, str]:
    return {one.path: one.reason for one in unpacking.members if one.reason}


def test_members_have_path_hash_size_and_time(unpack: Any, tmp_path: Path) -> None:
    found = unpack(zip_of({"2024/q1.txt": "first", "q2.txt": "second"}))
    assert found.kind is ContainerKind.ZIP
    assert found.members[0] == UnpackedMember(
        "2024/q1.txt", found.members[0].file, sha256_hex("first"), 5, "2024-05-06T07:08:10+00:00"
    )
    assert texts(found, tmp_path) == {"2024/q1.txt": "first", "q2.txt": "second"}


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_tar_archives_of_every_compression_are_read(unpack: Any, tmp_path: Path, mode: str) -> None:
    found = unpack(tar_of({"a.txt": "A", "d/b.txt": "B"}, mode=mode), "a.tar")
    assert texts(found, tmp_path) == {"a.txt": "A", "d/b.txt": "B"}
    assert found.members[0].modified_at == "2023-11-14T22:13:20+00:00"


def test_an_old_tar_without_a_mark_is_known_by_its_checksum(unpack: Any, tmp_path: Path) -> None:
    header = bytearray(tar_of({"a.txt": "A"}, mode="w"))
    header[257:265] = bytes(8)
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\x00 " % sum(header[:512])
    assert may_be_container(bytes(header), "tar")
    assert texts(unpack(bytes(header), "a.tar"), tmp_path) == {"a.txt": "A"}


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_single_compressed_file_is_its_only_member(unpack: Any, tmp_path: Path, pack: Any) -> None:
    assert texts(unpack(pack(b"plain"), "notes.txt.gz"), tmp_path) == {"notes.txt": "plain"}


def test_names_never_lead_anywhere(unpack: Any, tmp_path: Path) -> None:
    found = unpack(
        zip_of(
            {"../../up.txt": "u", "/etc/abs.txt": "a", "win\\dir\\w.txt": "w", ".git/config": "h", "b.zip!/x.txt": "s"}
        )
    )
    assert refused(found) == {"%2E%2E/%2E%2E/up.txt": "unsupported"}
    assert texts(found, tmp_path) == {"etc/abs.txt": "a", "win/dir/w.txt": "w", "b.zip%21/x.txt": "s"}
    assert {path.name for path in tmp_path.iterdir()} == {"container", "members"}


def test_links_and_devices_are_refused_and_hard_links_read(unpack: Any, tmp_path: Path) -> None:
    entries = [
        special("hard.txt", tarfile.LNKTYPE, "a.txt"),
        special("outside", tarfile.SYMTYPE, "/etc/passwd"),
        special("loose.txt", tarfile.LNKTYPE, "missing.txt"),
        special("null", tarfile.CHRTYPE),
        special("pipe", tarfile.FIFOTYPE),
    ]
    found = unpack(tar_of({"a.txt": "A"}, special=entries), "a.tgz")
    assert texts(found, tmp_path) == {"a.txt": "A", "hard.txt": "A"}
    assert refused(found) == dict.fromkeys(("outside", "loose.txt", "null", "pipe"), "unsupported")


def test_a_link_in_a_zip_is_not_followed(unpack: Any) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        link = zipfile.ZipInfo("passwd.txt")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("a.txt", "A")
    assert refused(unpack(buffer.getvalue())) == {"passwd.txt": "unsupported"}


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_files_of_the_same_name_are_numbered(unpack: Any, tmp_path: Path) -> None:
    found = unpack(zip_of([("d/x.txt", "one"), ("d/x.txt", "two"), ("d/x.txt", "three")]))
    assert texts(found, tmp_path) == {"d/x.txt": "one", "d/x (2).txt": "two", "d/x (3).txt": "three"}


def test_containers_in_containers_are_opened_in_place(unpack: Any, tmp_path: Path) -> None:
    inner = tar_of({"deep.txt": "D"})
    letter = mail_of("see", [("in.tar.gz", inner), ("q.txt", b"Q")])
    found = unpack(zip_of({"letter.eml": bytes(letter), "plain.txt": "P"}))
    expected = {"letter.eml!/in.tar.gz!/deep.txt": "D", "letter.eml!/q.txt": "Q", "plain.txt": "P"}
    assert {path: text for path, text in texts(found, tmp_path).items() if path != "letter.eml"} == expected
    assert "letter.eml" in texts(found, tmp_path), "a mail is a document as well"
    assert len(list((tmp_path / "members").iterdir())) == 4, "opened archives leave nothing behind"


def test_nesting_ends_where_the_limit_says(unpack: Any) -> None:
    content = zip_of({"x.txt": "x"})
    for _ in range(3):
        content = zip_of({"in.zip": content, "beside.txt": "b"})
    found = unpack(content, max_nesting=2)
    assert refused(found) == {"in.zip!/in.zip": "too_large"}
    assert any("max_nesting" in one.message for one in found.members)


def test_a_damaged_archive_in_an_archive_takes_nothing_else_down(unpack: Any, tmp_path: Path) -> None:
    cut = tar_of({"a.txt": "A" * 5000, "b.txt": "B"})[:-40]
    found = unpack(zip_of({"cut.tgz": cut, "good.txt": "G"}))
    assert refused(found) == {"cut.tgz": "corrupt"}
    assert texts(found, tmp_path) == {"good.txt": "G"}


def test_one_damaged_member_is_refused_alone(unpack: Any, tmp_path: Path) -> None:
    content = bytearray(zip_of({"bad.txt": "bad " * 400, "good.txt": "G"}))
    content[40] ^= 0xFF
    found = unpack(bytes(content))
    assert refused(found) == {"bad.txt": "corrupt"}
    assert texts(found, tmp_path) == {"good.txt": "G"}


@pytest.mark.parametrize(
    ("content", "name", "reason"),
    [
        (gzip.compress(bytes(60_000_000)), "zeros.gz", "bomb"),
        (zip_of({"zeros.bin": bytes(60_000_000)}), "zeros.zip", "bomb"),
        (overlapping_zip(), "overlap.zip", "bomb"),
        (tar_of({"a.txt": "A" * 9000})[:-60], "cut.tgz", "corrupt"),
        (tar_of({"a.txt": "A" * 900, "b.txt": "B"}, mode="w")[:1600], "cut.tar", "corrupt"),
        (zip_of({}), "empty.zip", "empty"),
        (zip_of({".DS_Store": "x"}), "hidden.zip", "empty"),
    ],
    ids=["gzip bomb", "zip bomb", "overlap", "cut tgz", "cut tar", "empty", "hidden only"],
)
def test_an_archive_that_is_refused_as_a_whole(unpack: Any, content: bytes, name: str, reason: str) -> None:
    with pytest.raises(ConversionError) as raised:
        unpack(content, name)
    assert raised.value.reason == reason
    assert raised.value.remedy


def test_the_number_of_members_is_bounded(unpack: Any) -> None:
    with pytest.raises(ConversionError, match=r"limits\.max_members"):
        unpack(zip_of({f"{number}.txt": "x" for number in range(12)}), max_members=10)


def test_a_nested_bomb_is_refused_alone(unpack: Any, tmp_path: Path) -> None:
    found = unpack(zip_of({"z.zip": zip_of({"zeros.bin": bytes(60_000_000)}), "good.txt": "G"}))
    assert refused(found) == {"z.zip": "bomb"}
    assert texts(found, tmp_path) == {"good.txt": "G"}


def test_encrypted_members_open_with_the_password_alone(unpack: Any, tmp_path: Path) -> None:
    content = encrypted_zip_of({"secret.txt": "S" * 50}, "se sam")
    assert texts(unpack(content, password="se sam"), tmp_path) == {"secret.txt": "S" * 50}
    for password in (None, "wrong"):
        with pytest.raises(ConversionError) as raised:
            unpack(content, password=password)
        assert raised.value.reason == "encrypted"
        assert "conversion.password" in raised.value.remedy


@pytest.mark.parametrize("packed", [AES_DEFLATED, AES_STORED], ids=["AES-256 deflated", "AES-128 stored"])
def test_aes_encryption_is_read(unpack: Any, tmp_path: Path, packed: str) -> None:
    content = base64.b85decode(packed)
    assert texts(unpack(content, password="se sam"), tmp_path) == {"secret.txt": "The vault opens at nine. " * 8}
    with pytest.raises(ConversionError) as raised:
        unpack(content, password="wrong")
    assert raised.value.reason == "encrypted"


def test_one_encrypted_member_among_others_is_refused_alone(unpack: Any, tmp_path: Path) -> None:
    found = unpack(zip_of({"in.zip": encrypted_zip_of({"secret.txt": "S"}, "x"), "good.txt": "G"}))
    assert refused(found) == {"in.zip": "encrypted"}
    assert texts(found, tmp_path) == {"good.txt": "G"}


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (zip_of({"[Content_Types].xml": "<x/>", "word/document.xml": "<x/>"}), "report.zip"),
        (zip_of({"mimetype": "application/epub+zip", "a.xhtml": "x"}), "book.zip"),
        (zip_of({"META-INF/MANIFEST.MF": "x", "A.class": "x"}), "program.jar"),
        (b"PK\x03\x04 and nothing else", "cut.zip"),
        (b"From: a@b.c\nTo: d@e.f\nSubject: s\n\nNo attachment.\n", "plain.eml"),
        (b"Just text about multipart/mixed.\n", "a.txt"),
    ],
    ids=["office", "epub", "jar", "cut zip", "mail without parts", "text"],
)
def test_what_is_no_container_stays_a_document(unpack: Any, content: bytes, name: str) -> None:
    found = unpack(content, name)
    assert (found.kind, found.members) == (None, [])


def test_attachments_are_told_from_what_belongs_to_the_text(unpack: Any, tmp_path: Path) -> None:
    letter = mail_of(
        "Body", [("../../up.txt", b"U"), ("q.txt", b"one"), ("q.txt", b"two"), ("=?utf-8?q?=C3=BCber?=.txt", b"X")]
    )
    letter.add_attachment(mail_of("inner", [("deep.txt", b"D")], subject="Re: plan/2"))
    html = mail_of("Body")
    html.add_alternative("<p>Body <img src='cid:logo'></p>", subtype="html")
    html.get_payload()[1].add_related(b"png", "image", "png", cid="<logo>", filename="logo.png")
    found = unpack(bytes(letter), "m.eml")
    assert found.kind is ContainerKind.EML
    assert set(texts(found, tmp_path)) == {
        "up.txt", "q.txt", "q (2).txt", "über.txt", "Re: plan-2.eml", "Re: plan-2.eml!/deep.txt",
    }  # fmt: skip
    assert {one.modified_at for one in found.members} == {"2024-07-01T10:00:00+02:00"}
    assert unpack(bytes(html), "h.eml").members == [], "a picture that the text shows is no attachment"


def test_an_outlook_message_that_is_damaged_is_no_container(unpack: Any) -> None:
    found = unpack(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "m.msg")
    assert found.kind is None


def test_only_wanted_members_are_written(unpack: Any, tmp_path: Path) -> None:
    content = zip_of({"a.txt": "A", "in.zip": zip_of({"b.txt": "B", "c.txt": "C"}), "d.txt": "D"})
    assert texts(unpack(content, wanted={"in.zip!/c.txt"}), tmp_path) == {"in.zip!/c.txt": "C"}
    assert len(list((tmp_path / "members").iterdir())) == 1
