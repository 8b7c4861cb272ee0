"""Read sessions: what a reader, or the evaluation of a staged generation, may see, and how HNSW is searched."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date

from psycopg import errors

from corpus_pipeline.errors import StoreError
from corpus_pipeline.store import Connection, Database

__all__ = ["EF_SEARCH", "read_session", "use_search_settings"]

EF_SEARCH = 200
READER = "corpus_reader"
EVALUATOR = "corpus_evaluator"

_SEARCH_SETTINGS = {
    "hnsw.ef_search": str(EF_SEARCH),
    # Filters are applied after the graph: without going on, a filtered search returns too few rows.
    "hnsw.iterative_scan": "strict_order",
    "jit": "off",
}


@contextmanager
def read_session(
    database: Database,
    *,
    groups: Sequence[str],
    as_evaluator: tuple[str, int] | None = None,
    as_of: date | None = None,
    show_archived: bool = True,
) -> Iterator[Connection]:
    """A read-only transaction under row-level security; all its queries see one moment.

    Serving tables show the published generation of every corpus, as far as ``groups`` allow.

    Args:
        database: Its login must be allowed to act as corpus_reader and corpus_evaluator.
        groups: Access groups of whoever asks; without any, nothing is seen.
        as_evaluator: Corpus and generation to see instead of that corpus's published one.
        as_of: The day for which validity is checked; today in UTC when absent.
        show_archived: Also show what is kept out of answers, for explaining it. Such a caller
            filters ``serving_state`` and validity itself. Otherwise only rows that may answer are seen.

    Raises:
        StoreError: The login may not act as these roles.
    """
    with database.connection() as connection:
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        try:
            connection.execute(f"SET LOCAL ROLE {EVALUATOR if as_evaluator else READER}")
        except errors.InsufficientPrivilege as error:
            raise StoreError(
                "this database login may not act as a reader",
                remedy=f"As administrator: GRANT {READER}, {EVALUATOR} TO <login> WITH SET TRUE, INHERIT FALSE",
            ) from error
        use_search_settings(connection)
        connection.execute(
            "SELECT set_config('corpus.groups', %s::text[]::text, true), set_config('corpus.as_of', %s, true),"
            " set_config('corpus.show_archived', %s, true), set_config('corpus.evaluate_generation', %s, true)",
            (
                list(groups),
                as_of.isoformat() if as_of else "",
                "on" if show_archived else "off",
                f"{as_evaluator[0]}:{as_evaluator[1]}" if as_evaluator else "",
            ),
        )
        yield connection


def use_search_settings(connection: Connection) -> None:
    """Sets how HNSW is searched, until the transaction ends."""
    for name, value in _SEARCH_SETTINGS.items():
        connection.execute("SELECT set_config(%s, %s, true)", (name, value))
