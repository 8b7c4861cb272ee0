"""Reads fragments from the serving tables; writes nothing.

The text of a query never comes here: only its vector and the bound values of filters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, LiteralString, cast

import numpy as np
import numpy.typing as npt
from pgvector import HalfVector
from psycopg import Cursor, sql
from psycopg.types.json import Jsonb

from corpus_pipeline.index import EF_SEARCH, analyser_of, leaves, search_width
from corpus_pipeline.records import ServingState
from corpus_pipeline.retrieval.budget import SectionText
from corpus_pipeline.retrieval.candidate import SCORE_PLACES, Candidate
from corpus_pipeline.retrieval.request import SearchFilters, SearchLimits
from corpus_pipeline.store import Connection, load_queries

__all__ = [
    "LexicalRows",
    "SearchTarget",
    "best_of_documents",
    "facet_rows",
    "lexical_candidates",
    "lexical_rows",
    "nearest_fragments",
    "nearest_of_state",
    "parent_texts",
    "prefer_graph",
    "prefer_nothing",
    "scan_width",
    "widen_scan",
]

Vector = npt.NDArray[np.float32]

MAX_EF_SEARCH = 1000
UNINDEXED_EF_SEARCH = 800
"""For filters that no index serves: the graph meets ten or twenty rows for one that passes."""
EXACT_UP_TO_ROWS = 2_000
"""So few rows are looked at one by one as soon as the graph is walked."""

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

METADATA_COLUMNS = (
    "product",
    "domain",
    "plan_tiers",
    "region",
    "customer_segment",
    "environment",
    "audience",
    "answer_use",
    "source_class",
    "source_type",
    "source_extension",
    "trust_level",
    "lifecycle",
    "version",
    "family",
    "language",
    "valid_from",
    "valid_until",
    "acl_groups",
    "owner",
    "last_reviewed_at",
    "attributes",
)


@dataclass(frozen=True, slots=True)
class SearchTarget:
    """Where one generation of a corpus lies.

    Attributes:
        table: Serving table in schema ``serving``.
        space: Embedding fingerprint; vectors of one space can be compared.
        analyser: Parts of the analyser that made its terms; ``None`` for a table without terms.
    """

    corpus: str
    generation: int
    table: str
    space: str
    analyser: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class LexicalRows:
    """Rows found by words, best first, and their vectors: float32, shape (rows, dimensions), L2-normalised."""

    rows: list[dict[str, Any]]
    vectors: Vector


def nearest_fragments(
    connection: Connection,
    target: SearchTarget,
    vector: Vector,
    filters: SearchFilters,
    limits: SearchLimits,
    as_of: date,
) -> list[Candidate]:
    """The nearest fragments that the session may see and that meet every filter.

    Args:
        connection: A read session; its role and groups decide what is seen.
        target: Names corpus and table.
        vector: float32, shape (dimensions,), L2-normalised.
        filters: All of them must be met.
        limits: How many to fetch.
        as_of: The day on which documents must be in force.

    Returns:
        At most ``limits.fetch_limit`` candidates, nearest first.
    """
    values = {
        "corpus": target.corpus,
        "vector": HalfVector(vector),
        "as_of": as_of,
        "fetch_limit": limits.fetch_limit,
        "filters": Jsonb(filters.as_json()),
    }
    leaf_rows = _leaf_rows(connection, target)
    exactly = leaf_rows is not None and leaf_rows <= EXACT_UP_TO_ROWS
    if exactly:
        rows = _run(connection, "nearest_fragments", target, values | {"exactly": True})
    else:
        width = scan_width(leaf_rows, unindexed=bool(filters.plan_tier or filters.attributes))
        with connection.pipeline():
            prefer_graph(connection, width)
            cursor = _execute(connection, "nearest_fragments", target, values | {"exactly": False}, prepare=True)
            prefer_nothing(connection)
        rows = cursor.fetchall()
    if len(rows) < limits.fetch_limit and not exactly:
        # The graph gives up after so many rows; where few of them pass, exact search finds those that do.
        rows = _run(connection, "nearest_fragments", target, values | {"exactly": True})
    return _candidates(rows, target)


def lexical_rows(
    connection: Connection, target: SearchTarget, query: str, filters: SearchFilters, limits: SearchLimits
) -> LexicalRows:
    """The fragments that share the most telling words with the query, as far as the session may see them.

    Exact BM25 over all fragments that meet every filter. Groups, generation and the day are those of
    the session.

    Args:
        connection: A read session; its role, groups and day decide what is seen.
        target: Names the corpus and how words are made.
        query: The question in words.
        filters: All of them must be met.
        limits: How many to fetch.

    Returns:
        For :func:`lexical_candidates`: at most ``limits.fetch_limit`` rows with their BM25, best first; ties in order
        of fragment id. None when the query shares no word, or the corpus is served without lexical ranking.

    Raises:
        ModelUnavailableError: This installation makes words otherwise than the generation did.
    """
    if target.analyser is None:
        return LexicalRows([], _unit_vectors([]))
    terms = analyser_of(target.analyser).terms(query)
    if not terms:
        return LexicalRows([], _unit_vectors([]))
    values = {
        "corpus": target.corpus,
        "terms": terms,
        "filters": Jsonb(filters.as_json()),
        "fetch_limit": limits.fetch_limit,
    }
    function = _LEXICAL_FUNCTIONS[bool(load_queries("retrieval").may_evaluate(connection))]
    parts = {"function": sql.Identifier("serving", function)}
    rows = _execute(connection, "lexical_fragments", target, values, parts, prepare=True).fetchall()
    return LexicalRows(rows, _unit_vectors(rows))


def lexical_candidates(found: LexicalRows, target: SearchTarget, vector: Vector) -> list[Candidate]:
    """What :func:`lexical_rows` has found, each with its cosine to a vector beside its BM25.

    Args:
        found: In that target.
        target: Where it was found.
        vector: float32, shape (dimensions,), L2-normalised.
    """
    if not found.rows:
        return []
    # As the database compares them: both in half precision.
    cosines = (found.vectors @ _unit_vectors([{"embedding": HalfVector(vector)}])[0]).tolist()
    return [
        _candidate(row, target, unit, score, lexical_score=float(row["bm25"]))
        for row, unit, score in zip(found.rows, found.vectors, cosines, strict=True)
    ]


def nearest_of_state(
    connection: Connection, target: SearchTarget, vector: Vector, state: ServingState, limit: int
) -> list[Candidate]:
    """The nearest fragments in one state, whoever may see them; for an operator's connection."""
    rows = _run(
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
    return _candidates(rows, target)


def best_of_documents(
    connection: Connection, target: SearchTarget, vector: Vector, document_ids: Sequence[str]
) -> dict[str, Candidate]:
    """The nearest fragment of each named document in the generation; for an operator's connection."""
    rows = _run(
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
    return {one.document_id: one for one in _candidates(rows, target)}


def facet_rows(connection: Connection, target: SearchTarget) -> list[dict[str, Any]]:
    """The distinct scopes that documents declare, as far as the session may see them."""
    return _run(connection, "facet_rows", target, {"corpus": target.corpus})


def widen_scan(connection: Connection, fragments: int) -> None:
    """Lets the nearest-neighbour index of this transaction give as many rows as asked, in exact order."""
    load_queries("retrieval").widen_scan(connection, ef_search=str(min(fragments, MAX_EF_SEARCH)))


def scan_width(leaf_rows: int | None, *, unindexed: bool) -> int:
    """How wide a graph is walked (``hnsw.ef_search``).

    Args:
        leaf_rows: Of the leaf that it is of; ``None`` when they were never counted.
        unindexed: No index serves one of the filters.

    >>> scan_width(100_000, unindexed=False), scan_width(100_000, unindexed=True)
    (110, 800)
    """
    if unindexed:
        return UNINDEXED_EF_SEARCH
    return search_width(leaf_rows)


def prefer_graph(connection: Connection, ef_search: int) -> None:
    """Lets queries of this transaction walk the graph, but where a filter has an index that leaves few rows."""
    _prefer(connection, ef_search, others="off", plans="force_custom_plan")


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


def _leaf_rows(connection: Connection, target: SearchTarget) -> int | None:
    """About how many current rows the corpus has; ``None`` when they were never counted."""
    current, _ = leaves(target.table, target.corpus)
    rows = load_queries("retrieval").leaf_rows(connection, leaf=f"serving.{current.name}")
    return None if rows is None or rows < 0 else int(rows)


def _run(connection: Connection, name: str, target: SearchTarget, values: Mapping[str, Any]) -> list[dict[str, Any]]:
    return _execute(connection, name, target, values).fetchall()


def _execute(
    connection: Connection,
    name: str,
    target: SearchTarget,
    values: Mapping[str, Any],
    parts: Mapping[str, sql.Composable] | None = None,
    *,
    prepare: bool = False,
) -> Cursor[dict[str, Any]]:
    text = cast("LiteralString", getattr(load_queries("retrieval"), name).sql)
    keys = _FILTER_KEYS if target.analyser is not None else _FILTER_KEYS_BEFORE_TERMS
    query = sql.SQL(text).format(table=sql.Identifier("serving", target.table), **(parts or {}), **keys)
    # Prepared only where every question gets a plan of its own or filters are a mere argument: a generic plan would
    # carry each filter, given or not, into the index scan.
    # Binary: vectors as text take longer to parse than to find.
    return connection.execute(query, values, prepare=prepare, binary=True)


def _candidates(rows: Sequence[Mapping[str, Any]], target: SearchTarget) -> list[Candidate]:
    """Of rows with their distance to the query."""
    units = _unit_vectors(rows)
    return [_candidate(row, target, unit, 1.0 - float(row["distance"])) for row, unit in zip(rows, units, strict=True)]


def _candidate(
    row: Mapping[str, Any], target: SearchTarget, vector: Vector, score: float, *, lexical_score: float | None = None
) -> Candidate:
    return Candidate(
        fragment_id=row["fragment_id"],
        parent_id=row["parent_id"],
        corpus=row["corpus"],
        document_id=row["document_id"],
        source_uri=row["source_uri"],
        title=row["title"],
        score=round(score, SCORE_PLACES),
        text=row["text"],
        text_sha256=row["text_sha256"],
        section_path=tuple(row["section_path"]),
        page_number=row["page_number"],
        char_start=row["char_start"],
        char_end=row["char_end"],
        space=target.space,
        vector=vector,
        token_count=row["token_count"],
        also_in=tuple(row["also_in"]),
        metadata={name: row[name] for name in METADATA_COLUMNS},
        exclusion_reason=row["exclusion_reason"],
        exclusion_ref=row["exclusion_ref"],
        lexical_score=lexical_score,
    )


def _unit_vectors(rows: Sequence[Mapping[str, Any]]) -> Vector:
    """The stored vectors of rows, (rows, dimensions): half precision loses the exact norm, cosines need it back."""
    if not rows:
        return np.empty((0, 0), np.float32)
    stored = np.stack([row["embedding"].to_numpy() for row in rows]).astype(np.float32)
    norms = np.linalg.norm(stored, axis=1, keepdims=True)
    return cast("Vector", stored / np.where(norms > 0, norms, 1.0))
