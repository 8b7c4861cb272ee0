"""A Dagster instance on the test's own database."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest
from dagster import DagsterInstance

from corpus_pipeline.orchestration import PipelineResource
from corpus_pipeline.orchestration.instance import dagster_instance
from corpus_pipeline.registry import GateThresholds, Registry
from corpus_pipeline.settings import Settings
from corpus_pipeline.store import StageContext


@pytest.fixture
def settings(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings of the environment, so that Dagster's storage lands in the test's database too."""
    monkeypatch.setenv("CORPUS_DATABASE_URL", database_url)
    monkeypatch.setenv("CORPUS_CONFIG", str(tmp_path / "corpora.yaml"))
    monkeypatch.setenv("CORPUS_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("DAGSTER_HOME", "placeholder")  # restored at the end, whatever the code sets
    monkeypatch.delenv("DAGSTER_HOME")
    monkeypatch.delenv("CORPUS_DAGSTER_DATABASE_URL", raising=False)
    monkeypatch.setenv("DAGSTER_DISABLE_TELEMETRY", "yes")
    return Settings(workers=1)


@pytest.fixture
def instance(settings: Settings) -> Iterator[DagsterInstance]:
    with dagster_instance(settings) as opened:
        yield opened


@pytest.fixture
def registry(context: StageContext) -> Registry:
    """``handbook`` demands three files, ``legal`` one; both read the same folder."""
    handbook = context.spec.model_copy(update={"gates": GateThresholds(min_documents=3)})
    legal = context.spec.model_copy(update={"slug": "legal", "gates": GateThresholds(min_documents=3)})
    return context.registry.model_copy(update={"corpora": {"handbook": handbook, "legal": legal}})


@pytest.fixture
def pipeline(settings: Settings, registry: Registry, context: StageContext) -> PipelineResource:
    made = PipelineResource(settings=settings)
    made.__dict__.update(registry=registry, database=context.database)
    return made


@pytest.fixture
def stage_context(context: StageContext, registry: Registry) -> StageContext:
    return dataclasses.replace(context, spec=registry.corpora["handbook"])
