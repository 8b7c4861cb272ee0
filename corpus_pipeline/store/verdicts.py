"""Gate verdicts: written by the checks, read again by publication in its own transaction."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from corpus_pipeline.records import Stage
from corpus_pipeline.registry import CorpusSpec
from corpus_pipeline.store.database import Connection
from corpus_pipeline.store.queries import load_queries

__all__ = [
    "Refusal",
    "Verdict",
    "chain_refusals",
    "latest_verdict",
    "record_verdict",
    "stage_output",
    "thresholds_sha256",
]


_JUDGED_BY = ("gates", "versions", "deduplication", "chunking", "embedding")


@dataclass(frozen=True)
class Verdict:
    """What a suite said of one stage output.

    Attributes:
        passed: No critical expectation failed.
        failures: One entry a failed expectation: ``expectation``, ``severity`` (``critical`` or
            ``warning``), ``expected``, ``found``, ``documents`` (ids), ``remedy``.
        thresholds_sha256: Digest of the thresholds it was judged by.
    """

    corpus: str
    stage: Stage
    output_sha256: str
    thresholds_sha256: str
    passed: bool
    failures: tuple[dict[str, Any], ...]
    evaluated_expectations: int
    run_id: str = ""
    evaluated_at: datetime | None = None


@dataclass(frozen=True)
class Refusal:
    """One reason why a corpus may not be published."""

    stage: Stage
    reason: str


def thresholds_sha256(spec: CorpusSpec) -> str:
    """Digest of what the suites judge by: thresholds, and the parts of the entry they measure against."""
    return spec.digest(*_JUDGED_BY)


def record_verdict(connection: Connection, verdict: Verdict) -> None:
    """Stores a verdict in the caller's transaction."""
    load_queries("store").record_verdict(
        connection,
        corpus=verdict.corpus,
        stage=verdict.stage.value,
        output_sha256=verdict.output_sha256,
        thresholds_sha256=verdict.thresholds_sha256,
        passed=verdict.passed,
        failures=Jsonb(list(verdict.failures)),
        evaluated_expectations=verdict.evaluated_expectations,
        run_id=verdict.run_id,
    )


def stage_output(connection: Connection, corpus: str, stage: Stage) -> str | None:
    """``output_sha256`` of the stage's last finished output, ``None`` before the first."""
    row = load_queries("store").stage_state(connection, corpus=corpus, stage=stage.value)
    return row["output_sha256"] if row else None


def latest_verdict(connection: Connection, corpus: str, stage: Stage, output_sha256: str) -> Verdict | None:
    """The newest verdict on that output, if there is one."""
    row = load_queries("store").latest_verdict(
        connection, corpus=corpus, stage=stage.value, output_sha256=output_sha256
    )
    if row is None:
        return None
    return Verdict(
        corpus,
        stage,
        output_sha256,
        row["thresholds_sha256"],
        row["passed"],
        tuple(row["failures"]),
        row["evaluated_expectations"],
        row["run_id"],
        row["evaluated_at"],
    )


def chain_refusals(connection: Connection, spec: CorpusSpec) -> list[Refusal]:
    """Why the present chain of a corpus may not be published; empty when it may.

    Every stage before publication must have run, from the present output of the stage before,
    and the newest verdict on its present output must have passed under the present thresholds.
    """
    refusals: list[Refusal] = []
    states = {row["stage"]: row for row in load_queries("store").stage_states(connection, corpus=spec.slug)}
    for stage in list(Stage)[:-1]:
        state = states.get(stage.value)
        if state is None:
            refusals.append(Refusal(stage, "has not run"))
            continue
        upstream = states.get(stage.upstream.value) if stage.upstream else None
        if stage.upstream and upstream and state["input_sha256"] != upstream["output_sha256"]:
            refusals.append(Refusal(stage, f"was made from an older {stage.upstream}; run it again"))
            continue
        verdict = latest_verdict(connection, spec.slug, stage, state["output_sha256"])
        if verdict is None:
            refusals.append(Refusal(stage, "its check has not run on this output"))
        elif verdict.thresholds_sha256 != thresholds_sha256(spec):
            refusals.append(Refusal(stage, "its check ran under other thresholds; run it again"))
        elif not verdict.passed:
            failed = [f["expectation"] for f in verdict.failures if f["severity"] == "critical"]
            refusals.append(Refusal(stage, f"its check failed: {', '.join(failed)}"))
    return refusals
