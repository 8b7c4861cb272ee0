"""From the text of one document to its evidence. Pure and per document, so that it can be cached."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from itertools import islice

from corpus_pipeline.records import BlockKind, ConvertedDocument
from corpus_pipeline.versions.claims import DocumentEvidence
from corpus_pipeline.versions.dates import DATE_PATTERN, first_date, parse_date
from corpus_pipeline.versions.headers import header_claims, read_header
from corpus_pipeline.versions.periods import stated_period
from corpus_pipeline.versions.profiles import document_kind, name_profile, stated_organisation
from corpus_pipeline.versions.sentences import sentence_claims

__all__ = ["evidence_of", "extract_evidence"]

DATED_CHARS = 3000
FIRST_HEADINGS = 4
_DATED_LINE = re.compile(
    r"\b(?P<what>"
    r"last (?:updated|modified|revised|reviewed|changed)|effective(?: date| as of| from| on)?|updated(?: on)?"
    r"|date of last revision|version dated|posted|in force from)\b"
    rf"[^.\n\d]{{0,40}}?(?P<date>{DATE_PATTERN})",
    re.IGNORECASE,
)
_CODE = re.compile(r"^(?P<prefix>[A-Z]{2,12})[- /]?(?P<number>\d[\d.-]*[a-z]?)\b")


def evidence_of(
    converted: ConvertedDocument, *, title: str | None = None, normalised_sha256: str = ""
) -> DocumentEvidence:
    """The evidence of a converted document, with its headings and links.

    Args:
        title: Used where the converted document has none.
    """
    headings = (block.text for block in converted.blocks if block.kind in (BlockKind.TITLE, BlockKind.HEADING))
    return extract_evidence(
        converted.text,
        title=converted.title or title,
        headings=list(islice(headings, FIRST_HEADINGS)),
        links=[link for block in converted.blocks for link in block.links],
        normalised_sha256=normalised_sha256,
    )


def extract_evidence(
    text: str,
    *,
    title: str | None = None,
    headings: Sequence[str] = (),
    links: Sequence[str] = (),
    normalised_sha256: str = "",
) -> DocumentEvidence:
    """Reads header fields, sentences, dates and names of a converted text.

    Args:
        text: The converted text.
        title: Title the converter found, used when no header field names one.
        headings: The first headings in reading order.
        links: Where the document's links lead.
        normalised_sha256: Hash of the normalised text, carried along for the copy rules.
    """
    header = read_header(text)
    values = header.values
    dated = (
        first_date(values.get("dated", "")) or _dated_line(text, effective=False) or _dated_line(text, effective=True)
    )
    period = stated_period(text)
    shown_title = values.get("title") or title
    return DocumentEvidence(
        claims=tuple(dict.fromkeys([*header_claims(header), *sentence_claims(text, has_status=header.has_status)])),
        number=header.number or _own_number(values.get("number", "")),
        status=_status(values.get("status", "")),
        version=values.get("version"),
        valid_from=first_date(values.get("valid_from", "")),
        valid_until=first_date(values.get("valid_until", "")),
        dated=dated,
        title=shown_title,
        normalised_sha256=normalised_sha256,
        period_end=period.end if period else None,
        period_quote=period.quote if period else "",
        organisation=stated_organisation(text),
        kind=document_kind(text, [*([shown_title] if shown_title else []), *headings]),
        profile=name_profile(text, links),
    )


def _own_number(value: str) -> tuple[str, str] | None:
    match = _CODE.match(value.strip())
    return (match["prefix"].lower(), match["number"].lower().lstrip("0")) if match else None


def _status(value: str) -> str:
    match = re.match(r"[\W_]*([A-Za-z]+)", value)
    return match[1].lower() if match else ""


def _dated_line(text: str, *, effective: bool) -> date | None:
    """Date of a line such as "Last updated: June 29, 2022" near the top."""
    for match in _DATED_LINE.finditer(" ".join(text[:DATED_CHARS].split())):
        if match["what"].lower().startswith(("effective", "in force")) == effective:
            return parse_date(match["date"])
    return None
