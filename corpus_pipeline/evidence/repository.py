"""Evidence in the database: the rows that are cited, and the packs that were kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, LiteralString, cast

from psycopg import sql
from psycopg.types.json import Jsonb

from corpus_pipeline.evidence.pack import EvidencePack
from corpus_pipeline.index import Publication
from corpus_pipeline.store import Connection, load_queries

__all__ = [
    "CitedRow",
    "DocumentState",
    "StoredPack",
    "cited_rows",
    "document_states",
    "kept_packs",
    "packs",
    "save",
    "served_types",
    "stored",
]

SERVING_SCHEMA = "serving"


@dataclass(frozen=True)
class CitedRow:
    """What the published row of a fragment says of its document."""

    fragment_id: str
    corpus: str
    document_id: str
    text_sha256: str
    source_sha256: str
    document_text_sha256: str
    source_type: str | None
    trust_level: str
    version: str | None
    valid_from: date | None
    last_reviewed_at: date | None


@dataclass(frozen=True)
class DocumentState:
    """A document in a published generation.

    Attributes:
        text_sha256: Hash of its converted text.
        fragment_sha256s: Hashes of the texts of its fragments.
    """

    document_id: str
    exclusion_reason: str | None
    exclusion_ref: str | None
    source_sha256: str
    text_sha256: str
    valid_until: date | None
    fragment_sha256s: list[str]


@dataclass(frozen=True)
class StoredPack:
    """A pack with who kept it, and when.

    Attributes:
        pack_id: The id it is kept under; that of ``pack``, unless the row was changed.
    """

    pack: EvidencePack
    created_by: str
    created_at: datetime
    pack_id: str


def cited_rows(reader: Connection, publication: Publication, fragment_ids: Sequence[str]) -> dict[str, CitedRow]:
    """The published rows of fragments by id, as far as a read session may see them."""
    rows = _on_table(
        reader, "cited_rows", publication, {"corpus": publication.corpus, "fragment_ids": list(fragment_ids)}
    )
    return {row["fragment_id"]: CitedRow(**row) for row in rows}


def document_states(
    connection: Connection, publication: Publication, document_ids: Sequence[str]
) -> dict[str, DocumentState]:
    """Documents of the published generation by id; for a pipeline connection, past permissions."""
    rows = _on_table(
        connection,
        "document_states",
        publication,
        {
            "corpus": publication.corpus,
            "document_ids": list(document_ids),
            "generation": publication.generation,
        },
    )
    return {row["document_id"]: DocumentState(**row) for row in rows}


def served_types(connection: Connection, publication: Publication) -> dict[str, str | None]:
    """Source type of each document that answers in the published generation."""
    rows = _on_table(
        connection,
        "served_types",
        publication,
        {"corpus": publication.corpus, "generation": publication.generation},
    )
    return {row["document_id"]: row["source_type"] for row in rows}


def save(connection: Connection, pack: EvidencePack, who: str) -> None:
    """Keeps a pack; the same one again changes nothing."""
    load_queries("evidence").insert_pack(
        connection,
        pack_id=pack.pack_id,
        evidence_hash=pack.evidence_hash,
        question=pack.request.query,
        corpora=sorted({source.corpus for source in pack.sources}),
        documents=sorted(set(pack.documents)),
        content=Jsonb(pack.model_dump(mode="json")),
        replaces=pack.replaces,
        created_by=who,
    )


def stored(connection: Connection, pack_id: str) -> StoredPack | None:
    """The pack of that id, if it is kept."""
    row = load_queries("evidence").pack(connection, pack_id=pack_id)
    return _stored(row) if row else None


def kept_packs(connection: Connection, pack_ids: Sequence[str]) -> dict[str, StoredPack]:
    """The packs of these ids that are kept, by id."""
    rows = load_queries("evidence").kept_packs(connection, pack_ids=list(pack_ids))
    return {row["pack_id"]: _stored(row) for row in rows}


def packs(connection: Connection, corpus: str | None = None, most: int | None = 100) -> list[StoredPack]:
    """Packs that cite a corpus, or all, newest first; at most so many."""
    return [_stored(row) for row in load_queries("evidence").packs(connection, corpus=corpus, most=most)]


def _stored(row: dict[str, Any]) -> StoredPack:
    return StoredPack(EvidencePack.model_validate(row["content"]), row["created_by"], row["created_at"], row["pack_id"])


def _on_table(
    connection: Connection, name: str, publication: Publication, values: dict[str, Any]
) -> list[dict[str, Any]]:
    text = cast("LiteralString", getattr(load_queries("evidence"), name).sql)
    query = sql.SQL(text).format(table=sql.Identifier(SERVING_SCHEMA, publication.serving_table))
    return connection.execute(query, values).fetchall()
