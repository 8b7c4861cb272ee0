"""The suites: one per asset, thresholds from the registry."""

from __future__ import annotations

from collections.abc import Callable

from corpus_pipeline.quality.conversions import conversion_rules
from corpus_pipeline.quality.rules import DOCUMENTS_BATCH, Rule, Severity, absent, at_least, at_most, between
from corpus_pipeline.records import Stage
from corpus_pipeline.registry import CorpusSpec

__all__ = ["suite"]


def suite(stage: Stage, spec: CorpusSpec) -> tuple[Rule, ...]:
    """The rules of a stage under the thresholds of a corpus."""
    return _SUITES[stage](spec)


def _source_inventory(spec: CorpusSpec) -> tuple[Rule, ...]:
    gates = spec.gates
    return (
        between(
            "enough_files",
            at_least("files", gates.min_documents),
            "critical",
            f"at least {gates.min_documents} files",
            "Check source.url and the include and exclude globs of this corpus; an empty share is not an empty corpus.",
        ),
        between(
            "no_sudden_shrinkage",
            at_most("held_removals", 0),
            "critical",
            f"no more than {gates.max_removed_ratio:.0%} of the known files to be missing",
            f"Really gone? corpus-pipeline approve-removals {spec.slug}. If not, restore the source and run again.",
        ),
        Rule(
            "unique_documents",
            DOCUMENTS_BATCH,
            "ExpectColumnValuesToBeUnique",
            {"column": "document_id"},
            "critical",
            "one row per document",
            "This is a fault of the inventory; report it.",
        ),
        absent(
            "readable_metadata",
            "doubt",
            "warning",
            "every file and its metadata to be readable",
            "Correct the file or sidecar named beside each document.",
        ),
    )


def _near_duplicate_clusters(spec: CorpusSpec) -> tuple[Rule, ...]:
    gates = spec.gates
    return (
        between(
            "verified_similarity",
            at_least("similarity_margin", 0.0),
            "critical",
            "each member to be as similar to its cluster's centre as the threshold says",
            "This is a fault of the deduplication room; report it.",
            per_document=True,
        ),
        between(
            "few_duplicates",
            at_most("duplicate_ratio", gates.max_duplicate_ratio),
            "warning",
            f"at most {gates.max_duplicate_ratio:.0%} of the documents to be copies",
            f"See the clusters: corpus-pipeline duplicates {spec.slug}; exclude the folder the copies come from.",
        ),
    )


def _document_versions(spec: CorpusSpec) -> tuple[Rule, ...]:
    gates = spec.gates
    severity: Severity = "critical" if spec.versions.conflicts == "fail" else "warning"
    return (
        between(
            "every_document_decided",
            at_most("undecided", 0),
            "critical",
            "a decision on every document",
            f"Run the whole chain: corpus-pipeline ingest {spec.slug}.",
        ),
        between(
            "something_current",
            at_least("current", min(1, gates.min_documents)),
            "critical",
            "at least one current document",
            f"See what keeps them out: corpus-pipeline versions {spec.slug}; often a lifecycle or a validity date.",
        ),
        absent(
            "reasons_given",
            "unexplained",
            "critical",
            "a reason for each document that is kept out",
            "This is a fault of the versions room; report it.",
        ),
        absent(
            "no_conflicts",
            "conflict",
            severity,
            "no contradiction between versions",
            "Add the override line shown beside each document to versions: of this corpus in corpora.yaml.",
        ),
        between(
            "few_reviews",
            at_most("review_ratio", gates.max_review_ratio),
            "warning",
            f"at most {gates.max_review_ratio:.0%} of the decisions to wait for review",
            f"Confirm them with versions.supersedes in corpora.yaml: corpus-pipeline versions {spec.slug} marks them.",
        ),
    )


def _fragments(spec: CorpusSpec) -> tuple[Rule, ...]:
    del spec
    return (
        between(
            "some_fragments",
            at_least("fragments", 1),
            "critical",
            "at least one fragment",
            "Check that the documents have text.",
        ),
        between(
            "every_character_in_a_fragment",
            at_most("uncovered_characters", 0),
            "critical",
            "every character of a document to lie in a fragment",
            "This is a fault of the chunking strategy; choose another one and report it.",
            per_document=True,
        ),
        between(
            "every_character_in_a_parent",
            at_most("uncovered_by_parents", 0),
            "critical",
            "every character of a document to lie in a parent section",
            "This is a fault of the chunking strategy; choose another one and report it.",
            per_document=True,
        ),
        between(
            "within_the_model_limit",
            at_most("excess_tokens", 0),
            "critical",
            "no embedded text to be longer than the model reads",
            "Lower chunking.child_tokens of this corpus.",
            per_document=True,
        ),
    )


def _fragment_embeddings(spec: CorpusSpec) -> tuple[Rule, ...]:
    error = spec.gates.max_vector_norm_error
    return (
        between(
            "every_fragment_embedded",
            at_most("missing_vectors", 0),
            "critical",
            "a vector for every fragment",
            f"Run the asset again: corpus-pipeline ingest {spec.slug}.",
            per_document=True,
        ),
        between(
            "unit_vectors",
            at_most("norm_error", error),
            "critical",
            f"vectors of length 1, within {error}",
            "The model's files may be damaged: install the offline extra again, or check embedding.model.",
            per_document=True,
        ),
        between(
            "one_dimension",
            {"column": "dimensions", "min_value": 1, "max_value": 1},
            "critical",
            "all vectors to have one dimension",
            "The model changed without its fingerprint changing; report it.",
        ),
    )


def _index_generation(spec: CorpusSpec) -> tuple[Rule, ...]:
    recall = spec.gates.min_ann_recall
    return (
        between(
            "rows_complete",
            at_most("rows_missing", 0),
            "critical",
            "a row for every fragment",
            f"Run the asset again: corpus-pipeline ingest {spec.slug}.",
        ),
        between(
            "index_recall",
            at_least("ann_recall", recall),
            "critical",
            f"approximate search to find at least {recall:.0%} of what exact search finds",
            "Rebuild the index (REINDEX) or raise hnsw.ef_search; see docs/generations.md.",
        ),
    )


def _retrieval_evaluation(spec: CorpusSpec) -> tuple[Rule, ...]:
    gates = spec.gates
    return (
        between(
            "some_golden_queries",
            at_least("queries", 1),
            "warning",
            "at least one golden query",
            "Write a few questions with their expected sources: docs/golden-queries.md.",
        ),
        between(
            "recall_at_5",
            at_least("recall_at_5", gates.min_recall_at_5),
            "critical",
            f"recall@5 of at least {gates.min_recall_at_5}",
            "See the queries below: a source is missing, stale, or outranked. Repair it, or the golden query.",
        ),
        *_hits(spec),
        *_kept_from_published(spec),
        absent(
            "each_query_answered",
            "failed",
            "warning",
            "each golden query to be answered as expected",
            "Look at what was found instead, beside each query.",
        ),
    )


def _hits(spec: CorpusSpec) -> tuple[Rule, ...]:
    """What no reader may ever be shown."""
    gates = spec.gates
    return (
        between(
            "no_forbidden_source",
            at_most("forbidden_hits", gates.max_forbidden_hits),
            "critical",
            f"at most {gates.max_forbidden_hits} answers from a forbidden source",
            "Say in corpora.yaml or a sidecar what the forbidden source is superseded by, or its lifecycle.",
        ),
        between(
            "no_stale_source",
            at_most("stale_hits", gates.max_stale_hits),
            "critical",
            f"at most {gates.max_stale_hits} answers from a document that is not current",
            "This is a fault of the index; report it with the queries below.",
        ),
        between(
            "current_not_displaced",
            at_most("displaced_by_stale", gates.max_stale_hits),
            "critical",
            f"at most {gates.max_stale_hits} expected documents to give way to a forbidden or stale one",
            f"Say in corpora.yaml which of the two is current; corpus-pipeline versions {spec.slug} shows why.",
        ),
        between(
            "no_unauthorised_source",
            at_most("authorisation_hits", gates.max_authorisation_hits),
            "critical",
            f"at most {gates.max_authorisation_hits} answers from a document its reader may not see",
            "Correct acl_groups of the documents below; where they are right, report it as a fault of the index.",
        ),
        between(
            "metadata_as_required",
            at_most("metadata_mismatches", gates.max_metadata_mismatches),
            "critical",
            f"at most {gates.max_metadata_mismatches} accepted fragments without the metadata their query requires",
            "Correct the metadata of the documents below (sidecar, front matter or corpora.yaml).",
        ),
        between(
            "authority_respected",
            at_most("authority_violations", 0),
            "warning",
            "no document above a more authoritative one of its family, or above the one it conflicts with",
            "Say which of them is current (supersedes), or correct the source_class of the documents below.",
        ),
    )


def _kept_from_published(spec: CorpusSpec) -> tuple[Rule, ...]:
    """What the generation must keep of the published one."""
    gates = spec.gates
    allowed = f"{gates.max_recall_drop:.2f}"
    return (
        between(
            "recall_kept",
            at_most("significant_drops", 0),
            "critical",
            f"recall of every domain to stay within {allowed} of the published generation",
            "Repair what the miss classes name; where the drop is wanted, correct the queries or max_recall_drop.",
        ),
        between(
            "recall_steady",
            at_most("other_drops", 0),
            "warning",
            f"recall of every domain to stay within {allowed} of the published generation, also where few queries "
            "leave chance open",
            "Look at the queries; more golden queries for the domain would settle whether it is chance.",
        ),
        between(
            "new_documents_on_topic",
            at_most("off_topic_ratio", gates.max_off_topic_ratio),
            "critical",
            f"at most {gates.max_off_topic_ratio:.0%} of the documents to be new and unlike anything published",
            f"See where they come from (source.include, source.exclude); if they belong to {spec.slug}, raise "
            "gates.max_off_topic_ratio for this run.",
        ),
    )


def _published_corpus(spec: CorpusSpec) -> tuple[Rule, ...]:
    return (
        between(
            "published_is_staged",
            at_most("roots_differ", 0),
            "critical",
            "the published root to be the one that was checked",
            f"Publication is on hold or another run came between: corpus-pipeline status; then ingest {spec.slug}.",
        ),
    )


_SUITES: dict[Stage, Callable[[CorpusSpec], tuple[Rule, ...]]] = {
    Stage.SOURCE_INVENTORY: _source_inventory,
    Stage.CONVERTED_DOCUMENTS: conversion_rules,
    Stage.NEAR_DUPLICATE_CLUSTERS: _near_duplicate_clusters,
    Stage.DOCUMENT_VERSIONS: _document_versions,
    Stage.FRAGMENTS: _fragments,
    Stage.FRAGMENT_EMBEDDINGS: _fragment_embeddings,
    Stage.INDEX_GENERATION: _index_generation,
    Stage.RETRIEVAL_EVALUATION: _retrieval_evaluation,
    Stage.PUBLISHED_CORPUS: _published_corpus,
}
