"""What one corpus may know of another: the documents of its published generation.

Written by publication in the transaction that moves the pointer, read by the versions room. A
failed or unpublished neighbour therefore changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from corpus_pipeline.store.database import Connection
from corpus_pipeline.store.queries import load_queries

__all__ = ["PublishedDocument", "published_superseded", "record_published_documents"]


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
    """Replaces what is known of a corpus, in the caller's transaction."""
    queries = load_queries("store")
    queries.delete_published_documents(connection, corpus=corpus)
    if documents:
        queries.insert_published_documents(connection, [asdict(document) for document in documents])


def published_superseded(connection: Connection, *, except_corpus: str) -> list[PublishedDocument]:
    """Superseded documents, and copies of such, that other corpora have published, by corpus and id."""
    rows = load_queries("store").published_superseded(connection, except_corpus=except_corpus)
    return [PublishedDocument(**row) for row in rows]
