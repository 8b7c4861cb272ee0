"""The Dagster graph as text: a change of it has to be meant."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from dagster import (
    DefaultScheduleStatus,
    DefaultSensorStatus,
    Definitions,
    RunRequest,
    ScheduleEvaluationContext,
    build_schedule_context,
)

from corpus_pipeline.orchestration import CHAIN, JOB_NAME, PipelineResource, build_definitions, link
from corpus_pipeline.records import Stage
from corpus_pipeline.registry import Registry
from corpus_pipeline.settings import Settings

EXAMPLES = Path(__file__).parents[3] / "examples" / "corpora.yaml"
SNAPSHOT = Path(__file__).with_name("graph.txt")


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory: pytest.TempPathFactory) -> PipelineResource:
    return PipelineResource(settings=Settings(config=EXAMPLES, home=tmp_path_factory.mktemp("state")))


@pytest.fixture(scope="module")
def definitions(pipeline: PipelineResource) -> Definitions:
    return build_definitions(pipeline)


@pytest.fixture(scope="module")
def registry(pipeline: PipelineResource) -> Registry:
    return pipeline.registry


def _partitions(of: Any) -> str:
    return ", ".join(of.partitions_def.get_partition_keys()) if of.partitions_def else "none"


def _lines(definitions: Definitions) -> Iterator[str]:
    graph = definitions.resolve_asset_graph()
    for key in graph.toposorted_asset_keys:
        node = graph.get(key)
        above = ", ".join(sorted(parent.to_user_string() for parent in node.parent_keys)) or "nothing"
        yield f"asset {key.to_user_string()} <- {above} | partitions: {_partitions(node)}"
    order = list(Stage)
    for check in sorted(graph.asset_check_keys, key=lambda key: order.index(Stage(key.asset_key.to_user_string()))):
        node = graph.get(check)
        name = f"{check.asset_key.to_user_string()}:{check.name}"
        yield f"check {name} | blocking: {node.blocking} | partitions: {_partitions(node)}"
    job = definitions.resolve_job_def(JOB_NAME)
    steps = f"assets: {len(job.asset_layer.executable_asset_keys)}, steps: {len(job.nodes)}"
    yield f"job {JOB_NAME} | executor: {job.executor_def.name} | {steps} | partitions: {_partitions(job)}"
    for schedule in sorted(definitions.schedules or [], key=lambda schedule: schedule.name):
        state = "running" if schedule.default_status is DefaultScheduleStatus.RUNNING else "stopped"
        when = f"{schedule.cron_schedule} {schedule.execution_timezone}"
        yield f"schedule {schedule.name} | {when} | {schedule.job_name} | {state}"
    for sensor in definitions.sensors or []:
        state = "running" if sensor.default_status is DefaultSensorStatus.RUNNING else "stopped"
        yield f"sensor {sensor.name} | every {sensor.minimum_interval_seconds} s | {state}"


def test_the_graph_is_what_the_snapshot_says(definitions: Definitions) -> None:
    text = "\n".join(_lines(definitions)) + "\n"
    assert text == SNAPSHOT.read_text(encoding="utf-8"), f"if this is meant, write to {SNAPSHOT.name}:\n{text}"


def test_the_chain_has_every_stage_once_and_in_order() -> None:
    assert [entry.stage for entry in CHAIN] == list(Stage)
    assert [link(stage).stage for stage in Stage] == list(Stage)
    assert all(entry.description.endswith(".") and entry.kinds for entry in CHAIN)


def _tick(definitions: Definitions, slug: str, at: datetime) -> list[RunRequest]:
    schedule = next(entry for entry in definitions.schedules or [] if entry.name == f"nightly_{slug}")
    context: ScheduleEvaluationContext = build_schedule_context(
        scheduled_execution_time=at, repository_def=definitions.get_repository_def()
    )
    return list(schedule.evaluate_tick(context).run_requests or [])


def test_a_tick_requests_exactly_one_run_of_its_corpus(definitions: Definitions, registry: Registry) -> None:
    for slug, spec in registry.corpora.items():
        at = datetime(2026, 11, 2, 2, 0, tzinfo=ZoneInfo(spec.schedule.timezone))
        requests = _tick(definitions, slug, at)
        assert [request.partition_key for request in requests] == [slug]
        assert requests[0].run_key == f"{slug}:{at.isoformat()}"


def test_ticks_of_two_nights_and_of_two_corpora_have_different_run_keys(definitions: Definitions) -> None:
    nights = [datetime(2026, 11, day, 2, tzinfo=UTC) for day in (2, 3)]
    keys = [_tick(definitions, slug, at)[0].run_key for slug in ("policies", "support") for at in nights]
    assert len(set(keys)) == 4
    assert _tick(definitions, "policies", nights[0])[0].run_key == keys[0], "the same tick must not start two runs"


def test_the_hour_that_a_clock_change_repeats_has_one_key_an_instant(definitions: Definitions) -> None:
    zone = ZoneInfo("Europe/Lisbon")
    first, second = (datetime(2026, 10, 25, 1, 30, tzinfo=zone, fold=fold) for fold in (0, 1))
    keys = {_tick(definitions, "policies", at)[0].run_key for at in (first, second)}
    assert len(keys) == 2


def test_definitions_need_no_database_and_no_source_folder(tmp_path: Path) -> None:
    config = tmp_path / "corpora.yaml"
    config.write_text(
        "version: 1\ncorpora:\n  alpha: {owner: me, source: {url: absent}}\n  beta: {owner: me, source: {url: gone}}\n"
    )
    made = build_definitions(PipelineResource(settings=Settings(config=config, home=tmp_path / "state")))
    assert sorted(schedule.name for schedule in made.schedules or []) == ["nightly_alpha", "nightly_beta"]
    assert not (tmp_path / "state").exists()
