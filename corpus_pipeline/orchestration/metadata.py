"""What the Dagster UI shows of a stage and of a verdict."""

from __future__ import annotations

from typing import Any

from dagster import MetadataValue

from corpus_pipeline.store import StageResult, Verdict

__all__ = ["check_description", "check_metadata", "stage_metadata"]

MAX_ROWS = 50
MAX_NAMED = 5


def stage_metadata(result: StageResult) -> dict[str, Any]:
    """Counts by name, seconds, and the output hash."""
    counts: dict[str, Any] = dict(result.counts)
    return {
        **counts,
        "seconds": round(result.seconds, 2),
        "unchanged": result.unchanged,
        "output_sha256": result.output_sha256,
    }


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
