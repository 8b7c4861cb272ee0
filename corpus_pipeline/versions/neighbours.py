"""What the published generations of other corpora say about texts that this corpus has too."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from corpus_pipeline.deduplication import CrossCorpusEdge
from corpus_pipeline.records import DuplicateKind

__all__ = ["Neighbour", "PublishedVersion", "neighbours_of"]


class PublishedVersion(NamedTuple):
    """One document of another corpus's published generation, whose text has not changed since.

    Attributes:
        superseded: It is superseded, or a copy of something superseded.
    """

    corpus: str
    document_id: str
    normalised_sha256: str
    superseded: bool
    superseded_by: str | None


class Neighbour(NamedTuple):
    """A document of this corpus beside one that another corpus publishes.

    Attributes:
        score: 1.0 for the same words, else the larger of Jaccard and containment.
    """

    document_id: str
    published: PublishedVersion
    score: float


def neighbours_of(
    corpus: str,
    edges: Sequence[CrossCorpusEdge],
    published: Sequence[PublishedVersion],
    normalised_sha256s: Mapping[str, str],
) -> list[Neighbour]:
    """Pairs of own documents with published ones: equal texts by hash, similar ones by verified edges.

    Args:
        edges: Between this corpus and others; one side may stand for several equal documents.
        normalised_sha256s: Hash of the normalised text by own document id.
    """
    by_hash: dict[str, list[PublishedVersion]] = defaultdict(list)
    by_id = {}
    for one in published:
        by_hash[one.normalised_sha256].append(one)
        by_id[one.corpus, one.document_id] = one
    own: dict[str, list[str]] = defaultdict(list)
    found: dict[tuple[str, str], Neighbour] = {}
    for document_id, sha in sorted(normalised_sha256s.items()):
        own[sha].append(document_id)
        for other in by_hash.get(sha, ()) if sha else ():
            found[document_id, other.document_id] = Neighbour(document_id, other, 1.0)
    for edge in edges:
        mine, theirs = _sides(corpus, edge)
        known = by_id.get(theirs)
        if edge.kind is not DuplicateKind.NEAR or known is None:
            continue
        score = max(edge.jaccard, edge.containment)
        for document_id in own.get(normalised_sha256s.get(mine, ""), ()):
            for other in by_hash[known.normalised_sha256]:
                if other.corpus == known.corpus:
                    found.setdefault((document_id, other.document_id), Neighbour(document_id, other, score))
    return [found[key] for key in sorted(found)]


def _sides(corpus: str, edge: CrossCorpusEdge) -> tuple[str, tuple[str, str]]:
    if edge.left_corpus == corpus:
        return edge.left_document_id, (edge.right_corpus, edge.right_document_id)
    return edge.right_document_id, (edge.left_corpus, edge.left_document_id)
