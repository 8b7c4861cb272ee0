"""The figures of the last generations side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from corpus_pipeline.evaluation.repository import Evaluation, evaluations
from corpus_pipeline.store import Connection

__all__ = ["TREND_FIGURES", "TREND_GENERATIONS", "TrendPoint", "polyline", "trend"]

TREND_GENERATIONS = 12
TREND_FIGURES = ("recall_at_5", "passage_recall", "hit_at_1", "ndcg_at_10", "precision", "abstention_recall")
HIT_FIGURES = ("forbidden_hits", "stale_hits", "authorisation_hits")


@dataclass(frozen=True)
class TrendPoint:
    """One generation.

    Attributes:
        figures: By name, those of :data:`TREND_FIGURES` that were measured.
        hits: Forbidden, stale and unauthorised answers together.
        golden_sha256: Figures of different golden queries do not compare.
    """

    generation: int
    figures: dict[str, float]
    hits: int
    queries: int
    golden_sha256: str


def trend(connection: Connection, corpus: str) -> list[TrendPoint]:
    """The last twelve evaluated generations of a corpus, oldest first."""
    return [_point(one) for one in evaluations(connection, corpus, TREND_GENERATIONS)]


def _point(evaluated: Evaluation) -> TrendPoint:
    overall = evaluated.metrics["overall"]
    return TrendPoint(
        generation=evaluated.generation,
        figures={name: float(overall[name]) for name in TREND_FIGURES if name in overall},
        hits=sum(int(overall.get(name, 0)) for name in HIT_FIGURES),
        queries=int(overall["queries"]),
        golden_sha256=evaluated.golden_sha256,
    )


def polyline(points: Sequence[TrendPoint], figure: str, width: int, height: int) -> str:
    """Points of an SVG polyline of one figure between 0 (bottom) and 1 (top); empty without two of them.

    >>> one = [TrendPoint(g, {"mrr": g / 2}, 0, 1, "") for g in (1, 2)]
    >>> polyline(one, "mrr", 100, 40)
    '0,20 100,0'
    """
    known = [(place, point.figures[figure]) for place, point in enumerate(points) if figure in point.figures]
    if len(known) < 2:  # noqa: PLR2004 - a line has two ends
        return ""
    step = width / (len(points) - 1)
    return " ".join(f"{place * step:g},{(1 - value) * height:g}" for place, value in known)
