"""Building the audit of a corpus: files chosen, drawn and converted by every candidate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from corpus_pipeline.conversion.audit.choosing import choose_files
from corpus_pipeline.conversion.audit.comparing import (
    ConvertedSide,
    converted_side,
    edges_of,
    opened,
    repeated_lines,
    side_digest,
)
from corpus_pipeline.conversion.audit.rendering import SHOWN_PAGES, rendered_pages
from corpus_pipeline.conversion.audit.repository import document_formats
from corpus_pipeline.conversion.catalogue import CATALOGUE
from corpus_pipeline.conversion.file_format import FileFormat, sniff_format
from corpus_pipeline.conversion.job import ConversionJob, ConversionOutcome
from corpus_pipeline.conversion.planning import Conditions
from corpus_pipeline.conversion.pool import ConversionPool
from corpus_pipeline.conversion.routing import requested_converter, route
from corpus_pipeline.errors import ConversionError, SourceChangedError, UpstreamMissingError
from corpus_pipeline.inventory import FilePasswords, local_copy, source_files
from corpus_pipeline.records import ConvertedDocument, SourceFile, canonical_json, sha256_hex
from corpus_pipeline.registry import CorpusSpec
from corpus_pipeline.settings import Settings
from corpus_pipeline.store import Database

__all__ = ["AuditReport", "AuditedFile", "build_report"]

RENDERER = "source renderer"
_RENDERING = "corpus_pipeline.conversion.audit.rendering:SourceRenderer"
_POLICIES = ("auto", "docling", "unstructured", "markitdown", "plain")


@dataclass(frozen=True)
class AuditedFile:
    """One file of a report.

    Attributes:
        chosen: The converter the route of the corpus begins with; empty when none reads the file.
        pages: Drawn pages: ``image``, ``width``, ``height`` (points).
        source_text: Beginning of the source where there are no pages.
        note: How the drawing came about, or why there is none.
        repeated: Running headers and footers found at the edges of the source's pages.
        sides: One for each candidate, those of the route first.
    """

    document_id: str
    relative_path: str
    sha256: str
    size_bytes: int
    format: str
    chosen: str
    pages: list[dict[str, Any]]
    source_text: str
    note: str
    repeated: list[str]
    sides: list[ConvertedSide]


@dataclass(frozen=True)
class AuditReport:
    """An audit that a person is to review.

    Attributes:
        converters: Identity of every converter compared, by name.
        report_id: SHA-256 of all that the report compares: files, converters, results.
    """

    corpus: str
    files: list[AuditedFile]
    converters: dict[str, str]
    skipped: list[str] = field(default_factory=list)

    @property
    def report_id(self) -> str:
        """Two reports have one id exactly when they compare the same results of the same files."""
        files = [[file.document_id, file.sha256, [side_digest(side) for side in file.sides]] for file in self.files]
        return sha256_hex(canonical_json([self.corpus, files, self.converters]))


def build_report(database: Database, settings: Settings, spec: CorpusSpec, *, per_format: int) -> AuditReport:
    """Draws and converts a few files of every format of a corpus.

    Args:
        database: Read for the inventory and the formats found so far.
        settings: Worker count and state folder.
        spec: The corpus.
        per_format: Most files of each format.

    Raises:
        UpstreamMissingError: The corpus has no readable file in the inventory.
    """
    with database.connection() as connection:
        files = [file for file in source_files(connection, spec.slug) if file.sha256]
        formats = document_formats(connection, spec.slug)
    if not files:
        raise UpstreamMissingError(
            f"the inventory of corpus {spec.slug!r} has no readable file",
            remedy=f"Run the chain first: corpus-pipeline ingest {spec.slug}.",
        )
    chosen = choose_files(files, formats, per_format)
    with ExitStack() as stack:
        work = _Work(spec, settings, stack)
        for _, file in chosen:
            work.add(file)
        outcomes = work.run()
    audited = [work.audited(file, outcomes) for _, file in chosen if file.document_id in work.formats]
    names = sorted({side.converter for file in audited for side in file.sides})
    converters = {name: CATALOGUE[name].identity_sha256 for name in names}
    return AuditReport(spec.slug, audited, converters, work.skipped)


class _Work:
    """The jobs of a report."""

    def __init__(self, spec: CorpusSpec, settings: Settings, stack: ExitStack) -> None:
        self._spec = spec
        self._settings = settings
        self._stack = stack
        self._conditions = Conditions.of(spec.conversion)
        self._passwords = FilePasswords(spec)
        self._jobs: list[ConversionJob] = []
        self._routes: dict[str, tuple[str, ...]] = {}
        self._candidates: dict[str, tuple[str, ...]] = {}
        self.formats: dict[str, FileFormat] = {}
        self.skipped: list[str] = []

    def add(self, file: SourceFile) -> None:
        """Plans the drawing and the conversions of a file; one that changed since the inventory is skipped."""
        try:
            path = self._stack.enter_context(local_copy(self._spec, file))
        except SourceChangedError as error:
            self.skipped.append(f"{file.relative_path}: {error.message}")
            return
        if not file.size_bytes:
            self.skipped.append(f"{file.relative_path}: the file is empty")
            return
        found = sniff_format(path, file.extension)
        requested = requested_converter(self._spec.conversion, file.relative_path)
        self.formats[file.document_id] = found
        self._routes[file.document_id] = _route(found, requested, self._conditions)
        candidates = dict.fromkeys(self._routes[file.document_id])
        for policy in _POLICIES:
            candidates |= dict.fromkeys(_route(found, policy, self._conditions))
        installed = tuple(name for name in candidates if name in CATALOGUE and CATALOGUE[name].version)
        self._candidates[file.document_id] = installed
        self._jobs.append(self._job(file, path, RENDERER))
        self._jobs += [self._job(file, path, name) for name in installed]

    def _job(self, file: SourceFile, path: Path, name: str) -> ConversionJob:
        return ConversionJob(
            key=_key(file, name),
            path=str(path),
            extension=file.extension,
            requested="auto",
            targets={RENDERER: _RENDERING, **{each: entry.target for each, entry in CATALOGUE.items()}},
            candidates=(name,),
            limits=dict(self._conditions.limits),
            password=self._passwords.of(file),
            pdf_grade=self._conditions.options.pdf_grade,
            ocr="off",
        )

    def run(self) -> Mapping[str, ConversionOutcome]:
        """The outcomes of all jobs by key."""
        folder = self._settings.state_folder / "scratch"
        workers = min(self._settings.worker_count, max(1, len(self._jobs)))
        with ConversionPool(folder, workers=workers, preload=("docling.document_converter",)) as pool:
            return {outcome.key: outcome for outcome in pool.run(self._jobs)}

    def audited(self, file: SourceFile, outcomes: Mapping[str, ConversionOutcome]) -> AuditedFile:
        """One file of the report."""
        drawn = outcomes[_key(file, RENDERER)]
        picture = opened(drawn) if not drawn.reason else ConvertedDocument.from_blocks([])
        repeated = repeated_lines(edges_of(picture))
        in_route = self._routes[file.document_id]
        pages = rendered_pages(picture)
        shown = SHOWN_PAGES if self.formats[file.document_id] is FileFormat.PDF else 0
        sides = [
            converted_side(
                ConvertedSide(name, CATALOGUE[name].version, CATALOGUE[name].identity_sha256, name in in_route),
                outcomes[_key(file, name)],
                repeated,
                shown,
            )
            for name in self._candidates[file.document_id]
        ]
        return AuditedFile(
            document_id=file.document_id,
            relative_path=file.relative_path,
            sha256=file.sha256,
            size_bytes=file.size_bytes,
            format=self.formats[file.document_id].value,
            chosen=next(iter(in_route), ""),
            pages=pages,
            source_text=picture.properties.get("text", ""),
            note=picture.properties.get("note", "") or (f"not drawn: {drawn.message}" if drawn.reason else ""),
            repeated=repeated,
            sides=sides,
        )


def _key(file: SourceFile, name: str) -> str:
    return f"{file.document_id}\n{name}"


def _route(found: FileFormat, requested: str, conditions: Conditions) -> tuple[str, ...]:
    """The route without recognition; empty when the policy does not read the format."""
    try:
        return tuple(route(found, requested, conditions.options))
    except ConversionError:
        return ()


def sides_of(files: Sequence[AuditedFile]) -> dict[str, list[str]]:
    """Names of the converters compared, by document id."""
    return {file.document_id: [side.converter for side in file.sides] for file in files}
