"""What is wrong with accepted evidence besides being stale or forbidden. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from corpus_pipeline.evaluation.facts import ChainFacts, document_ids
from corpus_pipeline.evaluation.golden import GoldenQuery
from corpus_pipeline.evaluation.outcome import Observed
from corpus_pipeline.evaluation.passage import covers
from corpus_pipeline.retrieval import Candidate, Ranking
from corpus_pipeline.versions import class_authority

__all__ = ["copies_among", "forbidden_documents", "observe", "shown_passages", "wrong_metadata"]

COPIES_DEPTH = 10
_FREE = "attributes."


def observe(query: GoldenQuery, ranking: Ranking, deep: Sequence[Candidate], facts: ChainFacts) -> Observed:
    """Counts what there is to say of one query.

    Args:
        query: With passages as anchors.
        ranking: What search accepted.
        deep: Candidates beyond those of the ranking, for the best score of an expected document.
        facts: What the chain knows.
    """
    expected = frozenset(document_ids(facts.corpus, query.expected))
    candidates = (*ranking.candidates, *deep)
    copies, looked_at = copies_among(ranking)
    return Observed(
        forbids=query.forbids,
        expected_passages=len(query.expected_passages),
        found_passages=len(shown_passages(query, ranking, facts.corpus)),
        relevant_fragments=sum(one.document_id in expected for one in ranking.accepted),
        authority_violations=_authority_violations(query, ranking.accepted, facts),
        requires_metadata=bool(query.required_metadata),
        metadata_mismatches=tuple(
            f"{one.document_id}: {mismatch}"
            for one in ranking.accepted
            if (mismatch := wrong_metadata(query.required_metadata, one.metadata)) is not None
        ),
        copies=copies,
        looked_at=looked_at,
        top_score=max((one.score for one in candidates), default=None),
        expected_score=max((one.score for one in candidates if one.document_id in expected), default=None),
    )


def shown_passages(query: GoldenQuery, ranking: Ranking, corpus: str) -> set[tuple[str, str]]:
    """``(document, anchor)`` of the expected passages that a reader is shown."""
    return {
        (f"{corpus}/{passage.source}", passage.anchor or "")
        for passage in query.expected_passages
        if passage.anchor and _shows(ranking, f"{corpus}/{passage.source}", passage.anchor)
    }


def forbidden_documents(query: GoldenQuery, ranking: Ranking, corpus: str) -> list[str]:
    """Accepted documents that the query forbids, or that show a passage it forbids, each once in order of rank."""
    forbidden = set(document_ids(corpus, query.forbidden_sources))
    forbidden |= {
        document_id
        for passage in query.forbidden_passages
        if passage.anchor and _shows(ranking, document_id := f"{corpus}/{passage.source}", passage.anchor)
    }
    return [one for one in dict.fromkeys(hit.document_id for hit in ranking.accepted) if one in forbidden]


def _shows(ranking: Ranking, document_id: str, anchor: str) -> bool:
    """Whether an accepted fragment of the document, or the section around it, says the passage."""
    return any(
        covers(one.text, anchor) or covers(ranking.sections.get(one.parent_id, ""), anchor)
        for one in ranking.accepted
        if one.document_id == document_id
    )


def wrong_metadata(required: Mapping[str, Any], metadata: Mapping[str, Any]) -> str | None:
    """The first required key that a document does not have, in words; ``None`` when it has all.

    >>> wrong_metadata({"plan_tiers": "free"}, {"plan_tiers": ["enterprise"]})
    'plan_tiers: wanted free, has enterprise'
    >>> wrong_metadata({"attributes.tier": 2}, {"attributes": {"tier": 2}}) is None
    True
    """
    for key, wanted in sorted(required.items()):
        free = key.startswith(_FREE)
        has = (metadata.get("attributes") or {}).get(key.removeprefix(_FREE)) if free else metadata.get(key)
        values = [str(one) for one in (has if isinstance(has, list | tuple) else [] if has is None else [has])]
        if str(wanted).lower() not in {one.lower() for one in values}:
            return f"{key}: wanted {wanted}, has {', '.join(values) or 'nothing'}"
    return None


def copies_among(ranking: Ranking) -> tuple[int, int]:
    """Of the best ten candidates at or above the score, how many repeat a better one, and how many there are."""
    places = [one for one in ranking.selection.dropped if 0 < one.position <= COPIES_DEPTH]
    repeated = sum(one.blocked_by is not None for one in places)
    return repeated, min(COPIES_DEPTH, len(ranking.accepted) + len(places))


def _authority_violations(
    query: GoldenQuery, accepted: Iterable[Candidate], facts: ChainFacts
) -> tuple[tuple[str, str], ...]:
    best = list({one.document_id: one for one in reversed(list(accepted))}.values())[::-1]
    found = [
        (above.document_id, below.document_id)
        for position, above in enumerate(best)
        for below in best[position + 1 :]
        if (family := facts.family(above.document_id)) is not None
        and family == facts.family(below.document_id)
        and _rank(above) > _rank(below)
    ]
    conflicting = set(document_ids(facts.corpus, query.conflicting_sources))
    expected = document_ids(facts.corpus, query.expected)
    for one in best:
        if one.document_id in expected:
            break
        if one.document_id in conflicting and expected:
            found.append((one.document_id, expected[0]))
    return tuple(found)


def _rank(candidate: Candidate) -> float:
    return class_authority(candidate.metadata.get("source_class"))
