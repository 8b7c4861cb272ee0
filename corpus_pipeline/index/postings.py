"""Posting lists: what each term adds to the score of every fragment, in blocks that PostgreSQL sums as vectors.

Impacts are those of BM25 with the statistics of the generation that is staged. A search allows for how much a
generation differs from those, and looks at the rows themselves for the final scores, so that old impacts cost time,
never a result.

Method: impacts stored in posting lists (Anh, de Kretser and Moffat 2001), a term at a time, in blocks of places.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from psycopg import sql
from psycopg.pq import TransactionStatus

from corpus_pipeline.index.analyser import LEVELS, TERM_BUCKETS
from corpus_pipeline.index.binary_copy import COPY_END, COPY_START
from corpus_pipeline.index.loading import completed
from corpus_pipeline.index.tables import ServingLeaf, leaves, qualified
from corpus_pipeline.store import Connection, load_queries

__all__ = ["BLOCK_PLACES", "drop_postings", "has_postings", "rebuild_postings", "update_postings"]

BLOCK_PLACES = 1000
"""Places of a block: dimensions of ``corpus.posting_blocks.impacts``."""

K1, B = 1.5, 0.75
"""Parameters of BM25, the same as in ``corpus.prepared_lexical_search``."""

SMALL_ROWS = 5 * BLOCK_PLACES
"""Up to so many rows all posting lists are made anew each time, in the time of a commit."""

_BLOCKS_AT_ONCE = 20
_BUILD_MEMORY = "256MB"
_ROW = struct.Struct(">hiiiiiiifiiii")  # fields; length and value of index, term, block, weight; length, dimensions…


@dataclass(frozen=True, slots=True)
class Statistics:
    """What impacts are made with.

    Attributes:
        mean_terms: Mean length of a fragment, in terms.
        terms: Ascending.
        weights: Inverse document frequency of each.
        unseen: Weight of a term that no current fragment has.
    """

    mean_terms: float
    terms: NDArray[np.int64]
    weights: NDArray[np.float64]
    unseen: float


def update_postings(connection: Connection, leaf: ServingLeaf, generation: int) -> None:
    """Gives places to the rows of a leaf that have none, and makes their posting lists.

    New rows come after the others, in blocks of their own. All lists are made anew where the leaf is small, many rows
    are new or gone, or many blocks are nearly empty.

    Args:
        connection: In the transaction that has loaded the rows and recorded the generation and its statistics.
        leaf: Of a corpus that nobody else loads.
        generation: Whose statistics are used.
    """
    known = _known(connection, leaf)
    if known is None or _outgrown(connection, leaf, known):
        rebuild_postings(connection, leaf.table, leaf.corpus, generation)
        return
    statistics = _statistics(connection, leaf.corpus, generation)
    if not statistics.mean_terms:
        return  # None of the new rows has a word; they get places with the next ones that have.
    first = -(-known["places"] // BLOCK_PLACES) * BLOCK_PLACES
    _extend(connection, leaf, known["index_id"], first, statistics)


def rebuild_postings(connection: Connection, table: str, corpus: str, generation: int) -> None:
    """Makes all posting lists of a corpus anew, from the rows that its table has."""
    drop_postings(connection, table, corpus)
    leaf, _ = leaves(table, corpus)
    statistics = _statistics(connection, corpus, generation)
    if not statistics.mean_terms:
        return
    index_id = load_queries("index").add_posting_index(
        connection, serving_table=table, corpus=corpus, leaf=leaf.name, mean_terms=statistics.mean_terms
    )
    _extend(connection, leaf, int(index_id), 0, statistics)


def drop_postings(connection: Connection, table: str, corpus: str) -> None:
    """Removes the posting lists of a corpus; words are searched by their keys until there are new ones."""
    load_queries("index").drop_posting_index(connection, serving_table=table, corpus=corpus)


def has_postings(connection: Connection, table: str, corpus: str) -> bool:
    """Whether words of a corpus are searched by posting lists."""
    leaf, _ = leaves(table, corpus)
    return _known(connection, leaf) is not None


def _known(connection: Connection, leaf: ServingLeaf) -> dict[str, Any] | None:
    row: dict[str, Any] | None = load_queries("index").posting_index(
        connection, serving_table=leaf.table, corpus=leaf.corpus
    )
    return row


def _outgrown(connection: Connection, leaf: ServingLeaf, known: dict[str, Any]) -> bool:
    with _joined_as_wholes(connection):
        rows = connection.execute(
            completed("posting_rows", leaf=qualified(leaf.name)), {"index_id": known["index_id"]}
        ).fetchone()
    total, placed = (int(rows["total"]), int(rows["placed"])) if rows else (0, 0)
    return total <= SMALL_ROWS or (total - placed) * 4 > total or known["places"] > 1.25 * total + 10 * BLOCK_PLACES


def _statistics(connection: Connection, corpus: str, generation: int) -> Statistics:
    queries = load_queries("index")
    known = queries.lexical_statistics(connection, corpus=corpus, generation=generation)
    fragments, length = (int(known["lexical_fragments"] or 0), int(known["lexical_terms"] or 0)) if known else (0, 0)
    rows = connection.execute(
        queries.term_counts.sql, {"corpus": corpus, "generation": generation, "buckets": TERM_BUCKETS}
    ).fetchall()
    terms = np.fromiter((row["term"] for row in rows), np.int64, len(rows))
    counts = np.fromiter((row["fragment_count"] for row in rows), np.float64, len(rows))
    return Statistics(
        mean_terms=length / fragments if fragments else 0.0,
        terms=terms,
        weights=np.log1p((fragments - counts + 0.5) / (counts + 0.5)),
        unseen=float(np.log1p((fragments + 0.5) / 0.5)),
    )


def _extend(connection: Connection, leaf: ServingLeaf, index_id: int, first: int, statistics: Statistics) -> None:
    values = {"index_id": index_id, "first": first}
    with _joined_as_wholes(connection):
        added = connection.execute(completed("place_rows", leaf=qualified(leaf.name)), values).rowcount
        if not added:
            return
        with connection.cursor("index_posting_rows", binary=True) as reader:
            reader.execute(completed("posting_terms", leaf=qualified(leaf.name)), values)
            while rows := reader.fetchmany(BLOCK_PLACES * _BLOCKS_AT_ONCE):
                _copy(connection, index_id, rows, statistics)
    load_queries("index").extend_posting_index(
        connection, index_id=index_id, places=first + added, mean_terms=statistics.mean_terms
    )


@contextmanager
def _joined_as_wholes(connection: Connection) -> Iterator[None]:
    """Joins of whole leaves: statistics know nothing of rows that this transaction has written."""
    connection.execute(sql.SQL("SET LOCAL work_mem = {}").format(sql.Literal(_BUILD_MEMORY)))
    connection.execute("SET LOCAL enable_nestloop = off")
    try:
        yield
    finally:
        if connection.info.transaction_status == TransactionStatus.INTRANS:
            connection.execute("SET LOCAL enable_nestloop = on")


def _copy(connection: Connection, index_id: int, rows: Sequence[dict[str, Any]], statistics: Statistics) -> None:
    with connection.cursor().copy("COPY corpus.posting_blocks FROM STDIN (FORMAT BINARY)") as copy:
        copy.write(COPY_START + b"".join(_lists(index_id, rows, statistics)) + COPY_END)


def _lists(index_id: int, rows: Sequence[dict[str, Any]], statistics: Statistics) -> Iterator[bytes]:
    """The posting lists of some rows, as binary COPY wants them, in order of term and block."""
    levels = [np.frombuffer(row["levels"], ">i4") for row in rows]  # dimensions, count, 0, then the places of the ones
    counts = np.array([each[1] for each in levels])
    if not counts.sum():
        return
    found = np.concatenate([each[3 : 3 + each[1]] for each in levels]).astype(np.int64)
    occurrences, terms = LEVELS - found // TERM_BUCKETS, found % TERM_BUCKETS
    places = np.repeat(np.array([row["place"] for row in rows]), counts)
    lengths = np.repeat(np.array([row["term_count"] for row in rows], np.float64), counts)
    weights = _weights(statistics, terms)
    norms = K1 * (1 - B + B * lengths / statistics.mean_terms)
    order = np.lexsort((places, terms))
    impacts = (weights * occurrences / (occurrences + norms))[order].astype(">f4").tobytes()
    terms, weights, places = terms[order], weights[order], places[order]
    blocks, offsets = places // BLOCK_PLACES, (places % BLOCK_PLACES).astype(">i4").tobytes()
    starts = np.flatnonzero(np.diff(terms, prepend=-1) | np.diff(blocks, prepend=-1))
    heads = zip(terms[starts].tolist(), blocks[starts].tolist(), weights[starts].tolist(), strict=True)
    for (term, block, weight), (start, end) in zip(heads, pairwise([*starts.tolist(), len(terms)]), strict=True):
        count = end - start
        yield _ROW.pack(5, 4, index_id, 4, term, 4, block, 4, weight, 12 + 8 * count, BLOCK_PLACES, count, 0)
        yield offsets[4 * start : 4 * end]
        yield impacts[4 * start : 4 * end]


def _weights(statistics: Statistics, terms: NDArray[np.int64]) -> NDArray[np.float64]:
    if not len(statistics.terms):
        return np.full(len(terms), statistics.unseen)
    at = np.minimum(np.searchsorted(statistics.terms, terms), len(statistics.terms) - 1)
    return np.where(statistics.terms[at] == terms, statistics.weights[at], statistics.unseen)
