"""What a comparison changes in the edges and clusters of a corpus."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from corpus_pipeline.deduplication.clusters import ComparedDocument, form_clusters, form_edges
from corpus_pipeline.deduplication.combination import Combination
from corpus_pipeline.deduplication.kernels import Int64, UInt64
from corpus_pipeline.deduplication.parameters import ComparisonParameters
from corpus_pipeline.deduplication.search import FoundPairs
from corpus_pipeline.deduplication.stored_comparison import StoredComparison
from corpus_pipeline.records import DuplicateCluster, DuplicateEdge, canonical_json

__all__ = ["ComparisonChange", "changed_result", "encoded"]

Ends = tuple[str, str]
Key = TypeVar("Key")
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class ComparisonChange:
    """What is to be written so that a corpus is compared as it is now.

    Attributes:
        from_nothing: Nothing stored of the corpus counts any more.
        documents_before: Changed documents as they were; those in ``documents_after`` too stay.
        edges_before: Edges that are no more, or not as they were.
        clusters_before: The same of clusters.
        boilerplate: Lines that are taken out of this corpus, sorted.
        combination: Hash over all edges and clusters, the unchanged ones included.
        searched: Signatures whose candidates were looked up.
        touched: All documents whose edges were formed anew, and those that are gone.
        computed: Signatures computed now.
        verified: Candidates compared exactly.
    """

    corpus: str
    settings_sha256: str
    from_nothing: bool
    documents_before: list[ComparedDocument]
    documents_after: list[ComparedDocument]
    edges_before: list[DuplicateEdge]
    edges_after: list[DuplicateEdge]
    clusters_before: list[DuplicateCluster]
    clusters_after: list[DuplicateCluster]
    boilerplate: UInt64
    combination: Combination
    searched: Int64
    touched: frozenset[str]
    computed: int
    verified: int


def changed_result(
    stored: StoredComparison,
    before: Sequence[ComparedDocument],
    after: Sequence[ComparedDocument],
    found: FoundPairs,
    parameters: ComparisonParameters,
    *,
    settings_sha256: str,
    boilerplate: UInt64,
    computed: int,
) -> ComparisonChange:
    """Edges of the changed documents, and the clusters of everything they are joined to.

    Clusters are formed in each connected part of the graph by itself, so those of parts without a
    changed document stay as they are.
    """
    present = [*after, *_also_searched(stored, after, found)]
    touched = frozenset(row.document_id for row in (*before, *present))
    old_edges = {_ends(edge): edge for edge in stored.edges_of(touched)}
    new_edges = {
        _ends(edge): edge for edge in form_edges(_with_partners(stored, present, found), found.pairs, parameters)
    }
    gone = touched - {row.document_id for row in present}
    ends = {end for pair in (*old_edges, *new_edges) for end in pair}
    edges = _connected(stored, (ends | touched) - gone, touched, new_edges)
    nodes = ({end for pair in edges for end in pair} | ends | touched) - gone
    known = {row.document_id for row in present}
    rows = [*present, *stored.documents(nodes - known)]
    old_clusters = {cluster.cluster_id: cluster for cluster in stored.clusters_of(nodes | gone)}
    new_clusters = {cluster.cluster_id: cluster for cluster in form_clusters(stored.corpus, rows, list(edges.values()))}
    change = ComparisonChange(
        corpus=stored.corpus,
        settings_sha256=settings_sha256,
        from_nothing=not stored.counts,
        documents_before=list(before),
        documents_after=list(after),
        edges_before=_changed(old_edges, new_edges),
        edges_after=_changed(new_edges, old_edges),
        clusters_before=_changed(old_clusters, new_clusters),
        clusters_after=_changed(new_clusters, old_clusters),
        boilerplate=boilerplate,
        combination=stored.combination,
        searched=found.searched,
        touched=touched,
        computed=computed,
        verified=found.verified,
    )
    change.combination.remove(encoded(change.edges_before, change.clusters_before))
    change.combination.add(encoded(change.edges_after, change.clusters_after))
    return change


def _ends(edge: DuplicateEdge) -> Ends:
    return edge.left_id, edge.right_id


def _also_searched(
    stored: StoredComparison, after: Iterable[ComparedDocument], found: FoundPairs
) -> list[ComparedDocument]:
    """All documents with the words of those that were searched anew though they did not change."""
    changed = {row.normalised_sha256 for row in after}
    searched = set(found.searched.tolist()) - {row.signature_id for row in after}
    words = {row.normalised_sha256 for row in stored.signed(searched)} - changed
    return stored.with_words(words)


def _with_partners(
    stored: StoredComparison, present: Sequence[ComparedDocument], found: FoundPairs
) -> list[ComparedDocument]:
    sides = {side for pair in found.pairs for side in (pair.left, pair.right)}
    return [*present, *stored.signed(sides - {row.signature_id for row in present})]


def _connected(
    stored: StoredComparison, start: Collection[str], touched: frozenset[str], new: Mapping[Ends, DuplicateEdge]
) -> dict[Ends, DuplicateEdge]:
    """All edges of the parts of the graph that hold the start; stored edges of touched documents are void."""
    edges = dict(new)
    seen = set(start)
    frontier = seen - touched
    while frontier:
        reached = {
            _ends(edge): edge
            for edge in stored.edges_of(frontier)
            if edge.left_id not in touched and edge.right_id not in touched
        }
        edges |= reached
        frontier = {end for pair in reached for end in pair} - seen
        seen |= frontier
    return edges


def _changed(mine: Mapping[Key, Item], others: Mapping[Key, Item]) -> list[Item]:
    return [item for key, item in mine.items() if others.get(key) != item]


def encoded(edges: Iterable[DuplicateEdge], clusters: Iterable[DuplicateCluster]) -> Iterable[bytes]:
    """Edges and clusters as :class:`Combination` takes them."""
    for record in (*edges, *clusters):
        yield f"{type(record).__name__} {canonical_json(record)}".encode("utf-8", "surrogatepass")
