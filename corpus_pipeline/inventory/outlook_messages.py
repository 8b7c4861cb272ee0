"""Outlook messages attached to Outlook messages, written as internet messages: they are then opened like any mail.

Inside its carrier such a message is a folder of properties ([MS-OXMSG] 2.4.1.2), not a file; the
standard form of a mail holds what matters of it: sender, recipients, date, subject, text and attachments.
"""

from __future__ import annotations

from datetime import UTC, datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from typing import Any

__all__ = ["embedded_message"]

_MESSAGE_FOLDER = "__substg1.0_3701000D"
_HEADER_BYTES = 24
"""Bytes before the properties of a message inside another; those of the outermost begin at 32."""
_SUBJECT, _BODY, _HTML, _SENDER, _SENDER_ADDRESS, _SMTP_ADDRESS = 0x0037, 0x1000, 0x1013, 0x0C1A, 0x0C1F, 0x5D01
_SENT = 0x0039


def embedded_message(attachment: Any) -> tuple[str, bytes] | None:
    """Name and bytes, as an internet message, of a message that is attached as a message.

    Args:
        attachment: ``oxmsg.attachment.Attachment``.

    Returns:
        ``None`` where the attachment is something else, such as an object of another program.
    """
    message = _written(attachment)
    if message is None:
        return None
    subject = " ".join(str(message["Subject"] or "message").split())
    return f"{subject.replace('/', '-')[:80].strip(' .') or 'message'}.eml", message.as_bytes(policy=SMTP)


def _written(attachment: Any) -> EmailMessage | None:
    from oxmsg.attachment import Attachment
    from oxmsg.properties import Properties

    folder = next((each for each in attachment._storage.storages if each.name == _MESSAGE_FOLDER), None)  # noqa: SLF001
    if folder is None:
        return None
    properties = Properties(folder, properties_header_offset=_HEADER_BYTES)
    message = EmailMessage()
    for name, value in _headers(folder, properties).items():
        if value:
            message[name] = " ".join(value.split())
    plain, html = properties.str_prop_value(_BODY), _html(properties)
    message.set_content(plain or ("" if html else " "))
    if html:
        message.add_alternative(html, subtype="html")
    for storage in folder.iter_attachment_storages():
        _attach(message, Attachment(storage))
    return message


def _headers(folder: Any, properties: Any) -> dict[str, str]:
    from oxmsg.recipient import Recipient

    sent: datetime | None = properties.date_prop_value(_SENT)
    address = properties.str_prop_value(_SMTP_ADDRESS) or properties.str_prop_value(_SENDER_ADDRESS) or ""
    to = [Recipient(storage) for storage in folder.iter_recipient_storages()]
    return {
        "From": _shown(properties.str_prop_value(_SENDER) or "", address),
        "To": ", ".join(filter(None, (_shown(each.name, each.email_address) for each in to))),
        "Date": format_datetime(sent if sent.tzinfo else sent.replace(tzinfo=UTC)) if sent else "",
        "Subject": properties.str_prop_value(_SUBJECT) or "",
    }


def _shown(name: str, address: str) -> str:
    quoted = name.strip().replace("\\", "").replace('"', "'")
    if "@" not in address:
        return f'"{quoted}" <>' if quoted else ""
    return f'"{quoted}" <{address}>' if quoted and quoted != address else address


def _html(properties: Any) -> str:
    data: bytes | None = properties.binary_prop_value(_HTML)
    if data is not None:
        return data.decode(properties.body_encoding, "replace")
    return properties.str_prop_value(_HTML) or ""


def _attach(message: EmailMessage, attachment: Any) -> None:
    inner = _written(attachment)
    if inner is not None:
        message.add_attachment(inner)
    elif attachment.file_bytes is not None:
        kind, _, subtype = (attachment.mime_type or "").partition("/")
        if not subtype or kind in {"multipart", "message"}:
            kind, subtype = "application", "octet-stream"
        name = attachment.file_name or "attachment"
        message.add_attachment(attachment.file_bytes, maintype=kind, subtype=subtype, filename=name)
