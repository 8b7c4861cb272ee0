"""Compiled loops over code points and hash values. Everything here is exact integer arithmetic.

numba compiles them at first use, once for an installation: the machine code is cached beside
this file, or in the user's cache folder where this one cannot be written.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from corpus_pipeline.deduplication.normalisation import UNSPACED_RANGES

__all__ = [
    "Bools",
    "Int32",
    "Int64",
    "Kernels",
    "UInt8",
    "UInt32",
    "UInt64",
    "kernels",
    "shingle_hash32",
    "shingle_hash64",
    "word_classes",
]

UInt8 = npt.NDArray[np.uint8]
UInt32 = npt.NDArray[np.uint32]
UInt64 = npt.NDArray[np.uint64]
Bools = npt.NDArray[np.bool_]
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]

_MASK = (1 << 64) - 1
_WORD_SEED = 0x9E3779B97F4A7C15
_WORD_FACTOR = 0xD6E8FEB86659FD93
_SHINGLE_FACTOR = 0xA0761D6478BD642F
_FMIX_1 = 0xFF51AFD7ED558CCD  # MurmurHash3 finalizer, Austin Appleby, public domain
_FMIX_2 = 0xC4CEB9FE1A85EC53


class Kernels(NamedTuple):
    """The compiled functions; see the functions of the same names below."""

    word_hashes: Callable[[UInt32, UInt8], UInt64]
    shingle_hashes: Callable[[UInt64, int], UInt64]
    minimum_permutations: Callable[[UInt64, UInt32, UInt32], UInt32]
    shared_counts: Callable[[UInt64, npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]], Any]
    sharing_pairs: Callable[..., Any]


def _word_hashes(code_points: UInt32, classes: UInt8) -> UInt64:
    """A 64-bit hash of every word; class 1 continues a word, class 2 is one by itself, 0 ends it."""
    hashes = np.empty(code_points.size, dtype=np.uint64)
    count = 0
    state = np.uint64(_WORD_SEED)
    inside = False
    for position in range(code_points.size):
        kind = classes[code_points[position]]
        if inside and kind != 1:
            hashes[count] = state
            count += 1
            state = np.uint64(_WORD_SEED)
            inside = False
        if kind != 0:
            state = (state ^ np.uint64(code_points[position])) * np.uint64(_WORD_FACTOR)
            state ^= state >> np.uint64(32)
            inside = True
            if kind == 2:  # noqa: PLR2004
                hashes[count] = state
                count += 1
                state = np.uint64(_WORD_SEED)
                inside = False
    if inside:
        hashes[count] = state
        count += 1
    return hashes[:count].copy()


def _shingle_hashes(hashes: UInt64, size: int) -> UInt64:
    """A 64-bit hash of every run of ``size`` words, in order; empty when there are fewer words."""
    count = max(0, hashes.size - size + 1)
    shingles = np.empty(count, dtype=np.uint64)
    for start in range(count):
        state = np.uint64(0)
        for offset in range(size):
            state = state * np.uint64(_SHINGLE_FACTOR) + hashes[start + offset]
        state = (state ^ (state >> np.uint64(33))) * np.uint64(_FMIX_1)
        state = (state ^ (state >> np.uint64(33))) * np.uint64(_FMIX_2)
        shingles[start] = state ^ (state >> np.uint64(33))
    return shingles


def _minimum_permutations(shingles: UInt64, factors: UInt32, offsets: UInt32) -> UInt32:
    """Datasketch's ``affine32`` MinHash values of the upper halves of the shingle hashes."""
    minima = np.full(factors.size, 0xFFFFFFFF, dtype=np.uint32)
    for position in range(shingles.size):
        value = np.uint32(shingles[position] >> np.uint64(32))
        value = np.uint32((value ^ (value >> np.uint32(16))) * np.uint32(0x85EBCA6B))
        value = np.uint32((value ^ (value >> np.uint32(13))) * np.uint32(0xC2B2AE35))
        value = np.uint32(value ^ (value >> np.uint32(16)))
        for permutation in range(factors.size):
            permuted = np.uint32(np.uint32(factors[permutation] * value) + offsets[permutation])
            minima[permutation] = min(minima[permutation], permuted)
    return minima


def _shared_counts(
    values: UInt64, starts: npt.NDArray[np.int64], left: npt.NDArray[np.int64], right: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Size of the intersection of sorted, distinct sets.

    Args:
        values: All sets, one after the other.
        starts: Set ``i`` is ``values[starts[i]:starts[i + 1]]``.
        left: Index of the first set of each pair.
        right: Index of the second.
    """
    shared = np.zeros(left.size, dtype=np.int64)
    for pair in range(left.size):
        first, first_end = starts[left[pair]], starts[left[pair] + 1]
        second, second_end = starts[right[pair]], starts[right[pair] + 1]
        count = 0
        while first < first_end and second < second_end:
            if values[first] == values[second]:
                count += 1
                first += 1
                second += 1
            elif values[first] < values[second]:
                first += 1
            else:
                second += 1
        shared[pair] = count
    return shared


def _sharing_pairs(
    searched: Int32,
    bucket_ends: Int64,
    buckets: Int32,
    starts: Int64,
    members: Int32,
    limit: int,
    mutual: Bools,
    needed: tuple[Bools, Int32, Int32],
) -> tuple[Int32, Int32]:
    """Pairs that share enough buckets, each once.

    Args:
        searched: Sets to look up, ascending.
        bucket_ends: The buckets of ``searched[i]`` are ``buckets[bucket_ends[i]:bucket_ends[i + 1]]``.
        buckets: Buckets of all searched sets, one after the other.
        starts: Members of bucket ``b`` are ``members[starts[b]:starts[b + 1]]``.
        members: Sets by bucket.
        limit: A bucket with more members counts for nothing.
        mutual: Sets that are searched and members too: of two of them only the later finds the earlier.
        needed: Which sets are sparse; shared buckets needed where both are dense; and where one is sparse.
    """
    sparse, dense_needed, sparse_needed = needed
    counts = np.zeros(sparse.size, dtype=np.int32)
    seen = np.empty(sparse.size, dtype=np.int32)
    left, right = np.empty(1024, dtype=np.int32), np.empty(1024, dtype=np.int32)
    found = 0
    for position in range(searched.size):
        one = searched[position]
        number = 0
        for entry in range(bucket_ends[position], bucket_ends[position + 1]):
            bucket = buckets[entry]
            if starts[bucket + 1] - starts[bucket] > limit:
                continue
            for member in range(starts[bucket], starts[bucket + 1]):
                other = members[member]
                if other == one or (other > one and mutual[other]):
                    continue
                if counts[other] == 0:
                    seen[number] = other
                    number += 1
                counts[other] += 1
        while left.size < found + number:
            left, right = np.append(left, left), np.append(right, right)
        for index in range(number):
            other = seen[index]
            rate = sparse_needed if sparse[one] or sparse[other] else dense_needed
            if counts[other] >= min(rate[one], rate[other]):
                left[found], right[found] = one, other
                found += 1
            counts[other] = 0
    return left[:found].copy(), right[:found].copy()


@cache
def kernels() -> Kernels:
    """The compiled kernels of this process."""
    import numba

    def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
        try:
            return numba.njit(cache=True, nogil=True)(function)
        except RuntimeError:  # no folder for the cache can be written: compile in every process
            return numba.njit(nogil=True)(function)

    return Kernels(
        compiled(_word_hashes),
        compiled(_shingle_hashes),
        compiled(_minimum_permutations),
        compiled(_shared_counts),
        compiled(_sharing_pairs),
    )


@cache
def word_classes() -> UInt8:
    """Class of every code point, as :func:`normalisation.words` divides a text. Shape (0x110000,)."""
    characters = np.arange(0x110000, dtype=np.uint32).view("<U1")
    classes = np.char.isalnum(characters).astype(np.uint8)
    classes[ord("_")] = 1
    for start, end in UNSPACED_RANGES:
        classes[start:end] = 2
    return classes


def shingle_hash64(shingle: bytes) -> int:
    """The hash of one shingle, its words joined by single spaces in UTF-8; the kernels' reference."""
    state = 0
    for word in shingle.decode("utf-8").split(" "):
        word_state = _WORD_SEED
        for character in word:
            word_state = ((word_state ^ ord(character)) * _WORD_FACTOR) & _MASK
            word_state ^= word_state >> 32
        state = (state * _SHINGLE_FACTOR + word_state) & _MASK
    state = ((state ^ (state >> 33)) * _FMIX_1) & _MASK
    state = ((state ^ (state >> 33)) * _FMIX_2) & _MASK
    return state ^ (state >> 33)


def shingle_hash32(shingle: bytes) -> int:
    """Upper half of :func:`shingle_hash64`: the ``hashfunc`` with which datasketch gives our signatures."""
    return shingle_hash64(shingle) >> 32
