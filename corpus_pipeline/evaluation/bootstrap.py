"""How far a mean over questions could be off: percentile bootstrap with a fixed seed.

Efron (1979, https://doi.org/10.1214/aos/1176344552); paired over the same questions as Sakai
(2006, https://doi.org/10.1145/1148170.1148261) recommends for comparing two systems. Questions
are drawn, not documents: the interval says how the figure could differ with other questions of
the same kind.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["MIN_QUERIES", "interval"]

RESAMPLES = 2_000
SEED = 20_011
LEVEL = 0.95
PLACES = 4

MIN_QUERIES = 3
"""Fewer questions have no interval: every resample of one question is that question."""


def interval(values: Sequence[float]) -> tuple[float, float] | None:
    """The 95 % percentile interval of the mean, rounded to four places; ``None`` for fewer than three values.

    >>> interval([1.0, 1.0, 1.0, 0.0])
    (0.25, 1.0)
    >>> interval([1.0, 0.0]) is None
    True
    """
    if len(values) < MIN_QUERIES:
        return None
    sample = np.asarray(values, dtype=np.float64)
    drawn = np.random.default_rng(SEED).integers(0, len(sample), size=(RESAMPLES, len(sample)))
    tail = (1.0 - LEVEL) / 2.0
    low, high = np.quantile(sample[drawn].mean(axis=1), (tail, 1.0 - tail))
    return round(float(low), PLACES), round(float(high), PLACES)
