"""Why a matching document is not among the accepted: one reason, the first that applies.

The order is that of :class:`KeptOutReason`: what ingestion decided, then who may see it, then
what the question asked for, then how it ranked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from corpus_pipeline.records import ExclusionReason
from corpus_pipeline.retrieval.candidate import Candidate, rank
from corpus_pipeline.retrieval.request import SearchFilters, SearchLimits, attribute_text
from corpus_pipeline.retrieval.result import KeptOut, KeptOutReason
from corpus_pipeline.retrieval.selection import DropCause, Dropped

__all__ = ["NEAREST_MISSES", "Asked", "Reason", "explain_candidate", "explain_kept_out", "filter_mismatch"]

NEAREST_MISSES = 3
"""Documents below the score that are still listed: the nearest show how far the corpus is off."""

_REFERRING = {
    ExclusionReason.SUPERSEDED: "superseded by",
    ExclusionReason.DUPLICATE: "duplicate of",
    ExclusionReason.COPY_OF_SUPERSEDED: "copy of a superseded text:",
}
_DECLARED = {
    ExclusionReason.DRAFT: "declared a draft",
    ExclusionReason.WITHDRAWN: "withdrawn by its owner",
    ExclusionReason.ARCHIVED: "archived by its owner",
    ExclusionReason.NEVER_ANSWER: "declared never to serve an answer (answer_use: never)",
}
_OPEN_SCOPES = ("region", "environment")
_EXACT_KEYS = ("product", "audience", "domain", "source_class")


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question demanded.

    Attributes:
        filters: Alternatives, of which a document must meet one.
        limits_of: The limits for a corpus.
        kept_out_limit: Most documents to explain.
    """

    groups: tuple[str, ...]
    filters: tuple[SearchFilters, ...]
    as_of: date
    limits_of: Callable[[str], SearchLimits]
    kept_out_limit: int


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason with its words and what it points at."""

    reason: KeptOutReason
    detail: str
    reference: str | None = None


def explain_kept_out(
    candidates: Iterable[Candidate],
    *,
    accepted: frozenset[str],
    dropped: Mapping[str, Dropped],
    asked: Asked,
) -> list[KeptOut]:
    """One entry for each document that matches but was not accepted, best match first.

    Args:
        candidates: Best matches whatever their state, read past permissions.
        accepted: Ids of documents with an accepted fragment; these need no explanation.
        dropped: By fragment id, what selection left out and why.
        asked: What was asked.

    Returns:
        At most ``asked.kept_out_limit`` entries; of matches below the score the nearest three.
    """
    entries: list[KeptOut] = []
    seen = set(accepted)
    nearest_misses = 0
    for candidate in rank(list(candidates)):
        if candidate.document_id in seen:
            continue
        seen.add(candidate.document_id)
        if candidate.score < asked.limits_of(candidate.corpus).min_score:
            nearest_misses += 1
            if nearest_misses > NEAREST_MISSES:
                continue
        entries.append(_entry(candidate, explain_candidate(candidate, dropped=dropped, asked=asked)))
    return entries[: asked.kept_out_limit]


def explain_candidate(candidate: Candidate, *, dropped: Mapping[str, Dropped], asked: Asked) -> Reason:
    """The first reason that keeps this fragment out of the accepted."""
    limits = asked.limits_of(candidate.corpus)
    return (
        _ingestion(candidate)
        or _validity(candidate.metadata, asked.as_of)
        or _permission(candidate.metadata, asked.groups)
        or _filtered(candidate.metadata, asked.filters)
        or _score(candidate, limits)
        or _ranking(candidate, dropped.get(candidate.fragment_id), limits)
    )


def filter_mismatch(filters: SearchFilters, metadata: Mapping[str, Any]) -> str | None:
    """The first filter a document does not meet, as ``key: wanted X, has Y``; ``None`` when it meets all.

    >>> filter_mismatch(SearchFilters(plan_tier="free"), {"plan_tiers": ["enterprise"]})
    'plan_tier: wanted free, has enterprise'
    >>> filter_mismatch(SearchFilters(plan_tier="free"), {"plan_tiers": []}) is None
    True
    """
    for key in _EXACT_KEYS:
        wanted = getattr(filters, key)
        if wanted is not None and not _same(wanted, metadata.get(key)):
            return _words(key, wanted, metadata.get(key))
    for key in _OPEN_SCOPES:
        wanted, has = getattr(filters, key), metadata.get(key)
        if wanted is not None and has is not None and not _same(wanted, has):
            return _words(key, wanted, has)
    tiers = [str(tier) for tier in metadata.get("plan_tiers") or ()]
    if filters.plan_tier is not None and tiers and not any(_same(filters.plan_tier, tier) for tier in tiers):
        return _words("plan_tier", filters.plan_tier, ", ".join(tiers))
    if filters.customer_facing and metadata.get("answer_use") != "any":
        return _words("answer_use", "any", metadata.get("answer_use"))
    return _attribute_mismatch(filters, metadata.get("attributes") or {})


def _attribute_mismatch(filters: SearchFilters, attributes: Mapping[str, Any]) -> str | None:
    for key, wanted in filters.attributes_as_text().items():
        has = attributes.get(key)
        if has is None or not _same(wanted, attribute_text(has)):
            return _words(f"attributes.{key}", wanted, has)
    return None


def _same(wanted: str, has: object) -> bool:
    return has is not None and wanted.lower() == str(has).lower()


def _words(key: str, wanted: str, has: object) -> str:
    return f"{key}: wanted {wanted}, has {'nothing' if has is None else has}"


def _ingestion(candidate: Candidate) -> Reason | None:
    if candidate.exclusion_reason is None:
        return None
    cause = ExclusionReason(candidate.exclusion_reason)
    reason = KeptOutReason(cause.value)
    if cause in _REFERRING:
        target = candidate.exclusion_ref or "a document that is not in the corpus"
        return Reason(reason, f"{_REFERRING[cause]} {target}", candidate.exclusion_ref)
    if cause is ExclusionReason.EXPIRED:
        return Reason(reason, f"expired after {_day(candidate.metadata.get('valid_until'))}")
    if cause is ExclusionReason.NOT_YET_EFFECTIVE:
        return Reason(reason, f"in force from {_day(candidate.metadata.get('valid_from'))}")
    return Reason(reason, _DECLARED[cause])


def _day(value: object) -> str:
    return str(value) if value is not None else "an undeclared day"


def _as_date(value: object) -> date | None:
    return date.fromisoformat(value) if isinstance(value, str) else value if isinstance(value, date) else None


def _validity(metadata: Mapping[str, Any], as_of: date) -> Reason | None:
    start, end = _as_date(metadata.get("valid_from")), _as_date(metadata.get("valid_until"))
    if end is not None and end < as_of:
        return Reason(KeptOutReason.EXPIRED, f"expired after {end}; asked for {as_of}")
    if start is not None and start > as_of:
        return Reason(KeptOutReason.NOT_YET_EFFECTIVE, f"in force from {start}; asked for {as_of}")
    return None


def _permission(metadata: Mapping[str, Any], groups: tuple[str, ...]) -> Reason | None:
    allowed = [str(group) for group in metadata.get("acl_groups") or ()]
    if set(allowed) & set(groups):
        return None
    return Reason(
        KeptOutReason.NOT_PERMITTED,
        f"only for {', '.join(sorted(allowed)) or 'nobody'}; asked as {', '.join(groups) or 'nobody'}",
    )


def _filtered(metadata: Mapping[str, Any], alternatives: tuple[SearchFilters, ...]) -> Reason | None:
    mismatches = [filter_mismatch(filters, metadata) for filters in alternatives]
    told = [mismatch for mismatch in mismatches if mismatch is not None]
    return Reason(KeptOutReason.FILTERED, told[0]) if told and len(told) == len(mismatches) else None


def _score(candidate: Candidate, limits: SearchLimits) -> Reason | None:
    if candidate.score >= limits.min_score:
        return None
    return Reason(KeptOutReason.BELOW_SCORE, f"score {candidate.score:.3f} below {limits.min_score:.3f}")


def _ranking(candidate: Candidate, dropped: Dropped | None, limits: SearchLimits) -> Reason:
    if dropped is None:
        detail = f"score {candidate.score:.2f}, but not among the {limits.fetch_limit} candidates fetched"
        return Reason(KeptOutReason.NOT_RETRIEVED, detail)
    near = f"cosine {dropped.similarity:.2f} to {dropped.blocked_by}, limit {limits.max_similarity:.2f}"
    crowded = {
        DropCause.IDENTICAL: f"same text as {dropped.blocked_by}",
        DropCause.NEAR_COPY: near,
        DropCause.SAME_SOURCE: f"{limits.max_per_source} better fragments of the same document",
        DropCause.SAME_SECTION: f"{limits.max_per_section} better fragments of the same section",
    }
    if dropped.cause in crowded:
        return Reason(KeptOutReason.CROWDED_OUT, crowded[dropped.cause], dropped.blocked_by)
    if dropped.cause is DropCause.RERANKED_OUT:
        judged = dropped.candidate.rerank_score or 0.0
        return Reason(KeptOutReason.RERANKED_OUT, f"probability {judged:.3f} below {limits.rerank_min_score:.3f}")
    if dropped.cause is DropCause.OVER_BUDGET:
        return Reason(KeptOutReason.OVER_BUDGET, f"does not fit into {limits.evidence_tokens} tokens of evidence")
    return Reason(KeptOutReason.OUTRANKED, f"place {dropped.position} by rank; {limits.top_k} are accepted")


def _entry(candidate: Candidate, reason: Reason) -> KeptOut:
    return KeptOut(
        document_id=candidate.document_id,
        corpus=candidate.corpus,
        source_uri=candidate.source_uri,
        title=candidate.title,
        fragment_id=candidate.fragment_id,
        score=candidate.score,
        char_start=candidate.char_start,
        char_end=candidate.char_end,
        reason=reason.reason,
        reference=reason.reference,
        detail=reason.detail,
    )
