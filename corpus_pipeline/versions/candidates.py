"""Candidate relations: what somebody or something says, before it is weighed against the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

from corpus_pipeline.registry import VersionsSpec
from corpus_pipeline.versions.claims import Claim, ClaimKind
from corpus_pipeline.versions.conflicts import VersionConflict, dangling, unknown_override
from corpus_pipeline.versions.members import Member
from corpus_pipeline.versions.references import ReferenceIndex, Resolved

__all__ = ["Candidate", "Strength", "declared_candidates"]

METADATA_CONFIDENCE = 0.95


class Strength(IntEnum):
    """Kinds of evidence, strongest first; a weaker kind never overrules a stronger one."""

    REGISTRY = 0
    METADATA = 1
    TEXT = 2
    NAME = 3
    SIMILARITY = 4


@dataclass(frozen=True, order=True)
class Candidate:
    """One piece of evidence for a relation. ``source`` is the newer document."""

    strength: Strength
    source: str | None
    target: str | None
    relation: Literal["supersedes", "amends", "series"]
    rule: str
    evidence: str
    confidence: float
    source_reference: str = ""
    target_reference: str = ""


def declared_candidates(
    members: Mapping[str, Member], index: ReferenceIndex, spec: VersionsSpec
) -> tuple[list[Candidate], list[VersionConflict]]:
    """Candidates from the registry, metadata and texts, with references that lead nowhere."""
    by_path = {member.path: member for member in members.values()}
    conflicts = list(_unknown_overrides(by_path, spec))
    found = [
        Candidate(
            Strength.REGISTRY,
            by_path[new].id,
            by_path[old].id,
            "supersedes",
            "registry_override",
            f"corpora.yaml: versions.supersedes: {new} replaces {old}",
            1.0,
        )
        for new, olds in sorted(spec.supersedes.items())
        for old in olds
        if new in by_path and old in by_path
    ]
    for member in members.values():
        for candidate, conflict in _said_by(member, index):
            if candidate is not None and not _touches_independent(candidate, members):
                found.append(candidate)
            if conflict is not None:
                conflicts.append(conflict)
    return found, conflicts


def _unknown_overrides(by_path: Mapping[str, Member], spec: VersionsSpec) -> Iterator[VersionConflict]:
    """Paths in overrides that the corpus does not have, each with the documents it is named beside."""
    beside: dict[str, set[str]] = {path: set() for path in spec.independent if path not in by_path}
    for new, olds in spec.supersedes.items():
        known = {by_path[path].id for path in (new, *olds) if path in by_path}
        for path in (new, *olds):
            if path not in by_path:
                beside.setdefault(path, set()).update(known)
    for path, documents in sorted(beside.items()):
        yield unknown_override(path, tuple(sorted(documents)))


def _touches_independent(candidate: Candidate, members: Mapping[str, Member]) -> bool:
    ends = (candidate.source, candidate.target)
    return any(end is not None and members[end].independent for end in ends)


def _said_by(member: Member, index: ReferenceIndex) -> Iterator[tuple[Candidate | None, VersionConflict | None]]:
    metadata = member.document.metadata
    provenance = member.document.metadata_provenance
    references = [(reference, ClaimKind.SUPERSEDES, "supersedes") for reference in metadata.supersedes]
    if metadata.superseded_by:
        references.append((metadata.superseded_by, ClaimKind.SUPERSEDED_BY, "superseded_by"))
    for reference, kind, key in references:
        where = provenance.get(key, "metadata").replace("_", " ")
        resolved = index.resolve(reference, member)
        evidence = f"{where} of {member.path}: {key} {reference}"
        if not resolved.ids:
            yield None, dangling(member, reference, evidence)
        yield from (
            (made, None)
            for made in _made(
                member, resolved, kind, Strength.METADATA, "metadata", evidence, METADATA_CONFIDENCE, reference
            )
        )
    for claim in member.evidence.claims:
        yield from _claimed(member, claim, index)


def _claimed(
    member: Member, claim: Claim, index: ReferenceIndex
) -> Iterator[tuple[Candidate | None, VersionConflict | None]]:
    if claim.kind is ClaimKind.NOT_IN_FORCE:
        return
    resolved = index.resolve(claim.reference, member)
    evidence = f"{claim.rule} of {member.path}: {claim.quote}"
    if not resolved.ids and claim.kind is ClaimKind.SUPERSEDED_BY and claim.rule == "header":
        yield None, dangling(member, claim.reference, evidence)
    rule = f"text_{claim.rule}"
    for made in _made(member, resolved, claim.kind, Strength.TEXT, rule, evidence, claim.confidence, claim.reference):
        yield made, None


def _made(
    member: Member,
    resolved: Resolved,
    kind: ClaimKind,
    strength: Strength,
    rule: str,
    evidence: str,
    confidence: float,
    reference: str,
) -> Iterator[Candidate]:
    newer = kind in (ClaimKind.SUPERSEDES, ClaimKind.AMENDS)
    relation: Literal["supersedes", "amends"] = (
        "supersedes" if kind in (ClaimKind.SUPERSEDES, ClaimKind.SUPERSEDED_BY) else "amends"
    )
    for other in resolved.ids or (None,):
        source, target = (member.id, other) if newer else (other, member.id)
        yield Candidate(
            strength,
            source,
            target,
            relation,
            rule,
            evidence,
            round(confidence * resolved.factor, 4),
            "" if newer else reference,
            reference if newer else "",
        )
