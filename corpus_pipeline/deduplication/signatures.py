"""Shingle sets, MinHash signatures, LSH band keys and containment keys of one text.

Signatures are bit for bit those of ``datasketch.MinHash(num_perm, seed, hashfunc=shingle_hash32)``
of datasketch 2, scheme ``affine32``, with the permutations datasketch itself makes. Shingle
sets are kept as sorted distinct 64-bit hashes. Jaccard over them is that of the word sets
themselves unless two different shingles of the two texts share a hash, which for two texts of
10,000 shingles happens with a probability below one in 10**11.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from corpus_pipeline.deduplication.kernels import Int64, UInt32, UInt64, kernels, word_classes
from corpus_pipeline.deduplication.normalisation import folded
from corpus_pipeline.deduplication.parameters import DENSE_RATE, DENSE_SHINGLES, SPARSE_RATE, ComparisonParameters

__all__ = [
    "ContainmentSketch",
    "Signature",
    "SignedText",
    "band_keys",
    "containment_sketch",
    "minhash",
    "shingle_set",
    "sign",
    "signed_texts",
]


@dataclass(frozen=True, slots=True)
class Signature:
    """What is stored of a text to compare it.

    Attributes:
        shingles: Sorted distinct shingle hashes, shape (n,), uint64; empty when the text has
            fewer words than a shingle.
        minima: MinHash values, shape (permutations,), uint32.
    """

    shingles: UInt64
    minima: UInt32


def _shingles(text: str, size: int) -> UInt64:
    code_points = np.frombuffer(folded(text).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    compiled = kernels()
    return compiled.shingle_hashes(compiled.word_hashes(code_points, word_classes()), size)


def shingle_set(text: str, size: int) -> UInt64:
    """Sorted distinct hashes of the runs of ``size`` words; empty when there are fewer words.

    >>> len(shingle_set("a rose is a rose is a rose", 3))
    3
    """
    return np.unique(_shingles(text, size))


@cache
def _permutations(count: int, seed: int) -> tuple[UInt32, UInt32]:
    from datasketch import MinHash

    factors, offsets = MinHash(num_perm=count, seed=seed, scheme="affine32").permutations
    return np.ascontiguousarray(factors), np.ascontiguousarray(offsets)


def minhash(shingles: UInt64, permutations: int, seed: int) -> UInt32:
    """MinHash values of a shingle set, shape (permutations,); all ones for an empty set."""
    return kernels().minimum_permutations(shingles, *_permutations(permutations, seed))


def sign(text: str, parameters: ComparisonParameters) -> Signature:
    """Shingle set and MinHash signature of a text."""
    shingles = shingle_set(text, parameters.shingle_words)
    return Signature(shingles, minhash(shingles, parameters.permutations, parameters.seed))


def _mix(state: UInt64) -> UInt64:
    state = (state ^ (state >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    state = (state ^ (state >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return state ^ (state >> np.uint64(33))


@cache
def _salt(parameters: ComparisonParameters) -> np.uint64:
    return np.uint64(int(parameters.sha256[:16], 16))


def band_keys(minima: UInt32, parameters: ComparisonParameters) -> Int64:
    """One key for each band of each signature; equal keys make a pair a candidate.

    Keys of different parameters or bands are different, so that all share one index.

    Args:
        minima: Signatures, shape (n, permutations).
        parameters: Bands and rows.

    Returns:
        Shape (n, bands); the unsigned keys as signed integers, for PostgreSQL.
    """
    used = minima[:, : parameters.bands * parameters.rows].reshape(-1, parameters.bands, parameters.rows)
    state = _mix(np.arange(1, parameters.bands + 1, dtype=np.uint64) ^ _salt(parameters))[None, :]
    for row in range(parameters.rows):
        state = _mix(state ^ used[:, :, row].astype(np.uint64))
    return np.ascontiguousarray(np.broadcast_to(state, used.shape[:2])).view(np.int64)


class ContainmentSketch(NamedTuple):
    """Sampled shingles of a text.

    Attributes:
        keys: By which it is stored and found, as signed integers for PostgreSQL. Both sides of a
            pair use their own keys, so that it makes no difference which of them came later.
        dense_count: Shingles that are keys at the dense rate.
        sparse_count: Shingles that are keys at the sparse rate; they are so at the dense rate too.
    """

    keys: Int64
    dense_count: int
    sparse_count: int


def containment_sketch(shingles: UInt64, parameters: ComparisonParameters) -> ContainmentSketch:
    """Sampled shingles by which a text is found in one that contains it.

    A fixed fraction of all shingles is taken by their hash, so that a contained text's sample is
    contained in the sample of the larger (Broder: On the resemblance and containment of documents,
    1997; modulo sketches). Short texts are sampled more densely.
    """
    dense = shingles[shingles % np.uint64(DENSE_RATE) == 0]
    sparse = dense[dense % np.uint64(SPARSE_RATE) == 0]
    keys = dense if shingles.size <= DENSE_SHINGLES else sparse
    return ContainmentSketch((keys ^ _salt(parameters)).view(np.int64), dense.size, sparse.size)


class SignedText(NamedTuple):
    """A signature as it is stored and sent between processes: arrays as little-endian bytes.

    Attributes:
        key: Of text, removed lines and parameters, 32 bytes.
        shingles: Sorted distinct shingle hashes, 64-bit.
        band_keys: One for each band, 64-bit.
        shingle_keys: Sampled shingles, 64-bit.
        dense_count: Shingles that are keys at the dense rate.
        sparse_count: Shingles that are keys at the sparse rate.
    """

    key: bytes
    shingles: bytes
    band_keys: bytes
    shingle_keys: bytes
    dense_count: int
    sparse_count: int


def signed_texts(texts: Sequence[tuple[bytes, str]], parameters: ComparisonParameters) -> list[SignedText]:
    """Signatures of ``(key, text)`` pairs with what they are found by."""
    signatures = [sign(text, parameters) for _, text in texts]
    if not signatures:
        return []
    bands = band_keys(np.stack([signature.minima for signature in signatures]), parameters).astype("<i8", copy=False)
    signed = []
    for (key, _), signature, band in zip(texts, signatures, bands, strict=True):
        sketch = containment_sketch(signature.shingles, parameters)
        signed.append(
            SignedText(
                key,
                signature.shingles.astype("<u8", copy=False).tobytes(),
                band.tobytes(),
                sketch.keys.astype("<i8", copy=False).tobytes(),
                sketch.dense_count,
                sketch.sparse_count,
            )
        )
    return signed
