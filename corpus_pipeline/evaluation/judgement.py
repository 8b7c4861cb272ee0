"""Judges what a golden query found against the decisions of the chain. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from corpus_pipeline.evaluation.golden import GoldenQuery
from corpus_pipeline.evaluation.outcome import Hit, Miss, MissClass, QueryOutcome
from corpus_pipeline.records import ServingState, VersionDecision
from corpus_pipeline.retrieval import KeptOutReason, Ranking, Reason

__all__ = ["ChainFacts", "document_ids", "judge", "missed_documents", "unknown_sources"]


@dataclass(frozen=True)
class ChainFacts:
    """What the stages before know of the documents of a corpus.

    Attributes:
        inventory: Ids of all files found.
        quarantined: Reason by id of those that could not be converted.
        decisions: Version decision by id of those that could.
    """

    corpus: str
    inventory: frozenset[str]
    quarantined: Mapping[str, str]
    decisions: Mapping[str, VersionDecision]

    def is_stale(self, document_id: str, as_of: date) -> bool:
        """Whether a document should answer nothing on that day, by the decisions of the chain."""
        decision = self.decisions.get(document_id)
        if document_id not in self.inventory or decision is None:
            return True
        if not decision.is_current or decision.serving_state is ServingState.ARCHIVED:
            return True
        started = decision.valid_from is None or decision.valid_from <= as_of
        ended = decision.valid_until is not None and decision.valid_until < as_of
        return ended or not started


_BY_REASON = {
    KeptOutReason.NOT_PERMITTED: MissClass.NOT_PERMITTED,
    KeptOutReason.FILTERED: MissClass.FILTERED,
    KeptOutReason.EXPIRED: MissClass.NOT_IN_FORCE,
    KeptOutReason.NOT_YET_EFFECTIVE: MissClass.NOT_IN_FORCE,
    KeptOutReason.BELOW_SCORE: MissClass.BELOW_SCORE,
    KeptOutReason.NOT_RETRIEVED: MissClass.NOT_RETRIEVED,
    KeptOutReason.RERANKED_OUT: MissClass.RERANKED_OUT,
    KeptOutReason.CROWDED_OUT: MissClass.CROWDED_OUT,
    KeptOutReason.OVER_BUDGET: MissClass.OVER_BUDGET,
    KeptOutReason.OUTRANKED: MissClass.RANKED_TOO_LOW,
}


def document_ids(corpus: str, sources: tuple[str, ...]) -> tuple[str, ...]:
    """Ids of the documents a golden query names by relative path.

    >>> document_ids("handbook", ("refunds.md",))
    ('handbook/refunds.md',)
    """
    return tuple(f"{corpus}/{source}" for source in sources)


def unknown_sources(facts: ChainFacts, queries: tuple[GoldenQuery, ...]) -> list[str]:
    """Expected or forbidden documents that the inventory does not have: a slip, or a file that went."""
    named = {
        document_id
        for query in queries
        for document_id in document_ids(facts.corpus, (*query.expected_sources, *query.forbidden_sources))
    }
    return sorted(named - facts.inventory)


def missed_documents(query: GoldenQuery, corpus: str, ranking: Ranking) -> list[str]:
    """Expected documents without an accepted fragment."""
    found = ranking.accepted_documents
    return [document_id for document_id in document_ids(corpus, query.expected_sources) if document_id not in found]


def judge(
    query: GoldenQuery, ranking: Ranking, explained: Mapping[str, Reason], facts: ChainFacts, as_of: date
) -> QueryOutcome:
    """The outcome of one query.

    Args:
        query: What was asked and expected.
        ranking: What search accepted.
        explained: By id, why expected documents of the generation were not accepted.
        facts: What the chain knows.
        as_of: The day the question was asked for.
    """
    accepted = ranking.accepted
    documents = tuple(dict.fromkeys(candidate.document_id for candidate in accepted))
    forbidden = set(document_ids(facts.corpus, query.forbidden_sources))
    return QueryOutcome(
        query_id=query.query_id,
        query=query.query,
        domain=query.domain_name,
        category=query.category,
        should_match=query.should_match,
        expected=document_ids(facts.corpus, query.expected_sources),
        accepted=tuple(
            Hit(
                position=position,
                document_id=candidate.document_id,
                fragment_id=candidate.fragment_id,
                score=candidate.score,
            )
            for position, candidate in enumerate(accepted, start=1)
        ),
        forbidden_hits=tuple(document_id for document_id in documents if document_id in forbidden),
        stale_hits=tuple(document_id for document_id in documents if facts.is_stale(document_id, as_of)),
        misses=tuple(
            _miss(document_id, explained.get(document_id), facts)
            for document_id in missed_documents(query, facts.corpus, ranking)
        ),
        best_score=ranking.candidates[0].score if ranking.candidates else None,
        reason=ranking.assessment.reason,
    )


def _miss(document_id: str, explained: Reason | None, facts: ChainFacts) -> Miss:
    """Where the document was lost: the first stage of the chain that did not pass it on."""
    if document_id not in facts.inventory:
        return _as_miss(document_id, MissClass.NEVER_INGESTED, "the inventory has no such file")
    if document_id in facts.quarantined:
        return _as_miss(document_id, MissClass.QUARANTINED, f"quarantined: {facts.quarantined[document_id]}")
    decision = facts.decisions.get(document_id)
    if decision is None:
        return _as_miss(document_id, MissClass.NOT_CONVERTED, "the document has not been converted")
    if decision.serving_state is ServingState.ARCHIVED:
        cause = decision.exclusion_reason.value if decision.exclusion_reason else "archived"
        pointed = f" ({decision.exclusion_ref})" if decision.exclusion_ref else ""
        return _as_miss(document_id, MissClass.EXCLUDED, f"kept out as {cause}{pointed}")
    if explained is None:
        return _as_miss(document_id, MissClass.NOT_INDEXED, "the generation has no fragment of it")
    return _as_miss(document_id, _BY_REASON.get(explained.reason, MissClass.EXCLUDED), explained.detail)


def _as_miss(document_id: str, miss_class: MissClass, detail: str) -> Miss:
    return Miss(document_id=document_id, miss_class=miss_class, detail=detail)
