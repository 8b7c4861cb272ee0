"""Reads fragments from the serving tables; writes nothing.

The text of a query never reaches the server: only its vector, the numbers of its words and the bound values of filters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from typing import Any, LiteralString, cast

from pgvector import HalfVector
from psycopg import Cursor, sql
from psycopg.pq import PipelineStatus
from psycopg.rows import tuple_row
from psycopg.types.json import Jsonb

from corpus_pipeline.index import EF_SEARCH, analyser_of, leaves, search_width
from corpus_pipeline.records import ServingState
from corpus_pipeline.retrieval.budget import SectionText
from corpus_pipeline.retrieval.candidate import Candidate
from corpus_pipeline.retrieval.request import SearchFilters, SearchLimits
from corpus_pipeline.retrieval.rows import FRAGMENT_COLUMNS, FragmentRow, SearchTarget, Vector, found_by_vector
from corpus_pipeline.store import Connection, load_queries

__all__ = [
    "Measures",
    "SentLookup",
    "best_of_documents",
    "facet_rows",
    "measures",
    "nearest_fragments",
    "nearest_of_state",
    "parent_texts",
    "pipelined",
    "prefer_graph",
    "prefer_nothing",
    "scan_width",
    "send_nearest",
    "send_words",
    "widen_scan",
]

MAX_EF_SEARCH = 1000
UNINDEXED_EF_SEARCH = 800
"""For filters that no index serves: the graph meets ten or twenty rows for one that passes."""
ONE_PLAN = "force_generic_plan"
"""Of ``plan_cache_mode``: for statements in which nothing depends on the question."""
SMALL_LEAF_ROWS = 50_000
FILTERED_EF_SEARCH = 160
"""In a small leaf the nearest that pass lie far apart: of a value that half of 10,000 rows have, 110 finds 0.983."""
EXACT_UP_TO_ROWS = 2_000
"""So few rows are looked at one by one as soon as the graph is walked."""

_COLUMNS = sql.SQL(", ").join(sql.Identifier(name) for name in FRAGMENT_COLUMNS)
_LEXICAL_FUNCTIONS = {False: "lexical_candidates", True: "evaluated_lexical_candidates"}
_FILTER_KEYS = {
    f"{name}_key": sql.SQL(f"{name}_key")
    for name in ("product", "domain", "audience", "source_class", "region", "environment")
}
_FILTER_KEYS_BEFORE_TERMS = {
    **{f"{name}_key": sql.SQL(f"lower({name})") for name in ("product", "domain", "audience", "source_class")},
    **{f"{name}_key": sql.SQL(f"coalesce(lower({name}), '')") for name in ("region", "environment")},
}
"""Tables of the layout before lexical ranking have no columns for what filters compare."""


@dataclass(frozen=True, slots=True)
class Measures:
    """What a session must know of its targets before it looks for fragments.

    Attributes:
        leaf_rows: About how many current rows each corpus has; ``None`` where they were never counted.
        may_evaluate: The session may look at a generation that is not published.
    """

    leaf_rows: Mapping[str, int | None]
    may_evaluate: bool


class SentLookup:
    """A lookup that the server has been told of.

    Args:
        cursor: That it was sent with; ``None`` where nothing had to be asked.
        at_least: Fewer rows make it look once more, by ``otherwise``.
        otherwise: Sends the second lookup.
    """

    def __init__(
        self,
        cursor: Cursor[FragmentRow] | None,
        *,
        at_least: int = 0,
        otherwise: Callable[[], Cursor[FragmentRow]] | None = None,
    ) -> None:
        self._cursor = cursor
        self._at_least = at_least
        self._otherwise = otherwise

    def rows(self) -> list[FragmentRow]:
        """Its rows, best first; waits for them and for all that was sent to the session meanwhile."""
        rows = [] if self._cursor is None else self._cursor.fetchall()
        if self._otherwise is not None and len(rows) < self._at_least:
            return self._otherwise().fetchall()
        return rows


def measures(connection: Connection, targets: Sequence[SearchTarget]) -> Measures:
    """In one question to the server.

    Args:
        connection: A read session.
        targets: Where will be looked.
    """
    tables = {target.corpus: f"serving.{leaves(target.table, target.corpus)[0].name}" for target in targets}
    known = load_queries("retrieval").measures(connection, leaves=list(tables.values()))
    return Measures(
        {
            corpus: None if rows is None or rows < 0 else int(rows)
            for corpus, rows in zip(tables, known["leaf_rows"], strict=True)
        },
        known["may_evaluate"],
    )


def nearest_fragments(
    connection: Connection,
    target: SearchTarget,
    vector: Vector,
    filters: SearchFilters,
    limits: SearchLimits,
    as_of: date,
) -> list[Candidate]:
    """The nearest fragments that the session may see and that meet every filter; see :func:`send_nearest`."""
    known = measures(connection, [target])
    with pipelined(connection):
        rows = send_nearest(connection, target, known, vector, filters, limits, as_of).rows()
    return found_by_vector(rows, target)


def send_nearest(
    connection: Connection,
    target: SearchTarget,
    known: Measures,
    vector: Vector,
    filters: SearchFilters,
    limits: SearchLimits,
    as_of: date,
) -> SentLookup:
    """Asks for the nearest fragments that the session may see and that meet every filter.

    Args:
        connection: A read session in a pipeline; its role and groups decide what is seen.
        target: Names corpus and table.
        known: Of that target.
        vector: float32, shape (dimensions,), L2-normalised.
        filters: All of them must be met.
        limits: How many to fetch.
        as_of: The day on which documents must be in force.

    Returns:
        For :func:`found_by_vector`: at most ``limits.fetch_limit`` rows, nearest first.
    """
    values = {
        "corpus": target.corpus,
        "vector": HalfVector(vector),
        "as_of": as_of,
        "fetch_limit": limits.fetch_limit,
        "filters": Jsonb(filters.as_json()),
    }
    leaf_rows = known.leaf_rows[target.corpus]

    def send_exactly() -> Cursor[FragmentRow]:
        return _send(connection, "nearest_fragments", target, values | {"exactly": True})

    if leaf_rows is not None and leaf_rows <= EXACT_UP_TO_ROWS:
        return SentLookup(send_exactly())
    width = scan_width(leaf_rows, filters)
    if filters.as_json():
        prefer_graph(connection, width)
        cursor = _send(connection, "nearest_fragments", target, values | {"exactly": False}, prepare=True)
    else:
        prefer_graph(connection, width, plans=ONE_PLAN)
        parts = {"this_corpus": sql.Literal(target.corpus), "fetch_limit": sql.Literal(limits.fetch_limit)}
        cursor = _send(connection, "nearest_by_graph", target, values, parts, prepare=True)
    prefer_nothing(connection)
    # The graph gives up after so many rows; where few of them pass, exact search finds those that do.
    return SentLookup(cursor, at_least=limits.fetch_limit, otherwise=send_exactly)


def send_words(
    connection: Connection,
    target: SearchTarget,
    known: Measures,
    query: str,
    filters: SearchFilters,
    limits: SearchLimits,
) -> SentLookup:
    """Asks for the fragments that share the most telling words with the query, as far as the session may see them.

    Exact BM25 over all fragments that meet every filter. Groups, generation and the day are those of
    the session.

    Args:
        connection: A read session in a pipeline; its role, groups and day decide what is seen.
        target: Names the corpus and how words are made.
        known: Of that target.
        query: The question in words.
        filters: All of them must be met.
        limits: How many to fetch.

    Returns:
        For :func:`found_by_words`: at most ``limits.fetch_limit`` rows with their BM25, best first; ties in order
        of fragment id. None when the query shares no word, or the corpus is served without lexical ranking.

    Raises:
        ModelUnavailableError: This installation makes words otherwise than the generation did.
    """
    terms = [] if target.analyser is None else analyser_of(target.analyser).terms(query)
    if not terms:
        return SentLookup(None)
    values = {
        "corpus": target.corpus,
        "terms": terms,
        "filters": Jsonb(filters.as_json()),
        "fetch_limit": limits.fetch_limit,
    }
    parts = {
        "function": sql.Identifier("serving", _LEXICAL_FUNCTIONS[known.may_evaluate]),
        "this_corpus": sql.Literal(target.corpus),
        "fetch_limit": sql.Literal(limits.fetch_limit),
    }
    return SentLookup(_send(connection, "lexical_fragments", target, values, parts, prepare=True))


@contextmanager
def pipelined(connection: Connection) -> Iterator[None]:
    """Sends statements without waiting for answers; within a pipeline it adds nothing, not even a wait at its end."""
    if connection.info.pipeline_status is PipelineStatus.OFF:
        with connection.pipeline():
            yield
    else:
        yield


def nearest_of_state(
    connection: Connection, target: SearchTarget, vector: Vector, state: ServingState, limit: int
) -> list[Candidate]:
    """The nearest fragments in one state, whoever may see them; for an operator's connection."""
    rows = _fragments(
        connection,
        "nearest_of_state",
        target,
        {
            "corpus": target.corpus,
            "vector": HalfVector(vector),
            "serving_state": state.value,
            "generation": target.generation,
            "fetch_limit": limit,
        },
    )
    return found_by_vector(rows, target)


def best_of_documents(
    connection: Connection, target: SearchTarget, vector: Vector, document_ids: Sequence[str]
) -> dict[str, Candidate]:
    """The nearest fragment of each named document in the generation; for an operator's connection."""
    rows = _fragments(
        connection,
        "best_of_documents",
        target,
        {
            "corpus": target.corpus,
            "vector": HalfVector(vector),
            "documents": list(document_ids),
            "generation": target.generation,
        },
    )
    return {one.document_id: one for one in found_by_vector(rows, target)}


def facet_rows(connection: Connection, target: SearchTarget) -> list[dict[str, Any]]:
    """The distinct scopes that documents declare, as far as the session may see them."""
    return connection.execute(_query("facet_rows", target, {}), {"corpus": target.corpus}, binary=True).fetchall()


def widen_scan(connection: Connection, fragments: int) -> None:
    """Lets the nearest-neighbour index of this transaction give as many rows as asked, in exact order."""
    load_queries("retrieval").widen_scan(connection, ef_search=str(min(fragments, MAX_EF_SEARCH)))


def scan_width(leaf_rows: int | None, filters: SearchFilters) -> int:
    """How wide a graph is walked (``hnsw.ef_search``).

    Args:
        leaf_rows: Of the leaf that it is of; ``None`` when they were never counted.
        filters: Those that no index serves need the widest walk.

    >>> scan_width(100_000, SearchFilters()), scan_width(100_000, SearchFilters(plan_tier="free"))
    (110, 800)
    >>> scan_width(10_000, SearchFilters(product="Relay")), scan_width(100_000, SearchFilters(product="Relay"))
    (160, 110)
    """
    if filters.plan_tier or filters.attributes:
        return UNINDEXED_EF_SEARCH
    if filters.as_json() and leaf_rows is not None and leaf_rows <= SMALL_LEAF_ROWS:
        return FILTERED_EF_SEARCH
    return search_width(leaf_rows)


def prefer_graph(connection: Connection, ef_search: int, *, plans: str = "force_custom_plan") -> None:
    """Lets queries of this transaction walk the graph, but where a filter has an index that leaves few rows."""
    _prefer(connection, ef_search, others="off", plans=plans)


def prefer_nothing(connection: Connection) -> None:
    """Undoes :func:`prefer_graph`."""
    _prefer(connection, EF_SEARCH, others="on", plans="auto")


def _prefer(connection: Connection, ef_search: int, **settings: str) -> None:
    # Nothing is fetched, so that a pipeline need not wait for it.
    connection.execute(load_queries("retrieval").prefer_graph.sql, {"ef_search": str(ef_search), **settings})


def parent_texts(connection: Connection, candidates: Sequence[Candidate]) -> dict[str, SectionText]:
    """Text of each candidate's parent, by parent id, as far as the session may see it."""
    if not candidates:
        return {}
    rows = load_queries("retrieval").parent_texts(
        connection,
        corpora=sorted({candidate.corpus for candidate in candidates}),
        parent_ids=sorted({candidate.parent_id for candidate in candidates}),
    )
    return {row["parent_id"]: SectionText(row["text"], row["token_count"]) for row in rows}


def _fragments(connection: Connection, name: str, target: SearchTarget, values: Mapping[str, Any]) -> list[FragmentRow]:
    return _send(connection, name, target, values).fetchall()


def _send(
    connection: Connection,
    name: str,
    target: SearchTarget,
    values: Mapping[str, Any],
    parts: Mapping[str, sql.Composable] | None = None,
    *,
    prepare: bool = False,
) -> Cursor[FragmentRow]:
    """Sends a query for fragments.

    ``prepare`` only where every question gets a plan of its own or filters are a mere argument: a generic plan would
    carry each filter, given or not, into the index scan.
    """
    query = _query(name, target, {"columns": _COLUMNS, **(parts or {})})
    # Binary: vectors as text take longer to parse than to find.
    return connection.cursor(row_factory=tuple_row, binary=True).execute(query, values, prepare=prepare)


def _query(name: str, target: SearchTarget, parts: Mapping[str, sql.Composable]) -> sql.Composed:
    text = cast("LiteralString", getattr(load_queries("retrieval"), name).sql)
    keys = _FILTER_KEYS if target.analyser is not None else _FILTER_KEYS_BEFORE_TERMS
    return sql.SQL(text).format(table=sql.Identifier("serving", target.table), **parts, **keys)
