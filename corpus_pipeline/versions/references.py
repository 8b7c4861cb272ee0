"""Resolving what a document calls another: paths, ids, numbers, titles, versions, dates.

A reference that fits several documents that are one work in several formats resolves to all of
them; one that fits different works is ambiguous and resolves to none with certainty.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date

from corpus_pipeline.versions.dates import first_date
from corpus_pipeline.versions.members import Member, normalised_title
from corpus_pipeline.versions.names import version_key
from corpus_pipeline.versions.phrases import EARLIER_VERSIONS

__all__ = ["ReferenceIndex", "Resolved"]

_NUMBER = re.compile(r"^(?:(?P<prefix>[A-Za-z]{2,12})[\s_-]?)?#?0*(?P<number>\d{1,7})$")
_VERSION = re.compile(
    r"^(?:version|revision|rev\.?|edition|issue|v)\s?(?P<version>\d+(?:\.\d+)*|[A-Za-z])(?:\s+of\s+(?P<title>.+))?$",
    re.IGNORECASE,
)
_TITLE_VERSION = re.compile(
    r"^(?P<title>.+?),?\s+\(?(?:version|rev\.?|revision|v)\s?(?P<version>\d+(?:\.\d+)*|[A-Za-z])\)?$", re.IGNORECASE
)
_YEAR = re.compile(r"\b(?P<year>(?:19|20)\d\d)\b")
_DATED_TAIL = re.compile(
    r",?\s+(?:of|dated|issued|effective|from|published)\s+.*$|\s*\(?(?:19|20)\d\d\)?\s*$", re.IGNORECASE
)


@dataclass(frozen=True)
class Resolved:
    """What a reference resolves to.

    Attributes:
        ids: Document ids, sorted; empty when nothing fits.
        factor: Multiplies the confidence of the claim.
        how: Kind of match, such as ``path`` or ``title and date``.
    """

    ids: tuple[str, ...]
    factor: float
    how: str


_NONE = Resolved((), 1.0, "nothing fits")


class ReferenceIndex:
    """Looks documents up by everything they may be called."""

    def __init__(self, members: Mapping[str, Member]) -> None:
        self._members = members
        self._paths: dict[str, list[str]] = defaultdict(list)
        self._names: dict[str, list[str]] = defaultdict(list)
        self._numbers: dict[tuple[str, str], list[str]] = defaultdict(list)
        self._titles: dict[str, list[str]] = defaultdict(list)
        self._stems: dict[str, list[str]] = defaultdict(list)
        self._families: dict[str, list[str]] = defaultdict(list)
        for member in members.values():
            self._add(member)

    def _add(self, member: Member) -> None:
        path = member.path.lower()
        for form in {path, posixpath.splitext(path)[0], member.id.lower(), posixpath.splitext(member.id.lower())[0]}:
            self._paths[form].append(member.id)
        base = posixpath.basename(path)
        for form in {base, posixpath.splitext(base)[0]}:
            self._names[form].append(member.id)
        for number in {member.evidence.number, member.name.number} - {None}:
            self._numbers[number].append(member.id)  # type: ignore[index]  # None was taken out
        if member.title:
            self._titles[member.title].append(member.id)
        if member.document.metadata.family:
            self._families[member.document.metadata.family].append(member.id)
        if member.name.stem:
            self._stems[member.name.stem].append(member.id)

    def resolve(self, reference: str, referrer: Member | None) -> Resolved:
        """The documents that ``reference`` names in a text or field of ``referrer``.

        The referrer itself is never among them. ``None`` stands for the registry, whose
        references are paths.
        """
        reference = reference.strip().strip("`'\"<>[]").strip()
        own = {referrer.id} if referrer else set()
        for step in (self._by_path, self._by_number, self._by_version, self._by_title):
            found = step(reference, referrer)
            ids = tuple(sorted(set(found.ids) - own))
            if ids:
                return self._judged(ids, found)
        return _NONE

    def numbered(self) -> Iterable[tuple[tuple[str, str], list[str]]]:
        """Documents by the number they carry."""
        return self._numbers.items()

    def _judged(self, ids: tuple[str, ...], found: Resolved) -> Resolved:
        if len(ids) == 1 or found.how in ("number", "earlier versions") or self._one_work(ids):
            return Resolved(ids, found.factor, found.how)
        return Resolved(ids, 0.5, f"{found.how}, ambiguous")

    def _one_work(self, ids: tuple[str, ...]) -> bool:
        members = [self._members[one] for one in ids]
        if len({(member.name.folder, member.name.stem, member.key) for member in members}) == 1:
            return True
        hashes = {member.evidence.normalised_sha256 for member in members}
        return len(hashes) == 1 and "" not in hashes

    def _by_path(self, reference: str, referrer: Member | None) -> Resolved:
        wanted = reference.lower().split("#")[0].removeprefix("./")
        folder = posixpath.dirname(referrer.path.lower()) if referrer else ""
        for candidate in (posixpath.normpath(posixpath.join(folder, wanted)), posixpath.normpath(wanted)):
            if ids := self._paths.get(candidate.removeprefix("/")):
                return Resolved(tuple(ids), 1.0, "path")
        base = posixpath.basename(wanted)
        if ids := self._names.get(base):
            return Resolved(tuple(ids), 0.95, "file name")
        return _NONE

    def _by_number(self, reference: str, referrer: Member | None) -> Resolved:
        match = _NUMBER.match(reference)
        if match is None:
            return _NONE
        prefix = (match["prefix"] or "").lower()
        if not prefix and referrer is not None and referrer.number:
            prefix = referrer.number[0]
        return Resolved(tuple(self._numbers.get((prefix, match["number"]), ())), 1.0, "number")

    def _by_version(self, reference: str, referrer: Member | None) -> Resolved:
        if reference == EARLIER_VERSIONS:
            return Resolved(self._earlier(referrer), 0.9, "earlier versions") if referrer else _NONE
        match = _VERSION.match(reference) or _TITLE_VERSION.match(reference)
        bare = None if match else version_key(reference)
        if match is None and bare is None:
            return _NONE
        key = version_key(match["version"]) if match else bare
        title = match["title"] if match else None
        pool = self._titled(title) if title else self._family(referrer)
        ids = tuple(one for one in pool if key is not None and self._members[one].key == key)
        return Resolved(ids, 0.95, "title and version" if title else "version in the same family")

    def _by_title(self, reference: str, referrer: Member | None) -> Resolved:
        if ids := self._titled(reference):
            day = first_date(reference)
            year = _YEAR.search(reference)
            if day or year:
                return self._dated(ids, day, int(year["year"]) if year else None)
            return self._undated(ids, referrer)
        return _NONE

    def _dated(self, ids: tuple[str, ...], day: date | None, year: int | None) -> Resolved:
        dates = {one: self._dates_of(one) for one in ids}
        exact = tuple(one for one in ids if day is not None and day in dates[one])
        if exact:
            return Resolved(exact, 1.0, "title and date")
        years = tuple(one for one in ids if year in {known.year for known in dates[one]})
        if years:
            return Resolved(years, 0.95 if day is None else 0.7, "title and year")
        undated = tuple(one for one in ids if not dates[one])
        return Resolved(undated, 0.85, "title")

    def _dates_of(self, one: str) -> set[date]:
        member = self._members[one]
        named = member.name.key.as_date if member.name.key else None
        return {known for known in (member.valid_from, member.evidence.dated, named) if known is not None}

    def _undated(self, ids: tuple[str, ...], referrer: Member | None) -> Resolved:
        if referrer is not None and referrer.dated is not None and len(ids) > 1:
            older = tuple(one for one in ids if (self._members[one].dated or referrer.dated) < referrer.dated)
            ids = older or ids
        return Resolved(ids, 0.95, "title")

    def _titled(self, title: str) -> tuple[str, ...]:
        for text in (title, _DATED_TAIL.sub("", title)):
            wanted = normalised_title(text)
            if not wanted:
                continue
            ids = set(self._titles.get(wanted, ())) | set(self._stems.get(wanted, ()))
            if ids:
                return tuple(sorted(ids))
        return ()

    def _family(self, referrer: Member | None) -> tuple[str, ...]:
        if referrer is None:
            return ()
        if family := referrer.document.metadata.family:
            return tuple(sorted(set(self._families[family]) - {referrer.id}))
        same = {
            one
            for one in self._stems.get(referrer.name.stem, ())
            if self._members[one].name.folder == referrer.name.folder or self._members[one].name.archived
        }
        same |= set(self._titles.get(referrer.title, ())) if referrer.title else set()
        return tuple(sorted(same - {referrer.id}))

    def _earlier(self, referrer: Member) -> tuple[str, ...]:
        def before(other: Member) -> bool:
            if referrer.key and other.key and referrer.key.scheme == other.key.scheme:
                return other.key < referrer.key
            return bool(referrer.dated and other.dated and other.dated < referrer.dated)

        return tuple(one for one in self._family(referrer) if before(self._members[one]))
