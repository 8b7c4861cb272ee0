"""Checks a stage's present output and stores the verdict that publication reads."""

from __future__ import annotations

import psycopg

from corpus_pipeline.quality.batches import read_batches
from corpus_pipeline.quality.engine import run_suite
from corpus_pipeline.quality.suites import suite
from corpus_pipeline.records import Stage
from corpus_pipeline.store import StageContext, Verdict, record_verdict, thresholds_sha256

__all__ = ["check_stage"]


def check_stage(context: StageContext, stage: Stage) -> Verdict:
    """Evaluates the stage's suite over its present output and records the verdict.

    Raises:
        UpstreamMissingError: The stage has never finished for this corpus.
        GateError: An expectation could not be evaluated; no verdict is recorded, so nothing passes.
    """
    spec = context.spec
    rules = suite(stage, spec)
    with context.database.session() as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        with connection.transaction():
            batches = read_batches(connection, spec, stage)
    failures = run_suite(f"{spec.slug}.{stage.value}", rules, batches)
    verdict = Verdict(
        corpus=spec.slug,
        stage=stage,
        output_sha256=batches.output_sha256,
        thresholds_sha256=thresholds_sha256(spec),
        passed=not any(failure["severity"] == "critical" for failure in failures),
        failures=tuple(sorted(failures, key=lambda failure: failure["severity"])),
        evaluated_expectations=len(rules),
        run_id=context.run_id,
    )
    with context.database.connection() as connection:
        record_verdict(connection, verdict)
    return verdict
