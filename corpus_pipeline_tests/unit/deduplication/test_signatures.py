"""Signatures are datasketch's, and counts over hashes are those over words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from datasketch import MinHash
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus_pipeline.deduplication.candidates import sharing_pairs
from corpus_pipeline.deduplication.clusters import SignaturePair
from corpus_pipeline.deduplication.kernels import shingle_hash32, shingle_hash64
from corpus_pipeline.deduplication.normalisation import words
from corpus_pipeline.deduplication.parameters import comparison_parameters
from corpus_pipeline.deduplication.signatures import band_keys, containment_sketch, shingle_set, sign
from corpus_pipeline.deduplication.sketches import Keys, Sketches
from corpus_pipeline.deduplication.verification import Verifier, pair_blocks, shared_counts
from corpus_pipeline.registry import DeduplicationSpec

PARAMETERS = comparison_parameters(DeduplicationSpec())


def shingles_of(text: str, size: int) -> set[str]:
    found = words(text)
    return {" ".join(found[start : start + size]) for start in range(len(found) - size + 1)}


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=300), st.integers(1, 6), st.sampled_from([16, 128, 256]), st.integers(0, 2**32 - 1))
def test_signatures_are_bit_for_bit_those_of_datasketch(text: str, size: int, permutations: int, seed: int) -> None:
    spec = DeduplicationSpec(shingle_words=size, permutations=permutations, seed=seed)
    expected = MinHash(num_perm=permutations, seed=seed, hashfunc=shingle_hash32)
    for shingle in shingles_of(text, size):
        expected.update(shingle.encode("utf-8"))
    minima = sign(text, comparison_parameters(spec)).minima
    assert minima.dtype == expected.hashvalues.dtype
    assert np.array_equal(minima, expected.hashvalues)


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=200), st.integers(1, 6))
def test_shingle_hashes_are_those_of_the_word_runs(text: str, size: int) -> None:
    expected = sorted({shingle_hash64(shingle.encode("utf-8")) for shingle in shingles_of(text, size)})
    assert shingle_set(text, size).tolist() == expected


WORDS = st.lists(st.sampled_from(["alpha", "beta", "gamma", "delta", "epsilon", "zeta"]), max_size=60).map(" ".join)


@settings(max_examples=200, deadline=None)
@given(WORDS, WORDS, st.integers(1, 3))
def test_verified_jaccard_is_that_of_the_word_sets(left: str, right: str, size: int) -> None:
    spec = DeduplicationSpec(shingle_words=size, threshold=0.3, containment_threshold=0.5)
    first, second = shingles_of(left, size), shingles_of(right, size)
    sets = {1: shingle_set(left, size), 2: shingle_set(right, size)}
    verifier = Verifier(lambda _: sets, {key: found.size for key, found in sets.items()}, comparison_parameters(spec))
    found = verifier.alike([(1, 2)]) if first and second else []
    shared = len(first & second)
    jaccard = shared / len(first | second) if first and second else 0.0
    contained = shared / min(len(first), len(second)) if first and second else 0.0
    assert bool(found) == (jaccard >= 0.3 or contained >= 0.5)
    if found:
        assert (found[0].jaccard, found[0].containment) == (jaccard, contained)


def test_a_text_shorter_than_a_shingle_has_no_shingles() -> None:
    assert shingle_set("one two three four", 5).size == 0


def test_band_keys_agree_exactly_where_bands_agree() -> None:
    first = sign(" ".join(f"word{n}" for n in range(300)), PARAMETERS).minima
    second = first.copy()
    second[PARAMETERS.rows * 3] ^= 1
    keys = band_keys(np.stack((first, second)), PARAMETERS)
    assert keys.shape == (2, PARAMETERS.bands)
    assert np.flatnonzero(keys[0] != keys[1]).tolist() == [3]
    assert len(set(keys[0].tolist())) == PARAMETERS.bands
    other = comparison_parameters(DeduplicationSpec(threshold=0.7))
    assert not set(band_keys(first[None, :], other)[0].tolist()) & set(keys[0].tolist())


def test_the_sample_of_a_contained_text_is_in_that_of_the_larger() -> None:
    small = " ".join(f"inner{n}" for n in range(400))
    inner, outer = shingle_set(small, 5), shingle_set("preface words come first here " + small + " end", 5)
    mine, theirs = containment_sketch(inner, PARAMETERS), containment_sketch(outer, PARAMETERS)
    assert set(mine.keys.tolist()) <= set(theirs.keys.tolist())
    assert mine.sparse_count == mine.keys.size > 10


def test_pairs_of_any_size_share_keys_at_the_sparser_rate() -> None:
    sizes = [40, 256, 257, 3000]
    sets = [shingle_set(" ".join(f"inner{n}" for n in range(size + 4)), 5) for size in sizes]
    sketches = [containment_sketch(item, PARAMETERS) for item in sets]
    for smaller, size in zip(sketches, sizes, strict=True):
        for larger, other in zip(sketches, sizes, strict=True):
            if size <= other:
                shared = len(set(smaller.keys.tolist()) & set(larger.keys.tolist()))
                assert shared == (smaller.dense_count if other <= 256 else smaller.sparse_count)


def sketches(*sizes: tuple[int, int, int]) -> Sketches:
    """Signatures 1, 2, …: distinct shingles, dense and sparse keys of each."""
    rows = [
        {"signature_id": n, "signature_sha256": bytes([n]), "shingle_count": s, "dense_keys": d, "sparse_keys": p}
        for n, (s, d, p) in enumerate(sizes, 1)
    ]
    return Sketches.of(rows, with_keys=False)


@pytest.mark.parametrize(
    ("left", "right", "shared", "expected"),
    [
        ((200, 50, 12), (200, 50, 12), 25, True),
        ((200, 50, 12), (200, 50, 12), 24, False),
        ((200, 50, 12), (4000, 1000, 250), 6, True),
        ((4000, 1000, 250), (200, 50, 12), 5, False),
        ((8, 0, 0), (4000, 1000, 250), 0, False),
        ((8, 0, 0), (4000, 1000, 250), 1, True),
    ],
)
def test_containment_candidates_share_half_of_the_smaller_sample(
    left: tuple[int, int, int], right: tuple[int, int, int], shared: int, expected: bool
) -> None:
    both = sketches(left, right)
    keys = np.arange(shared)
    samples = Keys(np.concatenate((keys, keys)), np.repeat(np.array([1, 2]), shared))
    own = replace(both, samples=samples)
    found = sharing_pairs(own, both, Keys.none(), samples, np.ones(2, dtype=np.bool_))
    assert found == ({(1, 2)} if expected else set())


def test_blocks_hold_every_pair_once_within_the_limit() -> None:
    sizes = dict.fromkeys(range(30), 10)
    pairs = [(left, right) for left in range(30) for right in range(left + 1, 30)]
    blocks = list(pair_blocks(pairs, sizes, limit=60))
    assert [pair for block in blocks for pair in block] == pairs
    assert all(10 * len({side for pair in block for side in pair}) <= 60 for block in blocks)


def test_a_pair_is_verified_once() -> None:
    sets = {1: shingle_set("one two three four five six", 5), 2: shingle_set("one two three four five six seven", 5)}
    reads = []
    verifier = Verifier(lambda ids: reads.append(ids) or sets, {1: 2, 2: 3}, PARAMETERS)
    assert verifier.alike([(1, 2)]) == verifier.alike([(1, 2), (1, 2)])
    assert (len(reads), verifier.verified) == (1, 1)


def test_threads_count_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    from corpus_pipeline.deduplication import verification

    monkeypatch.setattr(verification, "THREAD_PAIRS", 3)
    sets = {n: np.arange(n, 40 + n, dtype=np.uint64) for n in range(12)}
    pairs = [(left, right) for left in range(12) for right in range(left + 1, 12)]
    assert shared_counts(pairs, sets, 3).tolist() == [40 - (right - left) for left, right in pairs]


@pytest.mark.parametrize("shared", [1, 50, 100])
def test_similarities_follow_from_counts(shared: int) -> None:
    pair = SignaturePair(1, 2, 100, 300, shared)
    assert pair.jaccard == shared / (400 - shared)
    assert pair.containment == shared / 100
