"""Diversity: the best fragments that each add something.

Greedy selection in order of score with a ceiling on the cosine to what is already selected:
maximal marginal relevance (Carbonell and Goldstein, 1998, https://doi.org/10.1145/290941.291025)
with its trade-off replaced by a hard limit, which is easier to explain to the reader of a result.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from corpus_pipeline.retrieval.candidate import Candidate, rank

__all__ = ["DropCause", "Dropped", "Selection", "select_diverse"]


class DropCause(StrEnum):
    """Why a candidate above the score is not among the accepted."""

    IDENTICAL = "identical"
    NEAR_COPY = "near_copy"
    SAME_SOURCE = "same_source"
    SAME_SECTION = "same_section"
    OUTRANKED = "outranked"
    RERANKED_OUT = "reranked_out"
    OVER_BUDGET = "over_budget"


@dataclass(frozen=True, slots=True)
class Dropped:
    """A candidate above the score that was not selected.

    Attributes:
        blocked_by: The selected fragment it repeats; ``None`` when none stands in its way.
        similarity: Cosine to ``blocked_by``, 1.0 for identical text, 0.0 without one.
        position: 1-based place in the order of rank.
    """

    candidate: Candidate
    cause: DropCause
    position: int
    blocked_by: str | None = None
    similarity: float = 0.0


@dataclass(frozen=True, slots=True)
class Selection:
    """Selected fragments, best first, and every other candidate with its cause."""

    selected: tuple[Candidate, ...]
    dropped: tuple[Dropped, ...]


def select_diverse(
    candidates: list[Candidate],
    *,
    top_k: int,
    max_similarity: float,
    max_per_source: int | None = None,
    max_per_section: int | None = None,
) -> Selection:
    """Takes the best ``top_k`` candidates none of which repeats a better one.

    Args:
        candidates: In any order; scores at or above the threshold.
        top_k: Most to select.
        max_similarity: A candidate with a cosine at or above this to a selected one is dropped.
            Only fragments of the same vector space are compared; identical text always is.
        max_per_source: Most fragments of one document; ``None`` sets no limit.
        max_per_section: Most fragments of one section (parent); ``None`` sets no limit.

    Returns:
        The selection, and the rest in order of rank.
    """
    selected: list[Candidate] = []
    dropped: list[Dropped] = []
    sources: Counter[str] = Counter()
    sections: Counter[str] = Counter()
    ranked = rank(candidates)
    likeness = _Likeness(ranked)
    for position, candidate in enumerate(ranked, start=1):
        repeated = likeness.repeated(position, max_similarity)
        if repeated is not None:
            dropped.append(repeated)
        elif max_per_source is not None and sources[candidate.document_id] >= max_per_source:
            dropped.append(Dropped(candidate, DropCause.SAME_SOURCE, position))
        elif max_per_section is not None and sections[candidate.parent_id] >= max_per_section:
            dropped.append(Dropped(candidate, DropCause.SAME_SECTION, position))
        elif len(selected) == top_k:
            dropped.append(Dropped(candidate, DropCause.OUTRANKED, position))
        else:
            selected.append(candidate)
            likeness.select(position)
            sources[candidate.document_id] += 1
            sections[candidate.parent_id] += 1
    return Selection(tuple(selected), tuple(dropped))


class _Likeness:
    """How like each candidate is to those selected so far; one product of matrices for each that is selected."""

    def __init__(self, ranked: list[Candidate]) -> None:
        self._ranked = ranked
        self._by_text: dict[str, str] = {}
        self._cosines = np.full(len(ranked), -np.inf)
        self._nearest = np.zeros(len(ranked), np.intp)
        by_space: dict[str, list[int]] = {}
        for at, candidate in enumerate(ranked):
            by_space.setdefault(candidate.space, []).append(at)
        self._spaces = {
            space: (np.array(places), np.stack([ranked[at].vector for at in places]))
            for space, places in by_space.items()
        }

    def select(self, position: int) -> None:
        chosen = self._ranked[position - 1]
        self._by_text.setdefault(chosen.text_sha256, chosen.fragment_id)
        places, vectors = self._spaces[chosen.space]
        cosines = vectors @ chosen.vector
        nearer = cosines > self._cosines[places]
        self._cosines[places[nearer]] = cosines[nearer]
        self._nearest[places[nearer]] = position - 1

    def repeated(self, position: int, max_similarity: float) -> Dropped | None:
        candidate = self._ranked[position - 1]
        twin = self._by_text.get(candidate.text_sha256)
        if twin is not None:
            return Dropped(candidate, DropCause.IDENTICAL, position, twin, 1.0)
        similarity = float(self._cosines[position - 1])
        if similarity >= max_similarity:
            nearest = self._ranked[self._nearest[position - 1]].fragment_id
            return Dropped(candidate, DropCause.NEAR_COPY, position, nearest, similarity)
        return None
