"""Rows of serving tables as candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from pgvector import HalfVector

from corpus_pipeline.retrieval.candidate import SCORE_PLACES, Candidate

__all__ = [
    "FRAGMENT_COLUMNS",
    "METADATA_COLUMNS",
    "FragmentRow",
    "SearchTarget",
    "Vector",
    "found_by_vector",
    "found_by_words",
]

Vector = npt.NDArray[np.float32]

METADATA_COLUMNS = (
    "product",
    "domain",
    "plan_tiers",
    "region",
    "customer_segment",
    "environment",
    "audience",
    "answer_use",
    "source_class",
    "source_type",
    "source_extension",
    "trust_level",
    "lifecycle",
    "version",
    "family",
    "language",
    "valid_from",
    "valid_until",
    "acl_groups",
    "owner",
    "last_reviewed_at",
    "attributes",
)
_OWN_COLUMNS = (
    "fragment_id",
    "parent_id",
    "corpus",
    "document_id",
    "source_uri",
    "title",
    "text",
    "text_sha256",
    "section_path",
    "page_number",
    "char_start",
    "char_end",
    "token_count",
    "exclusion_reason",
    "exclusion_ref",
    "also_in",
)
FRAGMENT_COLUMNS = (*_OWN_COLUMNS, *METADATA_COLUMNS, "embedding")
"""What is read of a fragment; one more column, its distance or its BM25, comes after them.

Empty ``also_in`` and ``attributes`` come as NULL, ``embedding`` in the form in which pgvector sends a halfvec.
"""

FragmentRow = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class SearchTarget:
    """Where one generation of a corpus lies.

    Attributes:
        table: Serving table in schema ``serving``.
        space: Embedding fingerprint; vectors of one space can be compared.
        analyser: Parts of the analyser that made its terms; ``None`` for a table without terms.
        is_evaluated: It is looked at in a session of an evaluator, published or not.
    """

    corpus: str
    generation: int
    table: str
    space: str
    analyser: Mapping[str, Any] | None = None
    is_evaluated: bool = False


def found_by_vector(rows: Sequence[FragmentRow], target: SearchTarget) -> list[Candidate]:
    """Candidates of rows that end with their distance to the query, in their order."""
    units = _unit_vectors([row[-2] for row in rows])
    return [_candidate(row, target, unit, 1.0 - row[-1]) for row, unit in zip(rows, units, strict=True)]


def found_by_words(rows: Sequence[FragmentRow], target: SearchTarget, vector: Vector) -> list[Candidate]:
    """Candidates of rows that end with their BM25, in their order, each with its cosine to a vector beside it.

    Args:
        rows: Found in that target.
        target: Where they were found.
        vector: float32, shape (dimensions,), L2-normalised.
    """
    if not rows:
        return []
    units = _unit_vectors([row[-2] for row in rows])
    # As the database compares them: both in half precision.
    cosines = (units @ _unit_vectors([HalfVector(vector).to_binary()])[0]).tolist()
    return [
        _candidate(row, target, unit, score, lexical_score=row[-1])
        for row, unit, score in zip(rows, units, cosines, strict=True)
    ]


def _candidate(
    row: FragmentRow, target: SearchTarget, vector: Vector, score: float, *, lexical_score: float | None = None
) -> Candidate:
    # Unpacked, not looked up by name: a question has a hundred rows.
    (
        fragment_id,
        parent_id,
        corpus,
        document_id,
        source_uri,
        title,
        text,
        text_sha256,
        section_path,
        page_number,
        char_start,
        char_end,
        token_count,
        exclusion_reason,
        exclusion_ref,
        also_in,
        *metadata,
        _,
        _,
    ) = row
    values = dict(zip(METADATA_COLUMNS, metadata, strict=True))
    values["attributes"] = values["attributes"] or {}
    return Candidate(
        fragment_id=fragment_id,
        parent_id=parent_id,
        corpus=corpus,
        document_id=document_id,
        source_uri=source_uri,
        title=title,
        score=round(score, SCORE_PLACES),
        text=text,
        text_sha256=text_sha256,
        section_path=tuple(section_path),
        page_number=page_number,
        char_start=char_start,
        char_end=char_end,
        space=target.space,
        vector=vector,
        token_count=token_count,
        also_in=tuple(also_in or ()),
        metadata=values,
        exclusion_reason=exclusion_reason,
        exclusion_ref=exclusion_ref,
        lexical_score=lexical_score,
    )


def _unit_vectors(stored: Sequence[bytes]) -> Vector:
    """Stored vectors, (rows, dimensions): half precision loses the exact norm, cosines need it back.

    Each is two numbers of 16 bits, the first of them its dimensions, and then its elements, all of them big-endian.
    """
    if not stored:
        return np.empty((0, 0), np.float32)
    rows = np.frombuffer(b"".join(stored), ">f2").reshape(len(stored), -1)[:, 2:].astype(np.float32)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return cast("Vector", rows / np.where(norms > 0, norms, 1.0))
