"""The named queries of ``sql/queries/trust.sql``, completed with the names of serving tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, LiteralString, cast

from psycopg import sql

from corpus_pipeline.store import Connection, load_queries

__all__ = ["all_rows", "completed", "copy_heads", "each_row", "one_row", "one_value", "row_values"]

PORTION_ROWS = 1000
"""Rows that are in memory at once, of queries with a row a document or a fragment."""


def completed(query: str, **names: sql.Composable) -> sql.Composed:
    """A named query of this room with its ``{names}`` filled in, quoted."""
    return sql.SQL(cast("LiteralString", getattr(load_queries("trust"), query).sql)).format(**names)


def row_values(columns: Iterable[str], of: str | None = None) -> sql.Composed:
    """Columns for a SELECT or a ROW(), with the alias of their table."""
    return sql.SQL(", ").join(sql.Identifier(of, name) if of else sql.Identifier(name) for name in columns)


def all_rows(connection: Connection, query: sql.Composed, values: dict[str, Any]) -> list[dict[str, Any]]:
    """All rows of a completed query."""
    return connection.execute(query, values).fetchall()


def each_row(
    connection: Connection, query: sql.Composed, values: dict[str, Any], *, name: str
) -> Iterator[dict[str, Any]]:
    """Rows of a completed query one after the other, read in portions while the transaction lasts.

    Args:
        connection: In a transaction.
        query: Of any number of rows.
        values: Its parameters.
        name: Of the cursor; two that are open at once have different ones.
    """
    with connection.cursor(name=name) as cursor:
        cursor.itersize = PORTION_ROWS
        cursor.execute(query, values)
        yield from cursor


def one_row(connection: Connection, query: sql.Composed, values: dict[str, Any]) -> dict[str, Any] | None:
    """The first row of a completed query."""
    return connection.execute(query, values).fetchone()


def one_value(connection: Connection, query: sql.Composed, values: dict[str, Any]) -> int:
    """The only number of the first row."""
    row = connection.execute(query, values).fetchone()
    return int(next(iter(row.values()))) if row else 0


def copy_heads(connection: Connection, table: str, heads: Iterable[Sequence[str]]) -> None:
    """Puts beginnings of row digests into a temporary table, until the transaction ends."""
    name = sql.Identifier(table)
    connection.execute(sql.SQL("CREATE TEMPORARY TABLE {} (values_key text, head text) ON COMMIT DROP").format(name))
    source = iter(heads)
    # A portion at a time: the heads may themselves be read through this connection, which a COPY occupies.
    while portion := list(islice(source, PORTION_ROWS)):
        with connection.cursor().copy(sql.SQL("COPY pg_temp.{} FROM STDIN").format(name)) as copy:
            for row in portion:
                copy.write_row(row)
    connection.execute(sql.SQL("ANALYZE pg_temp.{}").format(name))
