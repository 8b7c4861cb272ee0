"""The nightly schedules: one per corpus, at its own cron and time zone.

Dagster reads the annotation of ``context`` itself, so annotations of this module are not postponed.
"""

from typing import Any

from dagster import DefaultScheduleStatus, RunRequest, ScheduleDefinition, ScheduleEvaluationContext, schedule

from corpus_pipeline.registry import CorpusSpec

__all__ = ["nightly_schedule"]


def nightly_schedule(spec: CorpusSpec, job: Any) -> ScheduleDefinition:
    """Requests one run of the whole chain for the corpus; the run key keeps a tick from starting two."""

    @schedule(
        name=f"nightly_{spec.slug}",
        job=job,
        cron_schedule=spec.schedule.cron,
        execution_timezone=spec.schedule.timezone,
        default_status=DefaultScheduleStatus.RUNNING,
        description=f"Ingests {spec.slug} for {spec.owner}.",
    )
    def nightly(context: ScheduleEvaluationContext) -> RunRequest:
        tick = context.scheduled_execution_time.isoformat()
        tags = {"corpus_pipeline/launcher": "nightly"}
        return RunRequest(partition_key=spec.slug, run_key=f"{spec.slug}:{tick}", tags=tags)

    return nightly
