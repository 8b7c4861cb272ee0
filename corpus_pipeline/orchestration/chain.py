"""The chain as data: for each stage its room function and what the catalog says of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from corpus_pipeline import (
    chunking,
    conversion,
    deduplication,
    embedding,
    evaluation,
    index,
    inventory,
    versions,
)
from corpus_pipeline.records import Stage
from corpus_pipeline.store import StageContext, StageResult

__all__ = ["CHAIN", "ChainLink", "link"]


@dataclass(frozen=True)
class ChainLink:
    """One stage: the function that does it, and its description.

    Attributes:
        kinds: Technologies shown as icons in the catalog.
    """

    stage: Stage
    run: Callable[[StageContext], StageResult]
    description: str
    kinds: frozenset[str]


CHAIN: tuple[ChainLink, ...] = (
    ChainLink(
        Stage.SOURCE_INVENTORY,
        inventory.take_inventory,
        "Every file of the corpus: location, SHA-256, size, declared metadata; what was added, changed, removed.",
        frozenset({"python", "postgres"}),
    ),
    ChainLink(
        Stage.CONVERTED_DOCUMENTS,
        conversion.convert_corpus,
        "One structured document per readable file, with the concrete converter that made it; failures in quarantine.",
        frozenset({"docling", "unstructured", "postgres"}),
    ),
    ChainLink(
        Stage.NEAR_DUPLICATE_CLUSTERS,
        deduplication.cluster_corpus,
        "Exact and near-duplicate clusters with verified similarity, within and across corpora.",
        frozenset({"datasketch", "postgres"}),
    ),
    ChainLink(
        Stage.DOCUMENT_VERSIONS,
        versions.resolve_corpus,
        "The canonical member of each cluster, version families, what supersedes what, and what is current.",
        frozenset({"python", "postgres"}),
    ),
    ChainLink(
        Stage.FRAGMENTS,
        chunking.fragment_corpus,
        "Parent sections and child fragments with exact token counts, section path and source span.",
        frozenset({"huggingface", "postgres"}),
    ),
    ChainLink(
        Stage.FRAGMENT_EMBEDDINGS,
        embedding.embed_corpus,
        "A vector per distinct text and model fingerprint, reused whenever it already exists.",
        frozenset({"huggingface", "postgres"}),
    ),
    ChainLink(
        Stage.INDEX_GENERATION,
        index.stage_generation,
        "The next generation, loaded into the partitioned pgvector table but visible to nobody.",
        frozenset({"postgres"}),
    ),
    ChainLink(
        Stage.RETRIEVAL_EVALUATION,
        evaluation.evaluate_generation,
        "The golden queries run against the staged generation; the last gate.",
        frozenset({"python", "postgres"}),
    ),
    ChainLink(
        Stage.PUBLISHED_CORPUS,
        index.publish_corpus,
        "The pointer moved to the staged generation, atomically, only after every blocking check passed.",
        frozenset({"postgres"}),
    ),
)


def link(stage: Stage) -> ChainLink:
    """The chain link of a stage."""
    return next(entry for entry in CHAIN if entry.stage is stage)
