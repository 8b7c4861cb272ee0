"""The Dagster code location; the only module that Dagster loads."""

from corpus_pipeline.orchestration import PipelineResource, build_definitions

defs = build_definitions(PipelineResource())
