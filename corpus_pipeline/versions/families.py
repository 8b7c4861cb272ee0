"""Families by declared name and by file name, and the order of their members.

Tokens order members of one family: numbers, letters, dates, versioned folders, ``latest``,
archive folders. Periodic editions form a series instead. What the tokens alone cannot tell gets
a confidence below the usual threshold, so that a person looks at it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from corpus_pipeline.versions.candidates import Candidate, Strength
from corpus_pipeline.versions.members import Member
from corpus_pipeline.versions.names import Readiness

__all__ = ["Family", "declared_and_named_families", "families_of", "family_candidates", "family_key"]

SURE, LIKELY, DOUBTFUL = 0.85, 0.75, 0.6
DECLARED = 0.95
REPLACED_WORDS = frozenset(
    [
        "policy",
        "policies",
        "terms",
        "conditions",
        "agreement",
        "contract",
        "guide",
        "guideline",
        "guidelines",
        "handbook",
        "manual",
        "sla",
        "procedure",
        "runbook",
        "playbook",
        "standard",
        "specification",
        "spec",
        "pricing",
        "prices",
        "faq",
        "rules",
        "privacy",
        "imprint",
        "code",
        "charter",
        "macro",
    ]
)
Near = Collection[tuple[str, str]]
_Rank = tuple[int, tuple[int, ...]]


@dataclass(frozen=True)
class Family:
    """Documents that are versions or editions of one thing.

    Attributes:
        key: Declared name, or folder and stem.
        declared: The metadata names the family.
        series: Editions, each true for its period.
    """

    key: str
    members: tuple[Member, ...]
    declared: bool
    series: bool


def declared_and_named_families(members: Mapping[str, Member], near: Near) -> list[Family]:
    """Families with at least two members, in order of key; independent documents are in none."""
    declared: dict[str, list[Member]] = defaultdict(list)
    named: dict[tuple[str, str], list[Member]] = defaultdict(list)
    for member in members.values():
        if member.independent:
            continue
        if member.document.metadata.family:
            declared[member.document.metadata.family].append(member)
        elif member.name.stem:
            named[member.name.folder, member.name.stem].append(member)
    _join_archived(named, near)
    families = [Family(key, tuple(group), True, _is_series(group)) for key, group in declared.items()]
    for (folder, stem), group in named.items():
        if group:
            families.append(Family(_key_of(folder, stem), tuple(group), False, _is_series(group)))
    return sorted((family for family in families if len(family.members) > 1), key=lambda one: (one.key, one.declared))


def family_key(member: Member) -> str:
    """Key of the family that a document's name alone puts it in."""
    return member.document.metadata.family or _key_of(member.name.folder, member.name.stem or member.name.label)


def _key_of(folder: str, stem: str) -> str:
    return f"{folder}/{stem}".strip("/").replace(" ", "-")


def _is_series(group: Sequence[Member]) -> bool:
    flags = {member.document.metadata.attributes.get("series") for member in group} - {None}
    if flags:
        return True in flags
    keyed = [member for member in group if member.edition is not None]
    return len(keyed) > 1 and all(_is_edition(member) for member in keyed)


def _is_edition(member: Member) -> bool:
    """The name tells a period or a release, of something that is not replaced as a policy is."""
    words = set(member.name.stem.split())
    scheme = member.edition.scheme if member.edition else ""
    if scheme == "quarter":
        return True
    if not member.name.periodic or words & REPLACED_WORDS:
        return False
    return scheme == "date" or (scheme == "number" and bool(words & {"changelog", "release", "releases"}))


def _join_archived(named: dict[tuple[str, str], list[Member]], near: Near) -> None:
    """Brings documents of archive folders to the family elsewhere that has their stem and title or text."""
    elsewhere: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for place, group in named.items():
        if any(not member.name.archived for member in group):
            elsewhere[place[1]].append(place)
    for place in sorted(named):
        group = named[place]
        if not group or any(not member.name.archived for member in group):
            continue
        fits = [other for other in elsewhere[place[1]] if _alike(group, named[other], near)]
        if len(fits) == 1:
            named[fits[0]].extend(group)
            named[place] = []


def _alike(left: Sequence[Member], right: Sequence[Member], near: Near) -> bool:
    return any(
        (one.title and one.title == other.title) or _is_near(one, other, near) for one in left for other in right
    )


def _is_near(left: Member, right: Member, near: Near) -> bool:
    return (min(left.id, right.id), max(left.id, right.id)) in near


def families_of(families: Sequence[Family], *, series_only: bool = False) -> dict[str, str]:
    """Key of the family, or only of the series, by the id of each member."""
    return {
        member.id: family.key for family in families if family.series or not series_only for member in family.members
    }


@dataclass(frozen=True)
class _Level:
    """Members that stand at one point of the order (a version may exist in several formats)."""

    members: tuple[Member, ...]
    rank: _Rank
    reason: str
    confidence: float


def family_candidates(family: Family, near: Near) -> Iterator[Candidate]:
    """Relations between neighbours in a family's order."""
    ordered = [m for m in family.members if not m.name.copy and m.name.readiness is not Readiness.DRAFT]
    if family.series:
        yield from _series(family, ordered)
        return
    for older, newer in pairwise(_levels(ordered, declared=family.declared)):
        for source in newer.members[:1]:
            for target in older.members:
                confidence = DECLARED if family.declared else _weighed(older, newer, source, target, near)
                yield Candidate(
                    Strength.METADATA if family.declared else Strength.NAME,
                    source.id,
                    target.id,
                    "supersedes",
                    "declared_family" if family.declared else "name_tokens",
                    f"{family.key}: {source.path} ({newer.reason}) comes after {target.path} ({older.reason})",
                    confidence,
                )


def _series(family: Family, members: Sequence[Member]) -> Iterator[Candidate]:
    keyed = sorted((m.edition, m.id, m) for m in members if m.edition)
    for (older_key, _, older), (newer_key, _, newer) in pairwise(keyed):
        if older_key != newer_key and older_key.scheme == newer_key.scheme:
            yield Candidate(
                Strength.NAME,
                newer.id,
                older.id,
                "series",
                "periodic_name",
                f"{family.key}: editions {older.version} and {newer.version}",
                SURE,
            )


def _weighed(older: _Level, newer: _Level, source: Member, target: Member, near: Near) -> float:
    confidence = min(older.confidence, newer.confidence)
    if confidence < LIKELY and (
        _is_near(source, target, near) or (source.title and source.title == target.title and _says_policy(source))
    ):
        return LIKELY
    return confidence


def _says_policy(member: Member) -> bool:
    return bool(REPLACED_WORDS & set(f"{member.name.stem} {member.title}".split()))


def _levels(members: Sequence[Member], *, declared: bool) -> list[_Level]:
    schemes = {member.key.scheme for member in members if member.key}
    released = any(member.name.tree in ("numbered", "newest") for member in members)
    newest = any(member.name.tree == "newest" for member in members)
    by_rank: dict[_Rank, list[tuple[Member, str, float]]] = defaultdict(list)
    for member in members:
        if member.name.tree == "development" and released and newest:
            continue  # unreleased text beside a released one: see state
        placed = _place(member, members, schemes, declared=declared)
        if placed is not None:
            rank, reason, confidence = placed
            by_rank[rank].append((member, reason, confidence))
    levels = []
    for rank in sorted(by_rank):
        entries = by_rank[rank]
        levels.append(_Level(tuple(e[0] for e in entries), rank, entries[0][1], min(e[2] for e in entries)))
    return levels


def _place(
    member: Member, members: Sequence[Member], schemes: set[str], *, declared: bool
) -> tuple[_Rank, str, float] | None:
    """Rank, reason and confidence of one member; ``None`` when nothing tells its place."""
    newest: _Rank = (1, ())
    if member.name.newest or member.name.tree in ("newest", "development"):
        return newest, "named as the newest", SURE
    if member.key is not None and len(schemes) == 1:
        return (0, member.key.parts), f"version {member.version}", _token_confidence(member, declared=declared)
    if member.dated is not None and all(one.dated for one in members):
        return (0, (member.dated.toordinal(),)), f"dated {member.dated}", LIKELY
    if len(schemes) > 1 and member.key is not None:
        return None
    return _place_without_version(member, members)


def _place_without_version(member: Member, members: Sequence[Member]) -> tuple[_Rank, str, float] | None:
    if member.name.archived:
        return (-1, ()), "in the archive", LIKELY
    if all(one.name.archived for one in members if one is not member):
        return (1, ()), "the only one outside the archive", LIKELY
    if any(one.key for one in members):
        return (1, ()), "without a version in its name", DOUBTFUL
    return None


def _token_confidence(member: Member, *, declared: bool) -> float:
    if declared or member.key != member.name.key:
        return SURE
    label = member.name.label.lower()
    if member.name.archived:
        return LIKELY
    if member.name.tree:
        return SURE if "." in label else DOUBTFUL
    if member.key is not None and member.key.scheme == "date":
        return SURE if _says_policy(member) else DOUBTFUL
    return SURE if label[:1] in "vrei" else DOUBTFUL
