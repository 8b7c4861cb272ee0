"""Which pairs are compared exactly: a function of what a corpus holds, whatever came first.

Two signatures are candidates when they share an LSH band, or half of the smaller one's sampled
shingles. Without a limit, thousands of copies of one template would be compared each with each.
So a band that more than :data:`BAND_LIMIT` signatures of the corpus share has *leaders*, the
first few by the hash of their content: everything in it is compared with the leaders, those like
none of them have leaders of their own, and so on. Of two members that are not compared at least
one is a verified copy of a leader. A sampled shingle of more than :data:`SAMPLE_LIMIT` signatures
says nothing about containment and is passed over.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from corpus_pipeline.deduplication.clusters import SignaturePair
from corpus_pipeline.deduplication.kernels import Bools, Int32, Int64, kernels
from corpus_pipeline.deduplication.sketches import Keys, Sketches
from corpus_pipeline.deduplication.verification import Pair, Verifier

__all__ = ["BAND_LIMIT", "LEADERS", "SAMPLE_LIMIT", "alike_pairs", "sharing_pairs", "sizes_by_key"]

BAND_LIMIT = 100
"""Signatures of a corpus in one band that are still compared each with each."""
SAMPLE_LIMIT = 256
"""Signatures of a corpus that share a sampled shingle which still counts for containment."""
LEADERS = 8
ROUNDS = 16
"""How often those like no leader get leaders of their own; what then remains is too unlike to be copies."""


def sizes_by_key(entries: Keys) -> tuple[Int64, Int64]:
    """The keys, sorted, and how many signatures have each."""
    return np.unique(entries.keys, return_counts=True)


@dataclass(frozen=True, slots=True)
class _Buckets:
    """Members by bucket, as positions in the sketches.

    Attributes:
        starts: Members of bucket ``b`` are ``members[starts[b]:starts[b + 1]]``.
        ends: Buckets of the i-th searched signature are ``mine[ends[i]:ends[i + 1]]``.
    """

    starts: Int64
    members: Int32
    searched: Int32
    ends: Int64
    mine: Int32

    @classmethod
    def of(cls, own: Keys, members: Keys, sketches: Sketches) -> _Buckets:
        """Buckets of ``members``, looked up by the entries of ``own``."""
        keys, bucket = np.unique(np.concatenate((members.keys, own.keys)), return_inverse=True)
        theirs, mine = bucket[: members.keys.size], bucket[members.keys.size :]
        positions = sketches.positions(members.signature_ids)
        by_bucket = np.lexsort((positions, theirs))
        starts = np.concatenate(([0], np.cumsum(np.bincount(theirs, minlength=keys.size)))).astype(np.int64)
        searched, counts = np.unique(sketches.positions(own.signature_ids), return_counts=True)
        by_owner = np.argsort(own.signature_ids, kind="stable")
        ends = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        return cls(starts, positions[by_bucket], searched, ends, mine[by_owner].astype(np.int32))

    def large(self, limit: int) -> Iterator[Int32]:
        """Members of each bucket above the limit that has a searched signature."""
        sizes = np.diff(self.starts)
        for bucket in np.unique(self.mine[sizes[self.mine] > limit]):
            yield self.members[self.starts[bucket] : self.starts[bucket + 1]]


def alike_pairs(
    own: Sketches, sketches: Sketches, bands: Keys, samples: Keys, verifier: Verifier
) -> list[SignaturePair]:
    """Verified pairs of signatures with each other and with all others of their corpus.

    Args:
        own: The signatures to look up.
        sketches: Sizes of these and of all others in the entries.
        bands: All signatures of the corpus that have a band of ``own``, these included, with that band.
        samples: The same of sampled shingles; those above the limit need not be complete.
        verifier: Compares exactly.
    """
    mutual = np.zeros(sketches.ids.size, dtype=np.bool_)
    mutual[sketches.positions(own.ids)] = True
    pairs = sharing_pairs(own, sketches, bands, samples, mutual)
    wanted = set(own.ids.tolist())
    for members in _Buckets.of(own.bands, bands, sketches).large(BAND_LIMIT):
        led = _led(members.tolist(), sketches, verifier)
        pairs.update(pair for pair in led if pair[0] in wanted or pair[1] in wanted)
    return verifier.alike(pairs)


def sharing_pairs(own: Sketches, sketches: Sketches, bands: Keys, samples: Keys, mutual: Bools) -> set[Pair]:
    """Candidates by buckets within the limits.

    Args:
        own: The signatures to look up.
        sketches: Sizes of these and of all others in the entries.
        bands: What they are looked up among, by band.
        samples: The same by sampled shingle.
        mutual: Which of the sketches are looked up, and are looked up among, too.
    """
    alone = np.ones(sketches.ids.size, dtype=np.int32)
    any_one: tuple[Bools, Int32, Int32] = (np.zeros(alone.size, dtype=np.bool_), alone, alone)
    pairs: set[Pair] = set()
    for mine, members, limit, needed in (
        (own.bands, bands, BAND_LIMIT, any_one),
        (own.samples, samples, SAMPLE_LIMIT, sketches.needed),
    ):
        found = _Buckets.of(mine, members, sketches)
        left, right = kernels().sharing_pairs(
            found.searched, found.ends, found.mine, found.starts, found.members, limit, mutual, needed
        )
        first, second = np.minimum(left, right), np.maximum(left, right)
        pairs.update(zip(sketches.ids[first].tolist(), sketches.ids[second].tolist(), strict=True))
    return pairs


def _led(members: Sequence[int], sketches: Sketches, verifier: Verifier) -> Iterator[Pair]:
    """Pairs of one large bucket: everything with leaders, round by round."""
    ids = sketches.ids
    rest = [int(ids[position]) for position in sorted(members, key=lambda position: sketches.ranks[position])]
    for _ in range(ROUNDS):
        if len(rest) <= BAND_LIMIT:
            break
        leaders = rest[:LEADERS]
        compared = [(min(one, other), max(one, other)) for n, one in enumerate(leaders) for other in rest[n + 1 :]]
        yield from compared
        copies = {side for pair in verifier.alike(compared) for side in (pair.left, pair.right)}
        rest = [one for one in rest[LEADERS:] if one not in copies]
    if len(rest) <= BAND_LIMIT:
        yield from ((min(one, other), max(one, other)) for n, one in enumerate(rest) for other in rest[n + 1 :])
