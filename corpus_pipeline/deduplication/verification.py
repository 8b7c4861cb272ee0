"""Pairs of signatures, verified by counting the shingles they share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from corpus_pipeline.deduplication.clusters import SignaturePair, pair_kind
from corpus_pipeline.deduplication.kernels import Int64, UInt64, kernels
from corpus_pipeline.deduplication.parameters import ComparisonParameters

__all__ = ["Pair", "Verifier", "pair_blocks", "shared_counts"]

BLOCK_SHINGLES = 8_000_000
"""Shingle sets of at most about this many hashes (8 bytes each) are in memory at a time."""
THREAD_PAIRS = 2_000
"""Fewer pairs than this for each thread are not worth starting one."""

Pair = tuple[int, int]
"""Two signatures, the smaller id first."""


class Verifier:
    """Knows which pairs of signatures are alike, and verifies each at most once.

    Args:
        read: Gives the shingle sets of signatures.
        sizes: Distinct shingles of every signature that may be asked for.
        parameters: The thresholds.
        workers: Threads that count; the compiled loop needs no interpreter.
    """

    def __init__(
        self,
        read: Callable[[Iterable[int]], dict[int, UInt64]],
        sizes: Mapping[int, int],
        parameters: ComparisonParameters,
        workers: int = 1,
    ) -> None:
        self._read = read
        self._sizes = sizes
        self.parameters = parameters
        self._workers = workers
        self._alike: dict[Pair, SignaturePair | None] = {}
        self.verified = 0

    def alike(self, pairs: Iterable[Pair]) -> list[SignaturePair]:
        """Those of the pairs that reach a threshold, in order."""
        wanted = sorted(set(pairs))
        self._verify([pair for pair in wanted if pair not in self._alike])
        return [found for pair in wanted if (found := self._alike[pair]) is not None]

    def _verify(self, pairs: Sequence[Pair]) -> None:
        self.verified += len(pairs)
        for block in pair_blocks(pairs, self._sizes):
            sets = self._read({side for pair in block for side in pair})
            counts = shared_counts(block, sets, self._workers)
            for (left, right), shared in zip(block, counts.tolist(), strict=True):
                pair = SignaturePair(left, right, self._sizes[left], self._sizes[right], shared)
                reaches = shared and pair_kind(pair, self.parameters) is not None
                self._alike[left, right] = pair if reaches else None


def pair_blocks(pairs: Sequence[Pair], sizes: Mapping[int, int], limit: int = BLOCK_SHINGLES) -> Iterator[list[Pair]]:
    """Sorted pairs in blocks whose shingle sets together stay about within the limit."""
    block: list[Pair] = []
    loaded: set[int] = set()
    total = 0
    for pair in sorted(pairs):
        added = sum(sizes[side] for side in pair if side not in loaded)
        if block and total + added > limit:
            yield block
            block, loaded, total = [], set(), 0
            added = sum(sizes[side] for side in pair)
        block.append(pair)
        loaded.update(pair)
        total += added
    if block:
        yield block


def shared_counts(pairs: Sequence[Pair], sets: Mapping[int, UInt64], workers: int = 1) -> Int64:
    """How many shingles the sides of each pair share.

    Args:
        pairs: Keys of ``sets``.
        sets: Sorted distinct hashes.
        workers: Threads to count with when there are many pairs.
    """
    order = {key: position for position, key in enumerate(sets)}
    starts = np.concatenate(([0], np.cumsum([array.size for array in sets.values()]))).astype(np.int64)
    values = np.concatenate(list(sets.values())) if sets else np.empty(0, dtype=np.uint64)
    left = np.array([order[first] for first, _ in pairs], dtype=np.int64)
    right = np.array([order[second] for _, second in pairs], dtype=np.int64)
    count = kernels().shared_counts
    parts = min(workers, max(1, len(pairs) // THREAD_PAIRS))
    if parts == 1:
        return np.asarray(count(values, starts, left, right), dtype=np.int64)
    with ThreadPoolExecutor(parts) as pool:
        counted = pool.map(
            lambda sides: count(values, starts, *sides),
            zip(np.array_split(left, parts), np.array_split(right, parts), strict=True),
        )
        return np.concatenate(list(counted))
