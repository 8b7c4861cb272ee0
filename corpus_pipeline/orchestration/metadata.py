"""What the Dagster UI shows of a stage and of a verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from dagster import MetadataValue

from corpus_pipeline.deduplication import cluster_sizes, comparison_parameters, containment_recall, recall_curve
from corpus_pipeline.evaluation import TREND_FIGURES, latest_evaluation, trend
from corpus_pipeline.records import ExclusionReason, Stage
from corpus_pipeline.store import StageContext, StageResult, Verdict
from corpus_pipeline.versions import version_conflicts, version_decisions

__all__ = [
    "check_description",
    "check_metadata",
    "duplicates_metadata",
    "evaluation_metadata",
    "stage_details",
    "stage_metadata",
    "versions_metadata",
]

MAX_ROWS = 50
MAX_NAMED = 5
BAR_WIDTH = 40
CONTAINED_SHINGLES = (30, 50, 75, 100, 150, 300)
STALE = (ExclusionReason.SUPERSEDED, ExclusionReason.COPY_OF_SUPERSEDED)


def stage_metadata(result: StageResult) -> dict[str, Any]:
    """Counts by name, seconds, and the output hash."""
    counts: dict[str, Any] = dict(result.counts)
    return {
        **counts,
        "seconds": round(result.seconds, 2),
        "unchanged": result.unchanged,
        "output_sha256": result.output_sha256,
    }


def stage_details(context: StageContext, stage: Stage) -> dict[str, Any]:
    """What a person wants to see of a stage besides its counts; nothing for most."""
    if stage is Stage.NEAR_DUPLICATE_CLUSTERS:
        return duplicates_metadata(context)
    if stage is Stage.RETRIEVAL_EVALUATION:
        return evaluation_metadata(context)
    return versions_metadata(context) if stage is Stage.DOCUMENT_VERSIONS else {}


def duplicates_metadata(context: StageContext) -> dict[str, Any]:
    """How large the clusters are, and how sure a pair of copies is to be found with the settings of the corpus."""
    parameters = comparison_parameters(context.spec.deduplication)
    with context.database.connection() as connection:
        sizes = sorted(cluster_sizes(connection, context.spec.slug).items())
    most = max((clusters for _, clusters in sizes), default=1)
    curve = [
        (f"{similarity:.2f}", f"{found:.4f}", _bar(found), "threshold" if similarity == parameters.threshold else "")
        for similarity, found in recall_curve(parameters)
        if similarity > 0
    ]
    contained = [
        (shingles, f"{containment_recall(shingles, parameters.containment_threshold):.4f}")
        for shingles in CONTAINED_SHINGLES
    ]
    bands = f"{parameters.bands} bands of {parameters.rows} rows"
    return {
        "cluster sizes": MetadataValue.md(
            _table(("documents", "clusters", ""), [(size, count, _bar(count / most)) for size, count in sizes])
        ),
        "recall curve": MetadataValue.md(
            f"Probability that a pair is compared, with {bands}\n\n"
            + _table(("Jaccard", "probability", "", ""), curve)
            + f"\n\nThat a contained text ({parameters.containment_threshold:.0%}) of so many shingles is\n\n"
            + _table(("shingles", "probability"), contained)
        ),
    }


def _bar(share: float) -> str:
    return "█" * round(share * BAR_WIDTH)


def versions_metadata(context: StageContext) -> dict[str, Any]:
    """What a person wants to see of the decisions: stale documents, what waits for review, what contradicts itself."""
    with context.database.connection() as connection:
        decisions = version_decisions(connection, context.spec.slug)
        conflicts = version_conflicts(connection, context.spec.slug)
    review = [(one.document_id, one.family, one.evidence) for one in decisions if one.needs_review]
    found = [(one.kind.value, one.message, one.suggestion) for one in conflicts if not one.resolved]
    several = Counter(Counter(one.family for one in decisions).values())
    metadata: dict[str, Any] = {
        "stale": sum(one.exclusion_reason in STALE for one in decisions),
        "families of several": sum(count for size, count in several.items() if size > 1),
        "family sizes": MetadataValue.md(_table(("members", "families"), sorted(several.items()))),
    }
    if review:
        metadata["for review"] = MetadataValue.md(_table(("document", "family", "why"), review))
    if found:
        metadata["conflicts"] = MetadataValue.md(_table(("conflict", "what", "line for corpora.yaml"), found))
    return metadata


def evaluation_metadata(context: StageContext) -> dict[str, Any]:
    """The figures by domain, what fell since the published generation, and the last generations side by side."""
    with context.database.connection() as connection:
        latest = latest_evaluation(connection, context.spec.slug)
        points = trend(connection, context.spec.slug)
    if latest is None:
        return {}
    names = [name.replace("_at_", "@").replace("_", " ") for name in TREND_FIGURES]
    domains = [
        (domain, figures["queries"], *(_figure(figures, name) for name in TREND_FIGURES))
        for domain, figures in latest.metrics["domains"].items()
    ]
    generations = [
        (point.generation, point.queries, *(_figure(point.figures, name) for name in TREND_FIGURES), point.hits,
         _bar(point.figures.get("recall_at_5", 0.0) / 2))
        for point in points
    ]  # fmt: skip
    metadata: dict[str, Any] = {
        "domains": MetadataValue.md(_table(("domain", "queries", *names), domains)),
        "trend": MetadataValue.md(
            _table(("generation", "queries", *names, "forbidden, stale, unauthorised", "recall@5"), generations)
        ),
    }
    if latest.comparison and latest.comparison.drops:
        fell = [(drop.sentence,) for drop in latest.comparison.drops]
        metadata["fell since the published generation"] = MetadataValue.md(_table(("what",), fell))
    return metadata


def _figure(figures: Mapping[str, float], name: str) -> str:
    return f"{figures[name]:.3f}" if name in figures else ""


def _table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table, cut after :data:`MAX_ROWS` with a word about the rest."""
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    lines += [f"| {' | '.join(_cell(value) for value in row)} |" for row in rows[:MAX_ROWS]]
    if len(rows) > MAX_ROWS:
        lines.append(f"| … {len(rows) - MAX_ROWS} more |" + " |" * (len(columns) - 1))
    return "\n".join(lines)


def check_description(verdict: Verdict) -> str:
    """What failed and on which documents: the UI shows it unfolded, unlike the tables."""
    if not verdict.failures:
        return f"all {verdict.evaluated_expectations} expectations hold"
    parts = [
        f"{failure['severity']}: expected {failure['expected']}; found {failure['found']}{_named(failure)}"
        for failure in verdict.failures
    ]
    return ". ".join(parts)


def _named(failure: dict[str, Any]) -> str:
    """The first failing documents, as ``: a, b and 3 more``."""
    documents = [" ".join(str(document).split()) for document in failure["documents"]]
    if not documents:
        return ""
    more = len(documents) - MAX_NAMED
    return f": {', '.join(documents[:MAX_NAMED])}{f' and {more} more' if more > 0 else ''}"


def check_metadata(verdict: Verdict) -> dict[str, Any]:
    """A table of failing documents and one instruction per failed expectation."""
    metadata: dict[str, Any] = {
        "expectations": verdict.evaluated_expectations,
        "failed": len(verdict.failures),
        "output_sha256": verdict.output_sha256,
    }
    if verdict.failures:
        metadata["what failed and what to do"] = MetadataValue.md(_failures_table(verdict))
        metadata["failing documents"] = MetadataValue.md(_documents_table(verdict))
    return metadata


def _failures_table(verdict: Verdict) -> str:
    lines = ["| severity | expectation | expected | found | what to do |", "|---|---|---|---|---|"]
    lines += [
        "| "
        + " | ".join(_cell(failure[key]) for key in ("severity", "expectation", "expected", "found", "remedy"))
        + " |"
        for failure in verdict.failures
    ]
    return "\n".join(lines)


def _documents_table(verdict: Verdict) -> str:
    rows = [
        (failure["expectation"], document, failure["details"].get(document, ""))
        for failure in verdict.failures
        for document in failure["documents"]
        if not (failure["severity"] == "warning" and document in _critical_documents(verdict))
    ]
    if not rows:
        return "No single document is at fault."
    lines = ["| expectation | document | detail |", "|---|---|---|"]
    lines += [f"| {_cell(name)} | {_cell(document)} | {_cell(detail)} |" for name, document, detail in rows[:MAX_ROWS]]
    if len(rows) > MAX_ROWS:
        command = "corpus-pipeline status --json"
        lines.append(f"| … | {len(rows) - MAX_ROWS} more | `{command}` lists all |")
    return "\n".join(lines)


def _critical_documents(verdict: Verdict) -> set[str]:
    """Documents already listed under a critical failure: a warning about them says nothing new."""
    return {
        document
        for failure in verdict.failures
        if failure["severity"] == "critical"
        for document in failure["documents"]
    }


def _cell(text: object) -> str:
    """Text as a Markdown table cell: file names may hold anything, so markup is made inert."""
    plain = " ".join(str(text).split())
    for character in "\\`*_[]<>|!#":
        plain = plain.replace(character, f"\\{character}" if character != "<" else "&lt;")
    return plain
