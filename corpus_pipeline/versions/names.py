r"""What a path says about versions: tokens in file names, archive folders, versioned trees.

``policies/refund_policy_v1.2 (final).docx`` is the stem ``refund policy`` at version 1.2, final.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from enum import IntEnum
from functools import lru_cache
from pathlib import PurePosixPath

__all__ = ["NamedVersion", "Readiness", "VersionKey", "parse_name", "version_key"]

ARCHIVE_FOLDERS = frozenset(
    [
        "archive",
        "archives",
        "archived",
        "attic",
        "deprecated",
        "obsolete",
        "old",
        "outdated",
        "retired",
        "superseded",
        "withdrawn",
    ]
)
NEWEST_FOLDERS = frozenset({"latest", "stable", "current"})
DEVELOPMENT_FOLDERS = frozenset({"main", "master", "dev", "devel", "development", "next", "nightly", "unreleased"})
PERIODIC_WORDS = frozenset(
    [
        "minutes",
        "report",
        "reports",
        "quarterly",
        "annual",
        "monthly",
        "weekly",
        "daily",
        "newsletter",
        "bulletin",
        "digest",
        "agenda",
        "earnings",
        "results",
        "statement",
        "statements",
        "financials",
        "budget",
        "forecast",
        "invoice",
        "changelog",
        "journal",
        "proceedings",
        "transcript",
        "standup",
        "retrospective",
        "postmortem",
        "roundup",
        "notes",
        "10q",
        "10k",
        "8k",
    ]
)


class Readiness(IntEnum):
    """What a name says of a document's readiness, in order."""

    DRAFT = -1
    PLAIN = 0
    FINAL = 1


@dataclass(frozen=True, order=True)
class VersionKey:
    """A version that can be compared with others of the same ``scheme``.

    Attributes:
        scheme: ``number``, ``letter``, ``date`` or ``quarter``.
        parts: Numbers, most significant first, without trailing zeros.
    """

    scheme: str
    parts: tuple[int, ...]

    @property
    def as_date(self) -> date | None:
        """First day of the date or quarter; ``None`` for numbers and letters."""
        if self.scheme == "date":
            year, month, day = (*self.parts, 1, 1)[:3]
            return date(year, month or 1, day or 1)
        if self.scheme == "quarter":
            return date(self.parts[0], 3 * self.parts[1] - 2, 1)
        return None


@dataclass(frozen=True)
class NamedVersion:
    """The reading of one path.

    Attributes:
        folder: Folder without archive and version parts; ``{}`` marks where a tree's version stood.
        stem: Words of the name without version tokens, lower case, separated by spaces.
        extension: Lower case, without dot.
        key: Version in the name, else in a versioned folder.
        label: The version as written.
        tree: The version is that of a folder: ``numbered``, ``newest`` or ``development``; else empty.
        newest: The name itself says ``current`` or ``latest``.
        copy: The name says it is a copy.
        archived: A folder says it is an archive; holds the folder's name.
        number: ``(prefix, number)`` when the name is one of a numbered series, such as ``pep-0386``.
        periodic: Words or tokens of periodic editions (minutes, reports, quarters).
    """

    folder: str
    stem: str
    extension: str
    key: VersionKey | None = None
    label: str = ""
    readiness: Readiness = Readiness.PLAIN
    tree: str = ""
    newest: bool = False
    copy: bool = False
    archived: str = ""
    number: tuple[str, str] | None = None
    periodic: bool = False


_COPY = re.compile(
    r"\s*\((\d{1,2})\)$|(?:^|[\s._-])copy(?:[\s._-]of)?(?:[\s._-]?\d{1,2})?(?=$|[\s._-])|^copy of\s+", re.IGNORECASE
)
_READINESS = re.compile(
    r"(?:^|(?<=[\s._(\[-]))(?P<word>draft|wip|proposed|proposal|final|approved|signed)\d?(?=$|[\s._)\]-])",
    re.IGNORECASE,
)
_NEWEST = re.compile(r"(?:[\s._-])(?:current|latest|newest)$", re.IGNORECASE)
_QUARTER = re.compile(
    r"(?:^|(?<=[\s._-]))(?:(?:fy)?(?P<y1>(?:19|20)\d\d)[\s._-]?q(?P<q1>[1-4])|q(?P<q2>[1-4])[\s._-]?(?:fy)?(?P<y2>(?:19|20)\d\d))(?=$|[\s._-])",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"(?:^|(?<=[\s._(-]))(?P<y>(?:19|20)\d\d)(?:[-_.]?(?P<m>0[1-9]|1[0-2])(?:[-_.]?(?P<d>0[1-9]|[12]\d|3[01]))?)?(?=$|[\s._)-])"
)
_VERSION = re.compile(
    r"(?:^|(?<=[\s._(-]))(?:v|ver\.?|version|rev|revision|r|ed|edition|issue)[\s._-]?(?P<number>\d{1,4}(?:[._]\d{1,4}){0,3})(?=$|[\s._)-])",
    re.IGNORECASE,
)
_LETTER = re.compile(r"(?:^|(?<=[\s._-]))(?:rev|revision|issue)[\s._-]?(?P<letter>[A-Z])(?=$|[\s._-])", re.IGNORECASE)
_DOTTED = re.compile(r"(?:^|(?<=[\s_-]))(?P<number>\d{1,3}(?:\.\d{1,3}){1,3})(?=$|[\s_-])")
_FOLDER_VERSION = re.compile(
    r"^(?:v|version-?|release-?)?(?P<number>\d{1,3}(?:\.(?:\d{1,4}|x)){1,3})$|^v(?P<major>\d{1,3})$", re.IGNORECASE
)
_NUMBERED = re.compile(r"^(?P<prefix>[a-z]{2,8})[-_ ]?0*(?P<number>\d{1,6})(?=$|[-_ ]|\.(?!\d))", re.IGNORECASE)
_YEARS = range(1900, 2100)
_LONG_SERIES = frozenset(
    [
        "rfc",
        "pep",
        "bcp",
        "std",
        "fyi",
        "iso",
        "iec",
        "ieee",
        "en",
        "din",
        "jep",
        "kep",
        "eip",
        "bip",
        "adr",
        "kb",
        "pol",
        "sop",
    ]
)
_NOT_A_SERIES = frozenset(
    [
        "v",
        "ver",
        "version",
        "rev",
        "revision",
        "ed",
        "edition",
        "issue",
        "chapter",
        "part",
        "section",
        "page",
        "fy",
        "q",
    ]
)


def version_key(label: str | None) -> VersionKey | None:
    """The comparable form of a version as written in metadata or a header.

    >>> version_key("v1.2")
    VersionKey(scheme='number', parts=(1, 2))
    >>> version_key("Rev. B").parts, version_key("2024-03").parts
    ((2,), (2024, 3))
    """
    text = (label or "").strip()
    if match := re.match(r"(?P<y>(?:19|20)\d\d)(?:[-/.](?P<m>\d{1,2})(?:[-/.](?P<d>\d{1,2}))?)?$", text):
        return VersionKey("date", tuple(int(part) for part in match.groups() if part))
    if match := re.match(
        r"(?:(?:v|ver|version|rev|revision|release|edition|issue)\.?\s*)?(\d+(?:\.\d+)*)\b", text, re.IGNORECASE
    ):
        return VersionKey("number", _numbers(match[1]))
    if match := re.match(r"(?:(?:rev|revision|issue|version)\.?\s*)?([A-Z])$", text, re.IGNORECASE):
        return VersionKey("letter", (ord(match[1].upper()) - ord("A") + 1,))
    return None


@lru_cache(maxsize=200_000)
def parse_name(relative_path: str) -> NamedVersion:
    """Reads a path.

    >>> found = parse_name("archive/refund-policy-2023.md")
    >>> found.stem, found.key.parts, found.archived
    ('refund policy', (2023,), 'archive')
    >>> parse_name("docs/v1.9/install/linux.md").folder
    'docs/{}/install'
    """
    path = PurePosixPath(relative_path)
    name, extension = path.stem, path.suffix.lstrip(".").lower()
    if re.fullmatch(r"\d+", extension) or (len(extension) > 5):  # noqa: PLR2004 - "v1.2" has no extension
        name, extension = path.name, ""
    folder, tree, tree_key, tree_label, archived = _folders(path.parts[:-1])
    name, newest = _taken(name, _NEWEST)
    name, copied = _taken(name, _COPY)
    readiness = Readiness.PLAIN
    if match := _READINESS.search(name):
        readiness = (
            Readiness.DRAFT if match["word"].lower() in {"draft", "wip", "proposed", "proposal"} else Readiness.FINAL
        )
        name = _without(name, match)
    number = _own_number(name)
    name, key, label = _versioned(name, number)
    stem = " ".join(re.sub(r"[\W_]+", " ", name.lower()).split())
    periodic = (key is not None and key.scheme == "quarter") or bool(
        PERIODIC_WORDS & set(stem.replace("10 q", "10q").split())
    )
    if key is None and tree == "numbered":
        key, label = tree_key, tree_label
    elif key is not None:
        tree = ""
    return NamedVersion(
        folder, stem, extension, key, label, readiness, tree, bool(newest), bool(copied), archived, number, periodic
    )


def _own_number(name: str) -> tuple[str, str] | None:
    match = _NUMBERED.match(name)
    if match is None or match["prefix"].lower() in _NOT_A_SERIES:
        return None
    prefix = match["prefix"].lower()
    if int(match["number"]) in _YEARS and prefix not in _LONG_SERIES:
        return None  # handbook-2024 is an edition, rfc2026 is a number
    return prefix, match["number"]


def _folders(parts: tuple[str, ...]) -> tuple[str, str, VersionKey | None, str, str]:
    kept: list[str] = []
    tree, key, label, archived = "", None, "", ""
    for part in parts:
        low = part.lower().strip("_.")
        match = _FOLDER_VERSION.match(part)
        if low in ARCHIVE_FOLDERS:
            archived = part
        elif match:
            tree, label = "numbered", part
            key = VersionKey(
                "number", _numbers((match["number"] or match["major"]).replace("x", "0").replace("X", "0"))
            )
            kept.append("{}")
        elif low in NEWEST_FOLDERS | DEVELOPMENT_FOLDERS:
            tree, key, label = ("newest" if low in NEWEST_FOLDERS else "development"), None, part
            kept.append("{}")
        else:
            kept.append(part)
    return "/".join(kept), tree, key, label, archived


def _versioned(name: str, number: tuple[str, str] | None) -> tuple[str, VersionKey | None, str]:
    if match := _QUARTER.search(name):
        parts = (int(match["y1"] or match["y2"]), int(match["q1"] or match["q2"]))
        return _without(name, match), VersionKey("quarter", parts), match[0]
    if match := _VERSION.search(name):
        return _without(name, match), VersionKey("number", _numbers(match["number"].replace("_", "."))), match[0]
    if match := _LETTER.search(name):
        return _without(name, match), VersionKey("letter", (ord(match["letter"].upper()) - ord("A") + 1,)), match[0]
    dates = [match for match in _DATE.finditer(name) if match["m"] or number is None]
    if dates:
        match = dates[-1]
        return _without(name, match), VersionKey("date", tuple(int(p) for p in match.groups() if p)), match[0]
    if (match := _DOTTED.search(name)) and number is None:
        return _without(name, match), VersionKey("number", _numbers(match["number"])), match[0]
    return name, None, ""


def _numbers(text: str) -> tuple[int, ...]:
    parts = [int(part) for part in text.split(".")]
    while len(parts) > 1 and parts[-1] == 0:
        parts.pop()
    return tuple(parts)


def _taken(name: str, pattern: re.Pattern[str]) -> tuple[str, str]:
    match = pattern.search(name)
    return (_without(name, match), match[0]) if match else (name, "")


def _without(name: str, match: re.Match[str]) -> str:
    return (name[: match.start()] + " " + name[match.end() :]).strip(" ._-()[]")
