"""Lines that a corpus repeats: navigation, footers, licence headers.

Decided from all documents of a corpus on every run, so that the result depends on what the
corpus holds and not on the order in which it came. A line counts as boilerplate when it stands
in many documents that are otherwise different. Copies and versions of one text must not make
that text boilerplate, so documents are counted by *anchors*: the smallest line hash of a document
under a fixed permutation. Copies share their anchor, so that a family of them counts about once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from math import ceil

import numpy as np
import numpy.typing as npt

from corpus_pipeline.deduplication.kernels import UInt64
from corpus_pipeline.deduplication.normalisation import lines_of_words, normalised_sha256

__all__ = ["SAMPLE_DOCUMENTS", "TextProfile", "boilerplate_lines", "profile", "removed_lines", "without_lines"]

SAMPLE_DOCUMENTS = 4096
"""So many documents decide, the first by the hash of their words: a fair sample, whatever came when."""
MIN_DOCUMENTS = 10
MIN_SHARE = 0.05
"""A boilerplate line stands in at least this many, and this share, of unlike documents."""
MIN_REMAINING_SHARE = 0.2
MIN_REMAINING_WORDS = 20
"""A document of which less would remain is compared whole."""
ANCHORS = 4
_ANCHOR_FACTORS = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0xD6E8FEB86659FD93)


@dataclass(frozen=True, slots=True)
class TextProfile:
    """What is kept of a text to compare it with others exactly and to find boilerplate.

    Attributes:
        normalised_sha256: Hash of its words.
        word_count: Words in all its lines.
        line_digests: One 64-bit hash for each line with words, in order.
        line_words: Words of each of these lines, uint32.
    """

    text_sha256: str
    normalised_sha256: str
    word_count: int
    line_digests: UInt64
    line_words: npt.NDArray[np.uint32]


def _digest(line_words: Sequence[str]) -> bytes:
    return blake2b(" ".join(line_words).encode("utf-8", "surrogatepass"), digest_size=8).digest()


def profile(text_sha256: str, text: str) -> TextProfile:
    """The profile of a text."""
    lines = [found for _, found in lines_of_words(text)]
    return TextProfile(
        text_sha256=text_sha256,
        normalised_sha256=normalised_sha256(text, [word for found in lines for word in found]),
        word_count=sum(map(len, lines)),
        line_digests=np.frombuffer(b"".join(map(_digest, lines)), dtype="<u8").astype(np.uint64),
        line_words=np.array([len(found) for found in lines], dtype=np.uint32),
    )


def boilerplate_lines(profiles: Sequence[TextProfile]) -> UInt64:
    """Sorted digests of the lines that many unlike documents share.

    Args:
        profiles: All documents of the corpus; those with equal words count once.
    """
    distinct = {item.normalised_sha256: item for item in sorted(profiles, key=lambda item: item.text_sha256)}
    arrays = [item.line_digests for item in distinct.values() if item.line_digests.size]
    needed = max(MIN_DOCUMENTS, ceil(MIN_SHARE * len(distinct)))
    if len(arrays) < needed:
        return np.empty(0, dtype=np.uint64)
    digests = np.concatenate(arrays)
    lengths = np.array([array.size for array in arrays])
    owners = np.repeat(np.arange(len(arrays)), lengths)
    repeated, counts = np.unique(digests, return_counts=True)
    repeated = repeated[counts >= needed]
    frequent = np.isin(digests, repeated)
    if not frequent.any():
        return np.empty(0, dtype=np.uint64)
    starts = np.concatenate(([0], np.cumsum(lengths)[:-1]))
    lines = np.searchsorted(repeated, digests[frequent])
    unlike = np.zeros(repeated.size, dtype=np.int64)
    for factor in _ANCHOR_FACTORS:
        anchors = np.minimum.reduceat(digests * np.uint64(factor), starts)
        seen = np.unique(np.stack((lines.astype(np.uint64), anchors[owners[frequent]])), axis=1)[0]
        unlike = np.maximum(unlike, np.bincount(seen.astype(np.int64), minlength=repeated.size))
    return repeated[unlike >= needed]


def removed_lines(item: TextProfile, boilerplate: UInt64) -> UInt64:
    """The boilerplate lines to take out of one document, sorted and distinct; often none.

    Empty too when too little of the document would remain.
    """
    if not boilerplate.size or not item.line_digests.size:
        return np.empty(0, dtype=np.uint64)
    nearest = np.minimum(np.searchsorted(boilerplate, item.line_digests), boilerplate.size - 1)
    hit = boilerplate[nearest] == item.line_digests
    if not hit.any():
        return np.empty(0, dtype=np.uint64)
    remaining = item.word_count - int(item.line_words[hit].sum())
    if remaining < max(MIN_REMAINING_WORDS, MIN_REMAINING_SHARE * item.word_count):
        return np.empty(0, dtype=np.uint64)
    return np.unique(item.line_digests[hit])


def without_lines(text: str, removed: bytes) -> str:
    """The folded text without the lines of these digests, 8 little-endian bytes each."""
    if not removed:
        return text
    out = {removed[start : start + 8] for start in range(0, len(removed), 8)}
    return "\n".join(line for line, found in lines_of_words(text) if _digest(found) not in out)
