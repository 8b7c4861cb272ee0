"""What looks after runs while the daemon is up.

Dagster reads the annotation of ``context`` itself, so annotations of this module are not postponed.
"""

from dagster import DefaultSensorStatus, SensorEvaluationContext, SensorResult, SkipReason, sensor

from corpus_pipeline.orchestration.instance import fail_dead_runs

__all__ = ["dead_runs"]

LOOK_SECONDS = 60


@sensor(
    name="dead_runs",
    minimum_interval_seconds=LOOK_SECONDS,
    default_status=DefaultSensorStatus.RUNNING,
    description="Ends runs whose process was killed, so that the next run of their corpus need not wait for them.",
)
def dead_runs(context: SensorEvaluationContext) -> SensorResult:
    """Dagster watches the runs its daemon launched; those of the command line are watched here."""
    ended = fail_dead_runs(context.instance)
    said = f"ended, as their process has died: {', '.join(ended)}" if ended else "no run is without its process"
    return SensorResult(skip_reason=SkipReason(said))
