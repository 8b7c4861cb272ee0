"""Terms in the database: analysed texts, once each, and the statistics that BM25 needs of a generation."""

from __future__ import annotations

import struct
from collections.abc import Iterable

import numpy as np

from corpus_pipeline.index.analyser import LEVELS, TERM_BUCKETS, AnalysedText, Analyser
from corpus_pipeline.index.binary_copy import COPY_END, COPY_START
from corpus_pipeline.index.loading import completed
from corpus_pipeline.index.tables import ServingLeaf, qualified
from corpus_pipeline.records import Stage
from corpus_pipeline.store import Connection, StageContext, load_queries

__all__ = ["analyse_corpus", "count_terms", "lexical_size"]

_BATCH_TEXTS = 2000
_ARRAY_START = struct.Struct(">iIiii")  # dimensions, has NULLs, element type, length, lower bound
_INT4_TYPE = 23
_ELEMENT = np.dtype([("bytes", ">i4"), ("value", ">i4")])


def analyse_corpus(context: StageContext, analyser: Analyser) -> int:
    """Makes terms of the texts of a corpus that have none yet; each batch is kept at once.

    Returns:
        How many texts were analysed.
    """
    query = load_queries("index").unanalysed_texts.sql
    fingerprint = analyser.fingerprint
    analysed = 0
    with context.database.connection() as reader, reader.cursor("index_unanalysed_texts") as cursor:
        cursor.execute(query, {"corpus": context.spec.slug, "analyser": fingerprint})
        while rows := cursor.fetchmany(_BATCH_TEXTS):
            if not analysed:
                context.progress.start(Stage.INDEX_GENERATION, None, "texts analysed")
            texts = analyser.analyse([row["embedded_text"] for row in rows])
            with context.database.connection() as writer:
                hashes = (row["embedded_sha256"] for row in rows)
                keep_analysed_texts(writer, fingerprint, zip(hashes, texts, strict=True))
            analysed += len(rows)
            context.progress.advance(len(rows))
    return analysed


def keep_analysed_texts(connection: Connection, fingerprint: str, texts: Iterable[tuple[str, AnalysedText]]) -> None:
    """Stores analysed texts by the hash of the text."""
    connection.execute(
        "CREATE TEMPORARY TABLE incoming_texts (embedded_sha256 text, term_count integer, terms integer[],"
        " term_levels sparsevec) ON COMMIT DROP"
    )
    with connection.cursor().copy("COPY pg_temp.incoming_texts FROM STDIN (FORMAT BINARY)") as copy:
        copy.write(COPY_START + b"".join(_binary_row(sha256, text) for sha256, text in texts) + COPY_END)
    load_queries("index").keep_analysed_texts(connection, analyser=fingerprint)


def lexical_size(connection: Connection, leaf: ServingLeaf, generation: int) -> dict[str, int]:
    """Columns ``lexical_…`` of a generation: its fragments and terms, for the mean length, and the shortest text."""
    row = connection.execute(
        completed("lexical_size", leaf=qualified(leaf.name)), {"generation": generation}
    ).fetchone()
    return {key: int(value) for key, value in (row or {}).items()}


def count_terms(connection: Connection, leaf: ServingLeaf, generation: int, *, from_scratch: bool) -> None:
    """Writes the statistics of a generation that differ from those of the published one.

    Args:
        connection: In the transaction that has loaded the rows.
        leaf: The current leaf: what is kept out of answers does not count.
        generation: The staged one.
        from_scratch: Count all rows; the statistics before are of another table or of none.
    """
    values = {"corpus": leaf.corpus, "generation": generation}
    counting = "count_terms" if from_scratch else "count_changed_terms"
    connection.execute(completed(counting, leaf=qualified(leaf.name)), values)
    queries = load_queries("index")
    queries.end_term_statistics(connection, **values, only_counted=not from_scratch)
    queries.add_term_statistics(connection, **values)
    if from_scratch:
        # Until autovacuum comes round, a search would read every count of the corpus for each of its terms.
        connection.execute("ANALYZE corpus.term_statistics")


def _binary_row(sha256: str, text: AnalysedText) -> bytes:
    """Hash, length, terms and levels as PostgreSQL's binary COPY wants them."""
    count = len(text.terms)
    distinct = len(text.levels)
    elements = np.empty(count, _ELEMENT)
    elements["bytes"], elements["value"] = 4, text.terms
    # An array without elements has no dimensions.
    terms = (
        _ARRAY_START.pack(1, 0, _INT4_TYPE, count, 1) + elements.tobytes()
        if count
        else struct.pack(">iIi", 0, 0, _INT4_TYPE)
    )
    levels = (
        struct.pack(">iii", LEVELS * TERM_BUCKETS, distinct, 0)
        + text.levels.astype(">i4").tobytes()
        + np.ones(distinct, ">f4").tobytes()
    )
    fields = (sha256.encode(), struct.pack(">i", text.term_count), terms, levels)
    return struct.pack(">h", len(fields)) + b"".join(struct.pack(">i", len(each)) + each for each in fields)
