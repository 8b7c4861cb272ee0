"""The stage ``document_versions``: evidence of new texts, then one decision a document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from corpus_pipeline.conversion import converted_documents, documents
from corpus_pipeline.deduplication import cross_corpus_edges, duplicate_clusters, duplicate_edges, normalised_sha256
from corpus_pipeline.records import (
    Document,
    ExclusionReason,
    Stage,
    canonical_json,
    sha256_hex,
)
from corpus_pipeline.store import StageContext, StageResult, open_stage
from corpus_pipeline.versions.claims import DocumentEvidence
from corpus_pipeline.versions.extraction import evidence_of
from corpus_pipeline.versions.neighbours import neighbours_of
from corpus_pipeline.versions.repository import (
    known_evidence,
    published_versions,
    record_history,
    replace_resolution,
    store_evidence,
    version_decisions,
)
from corpus_pipeline.versions.resolver import Resolution, resolve

__all__ = ["resolve_corpus"]

EVIDENCE_BATCH = 200


def resolve_corpus(context: StageContext) -> StageResult:
    """Decides which documents of a corpus are current, superseded, copies or kept out, as of ``context.as_of``.

    Only texts that have no cached evidence are read. The output hash covers its input, decisions, relations
    and conflicts, so that it changes with the day only when a decision does. Other corpora count with
    what they have published, never with what they have only decided.

    Raises:
        UpstreamMissingError: Copies have not been looked for yet.
    """
    spec = context.spec
    with open_stage(context, Stage.DOCUMENT_VERSIONS) as run:
        with context.database.connection() as connection:
            present = documents(connection, spec.slug)
            clusters = duplicate_clusters(connection, spec.slug)
            edges = duplicate_edges(connection, spec.slug)
        evidence, extracted = _evidence(context, present)
        hashes = {one.document_id: evidence[one.document_sha256].normalised_sha256 for one in present}
        with context.database.connection() as connection:
            neighbours = neighbours_of(
                spec.slug, cross_corpus_edges(connection, spec.slug), published_versions(connection, spec.slug), hashes
            )
        resolution = resolve(present, evidence, clusters, edges, spec, context.as_of, neighbours=neighbours)
        output_sha256 = sha256_hex(
            canonical_json([run.input_sha256, resolution.decisions, resolution.relations, resolution.conflicts])
        )
        counts = {**version_counts(resolution), "extracted": extracted}
        with run.commit(output_sha256=output_sha256, counts=counts) as connection:
            # A purge removes decisions behind the back of the stage.
            kept = {decision.document_id for decision in version_decisions(connection, spec.slug)}
            decided = {decision.document_id for decision in resolution.decisions}
            if output_sha256 != run.previous_output_sha256 or kept != decided:
                replace_resolution(connection, spec.slug, resolution)
                if not record_history(connection, spec.slug, context.as_of):
                    context.progress.note(
                        f"history of {spec.slug} already reaches past {context.as_of.isoformat()}; it was left as it is"
                    )
    return run.result


def _evidence(context: StageContext, present: Sequence[Document]) -> tuple[dict[str, DocumentEvidence], int]:
    """Evidence by document hash, read from the cache or extracted and cached batch by batch."""
    with context.database.connection() as connection:
        evidence = known_evidence(connection, (one.document_sha256 for one in present))
    missing = {one.document_sha256: one for one in present if one.document_sha256 not in evidence}
    wanted = [one for _, one in sorted(missing.items())]
    context.progress.start(Stage.DOCUMENT_VERSIONS, len(wanted), "texts read for evidence")
    for start in range(0, len(wanted), EVIDENCE_BATCH):
        batch = wanted[start : start + EVIDENCE_BATCH]
        with context.database.connection() as connection:
            found = {
                document.document_sha256: evidence_of(
                    converted, title=document.title, normalised_sha256=normalised_sha256(converted.text)
                )
                for document, converted in converted_documents(connection, batch)
            }
            store_evidence(connection, found)
        evidence.update(found)
        context.progress.advance(len(batch))
    return evidence, len(wanted)


def version_counts(resolution: Resolution) -> dict[str, int]:
    """The figures of a resolution for the closing table."""
    reasons = Counter(one.exclusion_reason for one in resolution.decisions)
    return {
        "documents": len(resolution.decisions),
        "families": len({one.family for one in resolution.decisions}),
        "current": sum(one.is_current for one in resolution.decisions),
        "superseded": reasons[ExclusionReason.SUPERSEDED],
        "copies_of_superseded": reasons[ExclusionReason.COPY_OF_SUPERSEDED],
        "duplicates_suppressed": reasons[ExclusionReason.DUPLICATE],
        "expired": reasons[ExclusionReason.EXPIRED],
        "not_yet_effective": reasons[ExclusionReason.NOT_YET_EFFECTIVE],
        "drafts": reasons[ExclusionReason.DRAFT],
        "withdrawn": reasons[ExclusionReason.WITHDRAWN],
        "archived": reasons[ExclusionReason.ARCHIVED],
        "never_answer": reasons[ExclusionReason.NEVER_ANSWER],
        "needs_review": sum(one.needs_review for one in resolution.decisions),
        "conflicts": sum(not one.resolved for one in resolution.conflicts),
    }
