"""Header fields: ``Key: value`` lines, field lists and two-column tables at the top of a document.

Read are the forms of PEPs (``Superseded-By:``), RFCs (``Obsoletes:``, with the authors in a
right-hand column), standards (``Cancels and replaces``) and company documents (``Supersedes``,
``Effective date``, a document-control table).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from corpus_pipeline.versions.claims import Claim, ClaimKind

__all__ = ["HeaderFields", "header_claims", "read_header"]

ZONE_LINES = 60
ZONE_CHARS = 6000
HEADER_CONFIDENCE = 0.95

_RELATIONS = {
    ClaimKind.SUPERSEDES: "supersedes|supercedes|replaces|obsoletes|cancels|cancels and replaces|rescinds|repeals"
    "|revokes|previous version|predecessor|supersedes version|replaces version",
    ClaimKind.SUPERSEDED_BY: "superseded by|superceded by|replaced by|obsoleted by|cancelled by|repealed by|successor"
    "|newer version",
    ClaimKind.AMENDS: "updates|amends|modifies|corrects",
    ClaimKind.AMENDED_BY: "updated by|amended by|corrected by",
}
_KIND_OF = {key: kind for kind, keys in _RELATIONS.items() for key in keys.split("|")}
_FIELDS = {
    "status": "status|document status|state",
    "version": "version|document version|policy version|revision|rev|edition|issue",
    "valid_from": "effective date|effective|effective from|valid from|in force from|date effective",
    "valid_until": "valid until|valid to|in force until|expires|expiry date|expiration date",
    "dated": "date|last updated|last modified|last revised|last reviewed|issued|date issued|issue date|created|approved"
    "|approval date|published|publication date|revised|revision date",
    "title": "title|document title",
    "number": "document number|document no|doc no|document id|document|policy number|policy no|policy id|reference"
    "|standard number",
}
_FIELD_OF = {key: field for field, keys in _FIELDS.items() for key in keys.split("|")}
_STOP = re.compile(
    r"^\W*(?:\d+\.?\s+)?(?:abstract|introduction|table of contents|contents|status of this memo)\W*$", re.IGNORECASE
)
_LINE = re.compile(
    r"^\s*[:*\-•|]{0,3}\s*(?P<key>[A-Za-z][A-Za-z /_-]{1,32}?)(?:\s+(?P<prefix>RFC|PEP)s?)?\s*"
    r"(?::\**|\s\|)\s*(?P<value>\S.*?)\s*\|?\s*$",
    re.IGNORECASE,
)
_BARE = re.compile(r"^\s*(?P<key>obsoletes|updates)\s+(?P<value>RFCs?[ -]?\d.*)$", re.IGNORECASE)
_NUMBERED = re.compile(r"^(?:PEP|Request for Comments)\s*:\s*(?:RFC\s*)?0*(?P<number>\d+)\b", re.IGNORECASE)
_NOTHING = re.compile(r"^(?:none|n/?a|nil|new|not applicable|nothing|[-\u2013\u2014]+|tbd|\.+|\?+)\.?$", re.IGNORECASE)
_ITEM = r"(?:(?:(?i:RFCs?|PEPs?)|[A-Z]{2,8})[ -]?)?#?0*\d+\b(?![.\-/]\d)"
_ITEMS = rf"^{_ITEM}(?:\s*(?:,|;|&|\band\b|\s)\s*(?:and\s+)?{_ITEM})*"
_NUMBER_LIST = re.compile(rf"{_ITEMS}(?=\s*[,;]?\s*$|\s{{2,}})")
_NUMBER_LIST_THEN_WORDS = re.compile(rf"{_ITEMS}(?=\s*[,;]?\s*$|\s+[(A-Z])")
_PATH_OR_CODE = re.compile(r"\.[a-z0-9]{2,5}$|^v?\d+(\.\d+)*$|^[A-Z]{2,8}-\d+", re.IGNORECASE)
_COLUMN_GAP = re.compile(r"\s{3,}")


@dataclass(frozen=True)
class HeaderFields:
    """Fields of a header; the first of each kind counts.

    Attributes:
        values: Value by field name (``status``, ``version``, ``valid_from`` ...).
        relations: ``(kind, value, line)`` in order of appearance.
        number: ``(prefix, number)`` for numbered series such as PEP and RFC.
        has_status: The header has a status field beside at least two other fields, so that it
            is the place where this document's standing is kept.
    """

    values: dict[str, str]
    relations: tuple[tuple[ClaimKind, str, str], ...]
    number: tuple[str, str] | None
    has_status: bool


def read_header(text: str) -> HeaderFields:
    r"""Reads the header fields in the first lines of a text.

    >>> read_header("PEP: 345\nStatus: Superseded\nSuperseded-By: 566\n\nAbstract\n").values["status"]
    'Superseded'
    """
    values: dict[str, str] = {}
    relations: list[tuple[ClaimKind, str, str]] = []
    number: tuple[str, str] | None = None
    lines = _zone(text)
    for position, line in enumerate(lines):
        if number is None and (match := _NUMBERED.match(line.strip())):
            number = ("pep" if line.strip()[:3].lower() == "pep" else "rfc", match["number"])
        match = _LINE.match(line) or _BARE.match(line)
        if match is None:
            continue
        key = " ".join(re.sub(r"[-_/*]", " ", match["key"].lower()).split())
        if key in _KIND_OF:
            value = _continued(match["value"], lines, position)
            relations.append((_KIND_OF[key], value, " ".join(line.split())))
        elif key in _FIELD_OF:
            values.setdefault(_FIELD_OF[key], _COLUMN_GAP.split(match["value"].strip("* "))[0])
    known = len(values) + bool(number) + bool(relations)
    return HeaderFields(values, tuple(relations), number, "status" in values and known > 2)  # noqa: PLR2004


def header_claims(fields: HeaderFields) -> list[Claim]:
    """Claims from the relation fields, one for each document named."""
    return [
        Claim(kind=kind, reference=reference, rule="header", quote=line[:240], confidence=HEADER_CONFIDENCE)
        for kind, value, line in fields.relations
        for reference in split_references(value, numbered=fields.number is not None)
    ]


def split_references(value: str, *, numbered: bool = False) -> list[str]:
    """The documents a field value names: a list of numbers, or titles and paths split at semicolons.

    Args:
        value: The field's value.
        numbered: The document belongs to a numbered series, so that words after a list of
            numbers are the neighbouring column and not a title.

    >>> split_references("RFC 733, 1049     M. Crispin"), split_references("POL-017 v2; Travel, Meals and Hotels")
    (['RFC 733', 'RFC 1049'], ['POL-017 v2', 'Travel, Meals and Hotels'])
    >>> split_references("None"), split_references("<pep number>")
    ([], [])
    """
    value = value.strip().strip("*`_ ").strip()
    if match := (_NUMBER_LIST_THEN_WORDS if numbered else _NUMBER_LIST).match(value):
        return _numbers(match[0])
    value = _COLUMN_GAP.split(value)[0]
    parts = [part.strip(" .,*`_") for part in value.split(";")]
    if "," in value and all(_PATH_OR_CODE.search(part.strip()) for part in value.split(",")):
        parts = [part.strip(" *`_") for part in value.split(",")]
    return [part for part in parts if part and not _NOTHING.match(part) and not part.startswith(("<", "["))]


def _numbers(listed: str) -> list[str]:
    prefix = ""
    references = []
    for match in re.finditer(r"(?:(?P<prefix>[A-Z]{2,8}?)s?[ -]?)?#?0*(?P<number>\d+)", listed, re.IGNORECASE):
        found = (match["prefix"] or "").upper()
        prefix = found if found and found != "AND" else prefix
        references.append(f"{prefix} {match['number']}".strip())
    return references


def _zone(text: str) -> list[str]:
    lines: list[str] = []
    for line in text[:ZONE_CHARS].splitlines():
        if not line.strip():
            continue
        if _STOP.match(line):
            break
        lines.append(line.replace("**", ""))
        if len(lines) >= ZONE_LINES:
            break
    return lines


def _continued(value: str, lines: list[str], position: int) -> str:
    value = value.strip("* ")
    head = _COLUMN_GAP.split(value)[0].rstrip()
    while head.endswith(",") and position + 1 < len(lines):
        position += 1
        head = f"{head} {_COLUMN_GAP.split(lines[position].strip())[0]}"
        value = head
    return value
