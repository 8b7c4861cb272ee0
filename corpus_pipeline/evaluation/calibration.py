"""The least score of a corpus, from its judged queries. Pure functions; nothing is applied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from corpus_pipeline.evaluation.outcome import QueryOutcome

__all__ = ["Calibration", "ScoreLimit", "calibrate"]

Scores = NDArray[np.float64]

MARGIN = 0.05
"""Without a query beyond it, a limit stays this far from the outermost score."""


@dataclass(frozen=True)
class ScoreLimit:
    """What a least score would do to the judged queries.

    Attributes:
        f1: Of answering: answered rightly, against answered wrongly and left unanswered.
        abstention_precision: Share of the abstentions that are right; ``None`` without any.
        abstention_recall: Share of the unanswerable queries abstained from; ``None`` without any.
    """

    min_score: float
    f1: float
    abstention_precision: float | None
    abstention_recall: float | None


@dataclass(frozen=True)
class Calibration:
    """The present limit and the best one.

    Attributes:
        answerable: Queries with expected documents.
        unanswerable: Queries that must not be answered; without any, no limit can be told from 0.
    """

    present: ScoreLimit
    best: ScoreLimit
    answerable: int
    unanswerable: int

    @property
    def is_informed(self) -> bool:
        """Whether there are queries of both kinds."""
        return bool(self.answerable and self.unanswerable)


def calibrate(outcomes: Sequence[QueryOutcome], present: float) -> Calibration:
    """The least score with the best F1; of a range of equals its middle, which is farthest from every mistake.

    An answerable query is answered rightly when a candidate of an expected document reaches the
    score, an unanswerable one when no candidate does.

    Args:
        outcomes: Of judged queries; those that only forbid say nothing here.
        present: The score that is in force.
    """
    expected = np.array([_score(one.observed.expected_score) for one in outcomes if one.expected], dtype=np.float64)
    tops = np.array([_score(one.observed.top_score) for one in outcomes if one.expected], dtype=np.float64)
    others = np.array([_score(one.observed.top_score) for one in outcomes if not one.should_match], dtype=np.float64)
    known = np.unique(np.concatenate([expected, tops, others]))
    known = known[known > -1.0]
    if not len(known):
        only = _limit(present, expected, tops, others)
        return Calibration(only, only, len(expected), len(others))
    edges = np.concatenate([[max(0.0, known[0] - MARGIN)], known, [known[-1] + MARGIN]])
    middles = (edges[:-1] + edges[1:]) / 2
    f1s = [_limit(float(middle), expected, tops, others).f1 for middle in middles]
    best = max(f1s)
    equal = [position for position, f1 in enumerate(f1s) if f1 == best]
    widest = max(_runs(equal), key=lambda run: edges[run[-1] + 1] - edges[run[0]])
    middle = round(float(edges[widest[0]] + edges[widest[-1] + 1]) / 2, 3)
    return Calibration(
        present=_limit(present, expected, tops, others),
        best=_limit(middle, expected, tops, others),
        answerable=len(expected),
        unanswerable=len(others),
    )


def _score(score: float | None) -> float:
    return -1.0 if score is None else score


def _runs(positions: Sequence[int]) -> list[list[int]]:
    """Successive positions together."""
    runs: list[list[int]] = []
    for position in positions:
        if runs and position == runs[-1][-1] + 1:
            runs[-1].append(position)
        else:
            runs.append([position])
    return runs


def _limit(
    min_score: float,
    expected: Scores,
    tops: Scores,
    others: Scores,
) -> ScoreLimit:
    right = int((expected >= min_score).sum())
    wrong = int((others >= min_score).sum())
    silent = int((tops < min_score).sum())
    abstained = silent + len(others) - wrong
    total = 2 * right + wrong + len(expected) - right
    return ScoreLimit(
        min_score=min_score,
        f1=2 * right / total if total else 0.0,
        abstention_precision=(len(others) - wrong) / abstained if abstained else None,
        abstention_recall=(len(others) - wrong) / len(others) if len(others) else None,
    )
