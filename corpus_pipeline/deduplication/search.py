"""Verified pairs of the signatures of changed documents, looked up among all of the corpus."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from corpus_pipeline.deduplication.candidates import BAND_LIMIT, SAMPLE_LIMIT, alike_pairs, sizes_by_key
from corpus_pipeline.deduplication.clusters import ComparedDocument, SignaturePair
from corpus_pipeline.deduplication.kernels import Int64
from corpus_pipeline.deduplication.parameters import ComparisonParameters
from corpus_pipeline.deduplication.signature_store import shingle_sets, sketches_of
from corpus_pipeline.deduplication.sketches import Keys, Sketches
from corpus_pipeline.deduplication.stored_comparison import StoredComparison
from corpus_pipeline.deduplication.verification import Verifier
from corpus_pipeline.store import Connection

__all__ = ["FoundPairs", "find_pairs", "signature_ids"]


@dataclass(frozen=True, slots=True)
class FoundPairs:
    """What a search found.

    Attributes:
        pairs: Verified pairs of the searched signatures.
        searched: Signatures of changed documents, and of those whose candidates changed with them.
        verified: Candidates that were compared.
    """

    pairs: list[SignaturePair]
    searched: Int64
    verified: int


def signature_ids(rows: Iterable[ComparedDocument]) -> Int64:
    """The signatures of documents, sorted."""
    return np.unique(np.array([row.signature_id for row in rows if row.signature_id is not None], dtype=np.int64))


def find_pairs(
    connection: Connection,
    stored: StoredComparison,
    before: Sequence[ComparedDocument],
    after: Sequence[ComparedDocument],
    parameters: ComparisonParameters,
    workers: int,
) -> FoundPairs:
    """Verified pairs with a signature of ``after``.

    Where documents enter or leave a band so full that it has leaders, or a sampled shingle becomes
    too frequent or ceases to be, the candidates of its other members change too: they are searched anew.

    Args:
        connection: Sees all signatures.
        stored: The corpus as last compared.
        before: The changed documents as they were.
        after: The changed documents as they are.
        parameters: The thresholds.
        workers: Threads to count with.
    """
    gone, new = signature_ids(before), signature_ids(after)
    if not gone.size and not new.size:
        return FoundPairs([], new, 0)
    corpus = _Corpus(stored, gone, gone.size)
    touched = sketches_of(connection, np.union1d(gone, new), with_keys=True)
    own = touched if not np.setdiff1d(gone, new).size else sketches_of(connection, new, with_keys=True)
    bands, samples = corpus.bands(touched.bands.keys), corpus.samples(touched.samples.keys)
    more = np.union1d(
        _unsettled(bands, own.bands, gone, BAND_LIMIT, always=True),
        _unsettled(samples, own.samples, gone, SAMPLE_LIMIT, always=False),
    )
    more = np.setdiff1d(more, new)
    if more.size:
        own = sketches_of(connection, np.union1d(new, more), with_keys=True)
        bands, samples = corpus.bands(own.bands.keys), corpus.samples(own.samples.keys)
    return _search(connection, own, bands.without(gone), samples.without(gone), parameters, workers)


@dataclass(frozen=True, slots=True)
class _Corpus:
    stored: StoredComparison
    gone: Int64
    margin: int

    def bands(self, keys: Int64) -> Keys:
        return self.stored.band_members(np.unique(keys))

    def samples(self, keys: Int64) -> Keys:
        """Enough members to tell that there are too many, even when all that are gone are among them."""
        return self.stored.sample_members(np.unique(keys), SAMPLE_LIMIT + 1 + self.margin)


def _unsettled(stored: Keys, own: Keys, gone: Int64, limit: int, *, always: bool) -> Int64:
    """Members of keys that pass the limit, either way; with ``always``, of all that are above it."""
    now = stored.without(np.union1d(gone, own.signature_ids)) + own
    names = np.unique(np.concatenate((stored.keys, now.keys)))
    before, after = (_counts(entries, names) > limit for entries in (stored, now))
    passing = names[(before | after) if always else (before ^ after)]
    return np.unique(now.signature_ids[np.isin(now.keys, passing)])


def _counts(entries: Keys, names: Int64) -> Int64:
    counts = np.zeros(names.size, dtype=np.int64)
    keys, sizes = sizes_by_key(entries)
    counts[np.searchsorted(names, keys)] = sizes
    return counts


def _search(
    connection: Connection, own: Sketches, bands: Keys, samples: Keys, parameters: ComparisonParameters, workers: int
) -> FoundPairs:
    bands, samples = bands.without(own.ids) + own.bands, samples.without(own.ids) + own.samples
    present = np.unique(np.concatenate((own.ids, bands.signature_ids, samples.signature_ids)))
    sketches = own if present.size == own.ids.size else sketches_of(connection, present, with_keys=False)
    sizes = dict(zip(sketches.ids.tolist(), sketches.shingles.tolist(), strict=True))
    verifier = Verifier(lambda ids: shingle_sets(connection, ids), sizes, parameters, workers)
    pairs = alike_pairs(own, sketches, bands, samples, verifier)
    return FoundPairs(pairs, own.ids, verifier.verified)
