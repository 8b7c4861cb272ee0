"""A fragment under consideration: what the database says of it, before anything is decided."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Candidate", "rank"]

SCORE_PLACES = 6


@dataclass(frozen=True, slots=True)
class Candidate:
    """A fragment with its score against the query.

    Attributes:
        score: Cosine to the query, rounded so that equal texts tie in every run.
        space: Name of the vector space; cosines between different spaces mean nothing.
        vector: float32, shape (dimensions,), L2-normalised.
        metadata: Metadata of the document, as published.
        exclusion_reason: Set for archived fragments, a value of ``records.ExclusionReason``.
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
    metadata: dict[str, Any] = field(default_factory=dict)
    exclusion_reason: str | None = None
    exclusion_ref: str | None = None


def rank(candidates: list[Candidate]) -> list[Candidate]:
    """Best first; equal scores in order of fragment id, so that the order never depends on the run."""
    return sorted(candidates, key=lambda candidate: (-candidate.score, candidate.fragment_id))
