"""The conversion tables: the shared cache, the documents of a corpus, its quarantine."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from psycopg import sql
from psycopg.types.json import Jsonb

from corpus_pipeline.conversion.measures import MEASURES_VERSION, measure_document
from corpus_pipeline.errors import UpstreamMissingError
from corpus_pipeline.inventory import reopen_refused
from corpus_pipeline.records import ConvertedDocument, Document, QuarantinedFile
from corpus_pipeline.store import Connection, load_queries

__all__ = [
    "KnownRoute",
    "QuarantineRow",
    "SavedConversion",
    "converted_document",
    "converted_documents",
    "document_measures",
    "documents",
    "known_routes",
    "measure_missing",
    "quarantined_files",
    "read_quarantine",
    "replace_corpus",
    "request_replay",
    "save_conversions",
    "text_of",
]

BATCH_DOCUMENTS = 50
_DOCUMENT_COLUMNS = tuple(Document.model_fields)
_QUARANTINE_COLUMNS = (
    "corpus", "document_id", "source_uri", "source_sha256", "reason", "message", "requested_converter", "policy_sha256",
    "limits_sha256", "tried", "attempts", "first_failed_at", "last_failed_at",
)  # fmt: skip


@dataclass(frozen=True)
class KnownRoute:
    """A conversion in the cache and the way that led to it.

    Attributes:
        options_sha256: Digest of the options that mattered for the format.
        tried: Converter names with their identities then; the last one succeeded.
        limits: The strictest limits that the conversion has kept so far.
        columns: Hashes, counts, title, language and properties of the document.
    """

    key: tuple[str, str]
    file_format: str
    options_sha256: str
    tried: tuple[tuple[str, str], ...]
    converter_fingerprint: str
    limits: dict[str, float]
    columns: dict[str, Any]


@dataclass(frozen=True)
class SavedConversion:
    """A finished conversion to be kept."""

    source_sha256: str
    policy_sha256: str
    file_format: str
    options_sha256: str
    tried: tuple[tuple[str, str], ...]
    converter_fingerprint: str
    effective_converter: str
    limits: dict[str, float]
    summary: dict[str, Any]
    content: bytes
    elapsed_seconds: float


@dataclass(frozen=True)
class QuarantineRow:
    """A quarantined file with what decides whether it is tried again."""

    file: QuarantinedFile
    policy_sha256: str
    limits_sha256: str
    tried: tuple[tuple[str, str], ...]
    replay_requested: bool = False


def documents(connection: Connection, corpus: str) -> list[Document]:
    """The converted documents of a corpus, sorted by id in code point order."""
    return [Document.model_validate(row) for row in load_queries("conversion").documents(connection, corpus=corpus)]


def quarantined_files(connection: Connection, corpus: str) -> list[QuarantinedFile]:
    """The quarantined files of a corpus, sorted by id in code point order."""
    return [row.file for row in read_quarantine(connection, corpus)]


def request_replay(connection: Connection, corpus: str, document_ids: Sequence[str] | None) -> int:
    """Asks that quarantined files be tried again in the next run, and refused archives opened again.

    Args:
        connection: In a transaction of the caller.
        corpus: Slug.
        document_ids: Which ones; ``None`` means all of the corpus.

    Returns:
        How many there are.
    """
    chosen = None if document_ids is None else list(document_ids)
    reopen_refused(connection, corpus, chosen)
    return int(load_queries("conversion").request_replay(connection, corpus=corpus, document_ids=chosen))


def converted_document(connection: Connection, document: Document) -> ConvertedDocument:
    """The structured document.

    Raises:
        UpstreamMissingError: The cache has lost it.
    """
    return next(converted_documents(connection, [document]))[1]


def converted_documents(
    connection: Connection, documents: Iterable[Document]
) -> Iterator[tuple[Document, ConvertedDocument]]:
    """Documents with their structured content, in the order given, read in batches.

    Raises:
        UpstreamMissingError: The cache has lost one of them.
    """
    source = iter(documents)
    while batch := list(islice(source, BATCH_DOCUMENTS)):
        contents = {
            (row["source_sha256"], row["converter_fingerprint"]): bytes(row["content"])
            for row in load_queries("conversion").contents(
                connection,
                source_sha256s=[document.source_sha256 for document in batch],
                converter_fingerprints=[document.converter_fingerprint for document in batch],
            )
        }
        for document in batch:
            content = contents.get((document.source_sha256, document.converter_fingerprint))
            if content is None:
                raise UpstreamMissingError(
                    f"the structured document of {document.document_id} is not in the conversion cache",
                    remedy=f"Run the chain again: corpus-pipeline ingest {document.corpus}.",
                )
            yield document, ConvertedDocument.model_validate_json(zlib.decompress(content))


def text_of(connection: Connection, source_sha256: str, text_sha256: str) -> str | None:
    """The converted text with that hash of a file with that hash, whichever corpora hold it.

    It may be older than the present conversion of the file: what is published is what was
    converted then.

    Returns:
        ``None`` when the cache no longer has it.
    """
    row = load_queries("conversion").content_of_text(connection, source_sha256=source_sha256, text_sha256=text_sha256)
    return ConvertedDocument.model_validate_json(zlib.decompress(row["content"])).text if row else None


def known_routes(connection: Connection, keys: Iterable[tuple[str, str]]) -> list[KnownRoute]:
    """Conversions in the cache for pairs of content and policy."""
    pairs = sorted(set(keys))
    rows = load_queries("conversion").known_routes(
        connection, source_sha256s=[pair[0] for pair in pairs], policy_sha256s=[pair[1] for pair in pairs]
    )
    return [
        KnownRoute(
            key=(row.pop("source_sha256"), row.pop("policy_sha256")),
            file_format=row.pop("file_format"),
            options_sha256=row.pop("options_sha256"),
            limits=row.pop("limits"),
            tried=_pairs(row.pop("tried")),
            converter_fingerprint=row.pop("converter_fingerprint"),
            columns=row,
        )
        for row in rows
    ]


def save_conversions(connection: Connection, conversions: Sequence[SavedConversion]) -> None:
    """Keeps finished conversions in the caller's transaction."""
    queries = load_queries("conversion")
    with connection.cursor() as cursor:
        cursor.executemany(queries.save_conversion.sql, [_conversion_values(conversion) for conversion in conversions])
        cursor.executemany(queries.save_route.sql, [_route_values(conversion) for conversion in conversions])


def document_measures(connection: Connection, corpus: str) -> dict[str, dict[str, Any]]:
    """The measures of the documents of a corpus by id; see :func:`measure_document`."""
    rows = load_queries("conversion").document_measures(connection, corpus=corpus)
    return {row["document_id"]: row["measures"] or {} for row in rows}


def measure_missing(connection: Connection, corpus: str) -> int:
    """Measures documents that were converted before there were measures, or these ones.

    Returns:
        How many.
    """
    queries = load_queries("conversion")
    measured = 0
    while rows := list(
        queries.unmeasured_contents(connection, corpus=corpus, version=MEASURES_VERSION, limit=BATCH_DOCUMENTS)
    ):
        for row in rows:
            document = ConvertedDocument.model_validate_json(zlib.decompress(row.pop("content")))
            queries.save_measures(connection, measures=Jsonb(measure_document(document)), **row)
        measured += len(rows)
    return measured


def read_quarantine(connection: Connection, corpus: str) -> list[QuarantineRow]:
    """The quarantine of a corpus, sorted by document id."""
    return [
        QuarantineRow(
            policy_sha256=row.pop("policy_sha256"),
            limits_sha256=row.pop("limits_sha256"),
            tried=_pairs(row.pop("tried")),
            replay_requested=row.pop("replay_requested"),
            file=QuarantinedFile.model_validate(row),
        )
        for row in load_queries("conversion").quarantine(connection, corpus=corpus)
    ]


def replace_corpus(
    connection: Connection,
    corpus: str,
    converted: Iterable[Document],
    quarantined: Iterable[QuarantineRow],
    now: datetime,
) -> None:
    """Writes all documents and quarantined files of a corpus anew, in the caller's transaction.

    Args:
        connection: In a transaction.
        corpus: Slug.
        converted: All its documents.
        quarantined: All its quarantined files; those without times failed ``now``.
        now: Time of this run.
    """
    queries = load_queries("conversion")
    queries.delete_documents(connection, corpus=corpus)
    queries.delete_quarantine(connection, corpus=corpus)
    _copy(connection, "documents", _DOCUMENT_COLUMNS, (_document_row(document) for document in converted))
    _copy(connection, "quarantine", _QUARANTINE_COLUMNS, (_quarantine_values(row, now) for row in quarantined))


def _copy(connection: Connection, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(
        sql.Identifier("corpus", table), sql.SQL(", ").join(map(sql.Identifier, columns))
    )
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row(row)


def _document_row(document: Document) -> list[Any]:
    values = {name: getattr(document, name) for name in _DOCUMENT_COLUMNS}
    values["metadata"] = Jsonb(document.metadata.model_dump(mode="json"))
    values["metadata_provenance"] = Jsonb(document.metadata_provenance)
    values["properties"] = Jsonb(document.properties)
    return list(values.values())


def _quarantine_values(row: QuarantineRow, now: datetime) -> list[Any]:
    file = row.file
    return [
        file.corpus,
        file.document_id,
        file.source_uri,
        file.source_sha256,
        file.reason.value,
        file.message,
        file.requested_converter,
        row.policy_sha256,
        row.limits_sha256,
        Jsonb([list(pair) for pair in row.tried]),
        file.attempts,
        file.first_failed_at or now,
        file.last_failed_at or now,
    ]


def _conversion_values(conversion: SavedConversion) -> dict[str, Any]:
    return {
        **conversion.summary,
        "properties": Jsonb(conversion.summary["properties"]),
        "measures": Jsonb(conversion.summary["measures"]),
        "source_sha256": conversion.source_sha256,
        "converter_fingerprint": conversion.converter_fingerprint,
        "effective_converter": conversion.effective_converter,
        "content": conversion.content,
        "elapsed_seconds": conversion.elapsed_seconds,
    }


def _route_values(conversion: SavedConversion) -> dict[str, Any]:
    return {
        "source_sha256": conversion.source_sha256,
        "policy_sha256": conversion.policy_sha256,
        "options_sha256": conversion.options_sha256,
        "limits": Jsonb(conversion.limits),
        "file_format": conversion.file_format,
        "tried": Jsonb([list(pair) for pair in conversion.tried]),
        "converter_fingerprint": conversion.converter_fingerprint,
    }


def _pairs(value: list[list[str]]) -> tuple[tuple[str, str], ...]:
    return tuple((name, identity) for name, identity in value)
