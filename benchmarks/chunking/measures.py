"""Token-level recall, precision and intersection over union of retrieved spans.

After B. Smith and A. Troynikov, "Evaluating Chunking Strategies for Retrieval", Chroma technical
report, 2024: for a question with the set of relevant tokens E and the retrieved tokens R,

    recall = |E ∩ R| / |E|,   precision = |E ∩ R| / |R|,   IoU = |E ∩ R| / (|E| + |R| - |E ∩ R|),

averaged over questions; differences between two strategies have an interval. The report retrieves a
fixed number of chunks, so that larger chunks retrieve more tokens; here every strategy retrieves the
same number of tokens, the last chunk being cut off there. A token that two retrieved chunks share
counts twice in R, as in the report.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

import numpy as np
import numpy.typing as npt

Spans = Sequence[tuple[int, int]]
"""Half-open ranges of token positions."""


@dataclass(frozen=True)
class Scores:
    """Of one question, or means over several."""

    recall: float
    precision: float
    iou: float
    tokens: float


def token_spans(starts: npt.NDArray[np.int64], spans: Spans) -> list[tuple[int, int]]:
    """Half-open character ranges as ranges of token positions; ``starts`` are where tokens begin, ascending."""
    edges = np.searchsorted(starts, np.asarray(spans, dtype=np.int64).reshape(-1, 2))
    return [(int(a), int(b)) for a, b in edges]


def first_tokens(ranked: Iterable[tuple[int, int]], budget: int) -> list[tuple[int, int]]:
    """Ranked spans up to ``budget`` tokens in all; the last one is cut off."""
    kept: list[tuple[int, int]] = []
    left = budget
    for start, end in ranked:
        if left <= 0:
            break
        if end > start:
            kept.append((start, min(end, start + left)))
            left -= min(end - start, left)
    return kept


def scores(relevant: Spans, retrieved: Spans) -> Scores:
    """The three measures of one question."""
    wanted = {token for start, end in relevant for token in range(start, end)}
    found = {token for start, end in retrieved for token in range(start, end)}
    size = sum(end - start for start, end in retrieved)
    hits = len(wanted & found)
    return Scores(
        recall=hits / len(wanted) if wanted else 0.0,
        precision=hits / size if size else 0.0,
        iou=hits / (len(wanted) + size - hits) if wanted or size else 0.0,
        tokens=float(size),
    )


def mean(of: Sequence[Scores]) -> Scores:
    """Means over questions."""
    return Scores(*(fmean(getattr(each, name) for each in of) for name in ("recall", "precision", "iou", "tokens")))


@dataclass(frozen=True)
class Difference:
    """Mean difference over questions of one measure between two strategies, with its 95 % interval."""

    mean: float
    low: float
    high: float


def difference(
    ours: Sequence[Scores], theirs: Sequence[Scores], measure: Literal["recall", "iou"], *, samples: int = 10_000
) -> Difference:
    """Paired bootstrap: questions are drawn with replacement, both strategies scored on the same ones."""
    gaps = np.array([getattr(a, measure) - getattr(b, measure) for a, b in zip(ours, theirs, strict=True)])
    random = np.random.default_rng(7)
    means = np.array([gaps[random.integers(0, len(gaps), len(gaps))].mean() for _ in range(samples)])
    low, high = np.quantile(means, (0.025, 0.975))
    return Difference(*(round(float(value), 4) for value in (gaps.mean(), low, high)))
