"""Reads fragments from the serving tables; writes nothing.

The text of a query never reaches the server: only its vector, the numbers of its words and the values of filters, bound
or quoted by the connection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from functools import lru_cache
from typing import Any, LiteralString, NamedTuple, cast

from pgvector import HalfVector
from psycopg import Cursor, sql
from psycopg.pq import PipelineStatus
from psycopg.rows import tuple_row
from psycopg.types.json import Jsonb

from corpus_pipeline.index import EF_SEARCH, analyser_of, leaves
from corpus_pipeline.records import ServingState
from corpus_pipeline.retrieval.budget import SectionText
from corpus_pipeline.retrieval.candidate import Candidate
from corpus_pipeline.retrieval.graph_width import graph_width
from corpus_pipeline.retrieval.request import SearchFilters, SearchLimits
from corpus_pipeline.retrieval.rows import FRAGMENT_COLUMNS, FragmentRow, SearchTarget, Vector, found_by_vector
from corpus_pipeline.store import Connection, load_queries

__all__ = [
    "NearestLookup",
    "SentLookup",
    "best_of_documents",
    "counted_rows",
    "facet_rows",
    "graph_scans",
    "leaf_of",
    "nearest_of_state",
    "parent_texts",
    "pipelined",
    "prefer_graph",
    "prefer_nothing",
    "send_words",
    "widen_scan",
]

MAX_EF_SEARCH = 1000
EXACT_UP_TO_ROWS = 2_000
"""So few rows are looked at one by one as soon as the graph is walked."""
LONGEST_FILTERS = 2_000
"""Characters of filters that may stand in the text of a query, which this process, psycopg and the server all keep."""

_CHEAPER_TO_READ = {
    # Nearly always empty, and NULL need not be parsed; a vector as bytes need not become an object of its own.
    "also_in": "nullif(also_in, '[]')",
    "attributes": "nullif(attributes, '{}')",
    "embedding": "public.halfvec_send(embedding)",
}
_COLUMNS = ", ".join(_CHEAPER_TO_READ.get(name, name) for name in FRAGMENT_COLUMNS)
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


PreferWidth = Callable[[int | None], None]
"""Prefers a graph walked so wide, ``None`` no graph, for what is sent next."""


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
        self._begun: list[FragmentRow] = []

    def wait(self) -> None:
        """Waits for the answer, and for all sent to the session meanwhile; its rows are read later."""
        if self._cursor is not None:
            self._begun += self._cursor.fetchmany(1)

    def rows(self) -> list[FragmentRow]:
        """Its rows, best first, once; waits for all that was sent to the session, unless :meth:`wait` has done so."""
        rows = [] if self._cursor is None else [*self._begun, *self._cursor.fetchall()]
        self._begun = []
        if self._otherwise is not None and len(rows) < self._at_least:
            return self._otherwise().fetchall()
        return rows


def leaf_of(target: SearchTarget) -> str:
    """Name of the leaf with the current rows of a target."""
    return f"serving.{leaves(target.table, target.corpus)[0].name}"


def counted_rows(connection: Connection, names: Sequence[str]) -> dict[str, int | None]:
    """About how many rows each of some tables has, by name; ``None`` where they were never counted."""
    counted = load_queries("retrieval").counted_rows(connection, names=list(names))
    return {row["name"]: None if row["rows"] is None or row["rows"] < 0 else int(row["rows"]) for row in counted}


class NearestLookup:
    """A lookup of the nearest fragments that the session may see and that meet every filter; it wants only the vector.

    Args:
        connection: A read session in a pipeline; its role and groups decide what is seen.
        target: Names corpus and table.
        leaf_rows: About how many current rows that has; ``None`` when they were never counted.
        filters: All of them must be met.
        limits: How many to fetch.
        as_of: The day on which documents must be in force.

    Attributes:
        width: How wide the graph is to be walked, for :func:`graph_scans`; ``None`` where rows are compared one by one.
    """

    def __init__(
        self,
        connection: Connection,
        target: SearchTarget,
        leaf_rows: int | None,
        filters: SearchFilters,
        limits: SearchLimits,
        as_of: date,
    ) -> None:
        self.connection = connection
        self._target = target
        self._values: dict[str, Any] = {
            "corpus": target.corpus,
            "as_of": as_of,
            "fetch_limit": limits.fetch_limit,
            "filters": Jsonb(filters.as_json()),
        }
        self._scope = _Scope.quoted(connection, filters, as_of)
        is_exact = leaf_rows is not None and leaf_rows <= EXACT_UP_TO_ROWS
        is_long = len(self._scope.filters) > LONGEST_FILTERS
        self.width = None if is_exact or is_long else graph_width(leaf_rows, filters)

    def send(self, vector: Vector, prefer: PreferWidth) -> SentLookup:
        """Tells the server.

        Args:
            vector: float32, shape (dimensions,), L2-normalised.
            prefer: Of :func:`graph_scans`.

        Returns:
            For :func:`found_by_vector`: at most ``limits.fetch_limit`` rows, nearest first. To be read after the end of
            :func:`graph_scans`.
        """
        prefer(self.width)
        values = self._values | {"vector": HalfVector(vector)}

        def send_exactly() -> Cursor[FragmentRow]:
            return _send(self.connection, "nearest_fragments", self._target, values)

        if self.width is None:
            return SentLookup(send_exactly())
        cursor = _send(self.connection, "nearest_by_graph", self._target, values, scope=self._scope, prepare=True)
        # The graph gives up after so many rows; where few of them pass, exact search finds those that do.
        return SentLookup(cursor, at_least=self._values["fetch_limit"], otherwise=send_exactly)


@contextmanager
def graph_scans(connection: Connection) -> Iterator[PreferWidth]:
    """Says how wide graphs are walked, and tells the server where it changes; in the end it prefers nothing again.

    After an exception the transaction has to end: its settings are as they were last.
    """
    known: int | None = None

    def prefer(width: int | None) -> None:
        nonlocal known
        if width == known:
            return
        if width is None:
            prefer_nothing(connection)
        else:
            prefer_graph(connection, width)
        known = width

    yield prefer
    prefer(None)


def send_words(
    connection: Connection,
    target: SearchTarget,
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
    return SentLookup(_send(connection, "lexical_fragments", target, values, prepare=True))


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
    query = _query("facet_rows", _Place.of(target))
    return connection.execute(query, {"corpus": target.corpus}, binary=True).fetchall()


def widen_scan(connection: Connection, fragments: int) -> None:
    """Lets the nearest-neighbour index of this transaction give as many rows as asked, in exact order."""
    load_queries("retrieval").widen_scan(connection, ef_search=str(min(fragments, MAX_EF_SEARCH)))


def prefer_graph(connection: Connection, ef_search: int) -> None:
    """Lets queries of this transaction walk the graph, but where a filter has an index that leaves few rows."""
    # In none of them does anything depend on the question.
    _prefer(connection, ef_search, others="off", plans="force_generic_plan")


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
    *,
    scope: _Scope | None = None,
    prepare: bool = False,
) -> Cursor[FragmentRow]:
    """Sends a query for fragments.

    ``prepare`` only where filters stand in the text or are a mere argument: a generic plan would carry each filter,
    given or not, into the index scan.
    """
    query = _query(name, _Place.of(target), values.get("fetch_limit"), scope)
    # Binary: vectors as text take longer to parse than to find.
    return connection.cursor(row_factory=tuple_row, binary=True).execute(query, values, prepare=prepare)


class _Scope(NamedTuple):
    """Filters and day as they stand in the text of a query."""

    filters: str
    as_of: str

    @classmethod
    def quoted(cls, connection: Connection, filters: SearchFilters, as_of: date) -> _Scope:
        """By the connection that they will be sent on: only it knows what has to be escaped."""
        values = (Jsonb(filters.as_json()), as_of)
        return cls(*(sql.Literal(value).as_string(connection).replace("%", "%%") for value in values))


class _Place(NamedTuple):
    """What of a target stands in the text of a query."""

    corpus: str
    table: str
    has_terms: bool
    is_evaluated: bool

    @classmethod
    def of(cls, target: SearchTarget) -> _Place:
        return cls(target.corpus, target.table, target.analyser is not None, target.is_evaluated)


@lru_cache(maxsize=256)
def _query(name: str, place: _Place, fetch_limit: int | None = None, scope: _Scope | None = None) -> bytes:
    """The text of a query; kept, for putting it together takes longer than sending it."""
    text = cast("LiteralString", getattr(load_queries("retrieval"), name).sql)
    in_text = {} if scope is None else {key: sql.SQL(value) for key, value in scope._asdict().items()}
    parts = {
        "columns": sql.SQL(_COLUMNS),
        "table": sql.Identifier("serving", place.table),
        "this_corpus": sql.Literal(place.corpus),
        "fetch_limit": sql.Literal(fetch_limit),
        "function": sql.Identifier("serving", _LEXICAL_FUNCTIONS[place.is_evaluated]),
        **(_FILTER_KEYS if place.has_terms else _FILTER_KEYS_BEFORE_TERMS),
    }
    return sql.SQL(text).format(**parts, **in_text).as_bytes(None)
