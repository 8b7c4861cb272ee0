"""Evaluations in the database: the named queries of ``sql/queries/evaluation.sql``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from psycopg.types.json import Jsonb

from corpus_pipeline.evaluation.outcome import Hit, Miss, QueryOutcome
from corpus_pipeline.store import Connection, load_queries

__all__ = ["Evaluation", "evaluation", "evaluation_results", "latest_evaluation", "replace_evaluation"]


@dataclass(frozen=True)
class Evaluation:
    """The golden queries against one generation.

    Attributes:
        is_staged: The generation was not yet published when it was evaluated.
        inputs_sha256: Digest of all that decides the outcome; equal inputs are not evaluated twice.
        metrics: ``overall``, ``domains`` and ``categories``, each figures by name; ``unknown_sources``.
    """

    corpus: str
    generation: int
    is_staged: bool
    inputs_sha256: str
    output_sha256: str
    root_sha256: str
    golden_sha256: str
    as_of: date
    metrics: dict[str, Any]
    evaluated_at: datetime | None = None


def evaluation(connection: Connection, corpus: str, generation: int) -> Evaluation | None:
    """The evaluation of one generation, if there is one."""
    row = load_queries("evaluation").evaluation(connection, corpus=corpus, generation=generation)
    return Evaluation(**row) if row else None


def latest_evaluation(connection: Connection, corpus: str) -> Evaluation | None:
    """The evaluation that the last finished run of the stage rests on; ``None`` before the first."""
    row = load_queries("evaluation").latest_evaluation(connection, corpus=corpus)
    return Evaluation(**row) if row else None


def evaluation_results(connection: Connection, corpus: str, generation: int | None = None) -> list[QueryOutcome]:
    """What became of each golden query, failed ones first.

    Args:
        connection: Any pipeline connection.
        corpus: Its slug.
        generation: One that was evaluated; that of the last finished run when absent.
    """
    if generation is None:
        latest = latest_evaluation(connection, corpus)
        if latest is None:
            return []
        generation = latest.generation
    rows = load_queries("evaluation").evaluation_queries(connection, corpus=corpus, generation=generation)
    return [_outcome(row) for row in rows]


def replace_evaluation(connection: Connection, evaluated: Evaluation, outcomes: Sequence[QueryOutcome]) -> None:
    """Stores an evaluation in place of an earlier one of the same generation."""
    queries = load_queries("evaluation")
    queries.delete_evaluation(connection, corpus=evaluated.corpus, generation=evaluated.generation)
    queries.insert_evaluation(
        connection,
        corpus=evaluated.corpus,
        generation=evaluated.generation,
        is_staged=evaluated.is_staged,
        inputs_sha256=evaluated.inputs_sha256,
        output_sha256=evaluated.output_sha256,
        root_sha256=evaluated.root_sha256,
        golden_sha256=evaluated.golden_sha256,
        as_of=evaluated.as_of,
        metrics=Jsonb(evaluated.metrics),
    )
    with connection.cursor() as cursor:
        cursor.executemany(queries.insert_evaluation_query.sql, [_values(evaluated, outcome) for outcome in outcomes])


def _values(evaluated: Evaluation, outcome: QueryOutcome) -> dict[str, Any]:
    return {
        "corpus": evaluated.corpus,
        "generation": evaluated.generation,
        "query_id": outcome.query_id,
        "query": outcome.query,
        "domain": outcome.domain,
        "category": outcome.category,
        "should_match": outcome.should_match,
        "passed": outcome.passed,
        "expected": list(outcome.expected),
        "accepted": Jsonb([hit.model_dump(mode="json") for hit in outcome.accepted]),
        "forbidden_hits": list(outcome.forbidden_hits),
        "stale_hits": list(outcome.stale_hits),
        "misses": Jsonb([miss.model_dump(mode="json") for miss in outcome.misses]),
        "best_score": outcome.best_score,
        "reason": outcome.reason,
    }


def _outcome(row: dict[str, Any]) -> QueryOutcome:
    stored = {key: value for key, value in row.items() if key != "passed"}
    return QueryOutcome(
        **{
            **stored,
            "accepted": tuple(Hit(**hit) for hit in row["accepted"]),
            "misses": tuple(Miss(**miss) for miss in row["misses"]),
            "expected": tuple(row["expected"]),
            "forbidden_hits": tuple(row["forbidden_hits"]),
            "stale_hits": tuple(row["stale_hits"]),
        }
    )
