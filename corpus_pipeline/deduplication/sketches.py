"""Many signatures at once, column by column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt

from corpus_pipeline.deduplication.kernels import Int32, Int64
from corpus_pipeline.deduplication.parameters import DENSE_SHINGLES, SKETCH_OVERLAP

__all__ = ["Keys", "Sketches"]

_EMPTY = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Keys:
    """Which signature has which key, one entry a pair, shape (n,) each."""

    keys: Int64
    signature_ids: Int64

    @classmethod
    def of(cls, rows: Sequence[dict[str, Any]]) -> Keys:
        """From rows of ``key`` and ``signature_id``."""
        return cls(
            np.array([row["key"] for row in rows], dtype=np.int64),
            np.array([row["signature_id"] for row in rows], dtype=np.int64),
        )

    @classmethod
    def none(cls) -> Keys:
        """No entries."""
        return cls(_EMPTY, _EMPTY)

    def where(self, chosen: npt.NDArray[np.bool_]) -> Keys:
        """Some of the entries."""
        return Keys(self.keys[chosen], self.signature_ids[chosen])

    def without(self, signature_ids: Int64) -> Keys:
        """The entries of other signatures."""
        return self.where(~np.isin(self.signature_ids, signature_ids))

    def __add__(self, other: Keys) -> Keys:
        return Keys(np.concatenate((self.keys, other.keys)), np.concatenate((self.signature_ids, other.signature_ids)))


def _entries(ids: Int64, stored: Sequence[bytes]) -> Keys:
    if not stored:
        return Keys.none()
    keys = np.frombuffer(b"".join(stored), dtype="<i8").astype(np.int64)
    return Keys(keys, np.repeat(ids, [len(some) // 8 for some in stored]))


@dataclass(frozen=True, slots=True)
class Sketches:
    """Signatures in the order of their ids.

    Attributes:
        ids: Sorted, shape (n,).
        ranks: Keys of the signatures, by which leaders are taken.
        shingles: Distinct shingles of each.
        dense_keys: How many of them are keys at the dense rate.
        sparse_keys: How many at the sparse rate.
        bands: Band keys; empty where they were not asked for.
        samples: Sampled shingles; empty where they were not asked for.
    """

    ids: Int64
    ranks: list[bytes]
    shingles: Int64
    dense_keys: Int64
    sparse_keys: Int64
    bands: Keys
    samples: Keys

    @classmethod
    def of(cls, rows: Sequence[dict[str, Any]], *, with_keys: bool) -> Sketches:
        """From rows in the order of their ids."""
        ids = np.array([row["signature_id"] for row in rows], dtype=np.int64)
        counts = {
            name: np.array([row[name] for row in rows], dtype=np.int64)
            for name in ("shingle_count", "dense_keys", "sparse_keys")
        }
        return cls(
            ids,
            [bytes(row["signature_sha256"]) for row in rows],
            counts["shingle_count"],
            counts["dense_keys"],
            counts["sparse_keys"],
            _entries(ids, [row["band_keys"] for row in rows] if with_keys else []),
            _entries(ids, [row["shingle_keys"] for row in rows] if with_keys else []),
        )

    def positions(self, signature_ids: Int64) -> Int32:
        """Where these ids stand."""
        return np.searchsorted(self.ids, signature_ids).astype(np.int32)

    @property
    def needed(self) -> tuple[npt.NDArray[np.bool_], Int32, Int32]:
        """Which sketches are sparse, and how many keys of each must be shared at the dense and the sparse rate."""
        dense, sparse = (
            np.array([max(1, ceil(SKETCH_OVERLAP * count)) for count in counts.tolist()], dtype=np.int32)
            for counts in (self.dense_keys, self.sparse_keys)
        )
        return self.shingles > DENSE_SHINGLES, dense, sparse
