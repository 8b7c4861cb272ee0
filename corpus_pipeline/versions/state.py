"""The state of one document: in answers or kept out, and for which one reason."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from corpus_pipeline.records import ExclusionReason, Lifecycle
from corpus_pipeline.registry import VersionsSpec
from corpus_pipeline.versions.claims import ClaimKind
from corpus_pipeline.versions.members import NOT_ADOPTED, REPLACED, Member

__all__ = ["EXCLUSION_PRIORITY", "Exclusion", "own_exclusion", "own_lifecycle"]

EXCLUSION_PRIORITY: tuple[ExclusionReason, ...] = (
    ExclusionReason.SUPERSEDED,
    ExclusionReason.COPY_OF_SUPERSEDED,
    ExclusionReason.WITHDRAWN,
    ExclusionReason.DRAFT,
    ExclusionReason.EXPIRED,
    ExclusionReason.NOT_YET_EFFECTIVE,
    ExclusionReason.ARCHIVED,
    ExclusionReason.NEVER_ANSWER,
    ExclusionReason.DUPLICATE,
)
"""The first reason that holds is the one stored."""


@dataclass(frozen=True)
class Exclusion:
    """Why a document is kept out.

    Attributes:
        reference: Id of the successor, the superseded original or the canonical document.
    """

    reason: ExclusionReason
    evidence: str
    reference: str | None = None


def own_lifecycle(member: Member, spec: VersionsSpec, *, unreleased: str) -> tuple[Lifecycle, str]:
    """Lifecycle and what says so: metadata, the text's own words, the name, the folder.

    Args:
        unreleased: Why the document counts as a draft beside its family, empty when it does not.
    """
    declared = member.document.metadata.lifecycle
    where = member.document.metadata_provenance.get("lifecycle", "metadata").replace("_", " ")
    if declared is not Lifecycle.ACTIVE or member.lifecycle_declared_outside:
        return declared, f"{where} of {member.path}: lifecycle {declared.value}"
    for claim in member.evidence.claims:
        if claim.kind is ClaimKind.NOT_IN_FORCE and claim.confidence >= spec.min_confidence:
            return Lifecycle.WITHDRAWN, f"text of {member.path}: {claim.quote}"
    status = member.evidence.status
    if spec.text_status == "lifecycle" and status in NOT_ADOPTED:
        lifecycle = Lifecycle.WITHDRAWN if status in ("withdrawn", "rejected", "abandoned") else Lifecycle.DRAFT
        return lifecycle, f"header of {member.path}: Status: {status}"
    if unreleased:
        return Lifecycle.DRAFT, unreleased
    if member.archived_by_path:
        return Lifecycle.ARCHIVED, f"{member.path} lies in the folder {member.name.archived}"
    return declared, ""


def own_exclusion(
    member: Member, lifecycle: Lifecycle, lifecycle_evidence: str, as_of: date, *, has_successor: bool
) -> Exclusion | None:
    """The reason a document gives by itself, whatever others say; the first of the stated priority."""
    if member.evidence.status in REPLACED and not has_successor:
        said = f"header of {member.path}: Status: {member.evidence.status}; it names no successor of this corpus"
        return Exclusion(ExclusionReason.SUPERSEDED, said)
    ahead, past = member.valid_from, member.valid_until
    reasons = (
        (ExclusionReason.WITHDRAWN, lifecycle is Lifecycle.WITHDRAWN, lifecycle_evidence),
        (ExclusionReason.DRAFT, lifecycle is Lifecycle.DRAFT, lifecycle_evidence),
        (ExclusionReason.EXPIRED, past is not None and past < as_of, f"{member.path} is valid until {past}"),
        (
            ExclusionReason.NOT_YET_EFFECTIVE,
            ahead is not None and ahead > as_of,
            f"{member.path} takes effect on {ahead}",
        ),
        (ExclusionReason.ARCHIVED, lifecycle in (Lifecycle.ARCHIVED, Lifecycle.DEPRECATED), lifecycle_evidence),
        (
            ExclusionReason.NEVER_ANSWER,
            member.document.metadata.answer_use == "never",
            f"{member.path}: answer_use is never",
        ),
    )
    return next((Exclusion(reason, said) for reason, holds, said in reasons if holds), None)
