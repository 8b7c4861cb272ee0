"""The figures of an evaluation: per query what was found, over queries the field's own measures.

Ranked measures come from ir_measures (MacAvaney, Macdonald and Ounis, 2022,
https://doi.org/10.1007/978-3-030-99739-7_38), which names their definitions: ``Success@k``
(hit@k), ``R@k``, ``RR@5`` and ``nDCG@10``. They rank distinct documents in the order of their best
fragment, and a query without any counts as 0, it never vanishes. Up to rank 5 only what was
accepted counts; from rank 10 on every candidate does, accepted or not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from corpus_pipeline.evaluation.bootstrap import interval

if TYPE_CHECKING:
    from corpus_pipeline.evaluation.outcome import QueryOutcome

__all__ = ["EVALUATED_DEPTH", "grouped", "intervals", "metrics", "query_values"]

EVALUATED_DEPTH = 5
"""Accepted fragments looked at for each query: what a reader gets by default."""

DEEP_CUTOFFS = (10, 20, 50)


def query_values(outcomes: Sequence[QueryOutcome]) -> dict[str, dict[str, float]]:
    """Each measure's value for each query that it says something of."""
    answerable = [outcome for outcome in outcomes if outcome.expected]
    values = _ranked_values(answerable)
    for outcome in outcomes:
        for name, value in _plain_values(outcome).items():
            values.setdefault(name, {})[outcome.query_id] = value
    return values


def _ranked_values(answerable: Sequence[QueryOutcome]) -> dict[str, dict[str, float]]:
    if not answerable:
        return {}
    from ir_measures import RR, R, Success, nDCG

    accepted = {
        "hit_at_1": Success @ 1,
        "hit_at_3": Success @ 3,
        "hit_at_5": Success @ 5,
        "recall_at_5": R @ 5,
        "mrr": RR @ EVALUATED_DEPTH,
    }
    deep = {f"hit_at_{k}": Success @ k for k in DEEP_CUTOFFS} | {f"recall_at_{k}": R @ k for k in DEEP_CUTOFFS}
    return _measured(answerable, accepted, lambda outcome: outcome.ranked_documents) | _measured(
        answerable, deep | {"ndcg_at_10": nDCG @ 10}, lambda outcome: outcome.ranked
    )


def _measured(
    outcomes: Sequence[QueryOutcome],
    measures: Mapping[str, Any],
    ranking: Callable[[QueryOutcome], Sequence[str]],
) -> dict[str, dict[str, float]]:
    import ir_measures

    judged = [ir_measures.Qrel(outcome.query_id, document, 1) for outcome in outcomes for document in outcome.expected]
    run = [
        ir_measures.ScoredDoc(outcome.query_id, document, float(-position))
        for outcome in outcomes
        for position, document in enumerate(ranking(outcome))
    ]
    names = {str(measure): name for name, measure in measures.items()}
    values = {name: dict.fromkeys((outcome.query_id for outcome in outcomes), 0.0) for name in measures}
    for found in ir_measures.iter_calc(list(measures.values()), judged, run):
        values[names[str(found.measure)]][found.query_id] = float(found.value)
    return values


def _plain_values(outcome: QueryOutcome) -> dict[str, float]:
    seen, fragments = outcome.observed, len(outcome.accepted)
    values = {"stale_rate": float(bool(outcome.stale_hits))}
    if outcome.expected and fragments:
        values["precision"] = seen.relevant_fragments / fragments
    if seen.expected_passages:
        values["passage_recall"] = seen.found_passages / seen.expected_passages
    if seen.forbids:
        values["forbidden_rate"] = float(bool(outcome.forbidden_hits))
    if seen.looked_at:
        values["duplicate_ratio"] = seen.copies / seen.looked_at
    if seen.requires_metadata and fragments:
        values["metadata_mismatch_rate"] = len(seen.metadata_mismatches) / fragments
    if not outcome.should_match:
        values["abstention_recall"] = float(not fragments)
    if not fragments and (outcome.expected or not outcome.should_match):
        values["abstention_precision"] = float(not outcome.should_match)
    return values


def metrics(outcomes: Sequence[QueryOutcome]) -> dict[str, float]:
    """All figures over the given outcomes; a measure without a query to measure is left out.

    A query that only forbids sources counts among ``queries``, ``passed_queries`` and the hits.
    ``abstention_recall`` is the share of queries the corpus must not answer for which nothing
    was accepted; ``abstention_precision`` the share of abstentions that were right.
    """
    figures: dict[str, float] = {
        "queries": len(outcomes),
        "answerable_queries": sum(bool(outcome.expected) for outcome in outcomes),
        "unanswerable_queries": sum(not outcome.should_match for outcome in outcomes),
        "passed_queries": sum(outcome.passed for outcome in outcomes),
        "forbidden_hits": sum(len(outcome.forbidden_hits) for outcome in outcomes),
        "stale_hits": sum(len(outcome.stale_hits) for outcome in outcomes),
        "authorisation_hits": sum(len(outcome.authorisation_hits) for outcome in outcomes),
        "authority_violations": sum(len(outcome.observed.authority_violations) for outcome in outcomes),
        "metadata_mismatches": sum(len(outcome.observed.metadata_mismatches) for outcome in outcomes),
    }
    for name, values in query_values(outcomes).items():
        figures[name] = sum(values.values()) / len(values)
    return figures


def intervals(outcomes: Sequence[QueryOutcome]) -> dict[str, tuple[float, float]]:
    """The 95 % interval of each measure that has at least three queries."""
    found = {name: interval(list(values.values())) for name, values in query_values(outcomes).items()}
    return {name: bounds for name, bounds in found.items() if bounds is not None}


def grouped(outcomes: Iterable[QueryOutcome], group: Callable[[QueryOutcome], str]) -> dict[str, list[QueryOutcome]]:
    """Outcomes by group, groups in alphabetical order."""
    groups: dict[str, list[QueryOutcome]] = {}
    for outcome in outcomes:
        groups.setdefault(group(outcome), []).append(outcome)
    return {name: groups[name] for name in sorted(groups)}
