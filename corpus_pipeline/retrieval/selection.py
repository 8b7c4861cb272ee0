"""Diversity: the best fragments that each add something.

Greedy selection in order of score with a ceiling on the cosine to what is already selected:
maximal marginal relevance (Carbonell and Goldstein, 1998, https://doi.org/10.1145/290941.291025)
with its trade-off replaced by a hard limit, which is easier to explain to the reader of a result.
"""

from __future__ import annotations

from dataclasses import dataclass

from corpus_pipeline.retrieval.candidate import Candidate, rank

__all__ = ["Dropped", "Selection", "select_diverse"]


@dataclass(frozen=True, slots=True)
class Dropped:
    """A candidate above the score that was not selected.

    Attributes:
        blocked_by: The selected fragment it repeats; ``None`` when it came after the last place.
        similarity: Cosine to ``blocked_by``, 1.0 for identical text, 0.0 without one.
        position: 1-based place in the order of score.
    """

    candidate: Candidate
    blocked_by: str | None
    similarity: float
    position: int
    identical: bool = False


@dataclass(frozen=True, slots=True)
class Selection:
    """Selected fragments, best first, and every other candidate with its cause."""

    selected: tuple[Candidate, ...]
    dropped: tuple[Dropped, ...]


def select_diverse(candidates: list[Candidate], *, top_k: int, max_similarity: float) -> Selection:
    """Takes the best ``top_k`` candidates none of which repeats a better one.

    Args:
        candidates: In any order; scores at or above the threshold.
        top_k: Most to select.
        max_similarity: A candidate with a cosine at or above this to a selected one is dropped.
            Only fragments of the same vector space are compared; identical text always is.

    Returns:
        The selection, and the rest in order of score.
    """
    selected: list[Candidate] = []
    dropped: list[Dropped] = []
    for position, candidate in enumerate(rank(candidates), start=1):
        twin = next((chosen for chosen in selected if chosen.text_sha256 == candidate.text_sha256), None)
        if twin is not None:
            dropped.append(Dropped(candidate, twin.fragment_id, 1.0, position, identical=True))
            continue
        nearest, similarity = _nearest(candidate, selected)
        if nearest is not None and similarity >= max_similarity:
            dropped.append(Dropped(candidate, nearest.fragment_id, similarity, position))
        elif len(selected) == top_k:
            dropped.append(Dropped(candidate, None, 0.0, position))
        else:
            selected.append(candidate)
    return Selection(tuple(selected), tuple(dropped))


def _nearest(candidate: Candidate, selected: list[Candidate]) -> tuple[Candidate | None, float]:
    comparable = [chosen for chosen in selected if chosen.space == candidate.space]
    if not comparable:
        return None, 0.0
    cosines = [float(candidate.vector @ chosen.vector) for chosen in comparable]
    best = max(range(len(cosines)), key=cosines.__getitem__)
    return comparable[best], cosines[best]
