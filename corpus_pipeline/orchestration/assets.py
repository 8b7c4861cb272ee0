"""The nine assets and their checks: read, call one room function, return counts.

No SQL, no loop over documents, no decision: those are in the rooms. Dagster reads the
annotation of ``context`` itself, so annotations of this module are not postponed.
"""

import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from dagster import (
    AssetCheckExecutionContext,
    AssetCheckResult,
    AssetChecksDefinition,
    AssetCheckSeverity,
    AssetExecutionContext,
    AssetsDefinition,
    Failure,
    MaterializeResult,
    PartitionsDefinition,
    PreviewWarning,
    ResourceParam,
    RetryPolicy,
    asset,
    asset_check,
)
from dagster._core.errors import DagsterExecutionInterruptedError

from corpus_pipeline.errors import CorpusPipelineError, DatabaseConflictError, DatabaseUnreachableError
from corpus_pipeline.orchestration.chain import ChainLink
from corpus_pipeline.orchestration.metadata import (
    check_description,
    check_metadata,
    stage_details,
    stage_metadata,
)
from corpus_pipeline.orchestration.observer import LogObserver
from corpus_pipeline.orchestration.resources import PipelineResource
from corpus_pipeline.quality import check_stage

__all__ = ["CHECK_NAME", "stage_asset", "stage_check"]

CHECK_NAME = "expectations"
GROUP = "corpus"
# A lost connection comes back; nothing else is tried twice (errors say allow_retries=False).
RETRY_LOST_CONNECTION = RetryPolicy(max_retries=2, delay=5)
Result = TypeVar("Result")


def stage_asset(entry: ChainLink, partitions: PartitionsDefinition[str]) -> AssetsDefinition:
    """The asset of one stage."""
    upstream = entry.stage.upstream

    @asset(
        name=entry.stage.value,
        deps=[upstream.value] if upstream else [],
        partitions_def=partitions,
        description=entry.description,
        group_name=GROUP,
        kinds=set(entry.kinds),
        retry_policy=RETRY_LOST_CONNECTION,
    )
    def materialize(
        context: AssetExecutionContext, pipeline: ResourceParam[PipelineResource]
    ) -> MaterializeResult[Any]:
        def work() -> MaterializeResult[Any]:
            observer = pipeline.observer or LogObserver(context.log)
            stage_context = pipeline.stage_context(context.partition_key, context.run.run_id, observer)
            result = entry.run(stage_context)
            observer.stage_finished(result)
            return MaterializeResult(metadata=stage_metadata(result) | stage_details(stage_context, entry.stage))

        return _clear_failures(work)

    return materialize


def stage_check(entry: ChainLink, partitions: PartitionsDefinition[str]) -> AssetChecksDefinition:
    """The blocking check of one stage: its suite of expectations, verdict stored."""
    with warnings.catch_warnings():
        # partitions_def on checks is a preview of the pinned Dagster version.
        warnings.simplefilter("ignore", PreviewWarning)

        @asset_check(
            asset=entry.stage.value,
            name=CHECK_NAME,
            blocking=True,
            partitions_def=partitions,
            description=f"Great Expectations suite of {entry.stage.value}; a critical failure stops the chain.",
            retry_policy=RETRY_LOST_CONNECTION,
        )
        def check(context: AssetCheckExecutionContext, pipeline: ResourceParam[PipelineResource]) -> AssetCheckResult:
            def work() -> AssetCheckResult:
                observer = pipeline.observer or LogObserver(context.log)
                stage_context = pipeline.stage_context(context.partition_key, context.run.run_id, observer)
                verdict = check_stage(stage_context, entry.stage)
                observer.check_finished(verdict)
                return AssetCheckResult(
                    passed=not verdict.failures,
                    severity=AssetCheckSeverity.WARN if verdict.passed else AssetCheckSeverity.ERROR,
                    description=check_description(verdict),
                    metadata=check_metadata(verdict),
                )

            return _clear_failures(work)

    return check


def _clear_failures(work: Callable[[], Result]) -> Result:
    """Shows an error of ours as its message and remedy; retries a lost connection and a deadlock, nothing else."""
    try:
        return work()
    except CorpusPipelineError as error:
        again = isinstance(error, (DatabaseUnreachableError, DatabaseConflictError))
        raise Failure(description=str(error), allow_retries=again) from error
    except (KeyboardInterrupt, DagsterExecutionInterruptedError) as error:
        # Left to Dagster, whoever presses Ctrl-C or Terminate has the retry policy start the step again.
        raise Failure(description="interrupted", allow_retries=False) from error
    except Exception as error:
        raise Failure(description=f"unexpected {type(error).__name__}: {error}", allow_retries=False) from error
