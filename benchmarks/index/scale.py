"""Loading, building and filtered queries of a generated corpus, beside one unpartitioned table with the same filters.

    python -m benchmarks.index.scale FRAGMENTS [STALE_SHARE] [--alone]

STALE_SHARE of the documents are kept out of answers. ``--alone`` leaves the other table out.
"""

from __future__ import annotations

import functools
import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from pgvector import HalfVector
from psycopg import sql

from benchmarks.index.corpora import add_vectors, context_for, fill, fresh_database, publish, report, stage
from benchmarks.index.synthetic import documents, vectors
from corpus_pipeline.index import EF_SEARCH, analyser_of, publication, read_session, rollback_corpus, staging
from corpus_pipeline.index.tables import HNSW_EF_CONSTRUCTION, HNSW_M, build_memory_mb, leaves
from corpus_pipeline.records import sha256_hex
from corpus_pipeline.store import Connection, StageContext

K = 10
QUERIES = 100
TOLERANCE = 1e-4
FILTERS: dict[str, dict[str, str]] = {
    "none": {},
    "50 %": {"product": "half"},
    "10 %": {"product": "ten_percent"},
    "1 %": {"product": "one_percent"},
}
TIMED = ("analyse_corpus", "make_plan", "insert_fragments", "insert_parents", "index_leaf", "count_terms", "ann_recall")
_DOCUMENTS_AT_ONCE = 2_000


def main() -> None:
    """Fills, stages, publishes and queries; prints and stores the figures."""
    arguments = [each for each in sys.argv[1:] if each != "--alone"]
    if not arguments:
        sys.exit(__doc__)
    count = int(arguments[0])
    stale = float(arguments[1]) if len(arguments) > 1 else 0.0
    with tempfile.TemporaryDirectory() as state, fresh_database() as database:
        context = context_for(database, "big", Path(state))
        products = _fill(context, count, stale)
        with _timed() as seconds:
            started = time.perf_counter()
            result = stage(context)
            seconds["stage_generation"] = time.perf_counter() - started
        publish(context)
        with database.connection() as connection:
            known = publication(connection, "big")
            assert known is not None
            sizes = _sizes(connection, known.serving_table)
        figures: dict[str, Any] = {
            "fragments": count,
            "stale share": stale,
            "rows per second, loading": round(count / seconds["insert_fragments"]),
            "seconds": {name: round(value, 1) for name, value in seconds.items()},
            "ann_recall_at_10": result.counts["ann_recall_at_10"],
            "MB": sizes,
            "peak MB of this process": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        }
        if "--alone" not in sys.argv:
            figures |= _one_table(context, known.serving_table)
        rows = _filtered(context, known.serving_table, products, plain="--alone" not in sys.argv)
        rows += _lexical(context)
        figures["unchanged night, seconds"] = _again(context)
        figures["rollback, milliseconds"] = _rollback(context)
    report(f"scale_{count}_{round(stale * 100)}", rows, figures)


def _fill(context: StageContext, count: int, stale: float) -> dict[str, np.ndarray]:
    """Fills the corpus; returns what exact search needs: vectors of current fragments, and their products."""
    kept, products, batch = [], [], []
    rows = vectors(count)
    place = 0

    def flush() -> None:
        nonlocal place
        fill(context, batch)
        texts = [text for one in batch for text in one.texts]
        with context.database.connection() as connection:
            hashes = map(sha256_hex, texts)
            add_vectors(connection, context, zip(hashes, rows[place : place + len(texts)], strict=True))
        for one in batch:
            if not one.archived:
                kept.append(rows[place : place + len(one.texts)])
                products.extend([one.metadata.product] * len(one.texts))
            place += len(one.texts)
        batch.clear()

    for document in documents(count, archived_share=stale):
        batch.append(document)
        if len(batch) == _DOCUMENTS_AT_ONCE:
            flush()
    if batch:
        flush()
    with context.database.session() as connection:
        connection.execute("ANALYZE")
    return {"vectors": np.vstack(kept), "products": np.array(products)}


@contextmanager
def _timed() -> Iterator[dict[str, float]]:
    """Seconds spent in the parts of staging, by name."""
    seconds: dict[str, float] = dict.fromkeys(TIMED, 0.0)
    originals = {name: getattr(staging, name) for name in TIMED}

    def wrapped(name: str) -> Callable[..., Any]:
        @functools.wraps(originals[name])
        def run(*args: Any, **options: Any) -> Any:
            started = time.perf_counter()
            try:
                return originals[name](*args, **options)
            finally:
                seconds[name] += time.perf_counter() - started

        return run

    try:
        for name in TIMED:
            setattr(staging, name, wrapped(name))
        yield seconds
    finally:
        for name, original in originals.items():
            setattr(staging, name, original)


def _sizes(connection: Connection, table: str) -> dict[str, int]:
    sizes = {}
    for leaf in leaves(table, "big"):
        row = connection.execute(
            "SELECT pg_table_size(%(t)s::regclass) AS rows, pg_relation_size(%(h)s::regclass) AS hnsw,"
            " pg_relation_size(%(g)s::regclass) AS terms",
            {
                "t": f"serving.{leaf.name}",
                "h": f"serving.{leaf.index_name('hnsw')}",
                "g": f"serving.{leaf.index_name('terms')}",
            },
        ).fetchone()
        sizes |= {f"{leaf.state} {key}": value // 1_000_000 for key, value in (row or {}).items()}
    row = connection.execute("SELECT pg_database_size(current_database()) AS size").fetchone()
    return sizes | {"database": row["size"] // 1_000_000 if row else 0}


def _one_table(context: StageContext, table: str) -> dict[str, float]:
    """The rows of all leaves in one table with the same policy and filter index; seconds of pgvector's own build."""
    seconds = {}
    with context.database.session() as connection:
        rows = connection.execute(
            sql.SQL("SELECT count(*) AS n FROM {}").format(sql.Identifier("serving", table))
        ).fetchone()
        connection.execute(
            sql.SQL("CREATE TABLE serving.one_table AS SELECT * FROM {}").format(sql.Identifier("serving", table))
        )
        connection.execute("SELECT corpus.protect_serving_table('one_table', %s)", (table,))
        connection.execute(
            sql.SQL("SET maintenance_work_mem = {}").format(
                sql.Literal(f"{build_memory_mb(rows['n'] if rows else 0, 384)}MB")
            )
        )
        started = time.perf_counter()
        connection.execute(
            "CREATE INDEX one_table_hnsw ON serving.one_table USING hnsw (embedding halfvec_cosine_ops)"
            f" WITH (m = {HNSW_M}, ef_construction = {HNSW_EF_CONSTRUCTION})"
        )
        seconds["HNSW build of pgvector alone, seconds"] = round(time.perf_counter() - started, 1)
        connection.execute("CREATE INDEX ON serving.one_table (product_key)")
        connection.execute("RESET maintenance_work_mem")
        connection.execute("ANALYZE serving.one_table")
        leaf, _ = leaves(table, "big")
        connection.execute("DROP TABLE IF EXISTS serving.copied")
        connection.execute(
            sql.SQL("CREATE TABLE serving.copied AS SELECT embedding FROM {}").format(
                sql.Identifier("serving", leaf.name)
            )
        )
        connection.execute(
            sql.SQL("SET maintenance_work_mem = {}").format(
                sql.Literal(f"{build_memory_mb(rows['n'] if rows else 0, 384)}MB")
            )
        )
        for name, build in (
            ("current leaf again", sql.Identifier("serving", leaf.name)),
            ("vectors alone", sql.Identifier("serving", "copied")),
        ):
            started = time.perf_counter()
            connection.execute(
                sql.SQL(
                    "CREATE INDEX again_hnsw ON {} USING hnsw (embedding halfvec_cosine_ops)"
                    f" WITH (m = {HNSW_M}, ef_construction = {HNSW_EF_CONSTRUCTION})"
                ).format(build)
            )
            seconds[f"HNSW build, {name}, seconds"] = round(time.perf_counter() - started, 1)
            connection.execute("DROP INDEX serving.again_hnsw")
        connection.execute("DROP TABLE serving.copied; RESET maintenance_work_mem")
    return seconds


_NEAREST = """
SELECT fragment_id, embedding <=> %(vector)s AS distance FROM {table}
WHERE corpus = 'big' AND serving_state = 'current' AND answer_use <> 'never'
  AND serving.passes_filters(%(filters)s::jsonb, product_key, domain_key, audience_key, source_class_key, region_key,
                             environment_key, plan_tiers, answer_use, attributes)
ORDER BY embedding <=> %(vector)s LIMIT %(k)s
"""


def _filtered(context: StageContext, table: str, exact: dict[str, np.ndarray], *, plain: bool) -> list[dict[str, Any]]:
    asked = vectors(QUERIES, seed=99)
    rows = []
    with read_session(context.database, groups=["everyone"], show_archived=False) as reader:
        for name in [table, "one_table"] if plain else [table]:
            query = sql.SQL(_NEAREST).format(table=sql.Identifier("serving", name))
            for share, filters in FILTERS.items():
                chosen = exact["products"] == filters["product"] if filters else np.ones(len(exact["products"]), bool)
                matrix = exact["vectors"][chosen]
                rows.append(
                    {"table": "partitioned" if name == table else "one table", "search": "vector", "filter": share}
                    | _measured(reader, query, asked, filters, matrix)
                )
    return rows


def _measured(
    reader: Connection, query: sql.Composed, asked: np.ndarray, filters: dict[str, str], matrix: np.ndarray
) -> dict[str, float]:
    seconds, found, wanted = [], 0, 0
    for vector in asked:
        values = {"vector": HalfVector(vector), "filters": json.dumps(filters), "k": K}
        started = time.perf_counter()
        rows = reader.execute(query, values, prepare=False).fetchall()
        seconds.append(time.perf_counter() - started)
        best = np.sort(1.0 - matrix @ vector)[:K]
        wanted += len(best)
        found += sum(float(row["distance"]) <= best[-1] + TOLERANCE for row in rows) if len(best) else 0
    return _percentiles(seconds) | {"recall@10": round(found / max(wanted, 1), 4)}


def _lexical(context: StageContext) -> list[dict[str, Any]]:
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
            for share, filters in FILTERS.items():
                seconds = []
                for _ in range(QUERIES // 2):
                    words = chance.choice(20_000, 8, p=weights / weights.sum())
                    terms = analyser.terms(" ".join(f"w{number:x}" for number in words))
                    started = time.perf_counter()
                    reader.execute(
                        "SELECT * FROM serving.lexical_candidates('big', %s, %s::jsonb, %s)",
                        (terms, json.dumps(filters), K),
                    ).fetchall()
                    seconds.append(time.perf_counter() - started)
                rows.append(
                    {"table": "partitioned", "search": f"BM25, {kind}", "filter": share}
                    | _percentiles(seconds)
                    | {"recall@10": "exact"}
                )
    return rows


def _percentiles(seconds: list[float]) -> dict[str, Any]:
    return {f"p{each} ms": round(float(np.percentile(seconds, each)) * 1000, 2) for each in (50, 95)}


def _again(context: StageContext) -> float:
    started = time.perf_counter()
    stage(context)
    return round(time.perf_counter() - started, 1)


def _rollback(context: StageContext) -> float:
    """One more generation with a changed document, then back."""
    with context.database.connection() as connection:
        connection.execute("UPDATE corpus.documents SET title = 'changed' WHERE relative_path = 'd0000000'")
    stage(context)
    publish(context)
    started = time.perf_counter()
    rollback_corpus(context.database, "big", "benchmark", "to measure it")
    return round((time.perf_counter() - started) * 1000, 1)


if __name__ == "__main__":
    print(f"ef_search {EF_SEARCH}")
    main()
