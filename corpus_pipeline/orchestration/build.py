"""Assembles the Dagster objects from a registry."""

from __future__ import annotations

from dagster import Definitions, StaticPartitionsDefinition, define_asset_job, in_process_executor

from corpus_pipeline.orchestration.assets import stage_asset, stage_check
from corpus_pipeline.orchestration.chain import CHAIN
from corpus_pipeline.orchestration.resources import PipelineResource
from corpus_pipeline.orchestration.schedules import nightly_schedule
from corpus_pipeline.orchestration.sensors import dead_runs

__all__ = ["JOB_NAME", "build_definitions"]

JOB_NAME = "ingest_corpus"


def build_definitions(pipeline: PipelineResource) -> Definitions:
    """Assets, checks, the job and the nightly schedules for every corpus of the registry, and what watches their runs.

    Steps run in the run's own process: they share one database pool and one loaded model, and a
    process per step costs several seconds of imports each. Conversion has its own workers.

    Raises:
        RegistryError: corpora.yaml has faults.
    """
    registry = pipeline.registry
    partitions = StaticPartitionsDefinition(sorted(registry.corpora))
    job = define_asset_job(
        JOB_NAME,
        selection="*",
        description="From source files to a published generation, for one corpus.",
    )
    return Definitions(
        assets=[stage_asset(entry, partitions) for entry in CHAIN],
        asset_checks=[stage_check(entry, partitions) for entry in CHAIN],
        jobs=[job],
        schedules=[nightly_schedule(registry.corpora[slug], job) for slug in sorted(registry.corpora)],
        sensors=[dead_runs],
        resources={"pipeline": pipeline},
        executor=in_process_executor,
    )
