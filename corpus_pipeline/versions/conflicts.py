"""Contradictions among the evidence, each with a line for corpora.yaml that would settle it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from corpus_pipeline.versions.members import Member

__all__ = [
    "ConflictKind",
    "VersionConflict",
    "both_directions",
    "contradiction",
    "cycle",
    "dangling",
    "overlapping",
    "same_version",
    "unknown_override",
]


class ConflictKind(StrEnum):
    """Kinds of conflict."""

    CYCLE = "cycle"
    BOTH_DIRECTIONS = "both_directions"
    CONTRADICTION = "contradiction"
    SAME_VERSION = "same_version"
    OVERLAPPING_VALIDITY = "overlapping_validity"
    DANGLING_REFERENCE = "dangling_reference"
    UNKNOWN_OVERRIDE = "unknown_override"


class VersionConflict(BaseModel):
    """One conflict.

    Attributes:
        documents: Ids of the documents concerned, sorted.
        message: What contradicts what, for a person.
        suggestion: A line for corpora.yaml that settles it; a person decides whether it is right.
        resolved: The policy ``newest`` settled it by date.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: ConflictKind
    documents: tuple[str, ...]
    message: str
    suggestion: str
    resolved: bool = False


def _override(new: Member, old: Member) -> str:
    return f'versions: {{supersedes: {{"{new.path}": ["{old.path}"]}}}}'


def _by_date(members: Sequence[Member]) -> list[Member]:
    """Newest first; undated last, then by path."""
    return sorted(members, key=lambda one: (one.dated is None, -(one.dated.toordinal() if one.dated else 0), one.path))


def _ids(members: Sequence[Member]) -> tuple[str, ...]:
    return tuple(sorted(member.id for member in members))


def cycle(members: Sequence[Member], *, resolved: bool) -> VersionConflict:
    """Documents that replace each other in a ring."""
    order = _by_date(members)
    names = ", ".join(sorted(member.path for member in members))
    return VersionConflict(
        kind=ConflictKind.CYCLE,
        documents=_ids(members),
        message=f"these documents replace each other in a ring: {names}",
        suggestion=_override(order[0], order[1]),
        resolved=resolved,
    )


def both_directions(left: Member, right: Member, evidence: str, *, resolved: bool) -> VersionConflict:
    """Two documents of which each is said to replace the other."""
    order = _by_date([left, right])
    return VersionConflict(
        kind=ConflictKind.BOTH_DIRECTIONS,
        documents=_ids(order),
        message=f"{left.path} and {right.path} are each said to replace the other ({evidence})",
        suggestion=_override(order[0], order[1]),
        resolved=resolved,
    )


def contradiction(new: Member, old: Member, evidence: str, stronger: str) -> VersionConflict:
    """Weaker evidence that stronger evidence contradicts."""
    return VersionConflict(
        kind=ConflictKind.CONTRADICTION,
        documents=_ids([new, old]),
        message=f"{evidence}; stronger evidence says the opposite ({stronger})",
        suggestion=_override(old, new),
        resolved=True,
    )


def same_version(members: Sequence[Member]) -> VersionConflict:
    """Current documents of a family that declare the same version and differ."""
    order = _by_date(members)
    return VersionConflict(
        kind=ConflictKind.SAME_VERSION,
        documents=_ids(members),
        message=f"these current documents declare the same version {order[0].version}: "
        + ", ".join(sorted(member.path for member in members)),
        suggestion=_override(order[0], order[1]),
    )


def overlapping(left: Member, right: Member) -> VersionConflict:
    """Current documents of one declared family whose validity overlaps."""
    order = _by_date([left, right])
    return VersionConflict(
        kind=ConflictKind.OVERLAPPING_VALIDITY,
        documents=_ids(order),
        message=f"{left.path} and {right.path} belong to one family and are valid at the same time",
        suggestion=_override(order[0], order[1]),
    )


def dangling(member: Member, reference: str, evidence: str) -> VersionConflict:
    """A reference to a document that the corpus does not have."""
    return VersionConflict(
        kind=ConflictKind.DANGLING_REFERENCE,
        documents=(member.id,),
        message=f"{evidence}: no document of this corpus answers to {reference!r}",
        suggestion=f'documents: {{"{member.path}": {{supersedes: [], superseded_by: null}}}}',
    )


def unknown_override(path: str, documents: tuple[str, ...]) -> VersionConflict:
    """An override in corpora.yaml for a path that the corpus does not have.

    Args:
        path: The path, as the override names it.
        documents: Ids of the documents that the override names beside it.
    """
    return VersionConflict(
        kind=ConflictKind.UNKNOWN_OVERRIDE,
        documents=documents,
        message=f"corpora.yaml: versions names {path!r}, which this corpus does not have",
        suggestion=f'remove or correct "{path}" under versions',
    )
