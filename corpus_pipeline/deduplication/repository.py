"""What belongs to a corpus: its changes, the writing of a comparison, its edges, clusters and figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from corpus_pipeline.deduplication.change import ComparisonChange
from corpus_pipeline.deduplication.comparison import Changes
from corpus_pipeline.deduplication.signature_store import slices
from corpus_pipeline.deduplication.stored_comparison import clusters_of_rows
from corpus_pipeline.records import Document, DuplicateCluster, DuplicateEdge
from corpus_pipeline.store import Connection, load_queries

__all__ = [
    "changed_documents",
    "cluster_sizes",
    "documents_by_id",
    "duplicate_clusters",
    "duplicate_edges",
    "duplicate_figures",
    "store_change",
]


def _queries() -> Any:
    return load_queries("deduplication")


def changed_documents(connection: Connection, corpus: str, *, everything: bool) -> Changes:
    """How the converted documents of a corpus differ from those last compared.

    Args:
        connection: In a transaction.
        corpus: Slug.
        everything: All documents are new ones.
    """
    rows = _queries().changed_documents(connection, corpus=corpus, everything=everything)
    new = [(row["document_id"], row["text_sha256"]) for row in rows]
    gone = [] if everything else [row["document_id"] for row in _queries().gone_documents(connection, corpus=corpus)]
    return Changes(new, gone)


def documents_by_id(connection: Connection, corpus: str, document_ids: Sequence[str]) -> list[Document]:
    """Some converted documents of a corpus."""
    rows = _queries().documents_by_id(connection, corpus=corpus, document_ids=list(document_ids))
    return [Document.model_validate(row) for row in rows]


def store_change(connection: Connection, change: ComparisonChange) -> None:
    """Writes what a comparison changes, in the caller's transaction."""
    queries = _queries()
    corpus = change.corpus
    released = {row.signature_id for row in change.documents_before}
    if change.from_nothing:
        released |= {row["signature_id"] for row in queries.delete_all_compared(connection, corpus=corpus)}
        queries.delete_all_edges(connection, corpus=corpus)
        queries.delete_all_members(connection, corpus=corpus)
    before, after = set(change.documents_before), set(change.documents_after)
    queries.delete_compared(connection, corpus=corpus, document_ids=[row.document_id for row in before - after])
    _copy_rows(
        connection,
        queries.copy_compared.sql,
        (
            (corpus, row.document_id, row.text_sha256, row.normalised_sha256, row.signature_id)
            for row in sorted(after - before, key=lambda row: row.document_id)
        ),
    )
    _write_edges(connection, change)
    _write_clusters(connection, change)
    for ids in slices({row.signature_id for row in after} - {None}):
        queries.delete_used(connection, signature_ids=ids)
    for ids in slices(released - {None} - {row.signature_id for row in after}):
        queries.release_signatures(connection, signature_ids=ids)
    queries.save_comparison_state(
        connection,
        corpus=corpus,
        settings_sha256=change.settings_sha256,
        boilerplate=change.boilerplate.astype("<u8").tobytes(),
        combination=change.combination.state,
    )


def _write_edges(connection: Connection, change: ComparisonChange) -> None:
    queries = _queries()
    if change.edges_before:
        queries.delete_edges(
            connection,
            corpus=change.corpus,
            left_ids=[edge.left_id for edge in change.edges_before],
            right_ids=[edge.right_id for edge in change.edges_before],
        )
    _copy_rows(
        connection,
        queries.copy_edges.sql,
        (
            (change.corpus, e.left_id, e.right_id, e.kind.value, e.jaccard, e.containment, e.contained_id)
            for e in change.edges_after
        ),
    )


def _write_clusters(connection: Connection, change: ComparisonChange) -> None:
    queries = _queries()
    if change.clusters_before:
        ids = [cluster.cluster_id for cluster in change.clusters_before]
        queries.delete_clusters(connection, corpus=change.corpus, cluster_ids=ids)
    _copy_rows(
        connection,
        queries.copy_members.sql,
        (
            (change.corpus, c.cluster_id, member, c.kind.value, c.similarity[member], member == c.centre_id)
            for c in change.clusters_after
            for member in c.members
        ),
    )


def _copy_rows(connection: Connection, statement: str, rows: Iterable[tuple[Any, ...]]) -> None:
    with connection.cursor().copy(statement) as copy:
        for row in rows:
            copy.write_row(row)


def duplicate_edges(connection: Connection, corpus: str) -> list[DuplicateEdge]:
    """Verified pairs of a corpus, sorted; equal documents are represented by the smallest id."""
    return [DuplicateEdge(**row) for row in _queries().duplicate_edges(connection, corpus=corpus)]


def duplicate_clusters(connection: Connection, corpus: str) -> list[DuplicateCluster]:
    """Clusters of a corpus, sorted by their smallest member."""
    return clusters_of_rows(corpus, _queries().duplicate_cluster_members(connection, corpus=corpus))


def cluster_sizes(connection: Connection, corpus: str) -> dict[int, int]:
    """How many clusters there are of each size, in documents."""
    return {row["size"]: row["clusters"] for row in _queries().cluster_sizes(connection, corpus=corpus)}


def duplicate_figures(connection: Connection, corpus: str) -> dict[str, int]:
    """Documents, signatures in use, and edges by kind."""
    return dict(_queries().duplicate_figures(connection, corpus=corpus))
