"""A fragment under consideration: what the database says of it, before anything is decided."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Candidate", "rank"]

SCORE_PLACES = 6


class Candidate(NamedTuple):
    """A fragment with its scores against the query.

    A tuple, for a question makes two hundred of them, and fusing their orders makes them anew.

    Attributes:
        score: Cosine to the query, rounded so that equal texts tie in every run.
        space: Name of the vector space; cosines between different spaces mean nothing.
        vector: float32, shape (dimensions,), L2-normalised.
        metadata: Metadata of the document, as published.
        exclusion_reason: Set for archived fragments, a value of ``records.ExclusionReason``.
        also_in: Other documents of the same scope with exactly this text: ``document_id``, ``title``,
            ``fragment_id``, ``page_number``, ``char_start``, ``char_end`` of each.
        lexical_score: BM25, where it was found by words.
        fused_score: Set once orders are fused, by a cross-encoder's reading too; then it decides the order.
        rerank_score: Probability that it answers by a cross-encoder.
    """

    fragment_id: str
    parent_id: str
    corpus: str
    document_id: str
    source_uri: str
    title: str | None
    score: float
    text: str
    text_sha256: str
    section_path: tuple[str, ...]
    page_number: int | None
    char_start: int
    char_end: int
    space: str
    vector: npt.NDArray[np.float32]
    token_count: int = 0
    metadata: Mapping[str, Any] = MappingProxyType({})
    exclusion_reason: str | None = None
    exclusion_ref: str | None = None
    also_in: tuple[dict[str, Any], ...] = ()
    lexical_score: float | None = None
    fused_score: float | None = None
    rerank_score: float | None = None


def rank(candidates: list[Candidate]) -> list[Candidate]:
    """Best first; then by cosine, then in order of fragment id, so that the order never depends on the run."""
    return sorted(candidates, key=_place)


def _place(candidate: Candidate) -> tuple[float, float, str]:
    fused, score = candidate.fused_score, candidate.score
    return (-score if fused is None else -fused, -score, candidate.fragment_id)
