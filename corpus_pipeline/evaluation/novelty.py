"""New documents that are unlike anything a corpus has: a wrong folder, a crawler gone astray.

A document is off topic when its nearest published neighbour is farther than nearly all published
documents are from theirs: distance-based outliers (Ramaswamy, Rastogi and Shim, 2000,
https://doi.org/10.1145/342009.335437) with the limit taken from the corpus itself, so that a corpus
of many subjects allows more than one of a single subject.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from corpus_pipeline.records import sha256_hex

__all__ = ["MAX_REFERENCES", "off_topic", "references"]

MAX_REFERENCES = 2_000
"""Published documents compared with; a fixed sample of larger corpora."""

MIN_REFERENCES = 5
QUANTILE = 0.05
BATCH = 1_000

Vector = NDArray[np.float32]


def references(document_ids: Sequence[str]) -> list[str]:
    """At most 2,000 of the documents, always the same ones."""
    if len(document_ids) <= MAX_REFERENCES:
        return sorted(document_ids)
    return sorted(sorted(document_ids, key=sha256_hex)[:MAX_REFERENCES])


def off_topic(new: Mapping[str, Vector], published: Mapping[str, Vector]) -> list[str]:
    """Ids of the new documents that are off topic, sorted.

    Args:
        new: Mean vector by document, any length.
        published: The same of published documents; with fewer than five nothing is off topic.
    """
    if not new or len(published) < MIN_REFERENCES:
        return []
    known = _unit(published)
    among = known @ known.T
    np.fill_diagonal(among, -1.0)
    limit = float(np.quantile(among.max(axis=1), QUANTILE, method="lower"))
    names = sorted(new)
    vectors = _unit({name: new[name] for name in names})
    nearest = np.concatenate(
        [(vectors[start : start + BATCH] @ known.T).max(axis=1) for start in range(0, len(names), BATCH)]
    )
    return [name for name, cosine in zip(names, nearest, strict=True) if cosine < limit]


def _unit(vectors: Mapping[str, Vector]) -> Vector:
    matrix = np.stack([vectors[name] for name in sorted(vectors)]).astype(np.float32)
    norms: Vector = np.linalg.norm(matrix, axis=1, keepdims=True).astype(np.float32)
    unit: Vector = (matrix / np.where(norms == 0, 1, norms)).astype(np.float32)
    return unit
