"""Judges what a golden query found against the decisions of the chain. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from corpus_pipeline.evaluation.facts import ChainFacts, document_ids
from corpus_pipeline.evaluation.golden import GoldenQuery
from corpus_pipeline.evaluation.outcome import Hit, Miss, MissClass, QueryOutcome
from corpus_pipeline.evaluation.passage import covers
from corpus_pipeline.evaluation.scrutiny import forbidden_documents, observe, shown_passages
from corpus_pipeline.records import ServingState
from corpus_pipeline.retrieval import Candidate, KeptOutReason, Ranking, Reason

__all__ = ["RANKED_DEPTH", "Found", "judge", "missed_documents", "missed_passages", "ranked_documents"]

RANKED_DEPTH = 50
"""Documents of a query that are kept in order, accepted or not."""

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
_OUTDONE = frozenset(
    {
        MissClass.BELOW_SCORE,
        MissClass.NOT_RETRIEVED,
        MissClass.RERANKED_OUT,
        MissClass.CROWDED_OUT,
        MissClass.OVER_BUDGET,
        MissClass.RANKED_TOO_LOW,
    }
)
"""Classes of search: the document was there and lost to others."""


@dataclass(frozen=True)
class Found:
    """All that is known of one query after asking it.

    Attributes:
        explained: By id, why expected documents of the generation were not accepted.
        deep: Candidates beyond those of the ranking, best first.
        fragment_texts: By id of documents with a missed passage, the texts of their fragments.
        texts: The same documents' converted text, where they have one.
        groups: Of the asking reader.
    """

    ranking: Ranking
    explained: Mapping[str, Reason] = field(default_factory=dict)
    deep: Sequence[Candidate] = ()
    fragment_texts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    groups: tuple[str, ...] | None = None


def missed_documents(query: GoldenQuery, corpus: str, ranking: Ranking) -> list[str]:
    """Expected documents without an accepted fragment."""
    found = ranking.accepted_documents
    return [document_id for document_id in document_ids(corpus, query.expected) if document_id not in found]


def missed_passages(query: GoldenQuery, corpus: str, ranking: Ranking) -> list[tuple[str, str]]:
    """``(document, words)`` of the expected passages that a reader is not shown."""
    shown = shown_passages(query, ranking, corpus)
    named = [(f"{corpus}/{passage.source}", passage.anchor or "") for passage in query.expected_passages]
    return [one for one in named if one not in shown]


def ranked_documents(ranking: Ranking, deep: Iterable[Candidate] = ()) -> tuple[str, ...]:
    """Documents in the order in which a reader who asks for more would get them, each once, at most 50."""
    left_out = sorted((one for one in ranking.selection.dropped if one.position), key=lambda one: one.position)
    in_order = (*ranking.accepted, *(one.candidate for one in left_out), *ranking.candidates, *deep)
    return tuple(dict.fromkeys(candidate.document_id for candidate in in_order))[:RANKED_DEPTH]


def judge(query: GoldenQuery, found: Found, facts: ChainFacts, as_of: date) -> QueryOutcome:
    """The outcome of one query.

    Args:
        query: What was asked and expected, passages as anchors.
        found: What came of it.
        facts: What the chain knows.
        as_of: The day the question was asked for.
    """
    ranking = found.ranking
    documents = tuple(dict.fromkeys(candidate.document_id for candidate in ranking.accepted))
    forbidden = forbidden_documents(query, ranking, facts.corpus)
    outdated = set(document_ids(facts.corpus, query.forbidden_sources))
    stale = tuple(document_id for document_id in documents if facts.is_stale(document_id, as_of))
    hidden = [one for one in documents if found.groups is not None and facts.is_hidden_from(one, found.groups)]
    if query.category == "authorisation":
        hidden += [one for one in forbidden if one not in hidden]
    return QueryOutcome(
        query_id=query.query_id,
        query=query.query,
        domain=query.domain_name,
        category=query.category,
        should_match=query.should_match,
        expected=document_ids(facts.corpus, query.expected),
        accepted=tuple(
            Hit(
                position=position,
                document_id=candidate.document_id,
                fragment_id=candidate.fragment_id,
                score=candidate.score,
            )
            for position, candidate in enumerate(ranking.accepted, start=1)
        ),
        forbidden_hits=tuple(forbidden),
        stale_hits=stale,
        misses=tuple(_misses(query, found, facts, outdated | {*forbidden, *stale})),
        best_score=ranking.candidates[0].score if ranking.candidates else None,
        reason=ranking.assessment.reason,
        authorisation_hits=tuple(hidden),
        ranked=ranked_documents(ranking, found.deep),
        observed=observe(query, ranking, found.deep, facts),
    )


def _misses(query: GoldenQuery, found: Found, facts: ChainFacts, outdated: set[str]) -> list[Miss]:
    missed = missed_documents(query, facts.corpus, found.ranking)
    lost = missed_passages(query, facts.corpus, found.ranking)
    misses = [_document_miss(one, found, facts, [words for owner, words in lost if owner == one]) for one in missed]
    misses += [_passage_miss(owner, words, found) for owner, words in lost if owner not in missed]
    return [_outranked_by_stale(miss, found, facts, outdated) for miss in misses]


def _document_miss(document_id: str, found: Found, facts: ChainFacts, passages: Sequence[str]) -> Miss:
    """Where the document was lost: the first stage of the chain that did not pass it on."""
    before = _lost_by_the_chain(document_id, facts)
    if before is not None:
        return before
    explained = found.explained.get(document_id)
    if explained is None:
        return _as_miss(document_id, MissClass.NOT_INDEXED, "the generation has no fragment of it")
    miss_class = _BY_REASON.get(explained.reason, MissClass.EXCLUDED)
    unsaid = [words for words in passages if not _is_indexed(words, found.fragment_texts.get(document_id, ()))]
    if miss_class in _OUTDONE and unsaid:
        return _unsaid(document_id, unsaid[0], found).model_copy(update={"passage": ""})
    return _as_miss(document_id, miss_class, explained.detail)


def _lost_by_the_chain(document_id: str, facts: ChainFacts) -> Miss | None:
    if document_id not in facts.inventory:
        return _as_miss(document_id, MissClass.NEVER_INGESTED, "the inventory has no such file")
    if document_id in facts.quarantined:
        return _as_miss(document_id, MissClass.QUARANTINED, f"quarantined: {facts.quarantined[document_id]}")
    decision = facts.decisions.get(document_id)
    if decision is None:
        return _as_miss(document_id, MissClass.NOT_CONVERTED, "the document has not been converted")
    if decision.serving_state is not ServingState.ARCHIVED:
        return None
    cause = decision.exclusion_reason.value if decision.exclusion_reason else "archived"
    pointed = f" ({decision.exclusion_ref})" if decision.exclusion_ref else ""
    return _as_miss(document_id, MissClass.EXCLUDED, f"kept out as {cause}{pointed}")


def _passage_miss(document_id: str, words: str, found: Found) -> Miss:
    """Where a passage of a document that was found otherwise was lost."""
    if not words or not _is_indexed(words, found.fragment_texts.get(document_id, ())):
        return _unsaid(document_id, words, found)
    for dropped in found.ranking.selection.dropped:
        if dropped.candidate.document_id == document_id and covers(dropped.candidate.text, words):
            cause = dropped.cause.value.replace("_", " ")
            beside = f", {dropped.blocked_by}" if dropped.blocked_by else ""
            miss_class = _BY_DROP.get(dropped.cause.value, MissClass.CROWDED_OUT)
            return _as_miss(document_id, miss_class, f"its fragment was left out: {cause}{beside}", words)
    for one in found.ranking.candidates:
        if one.document_id == document_id and covers(one.text, words):
            return _as_miss(document_id, MissClass.BELOW_SCORE, f"its fragment has a score of {one.score:.3f}", words)
    return _as_miss(document_id, MissClass.NOT_RETRIEVED, "its fragment is not among the candidates fetched", words)


_BY_DROP = {
    "outranked": MissClass.RANKED_TOO_LOW,
    "reranked_out": MissClass.RERANKED_OUT,
    "over_budget": MissClass.OVER_BUDGET,
}


def _is_indexed(words: str, fragment_texts: Iterable[str]) -> bool:
    return bool(words) and any(covers(text, words) for text in fragment_texts)


def _unsaid(document_id: str, words: str, found: Found) -> Miss:
    """The passage is in no fragment: either the text has changed, or it was cut so that the passage is lost."""
    text = found.texts.get(document_id)
    if not words or text is None or words not in " ".join(text.split()):
        return _as_miss(document_id, MissClass.TEXT_LOST, "the converted text no longer says this passage", words)
    return _as_miss(document_id, MissClass.NOT_INDEXED, "no fragment of the generation says this passage", words)


def _outranked_by_stale(miss: Miss, found: Found, facts: ChainFacts, outdated: set[str]) -> Miss:
    """A document that lost to one that must not answer, or was even taken for its predecessor or copy."""
    decision = facts.decisions.get(miss.document_id)
    if miss.miss_class is MissClass.EXCLUDED and decision and decision.exclusion_ref in outdated:
        return miss.model_copy(
            update={
                "miss_class": MissClass.STALE_OUTRANKED,
                "detail": f"{miss.detail}, which must not be returned here",
            }
        )
    above = [one.document_id for one in found.ranking.accepted if one.document_id in outdated]
    if miss.miss_class in _OUTDONE and above:
        return miss.model_copy(
            update={"miss_class": MissClass.STALE_OUTRANKED, "detail": f"{above[0]} came before it; {miss.detail}"}
        )
    return miss


def _as_miss(document_id: str, miss_class: MissClass, detail: str, words: str = "") -> Miss:
    return Miss(document_id=document_id, miss_class=miss_class, detail=detail, passage=words)
