"""Makes archives and mails for tests."""

from __future__ import annotations

import io
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from email.message import EmailMessage

Content = bytes | str


def zip_of(files: Mapping[str, Content] | Iterable[tuple[str, Content]]) -> bytes:
    buffer = io.BytesIO()
    pairs = files.items() if isinstance(files, Mapping) else files
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in pairs:
            archive.writestr(zipfile.ZipInfo(name, (2024, 5, 6, 7, 8, 10)), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def tar_of(files: Mapping[str, Content], *, mode: str = "w:gz", special: Iterable[tarfile.TarInfo] = ()) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime = len(data), 1_700_000_000
            archive.addfile(entry, io.BytesIO(data))
        for entry in special:
            archive.addfile(entry)
    return buffer.getvalue()


def special(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = kind, target
    return entry


def mail_of(body: str, attachments: Iterable[tuple[str, bytes]] = (), subject: str = "Figures") -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"] = "Ada <ada@example.com>", "Bea <bea@example.com>"
    message["Subject"], message["Date"] = subject, "Mon, 01 Jul 2024 10:00:00 +0200"
    message.set_content(body)
    for name, content in attachments:
        message.add_attachment(content, maintype="application", subtype="octet-stream", filename=name)
    return message


def encrypted_zip_of(files: Mapping[str, str], password: str) -> bytes:
    """The old encryption of ZIP (APPNOTE 6.1), which the standard library reads and does not write."""
    body, directory = io.BytesIO(), io.BytesIO()
    for name, text in files.items():
        data, path = text.encode(), name.encode()
        crc = zlib.crc32(data)
        packed = _encrypted(b"\x00" * 11 + bytes([crc >> 24]) + data, password.encode())
        common = struct.pack("<HHHHHIII", 20, 1, 0, 0, 0x58A6, crc, len(packed), len(data))
        offset = body.tell()
        body.write(b"PK\x03\x04" + common + struct.pack("<HH", len(path), 0) + path + packed)
        directory.write(
            b"PK\x01\x02" + struct.pack("<H", 20) + common + struct.pack("<HHHHHII", len(path), 0, 0, 0, 0, 0, offset)
        )
        directory.write(path)
    tail = struct.pack("<HHHHIIH", 0, 0, len(files), len(files), directory.tell(), body.tell(), 0)
    return body.getvalue() + directory.getvalue() + b"PK\x05\x06" + tail


def _encrypted(plain: bytes, password: bytes) -> bytes:
    keys = [0x12345678, 0x23456789, 0x34567890]
    table = [zlib.crc32(bytes([value]), 0xFFFFFFFF) ^ 0xFFFFFFFF for value in range(256)]

    def step(crc: int, value: int) -> int:
        return (crc >> 8) ^ table[(crc ^ value) & 0xFF]

    def update(value: int) -> None:
        keys[0] = step(keys[0], value)
        keys[1] = ((keys[1] + (keys[0] & 0xFF)) * 134775813 + 1) & 0xFFFFFFFF
        keys[2] = step(keys[2], keys[1] >> 24)

    for value in password:
        update(value)
    out = bytearray()
    for value in plain:
        mask = keys[2] | 2
        out.append(value ^ (((mask * (mask ^ 1)) >> 8) & 0xFF))
        update(value)
    return bytes(out)


def overlapping_zip() -> bytes:
    """Two directory entries over the same bytes."""
    plain = zip_of({"a.txt": "a" * 2000, "b.txt": "b"})
    start = plain.index(b"PK\x01\x02")
    second = plain.index(b"PK\x01\x02", start + 4)
    first_offset = plain[start + 42 : start + 46]
    return plain[: second + 42] + first_offset + plain[second + 46 :]


def legacy_word_bytes() -> bytes:
    """A compound file with one stream named WordDocument, by the layout of [MS-CFB]; no text in it."""
    header = bytearray(512)
    header[:8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
    for at, size, value in (
        (24, 2, 0x3E), (26, 2, 3), (28, 2, 0xFFFE), (30, 2, 9), (32, 2, 6), (44, 4, 1), (48, 4, 1), (56, 4, 4096),
        (60, 4, 0xFFFFFFFE), (64, 4, 0), (68, 4, 0xFFFFFFFE), (72, 4, 0), (76, 4, 0),
    ):  # fmt: skip
        header[at : at + size] = value.to_bytes(size, "little")
    header[80:512] = b"\xff" * 432
    chain = [0xFFFFFFFD, 0xFFFFFFFE, *range(3, 10), 0xFFFFFFFE]
    table = b"".join(entry.to_bytes(4, "little") for entry in chain).ljust(512, b"\xff")

    def entry(name: str, kind: int, child: int, start: int, size: int) -> bytes:
        raw = name.encode("utf-16-le") + b"\0\0"
        return (
            raw.ljust(64, b"\0") + len(raw).to_bytes(2, "little") + bytes([kind, 1]) + b"\xff" * 8
            + child.to_bytes(4, "little") + bytes(36) + start.to_bytes(4, "little") + size.to_bytes(8, "little")
        )  # fmt: skip

    directory = entry("Root Entry", 5, 1, 0xFFFFFFFE, 0) + entry("WordDocument", 2, 0xFFFFFFFF, 2, 4096)
    return bytes(header) + table + directory.ljust(512, b"\0") + bytes(4096)
