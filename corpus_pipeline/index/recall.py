"""How many of the true nearest neighbours the index of a leaf finds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from psycopg import sql

from corpus_pipeline.index.binary_copy import COPY_START
from corpus_pipeline.index.loading import completed
from corpus_pipeline.index.sessions import use_search_settings
from corpus_pipeline.index.tables import ServingLeaf, qualified
from corpus_pipeline.store import Connection, load_queries

__all__ = ["ann_recall"]

SAMPLED_VECTORS = 50
DISTANCE_TOLERANCE = 1e-5
"""Rows at the same distance are interchangeable; distances of halfvec differ by less than this in the last bits."""
_FETCH_ROWS = 5000

Matrix = NDArray[np.float32]


def ann_recall(connection: Connection, leaf: ServingLeaf, generation: int, *, k: int = 10) -> float:
    """Recall at ``k`` of the leaf's HNSW index against exact search, on a fixed sample of its own vectors.

    As in ann-benchmarks (Aumüller, Bernhardsson and Faithfull 2018), a row counts as found when it
    is no farther than the true ``k``-th, so that equal distances do not count as misses. The exact
    distances of the whole sample are taken in one pass over the leaf.

    Returns:
        Between 0 and 1; 1.0 for an empty leaf.
    """
    query = completed("sample_vectors", leaf=qualified(leaf.name))
    sample = connection.execute(query, {"generation": generation, "size": SAMPLED_VECTORS}, binary=True).fetchall()
    if not sample:
        return 1.0
    exact, rows = _exact_distances(connection, leaf, generation, _unit_rows([row["embedding"] for row in sample]), k)
    _search_with_the_index(connection, rows)
    wanted = exact.shape[0] * exact.shape[1]
    found = 0
    for row, distances in zip(sample, exact, strict=True):
        nearest = connection.execute(
            completed("nearest_distances", leaf=qualified(leaf.name)),
            {"generation": generation, "vector": row["embedding"], "size": k},
        ).fetchall()
        farthest = float(distances[-1]) + DISTANCE_TOLERANCE
        found += sum(float(each["distance"]) <= farthest for each in nearest)
    connection.execute("SET LOCAL enable_seqscan = on; SET LOCAL enable_sort = on")
    return float(found / wanted)


def _search_with_the_index(connection: Connection, leaf_rows: int) -> None:
    use_search_settings(connection, leaf_rows)
    # Without these the planner searches small leaves exactly and the index goes unmeasured.
    connection.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off")


def _exact_distances(
    connection: Connection, leaf: ServingLeaf, generation: int, sample: Matrix, k: int
) -> tuple[Matrix, int]:
    """Distances of the ``k`` nearest rows to each of ``(n, d)`` vectors, ``(n, at most k)``, and how many rows."""
    best = np.empty((len(sample), 0), np.float32)
    rows = 0
    for block in _blocks(connection, leaf, generation, sample.shape[1]):
        best = np.sort(np.hstack([best, 1.0 - sample @ block.T]), axis=1)[:, :k]
        rows += len(block)
    return best, rows


def _blocks(connection: Connection, leaf: ServingLeaf, generation: int, dimensions: int) -> Iterator[Matrix]:
    """The vectors that a generation serves, some thousand at a time.

    As bytes of a binary COPY: numbers of fields, bytes and dimensions, then the vector in half precision, a row.
    """
    row = np.dtype([("head", "V10"), ("vector", ">f2", (dimensions,))])
    served = sql.SQL(load_queries("index").leaf_vectors.sql.rstrip().removesuffix(";"))
    query = sql.SQL("COPY ({}) TO STDOUT (FORMAT BINARY)").format(served.format(leaf=qualified(leaf.name)))
    received = bytearray()
    with connection.cursor().copy(query, {"generation": generation}) as copy:
        for data in copy:
            received += data
            if len(received) > _FETCH_ROWS * row.itemsize:
                yield from _whole_rows(received, row)
    yield from _whole_rows(received, row)


def _whole_rows(received: bytearray, row: np.dtype[Any]) -> Iterator[Matrix]:
    """Takes the whole rows of a binary COPY, without its head, out of what was received."""
    if received.startswith(COPY_START):
        del received[: len(COPY_START)]
    count = len(received) // row.itemsize
    if count:
        vectors = np.frombuffer(bytes(received[: count * row.itemsize]), row)["vector"]
        del received[: count * row.itemsize]
        yield _unit_matrix(vectors.astype(np.float32))


def _unit_rows(vectors: list[Any]) -> Matrix:
    return _unit_matrix(np.vstack([vector.to_numpy() for vector in vectors]).astype(np.float32))


def _unit_matrix(matrix: Matrix) -> Matrix:
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    unit: Matrix = matrix / np.maximum(norms, np.finfo(np.float32).tiny)
    return unit
