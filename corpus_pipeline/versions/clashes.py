"""Two documents in answers that exclude each other: found once all states are known."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from corpus_pipeline.records import VersionDecision
from corpus_pipeline.versions import conflicts as kinds
from corpus_pipeline.versions.canonical import canonical_key
from corpus_pipeline.versions.conflicts import VersionConflict
from corpus_pipeline.versions.families import Family, families_of
from corpus_pipeline.versions.members import Member

__all__ = ["flagged", "two_current"]


def flagged(decisions: Sequence[VersionDecision], clashes: Sequence[VersionConflict]) -> tuple[VersionDecision, ...]:
    """The decisions, those in a clash marked for review."""
    messages: dict[str, str] = {}
    for clash in clashes:
        for one in clash.documents:
            messages.setdefault(one, clash.message)
    return tuple(
        one.model_copy(
            update={
                "needs_review": True,
                "evidence": "; ".join(part for part in (one.evidence, f"review: {messages[one.document_id]}") if part),
            }
        )
        if one.document_id in messages and not one.needs_review
        else one
        for one in decisions
    )


def two_current(
    decisions: Sequence[VersionDecision], members: Mapping[str, Member], families: Sequence[Family]
) -> list[VersionConflict]:
    """Families with two members in answers that claim to be the same version, or valid at once."""
    series = families_of(families, series_only=True)
    by_family: dict[str, list[Member]] = defaultdict(list)
    for decision in decisions:
        if decision.exclusion_reason is None and decision.document_id not in series:
            by_family[decision.family].append(members[decision.document_id])
    found: list[VersionConflict] = []
    for _, current in sorted(by_family.items()):
        by_version: dict[object, list[Member]] = defaultdict(list)
        for member in sorted(current, key=canonical_key):
            if member.key is not None and not member.independent:
                by_version[member.key].append(member)
        clashes = [group for group in by_version.values() if len(group) > 1 and _differ_openly(group)]
        found.extend(kinds.same_version(group) for group in clashes)
        declared = [m for m in current if m.document.metadata.family and m.valid_from and not m.independent]
        if not clashes and len(declared) > 1:
            found.append(kinds.overlapping(declared[0], declared[1]))
    return found


def _differ_openly(group: Sequence[Member]) -> bool:
    """More than one is seen by the same readers under the same filters."""
    scopes = [(m.document.metadata.product, m.document.metadata.region, m.document.metadata.plan_tiers) for m in group]
    groups = [set(member.document.metadata.acl_groups) for member in group]
    return len(set(scopes)) == 1 and any(left & right for left in groups for right in groups if left is not right)
