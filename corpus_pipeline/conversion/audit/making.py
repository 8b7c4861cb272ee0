"""One audit from beginning to end: build, write the page, remember what it compared."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from corpus_pipeline.conversion.audit.page import render_page
from corpus_pipeline.conversion.audit.report import AuditedFile, build_report
from corpus_pipeline.conversion.audit.repository import save_report
from corpus_pipeline.records import sha256_hex
from corpus_pipeline.registry import CorpusSpec
from corpus_pipeline.settings import Settings
from corpus_pipeline.store import Database

__all__ = ["MadeAudit", "make_audit"]


@dataclass(frozen=True)
class MadeAudit:
    """A report that was written.

    Attributes:
        skipped: Files that could not be looked at, with the reason.
    """

    report_id: str
    html_sha256: str
    files: int
    formats: int
    converters: tuple[str, ...]
    skipped: tuple[str, ...]


def make_audit(database: Database, settings: Settings, spec: CorpusSpec, *, out: Path, per_format: int) -> MadeAudit:
    """Writes the report of a corpus to ``out`` and keeps what it compared.

    Raises:
        UpstreamMissingError: The corpus has no readable file in the inventory.
    """
    report = build_report(database, settings, spec, per_format=per_format)
    page = render_page(report, owner=spec.owner)
    out.write_text(page, encoding="utf-8")
    digest = sha256_hex(page)
    with database.connection() as connection:
        save_report(
            connection,
            report_id=report.report_id,
            corpus=spec.slug,
            html_sha256=digest,
            converters=report.converters,
            files=[_compared(file) for file in report.files],
        )
    formats = {file.format for file in report.files}
    names = tuple(sorted(report.converters))
    return MadeAudit(report.report_id, digest, len(report.files), len(formats), names, tuple(report.skipped))


def _compared(file: AuditedFile) -> dict[str, object]:
    return {
        "document_id": file.document_id,
        "sha256": file.sha256,
        "format": file.format,
        "converters": {
            side.converter: {"identity": side.identity, "document_sha256": side.document_sha256} for side in file.sides
        },
    }
