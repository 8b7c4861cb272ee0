"""The whole chain on one corpus, stage by stage with its checks, without Dagster."""

from __future__ import annotations

from collections.abc import Callable

from corpus_pipeline.chunking import fragment_corpus
from corpus_pipeline.conversion import convert_corpus
from corpus_pipeline.deduplication import cluster_corpus
from corpus_pipeline.embedding import embed_corpus
from corpus_pipeline.evaluation import evaluate_generation
from corpus_pipeline.index import publish_corpus, stage_generation
from corpus_pipeline.inventory import take_inventory
from corpus_pipeline.quality import check_stage
from corpus_pipeline.records import Stage
from corpus_pipeline.store import StageContext
from corpus_pipeline.versions import resolve_corpus

CHAIN: dict[Stage, Callable[[StageContext], object]] = {
    Stage.SOURCE_INVENTORY: take_inventory,
    Stage.CONVERTED_DOCUMENTS: convert_corpus,
    Stage.NEAR_DUPLICATE_CLUSTERS: cluster_corpus,
    Stage.DOCUMENT_VERSIONS: resolve_corpus,
    Stage.FRAGMENTS: fragment_corpus,
    Stage.FRAGMENT_EMBEDDINGS: embed_corpus,
    Stage.INDEX_GENERATION: stage_generation,
    Stage.RETRIEVAL_EVALUATION: evaluate_generation,
    Stage.PUBLISHED_CORPUS: publish_corpus,
}


def night(context: StageContext) -> None:
    """One whole run with its checks."""
    for stage, run in CHAIN.items():
        run(context)
        check_stage(context, stage)
