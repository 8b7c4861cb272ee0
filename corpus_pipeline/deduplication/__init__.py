"""Copies: exact and near-duplicates and contained texts, within and across corpora, and their clusters.

Here: normalised text, shingles, MinHash, candidate indexes, verified pairs, star clusters.
Not here: which member of a cluster is served, and which version is current (``versions``).
"""

from corpus_pipeline.deduplication.cross_corpus import CrossCorpusEdge, cross_corpus_edges
from corpus_pipeline.deduplication.normalisation import normalised_sha256
from corpus_pipeline.deduplication.parameters import (
    ComparisonParameters,
    comparison_parameters,
    containment_recall,
    recall_curve,
)
from corpus_pipeline.deduplication.repository import cluster_sizes, duplicate_clusters, duplicate_edges
from corpus_pipeline.deduplication.signature_store import delete_abandoned_signatures
from corpus_pipeline.deduplication.stage import cluster_corpus

__all__ = [
    "ComparisonParameters",
    "CrossCorpusEdge",
    "cluster_corpus",
    "cluster_sizes",
    "comparison_parameters",
    "containment_recall",
    "cross_corpus_edges",
    "delete_abandoned_signatures",
    "duplicate_clusters",
    "duplicate_edges",
    "normalised_sha256",
    "recall_curve",
]
