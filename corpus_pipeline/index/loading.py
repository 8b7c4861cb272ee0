"""Rows in and out of serving tables, in bulk: COPY and set-wise statements, never a query a row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from psycopg import sql
from psycopg.rows import scalar_row

from corpus_pipeline.errors import StageError
from corpus_pipeline.index.history import Generation
from corpus_pipeline.index.rows import (
    DOCUMENT_COLUMNS,
    FRAGMENT_COLUMNS,
    PARENT_COLUMNS,
    Column,
    DocumentPart,
    document_row,
)
from corpus_pipeline.index.tables import PARENTS_TABLE, column_definitions, qualified
from corpus_pipeline.store import Connection, PublishedDocument, load_queries

__all__ = [
    "clear_above",
    "completed",
    "copy_documents",
    "count_served",
    "insert_fragments",
    "insert_parents",
    "keep_added_rows",
    "move_locations",
    "retire_rows",
    "served_digests",
    "served_documents",
    "served_locations",
    "table_exists",
]


_WORK_MEMORY = "256MB"


def completed(query: str, **names: sql.Composable) -> sql.Composed:
    """A named query of this room with its ``{names}`` filled in, quoted."""
    return sql.SQL(getattr(load_queries("index"), query).sql).format(**names)


def served_digests(connection: Connection, table: str, corpus: str, generation: int) -> set[str]:
    """Row digests that a generation serves from a table; empty when the table does not exist."""
    if not table_exists(connection, table):
        return set()
    query = completed("served_digests", table=qualified(table))
    with connection.cursor(row_factory=scalar_row) as cursor:
        return set(cursor.execute(query, {"corpus": corpus, "generation": generation}).fetchall())


def served_locations(connection: Connection, table: str, corpus: str, generation: int) -> dict[str, str]:
    """``source_uri`` by document id, as a generation serves it from a table."""
    if not table_exists(connection, table):
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


def copy_documents(connection: Connection, parts: Iterable[DocumentPart]) -> None:
    """Puts what fragments share with their documents into ``pg_temp.wanted_documents``, until the transaction ends."""
    columns = (*DOCUMENT_COLUMNS, Column("fragment_head", "text"), Column("parent_head", "text"))
    # What follows joins whole corpora.
    connection.execute(sql.SQL("SET LOCAL work_mem = {}").format(sql.Literal(_WORK_MEMORY)))
    connection.execute(
        sql.SQL("CREATE TEMPORARY TABLE wanted_documents ({}, PRIMARY KEY (document_id)) ON COMMIT DROP").format(
            column_definitions(columns)
        )
    )
    with connection.cursor().copy("COPY pg_temp.wanted_documents FROM STDIN (FORMAT BINARY)") as copy:
        copy.set_types([column.type for column in columns])
        for part in parts:
            copy.write_row(document_row(part))
    connection.execute("ANALYZE pg_temp.wanted_documents")


def keep_added_rows(connection: Connection, table: str, corpus: str, kind: str, *, base: int) -> None:
    """Puts the wanted rows that the base generation lacks into ``pg_temp.added_<kind>``, until the transaction ends.

    Args:
        connection: In the transaction that made the plan.
        table: That serves the rows, in schema serving.
        corpus: Whose rows.
        kind: ``fragments`` or ``parents``.
        base: The published generation.
    """
    added = sql.Identifier("pg_temp", f"added_{kind}")
    query = completed(
        "keep_added_rows", added=added, wanted=sql.Identifier("pg_temp", f"wanted_{kind}"), table=qualified(table)
    )
    connection.execute(query, {"corpus": corpus, "base": base})
    connection.execute(sql.SQL("ANALYZE {}").format(added))


def insert_fragments(
    connection: Connection, partition: str, *, embedding_fingerprint: str, analyser_fingerprint: str, generation: int
) -> int:
    """Adds the fragments kept by :func:`keep_added_rows`; no row passes through the client.

    Returns:
        How many were added.
    """
    columns = (*FRAGMENT_COLUMNS, *DOCUMENT_COLUMNS)
    values = [sql.Identifier("f", column.name) for column in FRAGMENT_COLUMNS]
    values += [sql.Identifier("d", column.name) for column in DOCUMENT_COLUMNS]
    return connection.execute(
        completed(
            "insert_fragments",
            partition=qualified(partition),
            columns=_names(columns),
            values=sql.SQL(", ").join(values),
        ),
        {"fingerprint": embedding_fingerprint, "analyser": analyser_fingerprint, "generation": generation},
    ).rowcount


def insert_parents(connection: Connection, partition: str, *, generation: int) -> int:
    """Adds the parents kept by :func:`keep_added_rows`, and returns how many."""
    shared = {column.name for column in DOCUMENT_COLUMNS}
    values = [sql.Identifier("d" if column.name in shared else "p", column.name) for column in PARENT_COLUMNS]
    query = completed(
        "insert_parents",
        partition=qualified(partition),
        columns=_names(PARENT_COLUMNS),
        values=sql.SQL(", ").join(values),
    )
    return connection.execute(query, {"generation": generation}).rowcount


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


def _names(columns: Sequence[Column]) -> sql.Composed:
    return sql.SQL(", ").join(sql.Identifier(column.name) for column in columns)


def table_exists(connection: Connection, table: str) -> bool:
    """Whether the schema serving has that table."""
    row = connection.execute("SELECT to_regclass(%s) IS NOT NULL AS known", (f"serving.{table}",)).fetchone()
    return bool(row and row["known"])
