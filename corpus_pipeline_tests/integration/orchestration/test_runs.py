"""Runs of the real job on a real instance: what stops them, what is recorded, what is tried again."""

from __future__ import annotations

import dataclasses
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from dagster import (
    AssetCheckSeverity,
    AssetKey,
    DagsterInstance,
    DagsterRunStatus,
    RetryPolicy,
    SensorResult,
    StaticPartitionsDefinition,
    build_sensor_context,
    materialize,
)

from corpus_pipeline.errors import CorpusBusyError, CorpusPipelineError, DatabaseUnreachableError
from corpus_pipeline.orchestration import PipelineResource, assets, link
from corpus_pipeline.orchestration.chain import ChainLink
from corpus_pipeline.orchestration.ingestion import ingest
from corpus_pipeline.orchestration.instance import HOST_TAG, PID_TAG, dagster_instance
from corpus_pipeline.orchestration.observer import LogObserver
from corpus_pipeline.orchestration.sensors import dead_runs
from corpus_pipeline.records import Stage
from corpus_pipeline.registry import Registry
from corpus_pipeline.settings import Settings
from corpus_pipeline.store import StageContext, StageResult, latest_verdict, stage_output

PARTITIONS = StaticPartitionsDefinition(["handbook", "legal"])


class Watcher(LogObserver):
    """Reports to a logger nobody reads."""

    def __init__(self) -> None:
        import logging

        super().__init__(logging.getLogger("corpus_pipeline_tests.quiet"))


def test_a_failed_check_stops_the_chain_names_the_rule_and_is_stored(
    settings: Settings, registry: Registry, context: StageContext, corpus_folder: Path
) -> None:
    (corpus_folder / "only.md").write_text("# Only\n\nOne file is too few.\n")
    runs = ingest(settings, registry, context.database, ["handbook", "legal"], Watcher())
    assert [run.corpus for run in runs] == ["handbook", "legal"], "the first failure must not stop the second"
    for run in runs:
        assert not run.published
        assert run.error == "", "a failed check is no error of a stage"
        assert [result.stage for result in run.results] == [Stage.SOURCE_INVENTORY]
        assert [failure["expectation"] for failure in run.failed_checks[0].failures] == ["enough_files"]
        with context.database.connection() as connection:
            output = stage_output(connection, run.corpus, Stage.SOURCE_INVENTORY)
            assert output == run.results[0].output_sha256
            verdict = latest_verdict(connection, run.corpus, Stage.SOURCE_INVENTORY, output or "")
            assert stage_output(connection, run.corpus, Stage.CONVERTED_DOCUMENTS) is None
        assert verdict is not None
        assert not verdict.passed
    with dagster_instance(settings) as instance:
        recorded = {run.run_id: instance.get_run_by_id(run.run_id) for run in runs}
        assert all(run is not None and run.status is DagsterRunStatus.FAILURE for run in recorded.values())
        assert {run.tags["dagster/partition"] for run in recorded.values() if run} == {"handbook", "legal"}
        evaluations = [
            event.dagster_event.asset_check_evaluation_data
            for run_id in recorded
            for event in instance.all_logs(run_id)
            if event.dagster_event and event.dagster_event.event_type_value == "ASSET_CHECK_EVALUATION"
        ]
    assert [(data.passed, data.severity) for data in evaluations] == [(False, AssetCheckSeverity.ERROR)] * 2
    assert all("at least 3 files" in (data.description or "") for data in evaluations)


def test_a_stage_that_cannot_run_ends_with_its_message_and_remedy(
    settings: Settings, registry: Registry, context: StageContext, corpus_folder: Path
) -> None:
    corpus_folder.rmdir()
    (run,) = ingest(settings, registry, context.database, ["handbook"], Watcher())
    assert not run.published
    assert run.results == []
    assert "docs" in run.error
    assert len(run.error.splitlines()) > 1, "message and remedy"
    assert "Traceback" not in run.error


class Interrupter(Watcher):
    """Presses Ctrl-C as soon as a stage begins to work."""

    def start(self, stage: Stage, total: int | None, what: str) -> None:
        os.kill(os.getpid(), signal.SIGINT)


def test_an_interruption_ends_the_command_and_not_just_the_corpus_at_hand(
    settings: Settings, registry: Registry, context: StageContext, corpus_folder: Path
) -> None:
    (corpus_folder / "only.md").write_text("# Only\n\nOne file is too few.\n")
    with pytest.raises(KeyboardInterrupt):
        ingest(settings, registry, context.database, ["handbook", "legal"], Interrupter())
    with dagster_instance(settings) as instance:
        (run,) = instance.get_runs()
    assert (run.tags["dagster/partition"], run.is_finished) == ("handbook", True)


def test_the_instance_keeps_its_runs_in_our_database(instance: DagsterInstance, context: StageContext) -> None:
    run = instance.create_run_for_job(_job())
    with context.database.connection() as connection:
        rows = connection.execute("SELECT run_id FROM public.runs").fetchall()
    assert [row["run_id"] for row in rows] == [run.run_id]
    assert instance.run_retries_enabled
    assert instance.run_retries_max_retries == 2
    assert not instance.run_retries_retry_on_asset_or_op_failure


def _failing(kind: Callable[[], Exception]) -> tuple[ChainLink, list[int]]:
    calls: list[int] = []

    def run(context: StageContext) -> StageResult:
        calls.append(1)
        raise kind()

    return dataclasses.replace(link(Stage.SOURCE_INVENTORY), run=run), calls


@pytest.mark.parametrize(
    ("kind", "attempts"),
    [
        (lambda: DatabaseUnreachableError("the connection was lost", remedy="Start the server."), 3),
        (lambda: CorpusBusyError("another run holds it", remedy="Wait."), 1),
        (lambda: CorpusPipelineError("a fault"), 1),
        (lambda: ValueError("a fault of ours"), 1),
    ],
    ids=["lost connection", "busy", "other error", "unexpected error"],
)
def test_only_a_lost_connection_is_tried_again(
    kind: Callable[[], Exception],
    attempts: int,
    pipeline: PipelineResource,
    instance: DagsterInstance,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(assets, "RETRY_LOST_CONNECTION", RetryPolicy(max_retries=2, delay=0))
    entry, calls = _failing(kind)
    result = materialize(
        [assets.stage_asset(entry, PARTITIONS)],
        instance=instance,
        partition_key="handbook",
        resources={"pipeline": pipeline},
        raise_on_error=False,
    )
    assert not result.success
    assert len(calls) == attempts
    failed = next(event for event in result.all_events if event.is_step_failure)
    assert str(kind()).splitlines()[0] in str(failed.step_failure_data.user_failure_data.description)


def test_a_stage_shows_its_counts_on_the_asset(
    pipeline: PipelineResource, instance: DagsterInstance, corpus_folder: Path
) -> None:
    (corpus_folder / "a.md").write_text("# A\n\nText.\n")
    result = materialize(
        [assets.stage_asset(link(Stage.SOURCE_INVENTORY), PARTITIONS)],
        instance=instance,
        partition_key="legal",
        resources={"pipeline": pipeline},
    )
    assert result.success
    event = instance.get_latest_materialization_event(AssetKey("source_inventory"))
    assert event is not None
    materialization = event.asset_materialization
    assert materialization is not None
    assert materialization.partition == "legal"
    assert materialization.metadata["files"].value == 1
    assert {"seconds", "unchanged", "output_sha256"} <= set(materialization.metadata)


def test_runs_of_a_killed_command_are_ended_by_the_next_one(settings: Settings) -> None:
    dead = subprocess.Popen([sys.executable, "-c", "pass"])
    dead.wait()
    with dagster_instance(settings) as instance:
        ids = {}
        for pid in (dead.pid, os.getpid()):
            run = instance.create_run_for_job(
                _job(), tags={PID_TAG: str(pid), HOST_TAG: socket.gethostname()}, status=DagsterRunStatus.STARTED
            )
            ids[pid] = run.run_id
    with dagster_instance(settings) as instance:
        states = {pid: instance.get_run_by_id(run_id) for pid, run_id in ids.items()}
    assert states[dead.pid] is not None
    assert states[dead.pid].status is DagsterRunStatus.FAILURE  # type: ignore[union-attr]
    assert states[os.getpid()].status is DagsterRunStatus.STARTED  # type: ignore[union-attr]


def test_the_sensor_ends_runs_of_a_killed_command_while_the_daemon_is_up(instance: DagsterInstance) -> None:
    dead = subprocess.Popen([sys.executable, "-c", "pass"])
    dead.wait()
    run = instance.create_run_for_job(
        _job(), tags={PID_TAG: str(dead.pid), HOST_TAG: socket.gethostname()}, status=DagsterRunStatus.STARTED
    )
    with build_sensor_context(instance=instance) as context:
        first, second = dead_runs(context), dead_runs(context)
    assert isinstance(first, SensorResult)
    assert run.run_id in str(first.skip_reason)
    assert instance.get_run_by_id(run.run_id).status is DagsterRunStatus.FAILURE  # type: ignore[union-attr]
    assert "no run is without" in str(second.skip_reason)  # type: ignore[union-attr]


def _job():
    from dagster import job, op

    @op
    def nothing() -> None:
        pass

    @job
    def empty() -> None:
        nothing()

    return empty
