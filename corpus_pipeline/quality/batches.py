"""What each suite looks at, read through the rooms' front doors in one transaction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from corpus_pipeline import conversion, deduplication, embedding, index, inventory, versions
from corpus_pipeline.chunking import token_counter
from corpus_pipeline.errors import UpstreamMissingError
from corpus_pipeline.quality import repository
from corpus_pipeline.quality.conversions import Reading, read_conversions
from corpus_pipeline.quality.evaluations import read_evaluation
from corpus_pipeline.quality.rules import Batches
from corpus_pipeline.records import DuplicateKind, Stage
from corpus_pipeline.registry import CorpusSpec
from corpus_pipeline.store import Connection, load_queries, stage_output

__all__ = ["read_batches"]


def read_batches(connection: Connection, spec: CorpusSpec, stage: Stage) -> Batches:
    """The rows of one stage's present output.

    Call it in a repeatable-read transaction, so that the rows belong to the output named.

    Raises:
        UpstreamMissingError: The stage has never finished for this corpus.
    """
    output = stage_output(connection, spec.slug, stage)
    if output is None:
        raise UpstreamMissingError(
            f"{stage} of corpus {spec.slug!r} has no output to check",
            remedy=f"Run the whole chain: corpus-pipeline ingest {spec.slug}.",
        )
    documents, corpus, culprits, *notes = _READERS[stage](connection, spec)
    return Batches(output, documents, corpus, culprits, *notes)


def _counts(connection: Connection, spec: CorpusSpec, stage: Stage) -> dict[str, Any]:
    row = load_queries("store").stage_state(connection, corpus=spec.slug, stage=stage.value)
    return dict(row["counts"]) if row else {}


def _source_inventory(connection: Connection, spec: CorpusSpec) -> Reading:
    files = inventory.source_files(connection, spec.slug)
    held = inventory.held_removals(connection, spec.slug)
    # What the inventory refuses is counted among the quarantined files of the next stage.
    rows = [{"document_id": file.document_id, "doubt": (not file.refusal and file.doubt) or None} for file in files]
    return rows, {"files": len(files), "held_removals": len(held)}, {"no_sudden_shrinkage": held}


def _near_duplicate_clusters(connection: Connection, spec: CorpusSpec) -> Reading:
    clusters = deduplication.duplicate_clusters(connection, spec.slug)
    total = len(conversion.documents(connection, spec.slug))
    rows = [
        {
            "document_id": member,
            # A contained text may be much shorter than its container: the edge's own threshold holds it.
            "similarity_margin": 0.0
            if cluster.kind is DuplicateKind.CONTAINED
            else cluster.similarity[member] - spec.deduplication.threshold,
        }
        for cluster in clusters
        for member in cluster.members
    ]
    copies = [member for cluster in clusters for member in cluster.members[1:]]
    return rows, {"duplicate_ratio": len(copies) / total if total else 0.0}, {"few_duplicates": copies}


def _document_versions(connection: Connection, spec: CorpusSpec) -> Reading:
    decisions = versions.version_decisions(connection, spec.slug)
    known = {document.document_id for document in conversion.documents(connection, spec.slug)}
    conflicts: dict[str, str] = {}
    for conflict in versions.version_conflicts(connection, spec.slug):
        for document_id in () if conflict.resolved else conflict.documents:
            conflicts.setdefault(document_id, f"{conflict.message}; {conflict.suggestion}")
    rows = [
        {
            "document_id": decision.document_id,
            "unexplained": None if decision.is_current or decision.exclusion_reason else "no reason",
            "conflict": conflicts.get(decision.document_id),
        }
        for decision in decisions
    ]
    undecided = sorted(known - {decision.document_id for decision in decisions})
    review = [decision.document_id for decision in decisions if decision.needs_review]
    kept_out = [decision.document_id for decision in decisions if not decision.is_current]
    corpus = {
        "undecided": len(undecided),
        "current": sum(decision.is_current for decision in decisions),
        "review_ratio": len(review) / len(decisions) if decisions else 0.0,
    }
    return (
        rows,
        corpus,
        {
            "every_document_decided": undecided,
            "few_reviews": review,
            "something_current": kept_out,
        },
    )


def _fragments(connection: Connection, spec: CorpusSpec) -> Reading:
    coverage = repository.fragment_coverage(connection, spec.slug)
    characters = {entry.document_id: entry.char_count for entry in conversion.documents(connection, spec.slug)}
    limit = token_counter(spec.embedding).model_tokens
    by_document = {row["document_id"]: row for row in coverage}
    rows = [
        {
            "document_id": document_id,
            "uncovered_characters": count - int(by_document.get(document_id, {}).get("covered_characters", 0)),
            "uncovered_by_parents": count - int(by_document.get(document_id, {}).get("covered_by_parents", 0)),
            "excess_tokens": max(0, int(by_document.get(document_id, {}).get("max_tokens", 0)) - limit),
        }
        for document_id, count in sorted(characters.items())
    ]
    return rows, {"fragments": sum(int(row["fragments"]) for row in coverage)}, {}


def _fragment_embeddings(connection: Connection, spec: CorpusSpec) -> Reading:
    fingerprint = embedding.embedding_fingerprint(spec.embedding)
    rows = repository.vector_faults(connection, spec.slug, fingerprint)
    return rows, {"dimensions": repository.vector_dimensions(connection, spec.slug, fingerprint)}, {}


def _index_generation(connection: Connection, spec: CorpusSpec) -> Reading:
    counts = _counts(connection, spec, Stage.INDEX_GENERATION)
    fragments = int(_counts(connection, spec, Stage.FRAGMENTS).get("fragments", 0))
    expected = fragments - repository.served_through_others(connection, spec.slug)
    corpus = {
        "rows_missing": expected - int(counts.get("rows", 0)),
        "ann_recall": float(counts.get("ann_recall_at_10", 1.0)),
    }
    return [], corpus, {}


def _published_corpus(connection: Connection, spec: CorpusSpec) -> Reading:
    published = index.publication(connection, spec.slug)
    staged = _counts(connection, spec, Stage.INDEX_GENERATION).get("root")
    differ = int(published is None or published.root_sha256 != staged)
    return [], {"roots_differ": differ}, {}


_READERS: dict[Stage, Callable[[Connection, CorpusSpec], Reading]] = {
    Stage.SOURCE_INVENTORY: _source_inventory,
    Stage.CONVERTED_DOCUMENTS: read_conversions,
    Stage.NEAR_DUPLICATE_CLUSTERS: _near_duplicate_clusters,
    Stage.DOCUMENT_VERSIONS: _document_versions,
    Stage.FRAGMENTS: _fragments,
    Stage.FRAGMENT_EMBEDDINGS: _fragment_embeddings,
    Stage.INDEX_GENERATION: _index_generation,
    Stage.RETRIEVAL_EVALUATION: read_evaluation,
    Stage.PUBLISHED_CORPUS: _published_corpus,
}
