"""What two texts are compared by, and the recall that follows from it.

A pair of Jaccard similarity ``s`` agrees in one MinHash value with probability ``s``, in all
``r`` values of a band with ``s**r``, and in at least one of ``b`` bands with
``1 - (1 - s**r)**b`` (Leskovec, Rajaraman, Ullman: Mining of Massive Datasets, section 3.4).
datasketch chooses ``b`` and ``r`` by a weighted sum of the areas of false positives and false
negatives. At threshold 0.8 and equal weights that finds only 40 % of the pairs that lie at
the threshold. Since every candidate is verified here, a false positive costs a little time and
a false negative is a duplicate missed: so the area of false positives is made smallest among
the choices that reach a demanded recall at the threshold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from math import ceil, lgamma, log, log1p

import numpy as np
import numpy.typing as npt

from corpus_pipeline.deduplication.normalisation import NORMALISATION_VERSION
from corpus_pipeline.records import canonical_json, sha256_hex
from corpus_pipeline.registry import DeduplicationSpec

__all__ = [
    "ComparisonParameters",
    "choose_bands",
    "comparison_parameters",
    "containment_recall",
    "false_positive_area",
    "recall_curve",
]

SKETCH_VERSION = "1"
DENSE_SHINGLES = 256
"""Texts of at most this many distinct shingles are sketched densely."""
DENSE_RATE = 4
SPARSE_RATE = 16
"""One shingle in so many is a key of the containment sketch."""
SKETCH_OVERLAP = 0.5
"""Share of the smaller sketch that a candidate must share; a contained text shares about its containment."""
SIMILARITIES = tuple(step / 20 for step in range(21))
"""0 to 1 by 0.05."""
_STEPS = 1000
_NEGLIGIBLE = 1e-12


@dataclass(frozen=True, slots=True)
class ComparisonParameters:
    """Everything that decides which pairs are found and kept.

    Attributes:
        shingle_words: Words in a shingle.
        permutations: Values in a MinHash signature.
        seed: Seed of datasketch's permutations.
        bands: LSH bands; ``bands * rows <= permutations``.
        rows: Signature values in a band.
        threshold: Least Jaccard similarity of a near-duplicate.
        containment_threshold: Least share of the smaller text's shingles found in the larger.
    """

    shingle_words: int
    permutations: int
    seed: int
    bands: int
    rows: int
    threshold: float
    containment_threshold: float

    @property
    def sha256(self) -> str:
        """Digest of the parameters and of the versions of the algorithms; part of every cache key."""
        return sha256_hex(canonical_json([NORMALISATION_VERSION, SKETCH_VERSION, asdict(self)]))


def comparison_parameters(spec: DeduplicationSpec) -> ComparisonParameters:
    """The parameters of a corpus, bands computed unless they are given."""
    if spec.bands is None:
        bands, rows = choose_bands(spec.threshold, spec.permutations, spec.candidate_recall)
    else:
        bands = min(spec.bands, spec.permutations)
        rows = spec.permutations // bands
    return ComparisonParameters(
        shingle_words=spec.shingle_words,
        permutations=spec.permutations,
        seed=spec.seed,
        bands=bands,
        rows=rows,
        threshold=spec.threshold,
        containment_threshold=spec.containment_threshold,
    )


def false_positive_area(threshold: float, bands: int, rows: int) -> float:
    """Area under the candidate curve below the threshold, datasketch's measure of false positives."""
    similarity = np.linspace(0.0, threshold, _STEPS + 1)
    return float(np.trapezoid(1.0 - (1.0 - similarity**rows) ** bands, similarity))


@cache
def choose_bands(threshold: float, permutations: int, candidate_recall: float) -> tuple[int, int]:
    """Bands and rows with the fewest false positives that reach the recall at the threshold.

    Where no choice reaches it, the one with the highest recall: a band for every value.

    >>> choose_bands(0.8, 128, 0.995)
    (21, 6)
    """
    reaching = []
    for rows in range(1, permutations + 1):
        bands = permutations // rows
        if 1.0 - (1.0 - threshold**rows) ** bands >= candidate_recall:
            reaching.append((false_positive_area(threshold, bands, rows), bands, rows))
    if not reaching:
        return permutations, 1
    _, bands, rows = min(reaching)
    return bands, rows


def recall_curve(
    parameters: ComparisonParameters, similarities: Sequence[float] = SIMILARITIES
) -> list[tuple[float, float]]:
    """Probability that a pair becomes a candidate, by its Jaccard similarity.

    Returns:
        ``(similarity, probability)`` in the order given.
    """
    return [(similarity, 1.0 - (1.0 - similarity**parameters.rows) ** parameters.bands) for similarity in similarities]


def containment_recall(shingles: int, containment: float, *, larger: int | None = None) -> float:
    """Probability that a contained text becomes a candidate of the text that holds it.

    Each of its shingles is a key with probability 1/rate, and found in the larger text with
    probability ``containment``; the rate is that of the sparser of the two sketches. Of ``n``
    keys, at least half and at least one must be shared. The binomials are exact.

    Args:
        shingles: Distinct shingles of the smaller text.
        containment: Share of them in the larger text.
        larger: Distinct shingles of the larger text; unset, so many that its sketch is sparse.
    """
    dense = larger is not None and max(larger, shingles) <= DENSE_SHINGLES
    keys = _binomial(shingles, 1.0 / (DENSE_RATE if dense else SPARSE_RATE))
    likely = (size for size in range(1, shingles + 1) if keys[size] > _NEGLIGIBLE)
    return sum(
        float(keys[size] * _binomial(size, containment)[max(1, ceil(SKETCH_OVERLAP * size)) :].sum()) for size in likely
    )


def _binomial(trials: int, probability: float) -> npt.NDArray[np.float64]:
    """Probabilities of 0 to ``trials`` successes, shape (trials + 1,)."""
    if probability >= 1.0:
        certain: npt.NDArray[np.float64] = np.zeros(trials + 1)
        certain[-1] = 1.0
        return certain
    successes = range(trials + 1)
    logarithms = [lgamma(trials + 1) - lgamma(n + 1) - lgamma(trials - n + 1) for n in successes]
    counts = np.arange(trials + 1)
    chances: npt.NDArray[np.float64] = np.exp(
        np.array(logarithms) + counts * log(probability) + (trials - counts) * log1p(-probability)
    )
    return chances
