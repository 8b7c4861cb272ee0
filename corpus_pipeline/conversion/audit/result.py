"""The signed result of an audit: its JSON form, and what it is held against before it is kept."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from corpus_pipeline.conversion.audit.repository import audit_reports, save_audit
from corpus_pipeline.errors import AuditError
from corpus_pipeline.records import canonical_json, sha256_hex
from corpus_pipeline.store import Connection

__all__ = ["SignedResult", "read_result", "record_result"]

MOST_BYTES = 5_000_000
ID_LENGTH = 12
Text = Annotated[str, Field(max_length=4000)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)


class FileVerdict(_Part):
    """What the reviewer says of one file."""

    document_id: str
    sha256: str
    verdict: Literal["good", "usable", "bad"]
    converter: str = Field(description="The converter to use; empty only with the verdict `bad`.")
    comment: Text = ""


class SignedResult(_Part):
    """What the page lets one download."""

    kind: Literal["corpus-pipeline conversion audit"]
    version: Literal[1]
    corpus: str
    report_id: str
    reviewer: Annotated[str, Field(min_length=2, max_length=200)]
    reviewed_on: date
    comment: Text = ""
    files: tuple[FileVerdict, ...]


def read_result(path: Path) -> SignedResult:
    """The signed result in a file.

    Raises:
        AuditError: It is none; every fault is named with its key.
    """
    if path.stat().st_size > MOST_BYTES:
        raise AuditError(
            f"{path} is too large for a signed result", remedy="Give the JSON file that the report offers for download."
        )
    try:
        return SignedResult.model_validate_json(path.read_bytes())
    except ValidationError as error:
        faults = [
            f"{'.'.join(map(str, fault['loc'])) or 'file'}: {fault['msg']}"
            for fault in error.errors(include_input=False, include_url=False)[:10]
        ]
        raise AuditError(
            f"{path} is no signed result of an audit:\n" + "\n".join(faults),
            remedy="Fill in the report's form and download the result again.",
        ) from error


def record_result(connection: Connection, corpus: str, result: SignedResult, *, who: str) -> dict[str, Any]:
    """Keeps a signed result, once.

    Args:
        connection: In a transaction of the caller.
        corpus: Slug.
        result: As downloaded from the report.
        who: The login that records it; the reviewer is named in the result.

    Returns:
        ``audit_id`` by which experiments refer to it, and ``new``.

    Raises:
        AuditError: It does not fit a report that was made here.
    """
    report = audit_reports(connection, result.report_id)
    if report is None or report["corpus"] != corpus or result.corpus != corpus:
        raise AuditError(
            f"the result belongs to a report that was not made here for corpus {corpus!r}",
            remedy="Record it where the report was made, with the corpus named in the report.",
        )
    faults = _faults(result, report)
    if faults:
        raise AuditError(
            "the result does not fit its report:\n" + "\n".join(faults),
            remedy="Fill in the report's form and download the result again; do not edit the file.",
        )
    digest = sha256_hex(canonical_json(json.loads(result.model_dump_json())))
    new = save_audit(
        connection,
        {
            "audit_id": digest[:ID_LENGTH],
            "report_id": result.report_id,
            "html_sha256": report["html_sha256"],
            "corpus": corpus,
            "reviewer": result.reviewer,
            "reviewed_on": result.reviewed_on,
            "comment": result.comment,
            "verdicts": [_with_fingerprint(verdict, report) for verdict in result.files],
            "record_sha256": digest,
            "recorded_by": who,
        },
    )
    return {"audit_id": digest[:ID_LENGTH], "new": new}


def _faults(result: SignedResult, report: dict[str, Any]) -> list[str]:
    known = {file["document_id"]: file for file in report["files"]}
    said = [verdict.document_id for verdict in result.files]
    faults = [f"files: no verdict on {name}" for name in known if name not in said]
    faults += [f"files: {name} has two verdicts" for name in {name for name in said if said.count(name) > 1}]
    if result.reviewed_on > datetime.now(UTC).date() + timedelta(days=1):
        faults.append(f"reviewed_on: {result.reviewed_on} is in the future")
    for verdict in result.files:
        file = known.get(verdict.document_id)
        if file is None:
            faults.append(f"files: {verdict.document_id} is not in the report")
        elif verdict.sha256 != file["sha256"]:
            faults.append(f"files: {verdict.document_id} has another SHA-256 in the report")
        elif verdict.converter not in file["converters"] and (verdict.converter or verdict.verdict != "bad"):
            faults.append(f"files: {verdict.document_id} was not converted by {verdict.converter or 'no converter'!r}")
    return faults


def _with_fingerprint(verdict: FileVerdict, report: dict[str, Any]) -> dict[str, Any]:
    """The verdict with the file's format and the identity of the chosen converter and its document."""
    file = next(file for file in report["files"] if file["document_id"] == verdict.document_id)
    chosen = file["converters"].get(verdict.converter, {})
    return {**verdict.model_dump(mode="json"), "format": file["format"], **chosen}
