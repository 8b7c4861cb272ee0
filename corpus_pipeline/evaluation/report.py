"""The last evaluation as one HTML page that loads nothing and runs nothing.

All text passes through jinja's escaping; the content security policy allows the style of this
package by its hash and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from corpus_pipeline.errors import UpstreamMissingError
from corpus_pipeline.evaluation.outcome import Miss, MissClass, QueryOutcome
from corpus_pipeline.evaluation.repository import Evaluation, evaluation_results, latest_evaluation
from corpus_pipeline.evaluation.trend import TREND_FIGURES, TrendPoint, polyline, trend
from corpus_pipeline.registry import CorpusSpec
from corpus_pipeline.store import Database

__all__ = ["render_report", "write_report"]

FIGURES = (
    "hit_at_1", "hit_at_5", "hit_at_10", "hit_at_20", "hit_at_50", "recall_at_5", "recall_at_20", "passage_recall",
    "precision", "mrr", "ndcg_at_10", "abstention_precision", "abstention_recall", "stale_rate", "forbidden_rate",
    "duplicate_ratio", "metadata_mismatch_rate",
)  # fmt: skip
GROUP_FIGURES = ("hit_at_1", "recall_at_5", "passage_recall", "ndcg_at_10", "precision", "abstention_recall")
SPARK_WIDTH, SPARK_HEIGHT = 240, 60

_WRITTEN = {"ndcg@10": "nDCG@10", "mrr": "MRR"}


def write_report(database: Database, spec: CorpusSpec, path: Path) -> int:
    """Writes the report of the evaluation that the last run rests on.

    Returns:
        The generation that was evaluated.

    Raises:
        UpstreamMissingError: Nothing has been evaluated yet.
    """
    with database.connection() as connection:
        latest = latest_evaluation(connection, spec.slug)
        if latest is None:
            raise UpstreamMissingError(
                f"no generation of corpus {spec.slug!r} has been evaluated yet",
                remedy=f"Run the whole chain: corpus-pipeline ingest {spec.slug}.",
            )
        outcomes = evaluation_results(connection, spec.slug)
        points = trend(connection, spec.slug)
    path.write_text(render_report(spec, latest, outcomes, points), encoding="utf-8")
    return latest.generation


def render_report(
    spec: CorpusSpec, latest: Evaluation, outcomes: Sequence[QueryOutcome], points: Sequence[TrendPoint]
) -> str:
    """The page.

    Args:
        spec: Of the corpus.
        latest: Its evaluation.
        outcomes: Of each query.
        points: The last generations, oldest first.
    """
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["label"] = _label
    style = _asset("report.css")
    return environment.from_string(_asset("report.html.jinja")).render(
        corpus=spec.slug,
        owner=spec.owner,
        latest=latest,
        style=style,
        policy=f"default-src 'none'; base-uri 'none'; form-action 'none'; style-src {_hash(style)}",
        overall=_rows(latest.metrics, "overall"),
        groups={name: _groups(latest.metrics, name) for name in ("domains", "categories")},
        columns={name: _columns(latest.metrics, name) for name in ("domains", "categories")},
        drops=_drops(latest),
        comparison=latest.comparison,
        misses=_by_class(outcomes),
        hits=[outcome for outcome in outcomes if not outcome.passed and not outcome.misses],
        points=points,
        lines={name: line for name in TREND_FIGURES if (line := polyline(points, name, SPARK_WIDTH, SPARK_HEIGHT))},
        is_one_set=len({point.golden_sha256 for point in points}) <= 1,
        spark=(SPARK_WIDTH, SPARK_HEIGHT),
    )


def _asset(name: str) -> str:
    return resources.files("corpus_pipeline.evaluation").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _rows(metrics: Mapping[str, Any], part: str) -> list[tuple[str, float, tuple[float, float] | None]]:
    """Name, value and interval of each figure that was measured."""
    bounds = metrics.get("intervals", {}).get(part, {})
    return [
        (name, metrics[part][name], tuple(bounds[name]) if name in bounds else None)
        for name in FIGURES
        if name in metrics[part]
    ]


def _groups(metrics: Mapping[str, Any], part: str) -> list[dict[str, Any]]:
    """One entry for each domain or category, with the figures of the narrow table."""
    bounds = metrics.get("intervals", {}).get(part, {})
    return [
        {"name": name, "figures": figures, "intervals": bounds.get(name, {})}
        for name, figures in sorted(metrics[part].items())
    ]


def _columns(metrics: Mapping[str, Any], part: str) -> list[str]:
    """The figures of the narrow table that at least one group has."""
    return [name for name in GROUP_FIGURES if any(name in figures for figures in metrics[part].values())]


def _label(name: str) -> str:
    """A figure as it is written.

    >>> _label("ndcg_at_10"), _label("hit_at_5")
    ('nDCG@10', 'hit@5')
    """
    shown = name.replace("_at_", "@").replace("_", " ")
    return _WRITTEN.get(shown, shown)


def _drops(latest: Evaluation) -> list[str]:
    return [drop.sentence for drop in latest.comparison.drops] if latest.comparison else []


def _by_class(outcomes: Sequence[QueryOutcome]) -> list[tuple[MissClass, list[tuple[QueryOutcome, Miss]]]]:
    """Misses of each class, the most frequent class first."""
    found: dict[MissClass, list[tuple[QueryOutcome, Miss]]] = {}
    for outcome in outcomes:
        for miss in outcome.misses:
            found.setdefault(miss.miss_class, []).append((outcome, miss))
    return sorted(found.items(), key=lambda item: (-len(item[1]), item[0].value))
