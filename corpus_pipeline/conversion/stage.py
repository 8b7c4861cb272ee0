"""The stage ``converted_documents``: one structured document per readable file, the rest in quarantine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import PurePosixPath

from corpus_pipeline.conversion.catalogue import CATALOGUE, CatalogueEntry
from corpus_pipeline.conversion.job import ConversionOutcome
from corpus_pipeline.conversion.planning import (
    Conditions,
    ContentKey,
    WantedFile,
    chosen_routes,
    make_plan,
    wanted_files,
)
from corpus_pipeline.conversion.repository import (
    KnownRoute,
    QuarantineRow,
    known_routes,
    measure_missing,
    read_quarantine,
    replace_corpus,
)
from corpus_pipeline.conversion.running import convert_planned, tried_identities
from corpus_pipeline.inventory import FilePasswords, merge_metadata, source_files
from corpus_pipeline.records import (
    Document,
    QuarantinedFile,
    QuarantineReason,
    SourceFile,
    Stage,
    canonical_json,
    sha256_hex,
)
from corpus_pipeline.registry import CorpusSpec
from corpus_pipeline.store import StageContext, StageResult, open_stage

__all__ = ["convert_corpus"]


def convert_corpus(context: StageContext, *, catalogue: Mapping[str, CatalogueEntry] = CATALOGUE) -> StageResult:
    """Converts what is new or changed and writes the documents and the quarantine of a corpus.

    Args:
        context: Of the stage.
        catalogue: The converters; another one than the default serves tests.

    Raises:
        UpstreamMissingError: The inventory has not run.
        CorpusBusyError: Another run works on the corpus.
        SourceUnavailableError: A remote source stopped answering; finished conversions are kept.
    """
    spec = context.spec
    conditions = Conditions.of(spec.conversion)
    with open_stage(context, Stage.CONVERTED_DOCUMENTS) as run:
        with context.database.connection() as connection:
            files = source_files(connection, spec.slug)
            previous = {row.file.document_id: row for row in read_quarantine(connection, spec.slug)}
            readable = [file for file in files if file.sha256 and not file.refusal]
            wanted = wanted_files(spec.conversion, readable, FilePasswords(spec))
            known = known_routes(connection, (item.key for item in wanted))
        plan = make_plan(wanted, known=known, quarantined=previous, conditions=conditions, catalogue=catalogue)
        outcomes = convert_planned(context, plan.to_convert, catalogue)
        fresh = {key for key, outcome in outcomes.items() if not outcome.reason}
        with context.database.connection() as connection:
            found = {route.key: route for route in chosen_routes(known_routes(connection, fresh), conditions)}
        routes = {**plan.known, **found}
        converted = [_document(spec, item, routes[item.key], catalogue) for item in wanted if item.key in routes]
        failures = _Failures(previous, outcomes, catalogue, conditions.sha256)
        quarantined = [
            *(failures.refused(file, spec) for file in files if file.refusal or not file.sha256),
            *(failures.failed(item) for item in wanted if item.key not in routes),
        ]
        quarantined.sort(key=lambda row: row.file.document_id)
        counts = _counts(converted, quarantined, len(fresh))
        with run.commit(output_sha256=output_sha256(converted, quarantined), counts=counts) as connection:
            replace_corpus(connection, spec.slug, converted, quarantined, datetime.now(UTC))
            measure_missing(connection, spec.slug)
    return run.result


def output_sha256(converted: Iterable[Document], quarantined: Iterable[QuarantineRow]) -> str:
    """Digest of all that later stages can see of a corpus's documents."""
    documents = [
        [document.document_id, document.document_sha256, document.converter_fingerprint, document.metadata]
        for document in converted
    ]
    refused = [[row.file.document_id, row.file.source_sha256, row.file.reason.value] for row in quarantined]
    return sha256_hex(canonical_json([documents, refused]))


def _document(
    spec: CorpusSpec, item: WantedFile, route: KnownRoute, catalogue: Mapping[str, CatalogueEntry]
) -> Document:
    file = item.file
    columns = route.columns
    metadata, provenance = merge_metadata(
        spec, file.relative_path, file.declared, file.declared_by, columns["properties"]
    )
    *failed, effective = (name for name, _ in route.tried)
    return Document(
        corpus=file.corpus,
        document_id=file.document_id,
        relative_path=file.relative_path,
        source_uri=file.source_uri,
        source_sha256=file.sha256,
        source_extension=file.extension,
        size_bytes=file.size_bytes,
        modified_at=file.modified_at,
        requested_converter=item.requested,
        processor_version=catalogue[effective].processor_version(fallback_for=tuple(failed)),
        converter_fingerprint=route.converter_fingerprint,
        metadata=metadata,
        metadata_provenance=provenance,
        **{**columns, "title": metadata.title or columns["title"] or PurePosixPath(file.relative_path).stem},
    )


class _Failures:
    """Quarantine rows: new ones, repeated ones, and those that stay as they were."""

    def __init__(
        self,
        previous: Mapping[str, QuarantineRow],
        outcomes: Mapping[ContentKey, ConversionOutcome],
        catalogue: Mapping[str, CatalogueEntry],
        limits_sha256: str,
    ) -> None:
        self._previous = previous
        self._outcomes = outcomes
        self._catalogue = catalogue
        self._limits_sha256 = limits_sha256

    def failed(self, item: WantedFile) -> QuarantineRow:
        """The row of a file that has no conversion."""
        outcome = self._outcomes.get(item.key)
        if outcome is None:
            return self._previous[item.file.document_id]
        reason = QuarantineReason(outcome.reason)
        tried = tried_identities(outcome, self._catalogue)
        return self._row(item.file, reason, outcome.message, item.requested, (item.policy_sha256, tried))

    def refused(self, file: SourceFile, spec: CorpusSpec) -> QuarantineRow:
        """The row of a file that the inventory could not read, or found to be beyond conversion."""
        reason = QuarantineReason(file.refusal or QuarantineReason.UNREADABLE)
        before = self._previous.get(file.document_id)
        if file.refusal and before is not None and not before.replay_requested:
            known = (before.file.source_sha256, before.file.reason, before.file.message)
            if known == (file.sha256, reason, file.doubt):
                return before  # its container was not opened again
        return self._row(file, reason, file.doubt, spec.conversion.converter, ("", ()))

    def _row(
        self,
        file: SourceFile,
        reason: QuarantineReason,
        message: str,
        requested: str,
        route: tuple[str, tuple[tuple[str, str], ...]],
    ) -> QuarantineRow:
        before = self._previous.get(file.document_id)
        repeated = before is not None and before.file.source_sha256 == file.sha256
        record = QuarantinedFile(
            corpus=file.corpus,
            document_id=file.document_id,
            source_uri=file.source_uri,
            source_sha256=file.sha256,
            reason=reason,
            message=message,
            requested_converter=requested,
            attempts=before.file.attempts + 1 if before is not None and repeated else 1,
            first_failed_at=before.file.first_failed_at if before is not None and repeated else None,
        )
        return QuarantineRow(record, route[0], self._limits_sha256, route[1])


def _counts(converted: list[Document], quarantined: list[QuarantineRow], fresh: int) -> dict[str, int]:
    by_reason = Counter(row.file.reason.value for row in quarantined)
    return {
        "documents": len(converted),
        "converted": fresh,
        "reused": len(converted) - fresh,
        "quarantined": len(quarantined),
        **{f"quarantined_{reason}": count for reason, count in sorted(by_reason.items())},
        "pages": sum(document.page_count or 0 for document in converted),
        "characters": sum(document.char_count for document in converted),
    }
