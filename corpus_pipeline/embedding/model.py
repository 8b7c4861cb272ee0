"""A loaded model: texts in, unit vectors out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from corpus_pipeline.embedding.encoders import Encoder

__all__ = ["EmbeddingModel", "Vectors", "faulty_rows"]

Vectors = npt.NDArray[np.float32]

MAX_NORM_ERROR = 1e-3


class EmbeddingModel:
    """Encodes passages and queries with their prompts; vectors are float32 of unit length.

    Attributes:
        fingerprint: Names the model in the cache.
        parts: What the fingerprint is the hash of.
        dimensions: Length of a vector.
        max_tokens: Longest input, special tokens and prompt included. Passages are cut to fit by
            the chunking room; a query that is longer is read up to there.
    """

    def __init__(self, encoder: Encoder, *, fingerprint: str, parts: dict[str, Any]) -> None:
        self._encoder = encoder
        self.fingerprint = fingerprint
        self.parts = parts
        self.dimensions = encoder.dimensions
        self.max_tokens = int(parts["max_tokens"])

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """Vectors of passages, shape ``(len(texts), dimensions)``, in the order given."""
        return self._encode(texts, self.parts["passage_prompt"])

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Vectors of queries, shape ``(len(texts), dimensions)``, in the order given."""
        return self._encode(texts, self.parts["query_prompt"])

    def _encode(self, texts: Sequence[str], prompt: str) -> Vectors:
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        vectors = np.asarray(self._encoder.encode([prompt + text for text in texts]), dtype=np.float64)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        # A zero or NaN norm stays what it is, for faulty_rows to find.
        np.divide(vectors, norms, out=vectors, where=norms > 0)
        return vectors.astype(np.float32)


def faulty_rows(vectors: Vectors, dimensions: int) -> list[int]:
    """Rows that are no unit vector: not finite, or a norm further than 0.001 from 1; all, if the width is wrong."""
    if vectors.ndim != 2 or vectors.shape[1] != dimensions:  # noqa: PLR2004 - rows and columns
        return list(range(len(vectors)))
    norms = np.linalg.norm(vectors.astype(np.float64), axis=1)
    good = np.isfinite(vectors).all(axis=1) & (np.abs(norms - 1.0) <= MAX_NORM_ERROR)
    return [int(row) for row in np.flatnonzero(~good)]
