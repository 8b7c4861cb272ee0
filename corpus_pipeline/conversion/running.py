"""Converting the planned files: local copies in, batches of finished conversions out."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace

from corpus_pipeline.conversion.catalogue import CatalogueEntry, modules_to_preload
from corpus_pipeline.conversion.file_format import FileFormat
from corpus_pipeline.conversion.job import ConversionJob, ConversionOutcome
from corpus_pipeline.conversion.planning import (
    ANY_CONVERTER,
    Conditions,
    ContentKey,
    WantedFile,
    identity_sha256,
    options_sha256,
)
from corpus_pipeline.conversion.pool import ConversionPool
from corpus_pipeline.conversion.repository import SavedConversion, save_conversions
from corpus_pipeline.errors import SourceChangedError
from corpus_pipeline.inventory import MemberCopies, local_copy
from corpus_pipeline.records import QuarantineReason, Stage
from corpus_pipeline.store import StageContext

__all__ = ["convert_planned", "tried_identities"]

_WORKER_DIED = frozenset({QuarantineReason.TIMEOUT, QuarantineReason.OUT_OF_MEMORY, QuarantineReason.CONVERTER_ERROR})
"""With one of these and no converter named, the worker died before it could say which one it ran."""
BATCH_CONVERSIONS = 25
BATCH_BYTES = 8_000_000
BATCH_SECONDS = 5.0


def convert_planned(
    context: StageContext, planned: Sequence[WantedFile], catalogue: Mapping[str, CatalogueEntry]
) -> dict[ContentKey, ConversionOutcome]:
    """Converts files and keeps every success in the cache as batches fill up.

    Args:
        context: Of the stage; its progress is told of every file.
        planned: One file for each key.
        catalogue: The converters.

    Returns:
        The outcome of every key, without the documents themselves.
    """
    context.progress.start(Stage.CONVERTED_DOCUMENTS, len(planned), "files to convert")
    if not planned:
        return {}
    batch = _Batch(context, catalogue)
    by_name = {item.file.document_id: item for item in planned}
    outcomes: dict[ContentKey, ConversionOutcome] = {}
    preload = modules_to_preload({item.file.extension for item in planned}, {item.requested for item in planned})
    workers = min(context.settings.worker_count, len(planned))
    copies = _LocalCopies(context, planned, catalogue)
    folder = context.settings.state_folder / "scratch"
    with copies, ConversionPool(folder, workers=workers, preload=preload) as pool:
        for outcome in copies.checked(pool.run(copies.jobs())):
            item = by_name[outcome.key]
            outcomes[item.key] = replace(outcome, content=b"")
            context.progress.advance()
            if outcome.reason:
                context.progress.note(f"quarantined {item.file.relative_path}: {outcome.reason}")
            else:
                batch.add(item, outcome)
    batch.flush()
    return outcomes


def tried_identities(
    outcome: ConversionOutcome, catalogue: Mapping[str, CatalogueEntry]
) -> tuple[tuple[str, str], ...]:
    """The converters that were tried with what they are today; all of them when a worker died."""
    names = outcome.tried or ((ANY_CONVERTER,) if outcome.reason in _WORKER_DIED else ())
    return tuple((name, identity_sha256(name, catalogue)) for name in names)


class _LocalCopies:
    """Holds the local copy of each file that is being converted, and lets go of it afterwards."""

    def __init__(
        self, context: StageContext, planned: Sequence[WantedFile], catalogue: Mapping[str, CatalogueEntry]
    ) -> None:
        self._context = context
        self._planned = planned
        self._targets = {name: entry.target for name, entry in catalogue.items()}
        self._open: dict[str, ExitStack] = {}
        scratch = context.settings.state_folder / "scratch"
        self._members = MemberCopies(context.spec, scratch, [item.file for item in planned])
        self._changed: list[ConversionOutcome] = []

    def __enter__(self) -> None:
        self._members.__enter__()

    def __exit__(self, *_: object) -> None:
        for stack in self._open.values():
            stack.pop_all()  # the run ends early; nobody asks any more whether these files changed
        self._members.__exit__(None, None, None)

    def jobs(self) -> Iterator[ConversionJob]:
        """Jobs in the planned order; a file that changed since the inventory gives none."""
        conversion = self._context.spec.conversion
        conditions = Conditions.of(conversion)
        for item in self._planned:
            stack = ExitStack()
            try:
                path = stack.enter_context(local_copy(self._context.spec, item.file, self._members))
            except SourceChangedError as error:
                self._changed.append(_changed(item.file.document_id, error))
                continue
            self._open[item.file.document_id] = stack
            yield ConversionJob(
                key=item.file.document_id,
                path=str(path),
                extension=item.file.extension,
                requested=item.requested,
                targets=self._targets,
                limits=dict(conditions.limits),
                password=item.password,
                pdf_grade=conditions.options.pdf_grade,
                ocr=conditions.options.ocr,
                keep_images=conditions.options.keep_images,
            )

    def checked(self, outcomes: Iterator[ConversionOutcome]) -> Iterator[ConversionOutcome]:
        """The outcomes, where a file that changed while it was converted counts as unreadable."""
        for outcome in outcomes:
            try:
                self._open.pop(outcome.key).close()
            except SourceChangedError as error:
                yield _changed(outcome.key, error)
            else:
                yield outcome
        yield from self._changed


def _changed(key: str, error: SourceChangedError) -> ConversionOutcome:
    return ConversionOutcome(key=key, reason=QuarantineReason.UNREADABLE.value, message=str(error))


class _Batch:
    """Finished conversions on their way into the cache; a killed run loses at most one batch."""

    def __init__(self, context: StageContext, catalogue: Mapping[str, CatalogueEntry]) -> None:
        self._context = context
        self._catalogue = catalogue
        self._waiting: list[SavedConversion] = []
        self._bytes = 0
        self._since = time.monotonic()
        self._conditions = Conditions.of(context.spec.conversion)

    def add(self, item: WantedFile, outcome: ConversionOutcome) -> None:
        entry = self._catalogue[outcome.converter]
        file_format, options = FileFormat(outcome.file_format), self._conditions.options
        self._waiting.append(
            SavedConversion(
                source_sha256=item.file.sha256,
                policy_sha256=item.policy_sha256,
                file_format=outcome.file_format,
                options_sha256=options_sha256(options, outcome.file_format),
                limits=dict(self._conditions.limits),
                tried=tried_identities(outcome, self._catalogue),
                converter_fingerprint=entry.fingerprint(
                    file_format, item.file.extension, options.of_output(file_format)
                ),
                effective_converter=outcome.converter,
                summary=outcome.summary,
                content=outcome.content,
                elapsed_seconds=outcome.elapsed_seconds,
            )
        )
        self._bytes += len(outcome.content)
        full = len(self._waiting) >= BATCH_CONVERSIONS or self._bytes >= BATCH_BYTES
        if full or time.monotonic() - self._since > BATCH_SECONDS:
            self.flush()

    def flush(self) -> None:
        if self._waiting:
            with self._context.database.connection() as connection:
                save_conversions(connection, self._waiting)
        self._waiting = []
        self._bytes = 0
        self._since = time.monotonic()
