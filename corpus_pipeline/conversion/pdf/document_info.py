"""What pypdfium2 says about a PDF before anything else reads it: can it be opened, how long is it, whose is it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path

from corpus_pipeline.errors import ConversionError
from corpus_pipeline.records import QuarantineReason

__all__ = ["PdfInfo", "iso_date", "read_info"]

PDF_DATE = re.compile(
    r"^(?:D:)?(?P<year>\d{4})(?P<month>\d\d)?(?P<day>\d\d)?(?P<hour>\d\d)?(?P<minute>\d\d)?(?P<second>\d\d)?"
    r"(?:(?P<sign>[+-])(?P<offset_hour>\d\d)'?(?P<offset_minute>\d\d)?'?|(?P<utc>Z))?"
)
INFO_KEYS = {
    "Title": "title",
    "Author": "author",
    "Subject": "subject",
    "Keywords": "keywords",
    "Creator": "creator",
    "Producer": "producer",
}
DATE_KEYS = {"CreationDate": "created", "ModDate": "modified"}


@dataclass(frozen=True, slots=True)
class PdfInfo:
    """Length and information dictionary of a PDF; dates in ISO 8601, empty entries left out."""

    page_count: int
    properties: dict[str, str]


def read_info(path: Path, password: str | None) -> PdfInfo:
    """Opens a PDF just far enough to count its pages.

    Raises:
        ConversionError: The file is empty, corrupt, or encrypted with another password.
    """
    import pypdfium2

    if path.stat().st_size == 0:
        raise ConversionError(
            "the PDF has 0 bytes", reason=QuarantineReason.EMPTY, remedy="Copy the file again from where it was made."
        )
    try:
        document = pypdfium2.PdfDocument(path, password=password)
    except pypdfium2.PdfiumError as error:
        raise _refusal(error, password) from error
    try:
        page_count = len(document)
        given = document.get_metadata_dict(skip_empty=True)
    finally:
        document.close()
    if page_count == 0:
        raise ConversionError(
            "the PDF has no pages", reason=QuarantineReason.EMPTY, remedy="Export the document again."
        )
    return PdfInfo(page_count, _properties(given))


def _refusal(error: Exception, password: str | None) -> ConversionError:
    message = str(error)
    if "password" in message.lower() or "security" in message.lower():
        found = "another password than the one given" if password else "a password, and none was given"
        return ConversionError(
            f"the PDF is encrypted and wants {found}",
            reason=QuarantineReason.ENCRYPTED,
            remedy="Set the password of the corpus or the file in corpora.yaml, or remove the protection.",
        )
    return ConversionError(
        f"the PDF cannot be opened: {message.rstrip('.')}",
        reason=QuarantineReason.CORRUPT,
        remedy="Check that the file is a PDF and complete; copy or export it again.",
    )


def _properties(given: dict[str, str]) -> dict[str, str]:
    properties = {}
    for key, name in INFO_KEYS.items():
        value = " ".join(given.get(key, "").replace("\x00", "").split())
        if value:
            properties[name] = value
    for key, name in DATE_KEYS.items():
        if date := iso_date(given.get(key, "")):
            properties[name] = date
    return properties


def iso_date(text: str) -> str | None:
    """A PDF date as ISO 8601; ``None`` for what is not a date.

    >>> iso_date("D:20240229083000+01'00'"), iso_date("D:2024"), iso_date("yesterday")
    ('2024-02-29T08:30:00+01:00', '2024-01-01', None)
    """
    match = PDF_DATE.match(text.strip())
    if not match:
        return None
    parts = match.groupdict()
    year, month, day = int(parts["year"]), int(parts["month"] or 1), int(parts["day"] or 1)
    try:
        if parts["hour"] is None:
            return datetime(year, month, day).date().isoformat()  # noqa: DTZ001 - a day has no zone
        zone = None
        if parts["utc"]:
            zone = timezone(timedelta(0))
        elif parts["sign"]:
            offset = timedelta(hours=int(parts["offset_hour"]), minutes=int(parts["offset_minute"] or 0))
            zone = timezone(-offset if parts["sign"] == "-" else offset)
        clock = int(parts["hour"]), int(parts["minute"] or 0), int(parts["second"] or 0)
        return datetime(year, month, day, *clock, tzinfo=zone).isoformat()
    except ValueError:
        return None
