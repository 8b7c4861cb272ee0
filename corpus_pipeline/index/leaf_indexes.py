"""Indexes of a leaf: graphs for vectors, GIN for keys of words, and one for each column that a filter compares.

Those of a first load are built after the rows are in; later loads keep them up row by row.
"""

from __future__ import annotations

from psycopg import errors, sql

from corpus_pipeline.index.tables import ServingLeaf, qualified, relation_exists
from corpus_pipeline.records import ServingState, sha256_hex
from corpus_pipeline.store import Connection, load_queries

__all__ = ["build_memory_mb", "graph_method", "index_leaf"]

HNSW_M = 16
HNSW_EF_CONSTRUCTION = 64
SMALL_GRAPH_ROWS = 50_000
SMALL_M = 32
SMALL_EF_CONSTRUCTION = 256
"""Up to so many rows: their nearest lie farther apart, so that their graph needs more neighbours."""
GRAPH_FROM_ROWS = 5_000
GRAPH_UP_TO_SHARE = 0.3
"""A product with at least so many rows, and at most this share of them, has a graph of its own."""
_BUILD_MEMORY_MB = (64, 2048)
_KEY = "key"
_HNSW = "hnsw"


def graph_method(rows: int) -> str:
    """How the graph of a leaf, or of a product, of so many rows is built, for CREATE INDEX."""
    small = rows <= SMALL_GRAPH_ROWS
    m, ef_construction = (SMALL_M, SMALL_EF_CONSTRUCTION) if small else (HNSW_M, HNSW_EF_CONSTRUCTION)
    return f"USING hnsw (embedding halfvec_cosine_ops) WITH (m = {m}, ef_construction = {ef_construction})"


_INDEXES = {
    _KEY: "(fragment_id, generation_from)",
    "terms": "USING gin (terms)",
    "document": "(document_id)",
    **{key: f"({key}_key)" for key in ("region", "environment")},
}
_FILTERED = ("product", "domain", "audience", "source_class")


def index_leaf(connection: Connection, leaf: ServingLeaf, *, rows: int, changed: int, dimensions: int) -> None:
    """Builds the indexes that a leaf lacks, which only a first load leaves, and refreshes its statistics.

    Args:
        connection: In the transaction that has loaded the rows.
        leaf: Of a corpus that nobody else loads.
        rows: About how many rows the leaf has; the graph of that many should fit into memory.
        changed: About how many of them are new; few leave the statistics as they are.
        dimensions: Of the vectors.
    """
    _give_memory(connection, rows, dimensions)
    _index(connection, leaf, _HNSW, sql.SQL(graph_method(rows)))
    for kind, definition in _INDEXES.items():
        _index(connection, leaf, kind, sql.SQL(definition))
    for column in _FILTERED:
        if not relation_exists(connection, leaf.index_name(column)):
            _index(connection, leaf, column, _selective(connection, leaf, f"{column}_key", rows))
    if changed * 10 < rows:
        return
    if leaf.state is ServingState.CURRENT:
        _index_frequent_products(connection, leaf, rows, dimensions)
    connection.execute(sql.SQL("ANALYZE {}").format(qualified(leaf.name)))


def _selective(connection: Connection, leaf: ServingLeaf, column: str, rows: int) -> sql.Composable:
    """An index of a column without the values that most rows have.

    The planner takes row-level security for more selective than it is, and would look up half of the leaf by such a
    value rather than walk the graph.
    """
    definition = sql.SQL("({})").format(sql.Identifier(column))
    if leaf.state is not ServingState.CURRENT or rows < GRAPH_FROM_ROWS:
        return definition
    query = sql.SQL(load_queries("index").prevalent_values.sql).format(
        leaf=qualified(leaf.name), column=sql.Identifier(column)
    )
    found = connection.execute(query, {"most": int(rows * GRAPH_UP_TO_SHARE)}).fetchall()
    if not found:
        return definition
    values = sql.SQL(", ").join(sql.Literal(row["value"]) for row in found)
    return definition + sql.SQL(" WHERE {} <> ALL (ARRAY[{}])").format(sql.Identifier(column), values)


def _index_frequent_products(connection: Connection, leaf: ServingLeaf, rows: int, dimensions: int) -> None:
    """Builds a graph of its own for each product that is neither rare nor most of the leaf.

    Exact search of a rare one is quick, and so is the graph of all for one that most rows have. Between them the
    graph of all finds too few of the nearest (recall@10 0.87 at a tenth of 100,000), and exact search is slow.
    """
    shares = sql.SQL(load_queries("index").frequent_products.sql).format(leaf=qualified(leaf.name))
    bounds = {"fewest": GRAPH_FROM_ROWS, "most": int(rows * GRAPH_UP_TO_SHARE)}
    for row in connection.execute(shares, bounds).fetchall():
        _give_memory(connection, row["row_count"], dimensions)
        condition = sql.SQL(" WHERE product_key = {}").format(sql.Literal(row["product_key"]))
        definition = sql.SQL(graph_method(row["row_count"])) + condition
        _index(connection, leaf, f"{_HNSW}_{sha256_hex(row['product_key'])[:8]}", definition)


def _give_memory(connection: Connection, rows: int, dimensions: int) -> None:
    memory = sql.Literal(f"{build_memory_mb(rows, dimensions)}MB")
    connection.execute(sql.SQL("SET LOCAL maintenance_work_mem = {}").format(memory))


def _index(connection: Connection, leaf: ServingLeaf, kind: str, definition: sql.Composable) -> None:
    if relation_exists(connection, leaf.index_name(kind)):
        return
    statement = sql.SQL("CREATE {} {} ON {} {}").format(
        sql.SQL("UNIQUE INDEX" if kind == _KEY else "INDEX"),
        sql.Identifier(leaf.index_name(kind)),
        qualified(leaf.name),
        definition,
    )
    _build(connection, statement)


def build_memory_mb(rows: int, dimensions: int) -> int:
    """Memory of an HNSW build in MB, within bounds: vector, neighbours and overhead of every row.

    >>> build_memory_mb(1_000, 384), build_memory_mb(100_000, 384), build_memory_mb(10_000_000, 384)
    (64, 157, 2048)
    """
    smallest, largest = _BUILD_MEMORY_MB
    m = SMALL_M if rows <= SMALL_GRAPH_ROWS else HNSW_M
    return min(max(rows * (2 * dimensions + 48 * m + 120) // 1_048_576, smallest), largest)


def _build(connection: Connection, statement: sql.Composed) -> None:
    try:
        with connection.transaction():
            connection.execute(statement)
    except (errors.DiskFull, errors.OutOfMemory):
        # A parallel build keeps its graph in shared memory, which containers are often short of.
        connection.execute("SET LOCAL max_parallel_maintenance_workers = 0")
        connection.execute(statement)
