"""Loading, building and filtered queries of a generated corpus, beside one unpartitioned table with the same filters.

    python -m benchmarks.index.scale FRAGMENTS [STALE_SHARE] [--alone]

STALE_SHARE of the documents are kept out of answers. ``--alone`` leaves out the other table and the builds
beside pgvector's.
"""

from __future__ import annotations

import argparse
import functools
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.index.builds import hnsw_builds, one_table, rows_a_second, server_memory
from benchmarks.index.corpora import (
    BenchDocument,
    add_vectors,
    context_for,
    fill,
    fresh_database,
    publish,
    stage,
)
from benchmarks.index.queries import Exact, by_vector, by_words
from benchmarks.index.synthetic import documents, vectors
from benchmarks.reporting import report
from corpus_pipeline.index import EF_SEARCH, pointer, publication, rollback_corpus, staging
from corpus_pipeline.index.tables import leaves
from corpus_pipeline.records import sha256_hex
from corpus_pipeline.store import Connection, StageContext

RESULTS = Path(__file__).parent / "results"
TIMED = ("analyse_corpus", "make_plan", "keep_added_rows", "insert_fragments", "insert_parents", "index_leaf")
TIMED += ("count_terms", "update_postings", "ann_recall")
_DOCUMENTS_AT_ONCE = 2_000


def main() -> None:
    """Fills, stages, publishes and queries; prints and stores the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fragments", type=int)
    parser.add_argument("stale_share", type=float, nargs="?", default=0.0, help="0 to 1; default 0")
    parser.add_argument("--alone", action="store_true", help="nothing is set beside the pipeline's own table")
    arguments = parser.parse_args()
    count, stale, alone = arguments.fragments, arguments.stale_share, arguments.alone
    with tempfile.TemporaryDirectory() as state, fresh_database() as database:
        context = context_for(database, "big", Path(state))
        exact = _fill(context, count, stale)
        figures: dict[str, Any] = {"fragments": count, "stale share": stale} | _staged(context, count)
        publish(context)
        with database.connection() as connection:
            known = publication(connection, "big")
            assert known is not None
            figures["MB on disk"] = _sizes(connection, known.serving_table)
        with database.session() as connection:
            # As autovacuum leaves it, which else works on it while queries are timed.
            connection.execute("VACUUM (ANALYZE)")
            connection.execute("CHECKPOINT")
        rows = by_vector(context, known.serving_table, exact, name="partitioned")
        _say(figures, rows)
        rows += by_words(context)
        if not alone:
            figures |= rows_a_second(context, known.serving_table)
            figures |= hnsw_builds(context, known.serving_table)
            one_table(context, known.serving_table)
            rows += by_vector(context, "one_table", exact, name="one table")
        _say(figures, rows)
        figures["unchanged night, seconds"] = _again(context)
        figures |= _rollback(context)
    report(RESULTS, f"scale_{count}_{round(stale * 100)}", rows, figures)


def _say(figures: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    # A run that is ended before its time has told what it knew.
    sys.stdout.write(f"{figures}\n" + "".join(f"{row}\n" for row in rows))
    sys.stdout.flush()


def _staged(context: StageContext, count: int) -> dict[str, Any]:
    with _timed() as seconds, server_memory(context) as memory:
        started = time.perf_counter()
        result = stage(context)
        seconds["stage_generation"] = time.perf_counter() - started
    return {
        "rows a second, inserted with vectors, texts and terms": round(count / seconds["insert_fragments"]),
        "seconds": {name: round(value, 1) for name, value in seconds.items()},
        "ann_recall_at_10": result.counts["ann_recall_at_10"],
        "peak MB of this process": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    } | memory


def _fill(context: StageContext, count: int, stale: float) -> Exact:
    """Fills the corpus; returns what exact search needs: vectors of current fragments, and their metadata."""
    batch: list[BenchDocument] = []
    metadata: list[dict[str, Any]] = []
    rows = vectors(count)
    kept = np.zeros(count, bool)
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
                kept[place : place + len(one.texts)] = True
                metadata.extend([one.metadata.model_dump()] * len(one.texts))
            place += len(one.texts)
        batch.clear()

    for document in documents(count, archived_share=stale):
        batch.append(document)
        if len(batch) == _DOCUMENTS_AT_ONCE:
            flush()
    if batch:
        flush()
    with context.database.session() as connection:
        connection.execute("VACUUM (ANALYZE)")
    return {"vectors": rows if kept.all() else rows[kept], "metadata": np.array(metadata)}


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
    sizes: dict[str, int] = {}
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
    row = connection.execute(
        "SELECT pg_total_relation_size('corpus.posting_blocks') AS lists, pg_database_size(current_database()) AS size"
    ).fetchone()
    assert row is not None
    return sizes | {"posting lists": row["lists"] // 1_000_000, "database": row["size"] // 1_000_000}


def _again(context: StageContext) -> float:
    started = time.perf_counter()
    stage(context)
    return round(time.perf_counter() - started, 1)


def _rollback(context: StageContext) -> dict[str, float]:
    """One more generation with a changed document, then back: until readers see it, and until the command returns."""
    with context.database.connection() as connection:
        connection.execute("UPDATE corpus.documents SET title = 'changed' WHERE relative_path = 'd0000000'")
    stage(context)
    publish(context)
    original = pointer._record_documents  # noqa: SLF001 - where the pointer has been moved
    moved = 0.0

    def noticed(*arguments: Any) -> Any:
        nonlocal moved
        moved = time.perf_counter()
        return original(*arguments)

    pointer._record_documents = noticed  # type: ignore[assignment]  # noqa: SLF001
    try:
        started = time.perf_counter()
        rollback_corpus(context.database, "big", "benchmark", "to measure it")
        ended = time.perf_counter()
    finally:
        pointer._record_documents = original  # noqa: SLF001
    return {
        "rollback, milliseconds until readers see it": round((moved - started) * 1000, 1),
        "rollback, milliseconds until the command returns": round((ended - started) * 1000, 1),
    }


if __name__ == "__main__":
    print(f"ef_search {EF_SEARCH}")
    main()
