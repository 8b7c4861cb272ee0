"""The canonical member of a cluster of copies, and who is suppressed for it.

The order is declared here and documented in docs/versions.md. Access decides first: a document
is suppressed only where everyone who may see it may see the canonical one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from corpus_pipeline.records import Lifecycle, TrustLevel
from corpus_pipeline.versions.members import Member
from corpus_pipeline.versions.texts import TextGroups

__all__ = ["SOURCE_CLASS_AUTHORITY", "Suppression", "authority", "canonical_key", "class_authority", "suppressions"]

SOURCE_CLASS_AUTHORITY: tuple[frozenset[str], ...] = (
    frozenset({"policy", "official", "legal", "contract", "standard", "regulation"}),
    frozenset({"documentation", "product_documentation", "reference", "manual", "handbook"}),
    frozenset({"support_macro", "support", "macro", "faq", "knowledge_base", "runbook"}),
    frozenset({"training", "course", "presentation", "marketing"}),
    frozenset({"wiki", "archive", "community", "forum", "blog", "chat", "email", "ticket"}),
)
"""Source classes by authority, best first; an unknown class ranks between documentation and support."""

UNKNOWN_AUTHORITY = 1.5
_TRUST = list(TrustLevel)
_LIFECYCLE = (Lifecycle.ACTIVE, Lifecycle.DEPRECATED, Lifecycle.DRAFT, Lifecycle.ARCHIVED, Lifecycle.WITHDRAWN)
_ANSWER_USE = ("any", "internal", "never")


@dataclass(frozen=True)
class Suppression:
    """One document that stays out because another says the same.

    Attributes:
        reason: Why the canonical one is the canonical one.
    """

    document_id: str
    canonical_id: str
    reason: str


def authority(member: Member) -> float:
    """Rank of the source class, 0 best."""
    return class_authority(member.document.metadata.source_class)


def class_authority(source_class: str | None) -> float:
    """Rank of a source class by name, 0 best.

    >>> class_authority("policy") < class_authority("unheard of") < class_authority("wiki")
    True
    """
    name = (source_class or "").lower()
    ranks = (float(rank) for rank, classes in enumerate(SOURCE_CLASS_AUTHORITY) if name in classes)
    return next(ranks, UNKNOWN_AUTHORITY)


def _aspects(member: Member) -> tuple[tuple[str, float], ...]:
    metadata = member.document.metadata
    dated = member.dated or metadata.last_reviewed_at
    return (
        ("authority of its source class", authority(member)),
        ("trust level", float(_TRUST.index(metadata.trust_level))),
        ("lifecycle", float(_LIFECYCLE.index(metadata.lifecycle))),
        ("currency", float(bool(member.name.archived) + member.name.copy)),
        ("completeness", -float(member.document.char_count)),
        ("newest date", -float(dated.toordinal() if dated else 0)),
        ("shortest path", float(len(member.path))),
    )


def canonical_key(member: Member) -> tuple[tuple[float, ...], str]:
    """Sort key: the smallest is canonical."""
    return tuple(value for _, value in _aspects(member)), member.id


def suppressions(
    cluster: Sequence[str], members: Mapping[str, Member], texts: TextGroups, apart: Callable[[str, str], bool]
) -> list[Suppression]:
    """Which members of a cluster give way to which.

    Args:
        cluster: Ids of members that may be served; the caller leaves out the superseded and others.
        apart: Says of two ids that they are different works or editions though their texts are alike.
    """
    ordered = sorted(cluster, key=lambda one: canonical_key(members[one]))
    canonicals: list[str] = []
    found: list[Suppression] = []
    for one in ordered:
        for canonical in canonicals:
            if _may_stand_for(members[canonical], members[one], texts, apart):
                found.append(Suppression(one, canonical, _deciding_aspect(members[canonical], members[one])))
                break
        else:
            canonicals.append(one)
    return found


def _may_stand_for(canonical: Member, other: Member, texts: TextGroups, apart: Callable[[str, str], bool]) -> bool:
    if not _same_audience(canonical, other):
        return False
    likeness = texts.likeness(canonical.id, other.id)
    if likeness is not None and likeness.exact:
        return True
    if apart(canonical.id, other.id):
        return False
    if likeness is None:
        return canonical.number is not None and canonical.number == other.number
    return not likeness.contained or texts.is_part(other.id, likeness)


def _same_audience(canonical: Member, other: Member) -> bool:
    """Everyone, and every filter, that finds ``other`` finds ``canonical``."""
    ours, theirs = canonical.document.metadata, other.document.metadata
    scope = ("product", "region", "customer_segment", "environment")
    return (
        set(theirs.acl_groups) <= set(ours.acl_groups)
        and _ANSWER_USE.index(ours.answer_use) <= _ANSWER_USE.index(theirs.answer_use)
        and all(getattr(ours, key) == getattr(theirs, key) for key in scope)
        and set(ours.plan_tiers) == set(theirs.plan_tiers)
    )


def _deciding_aspect(canonical: Member, other: Member) -> str:
    for (name, ours), (_, theirs) in zip(_aspects(canonical), _aspects(other), strict=True):
        if ours != theirs:
            return name
    return "document id"
