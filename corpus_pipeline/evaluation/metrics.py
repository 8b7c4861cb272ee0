"""The figures of an evaluation: per query what was found, over queries the field's own measures.

Ranked measures come from ir_measures (MacAvaney, Macdonald and Ounis, 2022,
https://doi.org/10.1007/978-3-030-99739-7_38), which names their definitions: ``Success@k``
(hit@k), ``R@5`` and ``RR@5``. They rank distinct documents in the order of their best accepted
fragment, and a query without any accepted fragment counts as 0, it never vanishes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from corpus_pipeline.evaluation.outcome import QueryOutcome

__all__ = ["EVALUATED_DEPTH", "metrics", "metrics_by", "ranked_measures"]

EVALUATED_DEPTH = 5
"""Accepted fragments looked at for each query: what a reader gets by default."""


@dataclass(frozen=True, slots=True)
class RankedQuery:
    """Documents found for one query, best first, and those expected."""

    query_id: str
    ranked: tuple[str, ...]
    expected: tuple[str, ...]


def ranked_measures(queries: Sequence[RankedQuery]) -> dict[str, float]:
    """Means of the ranked measures over queries that have an answer; empty without any.

    >>> found = [RankedQuery("q1", ("a", "b"), ("b",)), RankedQuery("q2", (), ("c",))]
    >>> {name: round(value, 3) for name, value in ranked_measures(found).items()}
    {'hit_at_1': 0.0, 'hit_at_3': 0.5, 'hit_at_5': 0.5, 'recall_at_5': 0.5, 'mrr': 0.25}
    """
    if not queries:
        return {}
    import ir_measures
    from ir_measures import RR, R, Success

    named = {
        "hit_at_1": Success @ 1,
        "hit_at_3": Success @ 3,
        "hit_at_5": Success @ 5,
        "recall_at_5": R @ 5,
        "mrr": RR @ EVALUATED_DEPTH,
    }
    judged = [ir_measures.Qrel(query.query_id, document, 1) for query in queries for document in query.expected]
    run = [
        ir_measures.ScoredDoc(query.query_id, document, float(-position))
        for query in queries
        for position, document in enumerate(query.ranked)
    ]
    values = ir_measures.calc_aggregate(list(named.values()), judged, run)
    return {name: float(values[measure]) for name, measure in named.items()}


def metrics(outcomes: Sequence[QueryOutcome]) -> dict[str, float]:
    """All figures over the given outcomes; a measure without a query to measure is left out.

    A query that only forbids sources counts among ``queries``, ``passed_queries`` and the hits.
    ``abstention_accuracy`` is the share of queries the corpus must not answer for which nothing
    was accepted; ``abstention_precision`` the share of abstentions that were right.
    """
    answerable = [outcome for outcome in outcomes if outcome.expected]
    unanswerable = [outcome for outcome in outcomes if not outcome.should_match]
    abstained = [outcome for outcome in (*answerable, *unanswerable) if not outcome.accepted]
    figures: dict[str, float] = {
        "queries": len(outcomes),
        "answerable_queries": len(answerable),
        "unanswerable_queries": len(unanswerable),
        "passed_queries": sum(outcome.passed for outcome in outcomes),
        "forbidden_hits": sum(len(outcome.forbidden_hits) for outcome in outcomes),
        "stale_hits": sum(len(outcome.stale_hits) for outcome in outcomes),
    }
    figures |= ranked_measures(
        [
            RankedQuery(outcome.query_id, outcome.ranked_documents, outcome.expected)
            for outcome in answerable
            if outcome.expected  # a query may only forbid: then there is nothing to rank
        ]
    )
    if unanswerable:
        figures["abstention_accuracy"] = sum(not outcome.accepted for outcome in unanswerable) / len(unanswerable)
    if abstained:
        figures["abstention_precision"] = sum(not outcome.should_match for outcome in abstained) / len(abstained)
    return figures


def metrics_by(outcomes: Iterable[QueryOutcome], group: Callable[[QueryOutcome], str]) -> dict[str, dict[str, float]]:
    """The figures of each group of outcomes, groups in alphabetical order."""
    groups: dict[str, list[QueryOutcome]] = {}
    for outcome in outcomes:
        groups.setdefault(group(outcome), []).append(outcome)
    return {name: metrics(groups[name]) for name in sorted(groups)}
