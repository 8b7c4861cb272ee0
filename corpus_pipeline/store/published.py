"""What one corpus may know of another: the documents of its published generation.

Written by publication in the transaction that moves the pointer, read by the versions room. A
failed or unpublished neighbour therefore changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from corpus_pipeline.store.database import Connection
from corpus_pipeline.store.queries import load_queries

__all__ = [
    "PublishedDocument",
    "forget_documents_before",
    "point_published_documents",
    "published_superseded",
    "record_published_documents",
]


@dataclass(frozen=True)
class PublishedDocument:
    """One document of a published generation.

    Attributes:
        exclusion_reason: Why it is kept out of answers, ``None`` when it is served.
        root_sha256: Root of the generation, recorded as an input by whoever relies on it.
    """

    corpus: str
    document_id: str
    text_sha256: str
    exclusion_reason: str | None
    superseded_by: str | None
    generation: int
    root_sha256: str


def record_published_documents(connection: Connection, corpus: str, documents: Sequence[PublishedDocument]) -> None:
    """Makes these documents of one generation what is known of a corpus, in the caller's transaction.

    What differs from the generation known before is written, so that :func:`point_published_documents` can go
    back to it. Without documents nothing of the corpus is known any more.
    """
    queries = load_queries("store")
    known = queries.known_root(connection, corpus=corpus)
    if not documents:
        queries.forget_documents_above(connection, corpus=corpus, generation=0)
        queries.forget_root(connection, corpus=corpus)
        return
    generation = documents[0].generation
    goes_on = known is not None and known["known_from"] < generation
    base = min(known["generation"], generation - 1) if goes_on else 0
    queries.forget_documents_above(connection, corpus=corpus, generation=base)
    queries.clear_document_marks_above(connection, corpus=corpus, generation=base)
    _copy(connection, documents)
    queries.end_published_documents(connection, corpus=corpus, generation=generation)
    queries.add_published_documents(connection, corpus=corpus, generation=generation)
    connection.execute("DROP TABLE pg_temp.incoming_published")
    queries.set_known_root(
        connection,
        corpus=corpus,
        generation=generation,
        root_sha256=documents[0].root_sha256,
        known_from=known["known_from"] if goes_on else generation,
    )


def point_published_documents(connection: Connection, corpus: str, generation: int, root_sha256: str) -> bool:
    """Goes back to an earlier published generation, in the caller's transaction.

    Returns:
        Whether its documents are kept; if not, nothing is changed, and they must be recorded again.
    """
    queries = load_queries("store")
    known = queries.known_root(connection, corpus=corpus)
    if known is None or not known["known_from"] <= generation <= known["generation"]:
        return False
    queries.set_known_root(
        connection, corpus=corpus, generation=generation, root_sha256=root_sha256, known_from=known["known_from"]
    )
    return True


def forget_documents_before(connection: Connection, corpus: str, generation: int) -> None:
    """Removes what only generations before this one had; they cannot be served again."""
    load_queries("store").forget_documents_before(connection, corpus=corpus, generation=generation)


def published_superseded(connection: Connection, *, except_corpus: str) -> list[PublishedDocument]:
    """Superseded documents, and copies of such, that other corpora have published, by corpus and id."""
    rows = load_queries("store").published_superseded(connection, except_corpus=except_corpus)
    return [PublishedDocument(**row) for row in rows]


def _copy(connection: Connection, documents: Sequence[PublishedDocument]) -> None:
    connection.execute(
        "CREATE TEMPORARY TABLE incoming_published (document_id text, text_sha256 text, exclusion_reason text,"
        " superseded_by text) ON COMMIT DROP"
    )
    with connection.cursor().copy("COPY pg_temp.incoming_published FROM STDIN") as copy:
        for each in documents:
            copy.write_row((each.document_id, each.text_sha256, each.exclusion_reason, each.superseded_by))
    connection.execute("ANALYZE pg_temp.incoming_published")
