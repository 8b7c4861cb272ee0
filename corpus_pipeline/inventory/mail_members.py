"""The attachments of mails, internet messages and Outlook's, as members.

Pictures that the text shows itself, signatures and the text are parts of the mail, not attachments.
"""

from __future__ import annotations

import io
import mimetypes
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from email import message_from_binary_file
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from email.message import Message
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import IO, Any

from corpus_pipeline.errors import ConversionError
from corpus_pipeline.inventory.archive_members import RawMember
from corpus_pipeline.inventory.outlook_messages import embedded_message
from corpus_pipeline.records import QuarantineReason

__all__ = ["eml_members", "msg_members"]

_BODY_TYPES = frozenset({"text/plain", "text/html", "text/enriched", "text/calendar", "text/x-amp-html"})
_SIGNATURES = frozenset({"application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature"})
_EXTENSIONS = {"message/rfc822": ".eml", "text/plain": ".txt", "text/html": ".html", "text/calendar": ".ics"}


def eml_members(path: Path) -> Iterator[RawMember]:
    """The attachments of an internet message, in its order."""
    with path.open("rb") as stream:
        message = message_from_binary_file(stream)
    sent = _sent_at(message)
    for part in _attachments(message):
        name = _file_name(part)
        yield RawMember(name, _opener(part), sent)


def msg_members(path: Path) -> Iterator[RawMember]:
    """The attachments of an Outlook message, in its order.

    Raises:
        ConversionError: ``corrupt``.
    """
    from oxmsg import Message as OutlookMessage

    try:
        message = OutlookMessage.load(str(path))
        attachments = message.attachments
        sent = _optional(lambda: message.sent_date)
    except Exception as error:  # the library has no error of its own for damaged files
        raise ConversionError(
            f"the attachments of the message cannot be read ({type(error).__name__})",
            reason=QuarantineReason.CORRUPT,
            remedy="Open it in Outlook and save it again.",
        ) from error
    for attachment in attachments:
        yield _outlook_member(attachment, sent)


def _outlook_member(attachment: Any, sent: datetime | None) -> RawMember:
    content = _optional(lambda: attachment.file_bytes)
    name = _optional(lambda: attachment.file_name) or _optional(lambda: attachment.properties.str_prop_value(0x3704))
    refusal = None
    if content is None and (inner := _optional(lambda: embedded_message(attachment))):
        name, content = inner
    if content is None:
        refusal = ConversionError(
            "it is an object of another program inside the Outlook message and cannot be taken out",
            reason=QuarantineReason.UNSUPPORTED,
            remedy="Open the message in Outlook and save the attachment beside it.",
        )
    modified = _optional(lambda: attachment.last_modified) or sent
    return RawMember(_base_name(str(name or "attachment")), lambda: io.BytesIO(content or b""), modified, refusal)


def _optional(read: Callable[[], Any]) -> Any:
    """A property, ``None`` when it is missing or damaged."""
    try:
        return read()
    except Exception:  # noqa: BLE001 - the library has no error of its own for damaged properties
        return None


def _attachments(message: Message) -> Iterator[Message]:
    """Attached parts. An attached message is one part; its own attachments are found when it is opened."""
    waiting = [(message, False)]
    while waiting:
        part, related = waiting.pop()
        if part.get_content_maintype() == "multipart":
            children = part.get_payload()
            inner = part.get_content_subtype() == "related"
            if isinstance(children, list):
                waiting.extend((child, inner) for child in reversed(children) if isinstance(child, Message))
        elif _is_attachment(part, related=related):
            yield part


def _is_attachment(part: Message, *, related: bool) -> bool:
    kind = part.get_content_type()
    disposition = str(part.get_content_disposition() or "")
    picture = part.get_content_maintype() == "image"
    if kind in _SIGNATURES or (picture and related and part["Content-ID"]):
        return False
    if disposition == "attachment" or kind == "message/rfc822":
        return True
    if picture and (related or disposition == "inline" or part["Content-ID"]):
        return False
    return bool(part.get_filename()) or kind not in _BODY_TYPES


def _file_name(part: Message) -> str:
    kind = part.get_content_type()
    name = _decoded(part.get_filename() or "")
    if not name and kind == "message/rfc822":
        inner = part.get_payload()
        subject = inner[0]["Subject"] if isinstance(inner, list) and inner and isinstance(inner[0], Message) else None
        name = _decoded(str(subject or "")).replace("/", "-")[:80].strip() + ".eml" if subject else ""
    if not name:
        extension = _EXTENSIONS.get(kind) or mimetypes.guess_extension(kind) or ""
        name = f"attachment{extension}"
    return _base_name(name)


def _base_name(name: str) -> str:
    return name.replace("\\", "/").rstrip("/").rpartition("/")[2].strip(" .") or "attachment"


def _decoded(value: str) -> str:
    try:
        return str(make_header(decode_header(value)))
    except (HeaderParseError, LookupError, UnicodeDecodeError, ValueError):
        return value


def _opener(part: Message) -> Callable[[], IO[bytes]]:
    return lambda: io.BytesIO(_content(part))


def _content(part: Message) -> bytes:
    try:
        inner = part.get_payload()
        if isinstance(inner, list):
            return b"".join(child.as_bytes() for child in inner if isinstance(child, Message))
        content = part.get_payload(decode=True)
    except Exception as error:  # the library raises many kinds on messages that break its rules
        raise ConversionError(
            f"the attachment is not encoded as mail is ({type(error).__name__})",
            reason=QuarantineReason.CORRUPT,
            remedy="Save the attachment beside the mail.",
        ) from error
    return content if isinstance(content, bytes) else b""


def _sent_at(message: Message) -> datetime | None:
    try:
        sent = parsedate_to_datetime(str(message["Date"]))
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return sent if sent.tzinfo else sent.replace(tzinfo=UTC)
