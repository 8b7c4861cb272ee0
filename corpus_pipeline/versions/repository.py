"""The tables of the versions room."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any

from psycopg.types.json import Jsonb

from corpus_pipeline.records import VersionDecision, VersionRelation, canonical_json, sha256_hex
from corpus_pipeline.store import Connection, load_queries
from corpus_pipeline.versions.claims import EXTRACTOR_VERSION, DocumentEvidence
from corpus_pipeline.versions.conflicts import VersionConflict
from corpus_pipeline.versions.history import HeldDecision
from corpus_pipeline.versions.neighbours import PublishedVersion
from corpus_pipeline.versions.resolver import Resolution, terminal

__all__ = [
    "current_version",
    "held_decisions",
    "known_evidence",
    "published_versions",
    "record_history",
    "replace_resolution",
    "store_evidence",
    "version_conflicts",
    "version_decisions",
    "version_decisions_on",
    "version_relations",
]

_DECISION_COLUMNS = tuple(VersionDecision.model_fields)
_RELATION_COLUMNS = ("corpus", *(name for name in VersionRelation.model_fields if name != "corpus"))
_LOOKUP_BATCH = 10_000


def _queries() -> Any:
    return load_queries("versions")


def version_decisions(connection: Connection, corpus: str) -> list[VersionDecision]:
    """The present decisions of a corpus, sorted by document id."""
    return [VersionDecision.model_validate(row) for row in _queries().decisions(connection, corpus=corpus)]


def version_relations(connection: Connection, corpus: str) -> list[VersionRelation]:
    """The relations of a corpus, sorted by target, source and kind."""
    return [VersionRelation.model_validate(row) for row in _queries().relations(connection, corpus=corpus)]


def version_conflicts(connection: Connection, corpus: str) -> list[VersionConflict]:
    """The conflicts of a corpus, sorted by kind and documents."""
    return [VersionConflict.model_validate(row) for row in _queries().conflicts(connection, corpus=corpus)]


def held_decisions(connection: Connection, corpus: str, known_at: datetime | None = None) -> list[HeldDecision]:
    """The decisions for all days as they were known at a time, sorted by document id and day.

    Args:
        known_at: With time zone; ``None`` means now.
    """
    rows = _queries().decisions_known_at(connection, corpus=corpus, known_at=known_at)
    return [HeldDecision(**{**row, "decision": VersionDecision.model_validate(row["decision"])}) for row in rows]


def version_decisions_on(
    connection: Connection, corpus: str, day: date, known_at: datetime | None = None
) -> list[VersionDecision]:
    """What was decided for a day, sorted by document id; empty before the first run.

    Args:
        known_at: As it was known at this time, with time zone; ``None`` means now.
    """
    return [one.decision for one in held_decisions(connection, corpus, known_at) if one.covers(day)]


def current_version(connection: Connection, corpus: str, document_id: str) -> str | None:
    """The end of a document's chain of successors (itself when nothing replaced it); ``None`` when unknown."""
    found = _queries().current_document_id(connection, corpus=corpus, document_id=document_id)
    return str(found) if found is not None else None


def published_versions(connection: Connection, corpus: str) -> list[PublishedVersion]:
    """What other corpora publish of texts that ``corpus`` shares with them or that resemble its own, sorted."""
    rows = _queries().published_versions(connection, corpus=corpus, extractor_version=EXTRACTOR_VERSION)
    return [PublishedVersion(**row) for row in rows]


def known_evidence(connection: Connection, document_sha256s: Iterable[str]) -> dict[str, DocumentEvidence]:
    """Cached evidence by document hash, of this extractor's version."""
    wanted = sorted(set(document_sha256s))
    found: dict[str, DocumentEvidence] = {}
    for start in range(0, len(wanted), _LOOKUP_BATCH):
        rows = _queries().known_evidence(
            connection, extractor_version=EXTRACTOR_VERSION, document_sha256s=wanted[start : start + _LOOKUP_BATCH]
        )
        found.update({row["document_sha256"]: DocumentEvidence.model_validate(row["evidence"]) for row in rows})
    return found


def store_evidence(connection: Connection, evidence: Mapping[str, DocumentEvidence]) -> None:
    """Caches evidence by document hash."""
    _queries().store_evidence(
        connection,
        [
            {
                "document_sha256": key,
                "extractor_version": EXTRACTOR_VERSION,
                "evidence": Jsonb(value.model_dump(mode="json")),
            }
            for key, value in sorted(evidence.items())
        ],
    )


def replace_resolution(connection: Connection, corpus: str, resolution: Resolution) -> None:
    """Writes decisions, relations and conflicts in place of the present ones."""
    queries = _queries()
    for remove in (queries.remove_decisions, queries.remove_relations, queries.remove_conflicts):
        remove(connection, corpus=corpus)
    successors = {one.document_id: one.superseded_by for one in resolution.decisions}
    extra = ("current_document_id", "decision_sha256")
    _copy(
        connection,
        "document_versions",
        (*_DECISION_COLUMNS, *extra),
        (
            (
                *one.model_dump(mode="json").values(),
                terminal(one.document_id, successors),
                sha256_hex(canonical_json(one)),
            )
            for one in resolution.decisions
        ),
    )
    _copy(
        connection,
        "version_relations",
        (*_RELATION_COLUMNS, "ordinal"),
        ((*(getattr(one, name) for name in _RELATION_COLUMNS), n) for n, one in enumerate(resolution.relations)),
    )
    _copy(
        connection,
        "version_conflicts",
        ("corpus", "ordinal", "kind", "documents", "message", "suggestion", "resolved"),
        (
            (corpus, n, one.kind.value, list(one.documents), one.message, one.suggestion, one.resolved)
            for n, one in enumerate(resolution.conflicts)
        ),
    )


def record_history(connection: Connection, corpus: str, as_of: date) -> bool:
    """Brings the history up to the present decisions; writes rows for changed decisions only.

    Returns:
        False, with nothing written, for a day before the last one recorded: what was known then is
        what was recorded then.
    """
    queries = _queries()
    last = queries.last_decided_from(connection, corpus=corpus)
    if last is not None and as_of < last:
        return False
    queries.end_changed(connection, corpus=corpus, as_of=as_of)
    queries.begin_changed(connection, corpus=corpus, as_of=as_of)
    return True


def _copy(connection: Connection, table: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    from psycopg import sql

    statement = sql.SQL("COPY corpus.{} ({}) FROM STDIN").format(
        sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, columns))
    )
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row(row)
