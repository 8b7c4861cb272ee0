"""Messages attached to Outlook messages, as the library reads them from a compound file."""

from __future__ import annotations

import struct
from email import message_from_bytes, policy

import pytest
from oxmsg.attachment import Attachment
from oxmsg.storage import Storage, Stream

from corpus_pipeline.inventory.mail_members import _outlook_member
from corpus_pipeline.inventory.outlook_messages import embedded_message

TEXT, BINARY, TIME = 0x001F, 0x0102, 0x0040
MESSAGE_HEADER, PART_HEADER = 24, 8


def folder(
    path: str, header: int, properties: dict[tuple[int, int], bytes | int], storages: tuple[Storage, ...] = ()
) -> Storage:
    """A folder of properties in the layout of [MS-OXMSG]: 16 bytes each, long values in streams of their own."""
    table = bytes(header)
    streams = []
    for (number, kind), value in properties.items():
        if isinstance(value, int):
            table += struct.pack("<HHIQ", kind, number, 6, value)
        else:
            table += struct.pack("<HHIII", kind, number, 6, len(value), 0)
            streams.append(Stream(f"{path}/__substg1.0_{number:04X}{kind:04X}", value))
    streams.append(Stream(f"{path}/__properties_version1.0", table))
    return Storage(path, tuple(streams), storages)


def words(text: str) -> bytes:
    return text.encode("utf-16-le")


def message(path: str, subject: str, *parts: Storage) -> Storage:
    recipient = folder(
        f"{path}/__recip_version1.0_#00000000",
        PART_HEADER,
        {
            (0x3001, TEXT): words("Bo Ek"),
            (0x3003, TEXT): words("bo@example.com"),
            (0x39FE, TEXT): words("bo@example.com"),
        },
    )
    properties = {
        (0x0037, TEXT): words(subject),
        (0x1000, TEXT): words("Refunds are paid\r\nwithin 30 days. Grüße"),
        (0x0C1A, TEXT): words("Ada\r\nReader"),
        (0x5D01, TEXT): words("ada@example.com"),
        (0x0039, TIME): 133_500_000_000_000_000,
    }
    return folder(path, MESSAGE_HEADER, properties, (recipient, *parts))


def attached(path: str, *storages: Storage, **values: bytes) -> Storage:
    properties: dict[tuple[int, int], bytes | int] = {}
    if values:
        properties = {(0x3707, TEXT): values["name"], (0x3701, BINARY): values["content"]}
    return folder(path, PART_HEADER, properties, storages)


@pytest.fixture
def carrier() -> Attachment:
    inmost = message("a/m/b/__substg1.0_3701000D", "Second")
    file = attached("a/m/f/__attach_version1.0_#00000000", name=words("plan.csv"), content=b"a,b\n1,2\n")
    nested = attached("a/m/b/__attach_version1.0_#00000001", inmost)
    outer = message("a/__substg1.0_3701000D", "Rules / 2024", file, nested)
    return Attachment(attached("a", outer))


def test_an_attached_message_becomes_a_mail_with_its_attachments(carrier: Attachment) -> None:
    name, content = embedded_message(carrier) or ("", b"")
    mail = message_from_bytes(content, policy=policy.default)
    assert name == "Rules - 2024.eml"
    assert mail["Subject"] == "Rules / 2024"
    assert mail["From"] == "Ada Reader <ada@example.com>"
    assert mail["To"] == "Bo Ek <bo@example.com>"
    assert mail["Date"].datetime.year == 2024
    body = mail.get_body()
    assert body is not None
    assert body.get_content().split("\n")[1].strip() == "within 30 days. Grüße"
    first, second = mail.iter_attachments()
    assert (first.get_filename(), first.get_content()) == ("plan.csv", b"a,b\n1,2\n")
    assert second.get_content()["Subject"] == "Second"


def test_it_is_a_member_of_its_carrier(carrier: Attachment) -> None:
    member = _outlook_member(carrier, None)
    assert (member.name, member.refusal) == ("Rules - 2024.eml", None)
    with member.open() as stream:
        assert b"Subject: Rules / 2024" in stream.read()


def test_an_object_of_another_program_is_refused_with_its_reason() -> None:
    member = _outlook_member(Attachment(attached("a", Storage("a/__substg1.0_3701000D", (), ()))), None)
    assert member.refusal is not None
    assert member.refusal.reason == "unsupported"
