"""The asset ``near_duplicate_clusters``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from corpus_pipeline.conversion import converted_documents
from corpus_pipeline.deduplication import repository
from corpus_pipeline.deduplication.change import ComparisonChange
from corpus_pipeline.deduplication.comparison import DocumentText, compare_corpus
from corpus_pipeline.deduplication.cross_corpus import update_cross_corpus_edges
from corpus_pipeline.deduplication.parameters import comparison_parameters
from corpus_pipeline.deduplication.signature_store import delete_abandoned_signatures
from corpus_pipeline.records import Stage, canonical_json, sha256_hex
from corpus_pipeline.store import Connection, StageContext, StageResult, open_stage

__all__ = ["cluster_corpus"]

READ_TEXTS = 1000


def cluster_corpus(context: StageContext) -> StageResult:
    """Finds the copies among the documents of a corpus, and their copies in other corpora.

    Only documents that changed are looked at: their profiles and signatures are computed, their candidates
    looked up among everything the corpus holds, and edges and clusters formed anew for what they are joined
    to. The result is that of a run from nothing.

    Raises:
        UpstreamMissingError: The documents were not converted yet.
        CorpusBusyError: Another run works on this corpus.
    """
    corpus, settings = context.spec.slug, context.spec.deduplication
    parameters = comparison_parameters(settings)
    with open_stage(context, Stage.NEAR_DUPLICATE_CLUSTERS) as run:
        change = compare_corpus(
            context.database,
            corpus,
            lambda connection, everything: repository.changed_documents(connection, corpus, everything=everything),
            lambda wanted: _texts(context, wanted),
            parameters,
            remove_boilerplate=settings.remove_boilerplate,
            workers=context.settings.worker_count,
            progress=context.progress,
        )
        combined = [run.input_sha256, context.spec.digest("deduplication"), change.combination.sha256]
        counts: dict[str, int | float | str] = {}
        with run.commit(output_sha256=sha256_hex(canonical_json(combined)), counts=counts) as connection:
            repository.store_change(connection, change)
            crossing = update_cross_corpus_edges(connection, change, parameters, context.settings.worker_count)
            counts |= _counts(connection, change) | {"cross_corpus_edges": crossing}
        with context.database.connection() as connection:
            delete_abandoned_signatures(connection)
    return run.result


def _texts(context: StageContext, wanted: Sequence[DocumentText]) -> Iterator[tuple[str, str]]:
    """Texts by hash, read in batches."""
    for start in range(0, len(wanted), READ_TEXTS):
        some = [document_id for document_id, _ in wanted[start : start + READ_TEXTS]]
        with context.database.connection() as connection:
            found = repository.documents_by_id(connection, context.spec.slug, some)
            for document, converted in converted_documents(connection, found):
                yield document.text_sha256, converted.text


def _counts(connection: Connection, change: ComparisonChange) -> dict[str, int | float | str]:
    figures = repository.duplicate_figures(connection, change.corpus)
    sizes = repository.cluster_sizes(connection, change.corpus)
    copies = sum((size - 1) * clusters for size, clusters in sizes.items())
    signatures = figures.pop("signatures")
    return {
        **figures,
        "signatures_computed": change.computed,
        "signatures_reused": signatures - change.computed,
        "candidates_compared": change.verified,
        "boilerplate_lines": change.boilerplate.size,
        "clusters": sum(sizes.values()),
        "largest_cluster": max(sizes, default=0),
        "duplicate_ratio": round(copies / figures["documents"], 6) if figures["documents"] else 0.0,
    }
