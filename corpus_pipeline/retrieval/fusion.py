"""One order out of several: reciprocal rank fusion.

Cormack, Clarke and Buettcher (2009), https://doi.org/10.1145/1571941.1572114: a fragment scores
the sum of 1 / (60 + rank) over the lists it is in, so that cosine and BM25, which have no
common scale, need none.
"""

from __future__ import annotations

from collections.abc import Iterable

from corpus_pipeline.retrieval.candidate import Candidate, rank

__all__ = ["RANK_CONSTANT", "fuse", "reciprocal"]

RANK_CONSTANT = 60


def reciprocal(place: int) -> float:
    """What a place in an order, from 1, is worth when orders are fused.

    >>> reciprocal(1) > reciprocal(2)
    True
    """
    return 1.0 / (RANK_CONSTANT + place)


def fuse(dense: Iterable[Candidate], sparse: Iterable[Candidate]) -> list[Candidate]:
    """Candidates of both ways of searching in one order, best first, each once.

    Ranks are counted over all corpora together: by cosine within a vector space, for cosines of
    different spaces mean nothing to each other, and by BM25.

    Args:
        dense: Nearest vectors, in any order.
        sparse: Candidates with a ``lexical_score``, in any order.

    Returns:
        All of them with ``fused_score`` set; one found both ways keeps its ``lexical_score``.
    """
    by_space: dict[str, list[Candidate]] = {}
    for candidate in dense:
        by_space.setdefault(candidate.space, []).append(candidate)
    lists = [sorted(found, key=lambda one: (-one.score, one.fragment_id)) for found in by_space.values()]
    lists.append(sorted(sparse, key=lambda one: (-(one.lexical_score or 0.0), one.fragment_id)))
    fused: dict[str, float] = {}
    found: dict[str, Candidate] = {}
    for ordered in lists:
        for position, candidate in enumerate(ordered, start=1):
            fused[candidate.fragment_id] = fused.get(candidate.fragment_id, 0.0) + reciprocal(position)
            known = found.get(candidate.fragment_id)
            if known is None or candidate.lexical_score is not None:
                found[candidate.fragment_id] = candidate
    return rank([candidate._replace(fused_score=fused[name]) for name, candidate in found.items()])
