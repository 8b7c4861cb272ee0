"""Rows in and out of serving tables, in bulk: COPY and set-wise statements, never a query a row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from psycopg import sql

from corpus_pipeline.errors import StageError
from corpus_pipeline.index.history import Generation
from corpus_pipeline.index.rows import DOCUMENT_COLUMNS, FRAGMENT_COLUMNS, PARENT_COLUMNS, Column
from corpus_pipeline.index.tables import PARENTS_TABLE, column_definitions, qualified
from corpus_pipeline.store import Connection, PublishedDocument, load_queries

__all__ = [
    "clear_above",
    "completed",
    "count_served",
    "insert_fragments",
    "insert_parents",
    "move_locations",
    "retire_rows",
    "served_digests",
    "served_documents",
    "served_locations",
]

Row = tuple[str, tuple[Any, ...]]
"""Digest and values, as made by ``rows``."""

_ROW_COLUMNS = (*FRAGMENT_COLUMNS, *DOCUMENT_COLUMNS)


def completed(query: str, **names: sql.Composable) -> sql.Composed:
    """A named query of this room with its ``{names}`` filled in, quoted."""
    return sql.SQL(getattr(load_queries("index"), query).sql).format(**names)


def served_digests(connection: Connection, table: str, corpus: str, generation: int) -> set[str]:
    """Row digests that a generation serves from a table; empty when the table does not exist."""
    if not _table_exists(connection, table):
        return set()
    query = completed("served_digests", table=qualified(table))
    with connection.cursor() as cursor:
        cursor.execute(query, {"corpus": corpus, "generation": generation})
        return {row["row_sha256"] for row in cursor}


def served_locations(connection: Connection, table: str, corpus: str, generation: int) -> dict[str, str]:
    """``source_uri`` by document id, as a generation serves it from a table."""
    if not _table_exists(connection, table):
        return {}
    query = completed("served_locations", table=qualified(table))
    rows = connection.execute(query, {"corpus": corpus, "generation": generation})
    return {row["document_id"]: row["source_uri"] for row in rows}


def served_documents(connection: Connection, known: Generation) -> list[PublishedDocument]:
    """The documents that have rows in a generation, with what was decided about them."""
    rows = connection.execute(
        completed("served_documents", table=qualified(known.serving_table)),
        {"corpus": known.corpus, "generation": known.generation},
    ).fetchall()
    return [
        PublishedDocument(
            known.corpus,
            row["document_id"],
            row["document_text_sha256"],
            row["exclusion_reason"],
            row["superseded_by"],
            known.generation,
            known.root_sha256,
        )
        for row in rows
    ]


def clear_above(connection: Connection, corpus: str, published: int) -> int:
    """Removes every trace of generations above the published one, from all tables.

    Returns:
        How many rows were removed or restored.
    """
    queries = load_queries("index")
    tables = [row["serving_table"] for row in queries.serving_tables(connection, corpus=corpus)]
    touched = 0
    for table in (*tables, PARENTS_TABLE):
        for query in ("remove_rows_above", "clear_marks_above"):
            touched += connection.execute(
                completed(query, table=qualified(table)), {"corpus": corpus, "published": published}
            ).rowcount
    queries.remove_term_statistics_above(connection, corpus=corpus, published=published)
    queries.clear_term_marks_above(connection, corpus=corpus, published=published)
    queries.abandon_generations(connection, corpus=corpus, published=published)
    return touched


def insert_fragments(
    connection: Connection,
    table: str,
    rows: Iterable[Row],
    *,
    embedding_fingerprint: str,
    analyser_fingerprint: str,
    generation: int,
) -> int:
    """Adds rows to a generation; the server joins their vectors and terms from the caches.

    Returns:
        How many were added.

    Raises:
        StageError: Some have no vector or no terms.
    """
    given = _copy(connection, "incoming_fragments", _ROW_COLUMNS, rows)
    added = connection.execute(
        completed("insert_fragments", table=qualified(table), columns=_names(_ROW_COLUMNS)),
        {"fingerprint": embedding_fingerprint, "analyser": analyser_fingerprint, "generation": generation},
    ).rowcount
    if added != given:
        raise StageError(
            f"{given - added} of {given} fragments to be added to {table} have no vector or no terms",
            remedy="Run fragment_embeddings for this corpus again, then index_generation.",
        )
    return added


def insert_parents(connection: Connection, rows: Iterable[Row], *, generation: int) -> int:
    """Adds parents to a generation and returns how many."""
    _copy(connection, "incoming_parents", PARENT_COLUMNS, rows)
    return connection.execute(
        completed("insert_parents", columns=_names(PARENT_COLUMNS)), {"generation": generation}
    ).rowcount


def retire_rows(connection: Connection, table: str, corpus: str, digests: Sequence[str], *, generation: int) -> None:
    """Marks rows that a generation no longer has.

    Raises:
        StageError: Another writer has changed the table.
    """
    if not digests:
        return
    retired = connection.execute(
        completed("retire_rows", table=qualified(table)),
        {"corpus": corpus, "generation": generation, "digests": list(digests)},
    ).rowcount
    if retired != len(digests):
        raise StageError(
            f"{table} has {retired} of the {len(digests)} rows of {corpus!r} to be retired",
            remedy="Something else writes to the serving tables; stop it and run this again.",
        )


def move_locations(connection: Connection, table: str, corpus: str, moved: dict[str, str]) -> None:
    """Sets ``source_uri`` of documents that lie elsewhere now."""
    if not moved:
        return
    with connection.cursor() as cursor:
        cursor.executemany(
            completed("move_location", table=qualified(table)),
            [{"corpus": corpus, "document_id": key, "source_uri": uri} for key, uri in moved.items()],
        )


def count_served(connection: Connection, table: str, corpus: str, generation: int) -> dict[str, int]:
    """What a generation serves: row_count, current_count, archived_count, documents_current, without_vector."""
    row = connection.execute(
        completed("count_served", table=qualified(table)), {"corpus": corpus, "generation": generation}
    ).fetchone()
    return {key: int(value) for key, value in (row or {}).items()}


def _copy(connection: Connection, temporary: str, columns: Sequence[Column], rows: Iterable[Row]) -> int:
    columns = (*columns, Column("row_sha256", "text"))
    connection.execute(
        sql.SQL("CREATE TEMPORARY TABLE {} ({}) ON COMMIT DROP").format(
            sql.Identifier(temporary), column_definitions(columns)
        )
    )
    statement = sql.SQL("COPY {} FROM STDIN (FORMAT BINARY)").format(sql.Identifier("pg_temp", temporary))
    given = 0
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        copy.set_types([column.type for column in columns])
        for row_sha256, values in rows:
            copy.write_row((*values, row_sha256))
            given += 1
    return given


def _names(columns: Sequence[Column]) -> sql.Composed:
    return sql.SQL(", ").join(sql.Identifier(column.name) for column in columns)


def _table_exists(connection: Connection, table: str) -> bool:
    row = connection.execute("SELECT to_regclass(%s) IS NOT NULL AS known", (f"serving.{table}",)).fetchone()
    return bool(row and row["known"])
