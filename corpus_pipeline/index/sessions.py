"""Read sessions: what a reader, or the evaluation of a staged generation, may see, and how HNSW is searched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import date
from functools import lru_cache

from psycopg import errors, sql

from corpus_pipeline.errors import StoreError
from corpus_pipeline.store import Connection, Database

__all__ = ["EF_SEARCH", "read_session", "search_width", "use_search_settings"]

EF_SEARCH = 110
"""Measured with 100,000 fragments: recall@10 is 1.00 of all and 0.99 of a tenth; 200 is half as fast."""
_WIDTHS = ((200_000, EF_SEARCH), (500_000, 200))
_LARGEST_WIDTH = 400
"""Of a million rows 110 finds 0.89 of the nearest, 400 0.96."""

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
    begin = _begin(groups, as_evaluator, as_of, show_archived)
    with ExitStack() as stack:
        try:
            connection = stack.enter_context(database.begun(begin))
        except errors.InsufficientPrivilege as error:
            raise StoreError(
                "this database login may not act as a reader",
                remedy=f"As administrator: GRANT {READER}, {EVALUATOR} TO <login> WITH SET TRUE, INHERIT FALSE",
            ) from error
        yield connection


def _begin(
    groups: Sequence[str], as_evaluator: tuple[str, int] | None, as_of: date | None, show_archived: bool
) -> sql.Composed:
    evaluated = f"{as_evaluator[0]}:{as_evaluator[1]}" if as_evaluator else ""
    # Names of groups may be anything: they are quoted each time, by the connection that they are sent on.
    return sql.Composed(
        [
            _begin_of(EVALUATOR if as_evaluator else READER, as_of, show_archived),
            sql.SQL(
                ", set_config('corpus.evaluate_generation', {}, true),"
                " set_config('corpus.groups', {}::text[]::text, true)"
            ).format(evaluated, list(groups)),
        ]
    )


@lru_cache(maxsize=64)
def _begin_of(role: str, as_of: date | None, show_archived: bool) -> sql.SQL:
    local = {
        **_SEARCH_SETTINGS,
        "corpus.as_of": as_of.isoformat() if as_of else "",
        "corpus.show_archived": "on" if show_archived else "off",
    }
    text = sql.SQL("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL ROLE {role}; SELECT {local}").format(
        role=sql.Identifier(role), local=_set_locally(local)
    )
    # Put together once: this takes longer than sending it.
    return sql.SQL(text.as_string(None))


def search_width(leaf_rows: int | None) -> int:
    """How wide the graph of a leaf is walked (``hnsw.ef_search``).

    Args:
        leaf_rows: About how many rows the leaf has; ``None`` when they were never counted.

    >>> search_width(10_000), search_width(100_000), search_width(1_000_000)
    (110, 110, 400)
    """
    if leaf_rows is None:
        return EF_SEARCH
    return next((width for most, width in _WIDTHS if leaf_rows <= most), _LARGEST_WIDTH)


def use_search_settings(connection: Connection, leaf_rows: int) -> None:
    """Sets how the graph of a leaf of so many rows is searched, until the transaction ends."""
    settings = _SEARCH_SETTINGS | {"hnsw.ef_search": str(search_width(leaf_rows))}
    connection.execute(sql.SQL("SELECT {}").format(_set_locally(settings)))


def _set_locally(settings: Mapping[str, str]) -> sql.Composed:
    calls = (sql.SQL("set_config({}, {}, true)").format(name, value) for name, value in settings.items())
    return sql.SQL(", ").join(calls)
