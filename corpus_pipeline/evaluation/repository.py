"""Evaluations in the database: the named queries of ``sql/queries/evaluation.sql``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, LiteralString, cast

import numpy as np
from numpy.typing import NDArray
from psycopg import sql
from psycopg.types.json import Jsonb

from corpus_pipeline.evaluation.comparison import Comparison
from corpus_pipeline.evaluation.outcome import Hit, Miss, Observed, QueryOutcome
from corpus_pipeline.index import Generation
from corpus_pipeline.store import Connection, load_queries

__all__ = [
    "Evaluation",
    "current_documents",
    "document_vectors",
    "evaluation",
    "evaluation_results",
    "evaluations",
    "fragment_texts",
    "latest_evaluation",
    "replace_evaluation",
]


@dataclass(frozen=True)
class Evaluation:
    """The golden queries against one generation.

    Attributes:
        is_staged: The generation was not yet published when it was evaluated.
        inputs_sha256: Digest of all that decides the outcome; equal inputs are not evaluated twice.
        search_sha256: Digest of the golden queries, the search configuration and the day.
        metrics: ``overall``, ``domains`` and ``categories``, each figures by name; ``intervals``, the
            same with 95 % intervals; ``unknown_sources``.
        comparison: With the generation published then; ``None`` when there was none.
    """

    corpus: str
    generation: int
    is_staged: bool
    inputs_sha256: str
    output_sha256: str
    root_sha256: str
    golden_sha256: str
    search_sha256: str
    as_of: date
    metrics: dict[str, Any]
    comparison: Comparison | None = None
    evaluated_at: datetime | None = None


def evaluation(connection: Connection, corpus: str, generation: int) -> Evaluation | None:
    """The evaluation of one generation, if there is one."""
    row = load_queries("evaluation").evaluation(connection, corpus=corpus, generation=generation)
    return _evaluation(row) if row else None


def evaluations(connection: Connection, corpus: str, most: int) -> list[Evaluation]:
    """The evaluations of the last generations, oldest first, at most that many."""
    rows = load_queries("evaluation").evaluations(connection, corpus=corpus, most=most)
    return [_evaluation(row) for row in rows][::-1]


def latest_evaluation(connection: Connection, corpus: str) -> Evaluation | None:
    """The evaluation that the last finished run of the stage rests on; ``None`` before the first."""
    row = load_queries("evaluation").latest_evaluation(connection, corpus=corpus)
    return _evaluation(row) if row else None


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
        search_sha256=evaluated.search_sha256,
        as_of=evaluated.as_of,
        metrics=Jsonb(evaluated.metrics),
        comparison=Jsonb(evaluated.comparison.model_dump(mode="json") if evaluated.comparison else {}),
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
        "authorisation_hits": list(outcome.authorisation_hits),
        "ranked": list(outcome.ranked),
        "observed": Jsonb(outcome.observed.model_dump(mode="json", exclude_defaults=True)),
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
            "authorisation_hits": tuple(row["authorisation_hits"]),
            "ranked": tuple(row["ranked"]),
            "observed": Observed.model_validate(row["observed"]),
        }
    )


def _evaluation(row: dict[str, Any]) -> Evaluation:
    compared = row["comparison"]
    return Evaluation(**{**row, "comparison": Comparison.model_validate(compared) if compared else None})


def fragment_texts(connection: Connection, known: Generation, documents: Sequence[str]) -> dict[str, list[str]]:
    """Texts of the fragments of each named document in a generation; for an operator's connection."""
    texts: dict[str, list[str]] = {}
    for row in _of_generation(connection, "fragment_texts", known, documents=list(documents)):
        texts.setdefault(row["document_id"], []).append(row["text"])
    return texts


def current_documents(connection: Connection, known: Generation) -> frozenset[str]:
    """Documents that a generation answers from; for an operator's connection."""
    return frozenset(row["document_id"] for row in _of_generation(connection, "current_documents", known))


def document_vectors(
    connection: Connection, known: Generation, documents: Sequence[str]
) -> dict[str, NDArray[np.float32]]:
    """The mean vector of each named document in a generation, float32, not normalised."""
    rows = _of_generation(connection, "document_vectors", known, documents=list(documents))
    return {row["document_id"]: _array(row["vector"]) for row in rows}


def _of_generation(connection: Connection, name: str, known: Generation, **values: Any) -> list[dict[str, Any]]:
    text = cast("LiteralString", getattr(load_queries("evaluation"), name).sql)
    query = sql.SQL(text).format(table=sql.Identifier("serving", known.serving_table))
    return connection.execute(
        query, {"corpus": known.corpus, "generation": known.generation, **values}, prepare=False, binary=True
    ).fetchall()


def _array(stored: Any) -> NDArray[np.float32]:
    plain = stored.to_numpy() if hasattr(stored, "to_numpy") else stored
    return np.asarray(plain, dtype=np.float32)
