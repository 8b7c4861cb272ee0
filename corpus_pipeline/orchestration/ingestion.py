"""Ingestion from the command line: the same job, assets and checks, run in this process."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from corpus_pipeline.orchestration.build import JOB_NAME, build_definitions
from corpus_pipeline.orchestration.instance import dagster_instance, owner_tags
from corpus_pipeline.orchestration.observer import RunObserver
from corpus_pipeline.orchestration.resources import PipelineResource
from corpus_pipeline.records import Stage
from corpus_pipeline.registry import Registry
from corpus_pipeline.settings import Settings
from corpus_pipeline.store import Database, StageResult, Verdict

__all__ = ["CorpusRun", "ingest"]


@dataclass
class CorpusRun:
    """What one ingestion of one corpus did.

    Attributes:
        published: The chain reached its end: the corpus serves what these results describe.
        error: Message of the stage that stopped the run; empty when a check stopped it or none did.
    """

    corpus: str
    run_id: str = ""
    results: list[StageResult] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    published: bool = False
    error: str = ""

    @property
    def failed_checks(self) -> list[Verdict]:
        """Verdicts with a critical failure."""
        return [verdict for verdict in self.verdicts if not verdict.passed]


class _Recorder:
    """Keeps results and verdicts of the run under way, and passes all on to the observer."""

    def __init__(self, observer: RunObserver) -> None:
        self._observer = observer
        self.run = CorpusRun("")

    def start(self, stage: Stage, total: int | None, what: str) -> None:
        self._observer.start(stage, total, what)

    def advance(self, items: int = 1) -> None:
        self._observer.advance(items)

    def note(self, message: str) -> None:
        self._observer.note(message)

    def stage_finished(self, result: StageResult) -> None:
        self.run.results.append(result)
        self._observer.stage_finished(result)

    def check_finished(self, verdict: Verdict) -> None:
        self.run.verdicts.append(verdict)
        self._observer.check_finished(verdict)


def ingest(
    settings: Settings, registry: Registry, database: Database, corpora: Sequence[str], observer: RunObserver
) -> list[CorpusRun]:
    """Runs the whole chain for each corpus in turn; one corpus's failure does not stop the next.

    The runs are recorded in the Dagster instance, so they stand in the UI beside nightly ones.

    Args:
        corpora: Slugs, all known to the registry.

    Raises:
        StoreError: Dagster's database cannot be used.
        KeyboardInterrupt: A run was interrupted; the corpora after it are not begun.
    """
    recorder = _Recorder(observer)
    pipeline = PipelineResource(settings=settings, observer=recorder)
    pipeline.__dict__.update(registry=registry, database=database)  # already open: not opened twice
    job = build_definitions(pipeline).resolve_job_def(JOB_NAME)
    runs = []
    with dagster_instance(settings) as instance:
        for corpus in corpora:
            recorder.run = CorpusRun(corpus)
            runs.append(recorder.run)
            _execute(job, instance, recorder.run, settings.decision_date)
    return runs


def _execute(job: Any, instance: Any, run: CorpusRun, as_of: date) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = job.execute_in_process(
            instance=instance,
            partition_key=run.corpus,
            raise_on_error=False,
            tags={**owner_tags(), "corpus_pipeline/as_of": as_of.isoformat()},
            run_config={"loggers": {"console": {"config": {"log_level": logging.getLevelName(logging.CRITICAL)}}}},
        )
    if any(_is_interruption(event) for event in result.all_events):
        raise KeyboardInterrupt
    run.run_id = result.run_id
    run.error = _stage_error(result)
    run.published = bool(run.results) and run.results[-1].stage is Stage.PUBLISHED_CORPUS and not run.error


def _is_interruption(event: Any) -> bool:
    """Whether a step ended by Ctrl-C or SIGTERM, which Dagster reports as a failure like any other."""
    error = event.step_failure_data.error if event.is_step_failure else None
    while error is not None and error.cls_name not in {"DagsterExecutionInterruptedError", "KeyboardInterrupt"}:
        error = error.cause
    return error is not None


def _stage_error(result: Any) -> str:
    """Message of the first failed step that is not just a blocked check."""
    for event in result.all_events:
        if event.is_step_failure:
            data = event.step_failure_data
            if data.user_failure_data is not None and data.user_failure_data.description:
                return str(data.user_failure_data.description)
            error = data.error
            if error is not None and error.cls_name != "DagsterAssetCheckFailedError":
                cause = error.cause or error
                return f"{event.step_key}: {str(cause.message).strip()}"
    return ""
