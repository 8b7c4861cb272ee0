"""The asset ``near_duplicate_clusters``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from corpus_pipeline.conversion import converted_documents, documents
from corpus_pipeline.deduplication import repository
from corpus_pipeline.deduplication.clusters import form_clusters, form_edges
from corpus_pipeline.deduplication.comparison import Comparison, compare_documents
from corpus_pipeline.deduplication.parameters import comparison_parameters
from corpus_pipeline.records import (
    Document,
    DuplicateCluster,
    DuplicateEdge,
    DuplicateKind,
    Stage,
    canonical_json,
    sha256_hex,
)
from corpus_pipeline.store import StageContext, StageResult, open_stage

__all__ = ["cluster_corpus"]


def cluster_corpus(context: StageContext) -> StageResult:
    """Finds the copies among the documents of a corpus, and their copies in other corpora.

    Computes profiles and signatures of new texts only, and looks up candidates of new signatures
    only, yet among everything stored. Edges and clusters are then formed anew from all verified
    pairs of the corpus, so that they are the same as from nothing.

    Raises:
        UpstreamMissingError: The documents were not converted yet.
        CorpusBusyError: Another run works on this corpus.
    """
    corpus, settings = context.spec.slug, context.spec.deduplication
    parameters = comparison_parameters(settings)
    with open_stage(context, Stage.NEAR_DUPLICATE_CLUSTERS) as run:
        with context.database.connection() as connection:
            held = documents(connection, corpus)
        comparison = compare_documents(
            context.database,
            [(document.document_id, document.text_sha256) for document in held],
            lambda keys: _texts(context, held, keys),
            parameters,
            remove_boilerplate=settings.remove_boilerplate,
            workers=context.settings.worker_count,
            progress=context.progress,
        )
        edges = form_edges(comparison.documents, comparison.pairs, parameters)
        clusters = form_clusters(corpus, comparison.documents, edges)
        output = sha256_hex(canonical_json([run.input_sha256, context.spec.digest("deduplication"), edges, clusters]))
        counts = _counts(comparison, edges, clusters)
        with run.commit(output_sha256=output, counts=counts) as connection:
            repository.replace_comparison(connection, corpus, comparison.documents, edges, clusters)
            counts["cross_corpus_edges"] = repository.replace_cross_corpus_edges(connection, corpus, parameters)
        with context.database.connection() as connection:
            repository.delete_abandoned_signatures(connection)
    return run.result


def _texts(context: StageContext, held: Sequence[Document], text_sha256s: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Texts by hash, each read once from the first document that has it."""
    first: dict[str, Document] = {}
    for document in held:
        first.setdefault(document.text_sha256, document)
    with context.database.connection() as connection:
        for document, converted in converted_documents(connection, [first[key] for key in text_sha256s]):
            yield document.text_sha256, converted.text


def _counts(
    comparison: Comparison, edges: Sequence[DuplicateEdge], clusters: Sequence[DuplicateCluster]
) -> dict[str, int | float | str]:
    kinds = [edge.kind for edge in edges]
    total = len(comparison.documents)
    copies = sum(len(cluster.members) - 1 for cluster in clusters)
    return {
        "documents": total,
        "signatures_computed": comparison.computed,
        "signatures_reused": comparison.reused,
        "boilerplate_lines": comparison.boilerplate,
        "exact_duplicates": kinds.count(DuplicateKind.EXACT),
        "near_duplicates": kinds.count(DuplicateKind.NEAR),
        "contained": kinds.count(DuplicateKind.CONTAINED),
        "clusters": len(clusters),
        "largest_cluster": max((len(cluster.members) for cluster in clusters), default=0),
        "duplicate_ratio": round(copies / total, 6) if total else 0.0,
        "cross_corpus_edges": 0,
    }
