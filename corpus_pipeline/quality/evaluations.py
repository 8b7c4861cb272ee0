"""What the evaluation's suite looks at: the golden queries, and what was lost since the published generation."""

from __future__ import annotations

from collections.abc import Sequence

from corpus_pipeline import evaluation, index
from corpus_pipeline.quality.conversions import Reading
from corpus_pipeline.registry import CorpusSpec
from corpus_pipeline.store import Connection

__all__ = ["read_evaluation"]

MAX_SENTENCES = 3


def read_evaluation(connection: Connection, spec: CorpusSpec) -> Reading:
    """The rows of the evaluation that the last run of its stage rests on."""
    latest = evaluation.latest_evaluation(connection, spec.slug)
    outcomes = evaluation.evaluation_results(connection, spec.slug)
    compared = _comparison(connection, spec, latest)
    rows = [
        {"document_id": f"{outcome.query_id}: {outcome.query}", "failed": None if outcome.passed else _why(outcome)}
        for outcome in outcomes
    ]
    drops = compared.beyond(spec.gates.max_recall_drop) if compared else ()
    significant = [drop for drop in drops if drop.is_significant]
    others = [drop for drop in drops if not drop.is_significant]
    figures = latest.metrics["overall"] if latest else {}
    corpus = {
        "queries": len(outcomes),
        "recall_at_5": float(figures.get("recall_at_5", 1.0)),
        "forbidden_hits": sum(len(outcome.forbidden_hits) for outcome in outcomes),
        "stale_hits": sum(len(outcome.stale_hits) for outcome in outcomes),
        "displaced_by_stale": len(_displaced(outcomes)),
        "authorisation_hits": sum(len(outcome.authorisation_hits) for outcome in outcomes),
        "metadata_mismatches": sum(len(outcome.observed.metadata_mismatches) for outcome in outcomes),
        "authority_violations": sum(len(outcome.observed.authority_violations) for outcome in outcomes),
        "significant_drops": len(significant),
        "other_drops": len(others),
        "off_topic_ratio": compared.off_topic_ratio if compared else 0.0,
    }
    culprits = _culprits(outcomes) | {
        "recall_kept": _lost(significant, outcomes),
        "recall_steady": _lost(others, outcomes),
        "new_documents_on_topic": list(compared.off_topic) if compared else [],
    }
    notes = {"recall_kept": _sentences(significant), "recall_steady": _sentences(others)}
    if compared and compared.off_topic_count:
        notes["new_documents_on_topic"] = (
            f"{compared.off_topic_count} of {compared.new_documents} new documents; {compared.documents} in all"
        )
    return rows, corpus, culprits, {name: note for name, note in notes.items() if note}


def _comparison(
    connection: Connection, spec: CorpusSpec, latest: evaluation.Evaluation | None
) -> evaluation.Comparison | None:
    """The comparison of a generation that is not yet published; of the published one it is history."""
    published = index.publication(connection, spec.slug)
    if latest is None or published is None or latest.generation == published.generation:
        return None
    return latest.comparison


def _culprits(outcomes: Sequence[evaluation.QueryOutcome]) -> dict[str, list[str]]:
    return {
        "recall_at_5": [f"{outcome.query_id}: {outcome.query}" for outcome in outcomes if outcome.misses],
        "no_forbidden_source": sorted({hit for outcome in outcomes for hit in outcome.forbidden_hits}),
        "no_stale_source": sorted({hit for outcome in outcomes for hit in outcome.stale_hits}),
        "current_not_displaced": sorted(set(_displaced(outcomes))),
        "no_unauthorised_source": sorted({hit for outcome in outcomes for hit in outcome.authorisation_hits}),
        "metadata_as_required": sorted(
            {mismatch for outcome in outcomes for mismatch in outcome.observed.metadata_mismatches}
        ),
        "authority_respected": sorted(
            {f"{above} above {below}" for outcome in outcomes for above, below in outcome.observed.authority_violations}
        ),
    }


def _displaced(outcomes: Sequence[evaluation.QueryOutcome]) -> list[str]:
    stale = evaluation.MissClass.STALE_OUTRANKED
    return [miss.document_id for outcome in outcomes for miss in outcome.misses if miss.miss_class is stale]


def _lost(drops: Sequence[evaluation.Drop], outcomes: Sequence[evaluation.QueryOutcome]) -> list[str]:
    """The queries that fell, then the documents above the expected ones, each once."""
    questions = {outcome.query_id: outcome.query for outcome in outcomes}
    queries = [f"{query_id}: {questions[query_id]}" for drop in drops for query_id in drop.lost]
    return list(dict.fromkeys([*queries, *(document for drop in drops for document in drop.above)]))


def _sentences(drops: Sequence[evaluation.Drop]) -> str:
    """The largest drops in words; a domain says more than all queries together."""
    ordered = sorted(drops, key=lambda drop: (not drop.domain, -drop.size))
    more = len(ordered) - MAX_SENTENCES
    told = [drop.sentence for drop in ordered[:MAX_SENTENCES]]
    return ". ".join([*told, f"And {more} more"] if more > 0 else told)


def _why(outcome: evaluation.QueryOutcome) -> str:
    parts = [_lost_because(miss) for miss in outcome.misses]
    parts += [f"forbidden {hit} was returned" for hit in outcome.forbidden_hits]
    parts += [f"stale {hit} was returned" for hit in outcome.stale_hits]
    parts += [f"{hit} was returned to a reader who may not see it" for hit in outcome.authorisation_hits]
    parts += [f"{mismatch} was returned" for mismatch in outcome.observed.metadata_mismatches]
    if not parts and not outcome.should_match:
        parts = [f"expected nothing, got {document}" for document in dict.fromkeys(_accepted(outcome))]
    return "; ".join(parts) or outcome.reason


def _lost_because(miss: evaluation.Miss) -> str:
    quoted = f" “{miss.passage}”" if miss.passage else ""
    return f"{miss.document_id}{quoted} {miss.miss_class.value.replace('_', ' ')} ({miss.detail})"


def _accepted(outcome: evaluation.QueryOutcome) -> list[str]:
    return [hit.document_id for hit in outcome.accepted]
