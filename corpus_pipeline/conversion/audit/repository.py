"""Reports that were made and results that were signed: the tables of audits."""

from __future__ import annotations

from typing import Any

from psycopg.types.json import Jsonb

from corpus_pipeline.store import Connection, load_queries

__all__ = ["audit_reports", "document_formats", "recorded_audits", "save_audit", "save_report"]


def document_formats(connection: Connection, corpus: str) -> dict[str, str]:
    """The format each converted document was found to have, by document id."""
    rows = load_queries("audit").document_formats(connection, corpus=corpus)
    return {row["document_id"]: row["file_format"] for row in rows}


def save_report(
    connection: Connection,
    *,
    report_id: str,
    corpus: str,
    html_sha256: str,
    converters: dict[str, str],
    files: list[dict[str, Any]],
) -> None:
    """Keeps what a report compared, so that a signed result can be held against it."""
    load_queries("audit").save_report(
        connection,
        report_id=report_id,
        corpus=corpus,
        html_sha256=html_sha256,
        converters=Jsonb(converters),
        files=Jsonb(files),
    )


def audit_reports(connection: Connection, report_id: str) -> dict[str, Any] | None:
    """What the report of that id compared: ``corpus``, ``html_sha256``, ``converters``, ``files``."""
    row = load_queries("audit").report(connection, report_id=report_id)
    return dict(row) if row else None


def save_audit(connection: Connection, values: dict[str, Any]) -> bool:
    """Keeps a signed result; False when it is there already."""
    values = {**values, "verdicts": Jsonb(values["verdicts"])}
    return bool(load_queries("audit").save_audit(connection, **values))


def recorded_audits(connection: Connection, corpus: str | None = None) -> list[dict[str, Any]]:
    """Signed results, the newest first, with their report's ``html_sha256`` and ``converters``."""
    return [dict(row) for row in load_queries("audit").audits(connection, corpus=corpus)]
