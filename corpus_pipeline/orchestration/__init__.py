"""The Dagster shell: assets, checks, partitions, schedules, resources, storage.

Not here: any domain logic. An asset reads, calls one room function and returns counts.
"""

from corpus_pipeline.orchestration.build import JOB_NAME, build_definitions
from corpus_pipeline.orchestration.chain import CHAIN, ChainLink, link
from corpus_pipeline.orchestration.resources import PipelineResource

__all__ = ["CHAIN", "JOB_NAME", "ChainLink", "PipelineResource", "build_definitions", "link"]
