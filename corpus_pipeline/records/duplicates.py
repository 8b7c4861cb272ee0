"""Which documents repeat which."""

from __future__ import annotations

from enum import StrEnum

from corpus_pipeline.records.base import Record

__all__ = ["DuplicateCluster", "DuplicateEdge", "DuplicateKind"]


class DuplicateKind(StrEnum):
    """How two documents are alike."""

    EXACT = "exact"
    NEAR = "near"
    CONTAINED = "contained"


class DuplicateEdge(Record):
    """A verified pair; ``left_id < right_id``. ``jaccard`` is exact, over word shingles.

    Documents with the same words are joined by exact edges to the smallest id among them, which
    stands for all of them in near and contained edges.

    Attributes:
        containment: Share of the smaller document's shingles that the larger has too.
        contained_id: For a contained edge, the smaller document; empty otherwise.
    """

    left_id: str
    right_id: str
    kind: DuplicateKind
    jaccard: float
    containment: float
    contained_id: str = ""


class DuplicateCluster(Record):
    """Documents of one corpus that are copies of each other.

    Attributes:
        cluster_id: Stable: derived from the smallest member id.
        similarity: Exact Jaccard of each member to the cluster's centre, by document id.
        centre_id: The member to which every other has a verified edge.
    """

    corpus: str
    cluster_id: str
    members: tuple[str, ...]
    similarity: dict[str, float]
    kind: DuplicateKind
    centre_id: str = ""
