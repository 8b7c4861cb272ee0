"""Documents, verified pairs, and the clusters they make.

Documents with the same words form one class, whose representative is its smallest id. Between
representatives run the verified edges. Clusters are stars (Aslam, Pelekhov, Rus: The star
clustering algorithm for static and dynamic information organization, 2004): every member has a
verified edge to the centre, so that a chain A~B~C with unlike ends never becomes one cluster.
A contained text joins the cluster of the text that contains it, never the other way round: what
the larger text adds would be lost. All of it is a function of the set of documents and pairs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from corpus_pipeline.deduplication.parameters import ComparisonParameters
from corpus_pipeline.records import DuplicateCluster, DuplicateEdge, DuplicateKind, sha256_hex

__all__ = ["ComparedDocument", "SignaturePair", "duplicate_classes", "form_clusters", "form_edges", "pair_kind"]

MIN_MEMBER_JACCARD = 0.5
"""A contained text is a member only of a text at most about twice its size; the edge is kept in any case."""


@dataclass(frozen=True, slots=True)
class ComparedDocument:
    """A document as far as comparison goes.

    Attributes:
        signature_id: Key of the stored signature; ``None`` for a copy whose representative is
            compared in its place, and for a text shorter than a shingle.
    """

    document_id: str
    text_sha256: str
    normalised_sha256: str
    signature_id: int | None = None


@dataclass(frozen=True, slots=True)
class SignaturePair:
    """A verified pair of signatures, ``left < right``, with exact counts of distinct shingles."""

    left: int
    right: int
    left_shingles: int
    right_shingles: int
    shared: int

    @property
    def jaccard(self) -> float:
        """Shared shingles over all shingles."""
        return self.shared / (self.left_shingles + self.right_shingles - self.shared)

    @property
    def containment(self) -> float:
        """Shared shingles over those of the smaller set."""
        return self.shared / min(self.left_shingles, self.right_shingles)


def pair_kind(pair: SignaturePair, parameters: ComparisonParameters) -> DuplicateKind | None:
    """How the two are alike; ``None`` when they are below both thresholds."""
    if pair.jaccard >= parameters.threshold:
        return DuplicateKind.NEAR
    if pair.containment >= parameters.containment_threshold:
        return DuplicateKind.CONTAINED
    return None


def duplicate_classes(documents: Iterable[ComparedDocument]) -> dict[str, list[str]]:
    """Ids of the documents with the same words, sorted, by their representative (the smallest)."""
    by_words: dict[str, list[str]] = defaultdict(list)
    for document in documents:
        by_words[document.normalised_sha256].append(document.document_id)
    return {min(ids): sorted(ids) for ids in by_words.values()}


def form_edges(
    documents: Sequence[ComparedDocument], pairs: Iterable[SignaturePair], parameters: ComparisonParameters
) -> list[DuplicateEdge]:
    """Edges of a corpus, sorted: exact ones from representative to copy, others between representatives."""
    classes = duplicate_classes(documents)
    edges = [
        DuplicateEdge(left_id=representative, right_id=copy, kind=DuplicateKind.EXACT, jaccard=1.0, containment=1.0)
        for representative, ids in classes.items()
        for copy in ids[1:]
    ]
    by_signature = {
        item.signature_id: item.document_id
        for item in documents
        if item.signature_id is not None and item.document_id in classes
    }
    for pair in pairs:
        kind = pair_kind(pair, parameters)
        if kind is None or pair.left not in by_signature or pair.right not in by_signature:
            continue
        left, right = by_signature[pair.left], by_signature[pair.right]
        smaller = min((pair.left_shingles, left), (pair.right_shingles, right))[1]
        edges.append(
            DuplicateEdge(
                left_id=min(left, right),
                right_id=max(left, right),
                kind=kind,
                jaccard=pair.jaccard,
                containment=pair.containment,
                contained_id=smaller if kind is DuplicateKind.CONTAINED else "",
            )
        )
    return sorted(edges, key=lambda edge: (edge.left_id, edge.right_id))


def _stars(edges: Iterable[DuplicateEdge]) -> dict[str, dict[str, DuplicateEdge]]:
    """For each representative, those that may join it, with the edge."""
    around: dict[str, dict[str, DuplicateEdge]] = defaultdict(dict)
    for edge in edges:
        if edge.kind is DuplicateKind.NEAR:
            around[edge.left_id][edge.right_id] = edge
            around[edge.right_id][edge.left_id] = edge
        elif edge.kind is DuplicateKind.CONTAINED and edge.jaccard >= MIN_MEMBER_JACCARD:
            larger = edge.left_id if edge.contained_id == edge.right_id else edge.right_id
            around[larger][edge.contained_id] = edge
    return around


def _assign(around: Mapping[str, Mapping[str, DuplicateEdge]], sizes: Mapping[str, int]) -> dict[str, str]:
    """The centre of every representative that joins one: stars by falling size, then the closest centre."""
    weight = {name: sizes[name] + sum(sizes[other] for other in others) for name, others in around.items()}
    order = sorted(around, key=lambda name: (-weight[name], name))
    taken: set[str] = set()
    best: dict[str, tuple[float, int, str]] = {}
    centres = set()
    for rank, centre in enumerate(order):
        if centre in taken:
            continue
        centres.add(centre)
        for other, edge in around[centre].items():
            if other in centres:
                continue
            taken.add(other)
            choice = (-edge.jaccard, rank, centre)
            best[other] = min(best.get(other, choice), choice)
    return {name: choice[2] for name, choice in best.items()}


def form_clusters(
    corpus: str, documents: Sequence[ComparedDocument], edges: Sequence[DuplicateEdge]
) -> list[DuplicateCluster]:
    """Clusters of at least two documents, sorted by their smallest member."""
    classes = duplicate_classes(documents)
    around = _stars(edges)
    centre_of = _assign(around, {name: len(ids) for name, ids in classes.items()})
    groups: dict[str, list[str]] = {name: [name] for name in classes if name not in centre_of}
    for name, centre in centre_of.items():
        groups[centre].append(name)
    clusters = []
    for centre, names in groups.items():
        similarity = {
            document: 1.0 if name == centre else around[centre][name].jaccard
            for name in names
            for document in classes[name]
        }
        if len(similarity) > 1:
            kinds = {around[centre][name].kind for name in names if name != centre}
            clusters.append(_cluster(corpus, centre, similarity, kinds))
    return sorted(clusters, key=lambda cluster: cluster.members[0])


def _cluster(corpus: str, centre: str, similarity: Mapping[str, float], kinds: set[DuplicateKind]) -> DuplicateCluster:
    members = tuple(sorted(similarity))
    kind = next((k for k in (DuplicateKind.CONTAINED, DuplicateKind.NEAR) if k in kinds), DuplicateKind.EXACT)
    return DuplicateCluster(
        corpus=corpus,
        cluster_id=sha256_hex(f"{corpus}\0{members[0]}")[:16],
        members=members,
        similarity={member: similarity[member] for member in members},
        kind=kind,
        centre_id=centre,
    )
