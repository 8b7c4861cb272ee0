"""The stages of the chain."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Stage"]


class Stage(StrEnum):
    """The nine assets, in chain order. ``Stage.X.upstream`` is the one before."""

    SOURCE_INVENTORY = "source_inventory"
    CONVERTED_DOCUMENTS = "converted_documents"
    NEAR_DUPLICATE_CLUSTERS = "near_duplicate_clusters"
    DOCUMENT_VERSIONS = "document_versions"
    FRAGMENTS = "fragments"
    FRAGMENT_EMBEDDINGS = "fragment_embeddings"
    INDEX_GENERATION = "index_generation"
    RETRIEVAL_EVALUATION = "retrieval_evaluation"
    PUBLISHED_CORPUS = "published_corpus"

    @property
    def upstream(self) -> Stage | None:
        """The stage whose output this one reads, or ``None`` for the first."""
        stages = list(Stage)
        position = stages.index(self)
        return stages[position - 1] if position else None
