"""Queries of a generated corpus under row-level security, by vector and by words: clock, processor time, recall."""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np
import psutil
from pgvector import HalfVector
from psycopg import sql

from benchmarks.index.synthetic import vectors
from corpus_pipeline.index import analyser_of, publication, read_session
from corpus_pipeline.retrieval.graph_width import graph_width
from corpus_pipeline.retrieval.repository import prefer_graph
from corpus_pipeline.retrieval.request import SearchFilters
from corpus_pipeline.store import Connection, StageContext

__all__ = ["FILTERS", "Exact", "by_vector", "by_words"]

K = 10
QUERIES = 100
TOLERANCE = 1e-4
FILTERS: dict[str, dict[str, Any]] = {
    "none": {},
    "50 %": {"product": "half"},
    "10 %": {"product": "ten_percent"},
    "1 %": {"product": "one_percent"},
    "region, 10 %": {"region": "tenth"},
    "tier, 10 %": {"plan_tier": "gold"},
    "attribute, 5 %": {"attributes": {"team": "t0"}},
}
"""The last two have no index."""

Exact = dict[str, np.ndarray]
"""``vectors`` of all current fragments, float32 of unit length, and ``metadata``, of as many documents' shares."""

_NEAREST = """
SELECT fragment_id, embedding <=> %(vector)s AS distance FROM {table}
WHERE corpus = 'big' AND serving_state = 'current' AND answer_use <> 'never'
  AND serving.passes_filters({filters}::jsonb, product_key, domain_key, audience_key, source_class_key,
                             region_key, environment_key, plan_tiers, answer_use, attributes)
ORDER BY embedding <=> %(vector)s LIMIT {k}
"""


def by_vector(context: StageContext, table: str, exact: Exact, *, name: str) -> list[dict[str, Any]]:
    """The nearest ten under each filter, against exact search among the fragments that pass it."""
    asked = vectors(QUERIES, seed=99)
    rows = []
    with read_session(context.database, groups=["everyone"], show_archived=False) as reader:
        for share, filters in FILTERS.items():
            chosen = np.array([_passes(each, filters) for each in exact["metadata"]])
            matrix = exact["vectors"][chosen]
            # As search does: one plan for all questions of these filters.
            query = sql.SQL(_NEAREST).format(table=sql.Identifier("serving", table), filters=json.dumps(filters), k=K)
            figures = _measured(reader, query, asked, filters, matrix, len(exact["vectors"]))
            rows.append({"table": name, "search": "vector", "filter": share} | figures)
    return rows


def by_words(context: StageContext) -> list[dict[str, Any]]:
    """Queries of eight words drawn as often as texts have them, and of eight less frequent ones."""
    chance = np.random.default_rng(5)
    with context.database.connection() as connection:
        known = publication(connection, "big")
    assert known is not None
    analyser = analyser_of(known.analyser or {})
    rows = []
    with read_session(context.database, groups=["everyone"], show_archived=False) as reader:
        for kind, exponent in (("words as in the texts", 1.0), ("all words alike", 0.0)):
            weights = 1.0 / np.arange(1, 20_001) ** exponent
            for share in ("none", "50 %", "10 %", "1 %"):
                clock = _Clock(reader)
                for _ in range(QUERIES // 2):
                    words = chance.choice(20_000, 8, p=weights / weights.sum())
                    terms = analyser.terms(" ".join(f"w{number:x}" for number in words))
                    with clock:
                        reader.execute(
                            "SELECT * FROM serving.lexical_candidates('big', %s, %s::jsonb, %s)",
                            (terms, json.dumps(FILTERS[share]), K),
                        ).fetchall()
                rows.append(
                    {"table": "partitioned", "search": f"BM25, {kind}", "filter": share}
                    | clock.figures
                    | {"found": K, "recall@10": "exact"}
                )
    return rows


class _Clock:
    """Seconds of each use, and processor seconds of the session's server process over all of them."""

    def __init__(self, reader: Connection) -> None:
        self._process = psutil.Process(reader.info.backend_pid)
        self._before = self._used()
        self._seconds: list[float] = []
        self._started = 0.0

    def __enter__(self) -> None:
        self._started = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self._seconds.append(time.perf_counter() - self._started)

    @property
    def figures(self) -> dict[str, float]:
        """Milliseconds a query: by the clock, and of the processor (to ticks of 10 ms over all)."""
        clock = {f"p{each} ms": round(float(np.percentile(self._seconds, each)) * 1000, 2) for each in (50, 95)}
        return clock | {"processor ms": round((self._used() - self._before) / len(self._seconds) * 1000, 1)}

    def _used(self) -> float:
        times = self._process.cpu_times()
        return float(times.user + times.system)


def _measured(
    reader: Connection,
    query: sql.Composed,
    asked: np.ndarray,
    filters: dict[str, Any],
    matrix: np.ndarray,
    current_rows: int,
) -> dict[str, Any]:
    found, wanted, fewest = 0, 0, K
    prefer_graph(reader, graph_width(current_rows, SearchFilters.from_pairs(filters)))
    started = time.perf_counter()
    reader.execute(query, {"vector": HalfVector(asked[0])}, prepare=True).fetchall()
    first = {"first ms": round((time.perf_counter() - started) * 1000, 2)}
    clock = _Clock(reader)
    for vector in asked:
        with clock:
            rows = reader.execute(query, {"vector": HalfVector(vector)}, prepare=True).fetchall()
        best = np.sort(1.0 - matrix @ vector)[:K]
        wanted += len(best)
        fewest = min(fewest, len(rows))
        found += sum(bool(row["distance"] <= best[-1] + TOLERANCE) for row in rows) if len(best) else 0
    return clock.figures | first | {"found": fewest, "recall@10": round(found / wanted, 4) if wanted else "none pass"}


def _passes(metadata: dict[str, Any], filters: dict[str, Any]) -> bool:
    return all(
        value in metadata["plan_tiers"]
        if name == "plan_tier"
        else metadata["attributes"]["team"] == value["team"]
        if name == "attributes"
        else metadata[name] == value
        for name, value in filters.items()
    )
