"""Serving tables: their names, and making them on demand without disturbing readers.

A table is made in a short transaction of its own, before anything is loaded. A partition is built
apart, filled, indexed and attached at the end of the same transaction, which conflicts with no reader
and keeps its rows and indexes out of the log of a server with ``wal_level = minimal``. Searching HNSW
or words needs an index on each leaf (leaf_indexes).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from psycopg import sql

from corpus_pipeline.index.analyser import LEVELS, TERM_BUCKETS
from corpus_pipeline.index.rows import DOCUMENT_COLUMNS, FRAGMENT_COLUMNS, Column
from corpus_pipeline.records import ServingState, sha256_hex
from corpus_pipeline.store import Connection

__all__ = [
    "PARENTS_TABLE",
    "SCHEMA",
    "ServingLeaf",
    "attach_partitions",
    "column_definitions",
    "ensure_serving_table",
    "fragments_partition",
    "leaves",
    "make_partitions",
    "parents_partition",
    "qualified",
    "relation_exists",
    "serving_table_name",
    "table_dimensions",
]

SCHEMA = "serving"
PARENTS_TABLE = "parents"
LAYOUT = 3
_DDL_LOCK = "corpus_pipeline:serving tables"
_MOST_INLINE_DIMENSIONS = 2000  # a row must fit a page of 8 KB
_UNANALYSED = (
    "embedding",
    "text",
    "text_sha256",
    "embedded_sha256",
    "row_sha256",
    "term_levels",
)
_TOAST_TARGET_BYTES = 4096  # long texts go aside, vector and terms stay in the row
_PARTITION_FILLFACTOR = 90  # room for the update that retires a row, so that it need not enter the indexes again


@dataclass(frozen=True)
class ServingLeaf:
    """One leaf of a serving table: a corpus and a serving state."""

    table: str
    corpus: str
    state: ServingState

    @property
    def name(self) -> str:
        """Table name of the leaf, at most 63 characters."""
        return f"{_partition_name(self.table, self.corpus)}_{self.state}"

    def index_name(self, kind: str) -> str:
        """Name of one of its indexes, at most 63 characters."""
        return f"{self.table}_{sha256_hex(self.corpus)[:12]}_{self.state}_{kind}"


def serving_table_name(embedding_fingerprint: str, analyser_fingerprint: str) -> str:
    """Table that serves vectors and terms of those fingerprints in the present layout.

    Another layout has other names, so that a table of the one before serves until its corpus is staged again.

    >>> serving_table_name("0123456789abcdef", "fedcba9876543210")
    'fragments_10cad33d69b0'
    """
    return f"fragments_{sha256_hex(f'{LAYOUT} {embedding_fingerprint} {analyser_fingerprint}')[:12]}"


def qualified(table: str) -> sql.Identifier:
    """The quoted name of a table of schema serving."""
    return sql.Identifier(SCHEMA, table)


def leaves(table: str, corpus: str) -> tuple[ServingLeaf, ServingLeaf]:
    """The leaves of a corpus: current, archived."""
    return ServingLeaf(table, corpus, ServingState.CURRENT), ServingLeaf(table, corpus, ServingState.ARCHIVED)


def fragments_partition(table: str, corpus: str) -> str:
    """Name of a corpus's partition of a serving table."""
    return _partition_name(table, corpus)


def parents_partition(corpus: str) -> str:
    """Name of a corpus's partition of serving.parents."""
    return _partition_name(PARENTS_TABLE, corpus)


def ensure_serving_table(connection: Connection, table: str, *, dimensions: int) -> None:
    """Makes the table of an embedding fingerprint if it is absent; commits with the caller.

    Args:
        connection: In a transaction of its own, for a lock is held to its end.
        table: From :func:`serving_table_name`.
        dimensions: Of the vectors.
    """
    _lock(connection)
    if relation_exists(connection, table):
        return
    connection.execute(
        sql.SQL("CREATE TABLE {} ({}) PARTITION BY LIST (corpus)").format(qualified(table), _all_columns(dimensions))
    )
    connection.execute("SELECT corpus.protect_serving_table(%s, %s)", (table, table))


def table_dimensions(connection: Connection, table: str) -> int | None:
    """Dimensions of a serving table's vectors; ``None`` while there is no such table."""
    row = connection.execute(
        "SELECT atttypmod FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attname = 'embedding'",
        (f"{SCHEMA}.{table}",),
    ).fetchone()
    return int(row["atttypmod"]) if row else None


def make_partitions(connection: Connection, table: str, corpus: str) -> list[str]:
    """Makes the partitions of a corpus that a fragments table and serving.parents lack, apart from them.

    They can be loaded and indexed by their names; :func:`attach_partitions` makes them part of their tables.

    Args:
        connection: In the transaction that loads and attaches them.
        table: From :func:`serving_table_name`.
        corpus: Whose loads nobody else does at the same time.

    Returns:
        The tables that lack them: none, ``table``, ``parents`` or both.
    """
    lacking = []
    partition = fragments_partition(table, corpus)
    if not relation_exists(connection, partition):
        connection.execute(
            sql.SQL(
                "CREATE TABLE {} (LIKE {} INCLUDING STORAGE INCLUDING GENERATED INCLUDING DEFAULTS, {})"
                " PARTITION BY LIST (serving_state)"
            ).format(qualified(partition), qualified(table), _only(corpus))
        )
        for leaf in leaves(table, corpus):
            _make_leaf(connection, leaf.name, partition, leaf.state)
        lacking.append(table)
    parents = parents_partition(corpus)
    if not relation_exists(connection, parents):
        connection.execute(
            sql.SQL(
                "CREATE TABLE {} (LIKE {}, PRIMARY KEY (parent_id, generation_from), {}) WITH (fillfactor = {})"
            ).format(qualified(parents), qualified(PARENTS_TABLE), _only(corpus), sql.Literal(_PARTITION_FILLFACTOR))
        )
        lacking.append(PARENTS_TABLE)
    return lacking


def attach_partitions(connection: Connection, tables: Sequence[str], corpus: str) -> None:
    """Attaches what :func:`make_partitions` has made, once it is loaded: locks are held from here to the end."""
    if tables:
        _lock(connection)
    for table in tables:
        partition = qualified(_partition_name(table, corpus))
        connection.execute(sql.SQL("ALTER TABLE {} ENABLE ROW LEVEL SECURITY").format(partition))
        connection.execute(
            sql.SQL("ALTER TABLE {} ATTACH PARTITION {} FOR VALUES IN ({})").format(
                qualified(table), partition, sql.Literal(corpus)
            )
        )
        connection.execute(sql.SQL("ALTER TABLE {} DROP CONSTRAINT {}").format(partition, _ONLY))


def column_definitions(columns: Sequence[Column]) -> sql.Composed:
    """``name type [NOT NULL], …`` for CREATE TABLE."""
    return sql.SQL(", ").join(
        sql.SQL("{} {}{}").format(
            sql.Identifier(column.name), sql.SQL(column.type), sql.SQL("" if column.nullable else " NOT NULL")
        )
        for column in columns
    )


_FILTER_KEYS = ", ".join(
    f"{name}_key text GENERATED ALWAYS AS ({expression}) STORED"
    for name, expression in (
        ("product", "lower(product)"),
        ("domain", "lower(domain)"),
        ("audience", "lower(audience)"),
        ("source_class", "lower(source_class)"),
        # What declares none holds everywhere.
        ("region", "coalesce(lower(region), '')"),
        ("environment", "coalesce(lower(environment), '')"),
    )
)
"""What filters compare: under row-level security only an equality of a plain column can use an index."""

_READ_FIRST = ("corpus", "serving_state", "acl_groups", "valid_from", "valid_until", "answer_use")
"""Of a document, what permissions and every search look at."""


def _all_columns(dimensions: int) -> sql.Composed:
    """Definitions of all columns: what is read of every row that is looked at comes first.

    PostgreSQL walks a row from its beginning to the last column that is asked for. Exact search under a
    filter looks at thousands of rows, and spent half its time walking past columns that it did not want.
    """
    shared = {column.name: column for column in DOCUMENT_COLUMNS}
    first = [shared.pop(name) for name in _READ_FIRST]
    name, *others = FRAGMENT_COLUMNS
    # In the row, not beside it: exact search and index builds read the vector of every row.
    storage = "PLAIN" if dimensions <= _MOST_INLINE_DIMENSIONS else "EXTERNAL"
    return sql.SQL(", ").join(
        (
            sql.SQL(
                "generation_from integer NOT NULL, generation_to integer, is_boilerplate boolean NOT NULL DEFAULT false"
            ),
            column_definitions([*first, name]),
            sql.SQL(_FILTER_KEYS),
            sql.SQL(f"embedding halfvec({dimensions}) STORAGE {storage} NOT NULL"),
            sql.SQL("term_count integer NOT NULL, terms integer[] STORAGE MAIN NOT NULL"),
            sql.SQL(f"term_levels sparsevec({LEVELS * TERM_BUCKETS}) STORAGE MAIN NOT NULL"),
            sql.SQL("row_sha256 text NOT NULL"),
            column_definitions([*others, *shared.values()]),
            sql.SQL("also_in jsonb NOT NULL DEFAULT '[]'"),
        )
    )


def _partition_name(table: str, corpus: str) -> str:
    return f"{table}_{corpus[:20]}_{sha256_hex(corpus)[:8]}"


def _lock(connection: Connection) -> None:
    connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (_DDL_LOCK,))


def relation_exists(connection: Connection, relation: str) -> bool:
    """Whether the schema serving has a table or index of that name."""
    row = connection.execute(
        "SELECT 1 FROM pg_class WHERE relnamespace = %s::regnamespace AND relname = %s",
        (SCHEMA, relation),
    ).fetchone()
    return row is not None


def _make_leaf(connection: Connection, name: str, partition: str, state: str) -> None:
    connection.execute(
        sql.SQL(
            "CREATE TABLE {} PARTITION OF {} FOR VALUES IN ({}) WITH (fillfactor = {}, toast_tuple_target = {})"
        ).format(
            qualified(name),
            qualified(partition),
            sql.Literal(str(state)),
            sql.Literal(_PARTITION_FILLFACTOR),
            sql.Literal(_TOAST_TARGET_BYTES),
        )
    )
    connection.execute(sql.SQL("ALTER TABLE {} ENABLE ROW LEVEL SECURITY").format(qualified(name)))
    # Their statistics cost more than all others together, and no filter uses them.
    targets = [sql.SQL("ALTER COLUMN {} SET STATISTICS 0").format(sql.Identifier(column)) for column in _UNANALYSED]
    connection.execute(sql.SQL("ALTER TABLE {} {}").format(qualified(name), sql.SQL(", ").join(targets)))


_ONLY = sql.Identifier("only_this_corpus")


def _only(corpus: str) -> sql.Composed:
    """A constraint that spares attaching a look at every row."""
    return sql.SQL("CONSTRAINT {} CHECK (corpus = {})").format(_ONLY, sql.Literal(corpus))
