"""How many of the true nearest neighbours the index of a leaf finds."""

from __future__ import annotations

from typing import Any

from psycopg import sql

from corpus_pipeline.index.loading import completed
from corpus_pipeline.index.sessions import use_search_settings
from corpus_pipeline.index.tables import ServingLeaf, qualified
from corpus_pipeline.store import Connection

__all__ = ["ann_recall"]

SAMPLED_VECTORS = 50
DISTANCE_TOLERANCE = 1e-6
"""Rows at the same distance are interchangeable; halfvec distances differ by less than this in the last bits."""


def ann_recall(connection: Connection, leaf: ServingLeaf, generation: int, *, k: int = 10) -> float:
    """Recall at ``k`` of the leaf's HNSW index against exact search, on a fixed sample of its own vectors.

    As in ann-benchmarks (Aumüller, Bernhardsson and Faithfull 2018), a row counts as found when it
    is no farther than the true ``k``-th, so that equal distances do not count as misses.

    Returns:
        Between 0 and 1; 1.0 for an empty leaf.
    """
    use_search_settings(connection)
    sample = connection.execute(
        completed("sample_vectors", leaf=qualified(leaf.name)), {"generation": generation, "size": SAMPLED_VECTORS}
    ).fetchall()
    wanted = found = 0
    for row in sample:
        exact = _distances(connection, leaf, generation, row["embedding"], k, exact=True)
        nearest = _distances(connection, leaf, generation, row["embedding"], k, exact=False)
        wanted += len(exact)
        found += sum(distance <= exact[-1] + DISTANCE_TOLERANCE for distance in nearest)
    return found / wanted if wanted else 1.0


def _distances(
    connection: Connection, leaf: ServingLeaf, generation: int, vector: Any, k: int, *, exact: bool
) -> list[float]:
    # Without these the planner searches small leaves exactly and the index goes unmeasured.
    connection.execute(
        sql.SQL("SET LOCAL enable_indexscan = {0}; SET LOCAL enable_seqscan = {1}; SET LOCAL enable_sort = {1}").format(
            sql.Literal("off" if exact else "on"), sql.Literal("on" if exact else "off")
        )
    )
    rows = connection.execute(
        completed("nearest_distances", leaf=qualified(leaf.name)),
        {"generation": generation, "vector": vector, "size": k},
    ).fetchall()
    connection.execute("SET LOCAL enable_indexscan = on; SET LOCAL enable_seqscan = on; SET LOCAL enable_sort = on")
    return [float(row["distance"]) for row in rows]
