"""Generated fragments: texts with words as frequent as in a language, vectors in clusters, metadata to filter by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.index.corpora import BenchDocument
from corpus_pipeline.records import DocumentMetadata

DIMENSIONS = 384
VOCABULARY = 60_000
FRAGMENTS_OF_A_DOCUMENT = 10
CLUSTERS = 2_000
SPREAD = 0.7
"""Of the vectors of a cluster around its centre, in units of the centre's length."""


def shares(number: int) -> dict[str, Any]:
    """Metadata of document ``number``: the products one_percent, ten_percent and half have these shares.

    So have the region tenth, the tier gold (10 % each) and the attribute team of t0 (5 %), which no index serves.
    """
    place, other = (number * 7919) % 100, (number * 104_729 + 13) % 100
    product = "one_percent" if place < 1 else "ten_percent" if place < 11 else "half" if place < 61 else "others"
    return {
        "product": product,
        "domain": f"domain {place % 7}",
        "audience": "everybody",
        "region": "tenth" if other < 10 else "elsewhere",
        "plan_tiers": ("gold",) if other % 10 == 3 else ("free", "team"),
        "attributes": {"team": f"t{other % 20}"},
    }


def documents(
    fragments: int, *, seed: int = 1, words: int = 80, archived_share: float = 0.0
) -> Iterator[BenchDocument]:
    """Documents of ten fragments each; words follow Zipf's law with exponent 1."""
    chance = np.random.default_rng(seed)
    names = np.array([f"w{number:x}" for number in range(VOCABULARY)])
    weights = 1.0 / np.arange(1, VOCABULARY + 1)
    cumulative = np.cumsum(weights / weights.sum())
    for number in range(fragments // FRAGMENTS_OF_A_DOCUMENT):
        lengths = chance.integers(words // 2, words + words // 2, FRAGMENTS_OF_A_DOCUMENT)
        picked = names[np.minimum(np.searchsorted(cumulative, chance.random(lengths.sum())), VOCABULARY - 1)]
        ends = np.cumsum(lengths)
        texts = [
            f"f{number}x{place} " + " ".join(picked[end - length : end])
            for place, (length, end) in enumerate(zip(lengths, ends, strict=True))
        ]
        metadata = DocumentMetadata(acl_groups=("everyone",), **shares(number))
        yield BenchDocument(f"d{number:07d}", texts, metadata, archived=bool(chance.random() < archived_share))


def vectors(count: int, *, seed: int = 1) -> np.ndarray:
    """Unit vectors around centres, float32 of shape ``(count, 384)``."""
    centres = np.random.default_rng(0).normal(size=(CLUSTERS, DIMENSIONS)).astype(np.float32)
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    chance = np.random.default_rng(seed)
    made = centres[chance.integers(0, CLUSTERS, count)]
    made += chance.normal(scale=SPREAD / DIMENSIONS**0.5, size=made.shape).astype(np.float32)
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return made
