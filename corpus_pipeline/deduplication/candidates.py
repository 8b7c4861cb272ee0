"""From new signatures to verified pairs.

A signature is registered (visible to every other run) before its candidates are searched, so
that of two runs that register a pair's sides at the same time at least one finds the pair.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from corpus_pipeline.deduplication.clusters import SignaturePair, pair_kind
from corpus_pipeline.deduplication.kernels import UInt64, kernels
from corpus_pipeline.deduplication.parameters import DENSE_SHINGLES, SKETCH_OVERLAP, ComparisonParameters

__all__ = ["SketchSize", "may_contain", "pair_blocks", "verified_pairs"]

BLOCK_SHINGLES = 8_000_000
"""Shingle sets of at most about this many hashes (8 bytes each) are in memory at a time."""


@dataclass(frozen=True, slots=True)
class SketchSize:
    """Distinct shingles of a text, and how many of them are keys at the dense and the sparse rate."""

    shingles: int
    dense_keys: int
    sparse_keys: int


def may_contain(left: SketchSize, right: SketchSize, shared: int) -> bool:
    """Whether two texts share enough sampled shingles for one to contain the other.

    Depends on the pair alone, so that candidates do not depend on what else is stored.
    """
    if max(left.shingles, right.shingles) <= DENSE_SHINGLES:
        smaller = min(left.dense_keys, right.dense_keys)
    else:
        smaller = min(left.sparse_keys, right.sparse_keys)
    return shared >= max(1, ceil(SKETCH_OVERLAP * smaller))


def pair_blocks(
    pairs: Sequence[tuple[int, int]], sizes: Mapping[int, SketchSize], limit: int = BLOCK_SHINGLES
) -> Iterator[list[tuple[int, int]]]:
    """Sorted pairs in blocks whose shingle sets together stay about within the limit."""
    block: list[tuple[int, int]] = []
    loaded: set[int] = set()
    total = 0
    for pair in sorted(pairs):
        new = set(pair) - loaded
        added = sum(sizes[item].shingles for item in new)
        if block and total + added > limit:
            yield block
            block, loaded, total = [], set(), 0
            new, added = set(pair), sum(sizes[item].shingles for item in pair)
        block.append(pair)
        loaded |= new
        total += added
    if block:
        yield block


def verified_pairs(
    pairs: Sequence[tuple[int, int]], shingles: Mapping[int, UInt64], parameters: ComparisonParameters
) -> list[SignaturePair]:
    """The pairs that reach a threshold, by exact comparison of their shingle sets.

    Args:
        pairs: ``(left, right)`` with ``left < right``.
        shingles: Sorted distinct hashes of every signature in a pair.
        parameters: The thresholds.
    """
    if not pairs:
        return []
    order = {key: position for position, key in enumerate(shingles)}
    starts = np.concatenate(([0], np.cumsum([array.size for array in shingles.values()]))).astype(np.int64)
    values = np.concatenate(list(shingles.values())) if shingles else np.empty(0, dtype=np.uint64)
    left = np.array([order[first] for first, _ in pairs], dtype=np.int64)
    right = np.array([order[second] for _, second in pairs], dtype=np.int64)
    shared = kernels().shared_counts(values, starts, left, right)
    checked = (
        SignaturePair(first, second, shingles[first].size, shingles[second].size, int(count))
        for (first, second), count in zip(pairs, shared, strict=True)
    )
    return [pair for pair in checked if pair.shared and pair_kind(pair, parameters) is not None]
