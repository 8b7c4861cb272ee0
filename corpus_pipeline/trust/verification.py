"""Recomputes the hash chain of a published generation, from the bytes of the files to its root.

What is published may be older than what the last run converted and cut: it is held against the
caches, which keep by content what it was made from, and not against the working state.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from corpus_pipeline.errors import NothingPublishedError, SourceChangedError
from corpus_pipeline.index import (
    DOCUMENT_COLUMNS,
    PARENTS_TABLE,
    SHARED_BY_PARENTS,
    Generation,
    generation,
    part_of_values,
    publication,
    qualified,
    root_of_served_rows,
)
from corpus_pipeline.inventory import MemberCopies, local_copy, source_files
from corpus_pipeline.records import ConvertedDocument, SourceFile, Stage, canonical_json, sha256_hex
from corpus_pipeline.store import Connection, StageContext, load_queries
from corpus_pipeline.trust.links import BrokenLink, Link, Tally, Verification
from corpus_pipeline.trust.repository import (
    all_rows,
    completed,
    copy_heads,
    each_row,
    one_row,
    one_value,
    row_values,
)

__all__ = ["VECTOR_TOLERANCE", "document_heads", "published_generation", "verify_corpus"]

VECTOR_TOLERANCE = 1e-3
"""L2 distance of a served vector to the cached one, and of a norm to 1: twice what rounding to 11 bits can do."""

BATCH_DOCUMENTS = 25
_DOCUMENT_NAMES = tuple(column.name for column in DOCUMENT_COLUMNS)


@dataclass(frozen=True)
class _Served:
    """A document of the generation and hashes that rows of it rely on: one entry a document in a sound corpus."""

    document_id: str
    source_sha256: str
    text_sha256: str


def published_generation(connection: Connection, corpus: str) -> Generation:
    """The record of the generation that readers see.

    Raises:
        NothingPublishedError: There is none.
    """
    pointer = publication(connection, corpus)
    known = generation(connection, corpus, pointer.generation) if pointer else None
    if known is None:
        raise NothingPublishedError(
            f"nothing of corpus {corpus!r} is published", remedy=f"Run: corpus-pipeline ingest {corpus}."
        )
    return known


def verify_corpus(context: StageContext, *, sources: bool = False) -> Verification:
    """Recomputes every link of the published generation of a corpus; changes nothing.

    Memory does not grow with the corpus but by the ids of its documents: texts pass through in batches, and what
    the database can hash is hashed there.

    Args:
        context: Of the corpus; its progress is told how many documents are done.
        sources: Also read the files again, members of archives too.

    Raises:
        NothingPublishedError: There is nothing to verify.
        SourceUnavailableError: The remote source does not answer.
    """
    corpus, tally = context.spec.slug, Tally()
    with context.database.connection() as connection:
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ WRITE")
        known = published_generation(connection, corpus)
        served = _served_documents(connection, known)
        if sources:
            _check_files(connection, context, served, tally)
        else:
            tally.skipped[Link.FILE] = "not read; --sources reads the files again"
        _check_texts(connection, context, known, served, tally)
        checks = (_check_working_state, _check_vectors, _check_rows, _check_root)
        context.progress.start(Stage.PUBLISHED_CORPUS, len(checks), "links verified in the database")
        for check in checks:
            check(connection, known, tally)
            context.progress.advance()
    return Verification(corpus, known.generation, known.root_sha256, tally.counts(), tally.faults())


def _served_documents(connection: Connection, known: Generation) -> list[_Served]:
    query = completed("served_document_ids", table=qualified(known.serving_table))
    return [_Served(**row) for row in all_rows(connection, query, _scope(known))]


def _scope(known: Generation) -> dict[str, Any]:
    return {"corpus": known.corpus, "generation": known.generation}


def _batches(served: Sequence[_Served]) -> Iterator[list[_Served]]:
    """About :data:`BATCH_DOCUMENTS` entries at a time, those of one document together."""
    batch: list[_Served] = []
    for one in served:
        if len(batch) >= BATCH_DOCUMENTS and one.document_id != batch[-1].document_id:
            yield batch
            batch = []
        batch.append(one)
    if batch:
        yield batch


def _check_files(connection: Connection, context: StageContext, served: Sequence[_Served], tally: Tally) -> None:
    """Reads the file of each served document, unless the inventory says that it has changed since."""
    files = {file.document_id: file for file in source_files(connection, context.spec.slug)}
    known = [(one, files.get(one.document_id)) for one in served]
    present = [(one, file) for one, file in known if file is not None and file.sha256 == one.source_sha256]
    if len(present) < len(served):
        tally.skipped[Link.FILE] = f"{len(served) - len(present)} have changed or gone since the publication"
    context.progress.start(Stage.PUBLISHED_CORPUS, len(present), "files read again")
    wanted = [file for _, file in present]
    with (
        TemporaryDirectory(prefix="corpus-pipeline-") as folder,
        MemberCopies(context.spec, Path(folder), wanted) as members,
    ):
        for one, file in present:
            fault = _file_fault(context, one, file, members)
            if fault is not None:
                tally.fault(fault)
            tally.add(Link.FILE, 1)
            context.progress.advance()


def _file_fault(context: StageContext, one: _Served, file: SourceFile, members: MemberCopies) -> BrokenLink | None:
    try:
        with local_copy(context.spec, file, members) as path:
            found = _sha256(path)
    except SourceChangedError as error:
        return BrokenLink(Link.FILE, one.document_id, None, error.message, one.source_sha256, "not these bytes")
    if found != one.source_sha256:
        return BrokenLink(Link.FILE, one.document_id, None, "other bytes", one.source_sha256, found)
    return None


def _sha256(path: Path) -> str:
    import hashlib

    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _check_texts(
    connection: Connection, context: StageContext, known: Generation, served: Sequence[_Served], tally: Tally
) -> None:
    """Conversions against the hashes of their documents, and fragments and parents against the converted texts."""
    scope, names = _scope(known), ("served_fragments", "served_parents")
    queries = (completed(names[0], table=qualified(known.serving_table)), completed(names[1]))
    streams = [
        _InOrder(each_row(connection, query, scope, name=name)) for query, name in zip(queries, names, strict=True)
    ]
    context.progress.start(Stage.PUBLISHED_CORPUS, len(served), "documents verified")
    for batch in _batches(served):
        texts = _converted_texts(connection, batch, tally)
        for row in chain.from_iterable(stream.up_to(batch[-1].document_id) for stream in streams):
            _check_text(row, texts.get(row["document_id"], []), tally)
        context.progress.advance(len(batch))
    for row in chain.from_iterable(stream.rest() for stream in streams):
        _check_text(row, [], tally)


class _InOrder:
    """Rows in the order of their documents, taken document by document."""

    def __init__(self, rows: Iterator[dict[str, Any]]) -> None:
        self._rows = rows
        self._next = next(rows, None)

    def up_to(self, document_id: str) -> Iterator[dict[str, Any]]:
        """Rows of documents up to this one. Code points are in the order of the database's collation "C"."""
        while self._next is not None and self._next["document_id"] <= document_id:
            yield self._next
            self._next = next(self._rows, None)

    def rest(self) -> Iterator[dict[str, Any]]:
        """All other rows."""
        while self._next is not None:
            yield self._next
            self._next = next(self._rows, None)


def _check_text(row: dict[str, Any], converted: list[str], tally: Tally) -> None:
    tally.add(Link.FRAGMENT, 1)
    fault = _text_fault(row, converted)
    if fault is not None:
        tally.fault(fault)


def _check_working_state(connection: Connection, known: Generation, tally: Tally) -> None:
    row = load_queries("trust").altered_fragment(connection, corpus=known.corpus)
    if row is not None:
        what = "a fragment that the next generation would be made of has other text than its hash says"
        tally.fault(_fault(Link.FRAGMENT, row, what), row["faults"])


def _converted_texts(connection: Connection, batch: Sequence[_Served], tally: Tally) -> dict[str, list[str]]:
    """The converted text of each document whose conversion holds; more than one if rows were mixed up."""
    kept: dict[str, list[dict[str, Any]]] = {}
    wanted = [one.source_sha256 for one in batch]
    for row in load_queries("trust").kept_conversions(connection, source_sha256s=wanted):
        kept.setdefault(row["source_sha256"], []).append(row)
    texts: dict[str, list[str]] = {}
    for one in batch:
        tally.add(Link.CONVERSION, 1)
        candidates = kept.get(one.source_sha256, [])
        text, fault = _converted_text(one, candidates)
        if fault is not None:
            tally.fault(fault)
        elif text is not None:
            texts.setdefault(one.document_id, []).append(text)
    return texts


def _converted_text(one: _Served, candidates: list[dict[str, Any]]) -> tuple[str | None, BrokenLink | None]:
    matching = [row for row in candidates if row["text_sha256"] == one.text_sha256]
    if not matching:
        found = candidates[0]["text_sha256"] if candidates else "nothing kept"
        what = "no conversion of the file has the text that is served"
        return None, BrokenLink(Link.CONVERSION, one.document_id, None, what, one.text_sha256, found)
    text = None
    for row in sorted(matching, key=lambda row: str(row["converter_fingerprint"])):
        try:
            content = zlib.decompress(row["content"])
            document = ConvertedDocument.model_validate_json(content)
        except (zlib.error, ValueError):
            what = "the structured document cannot be read"
            return None, BrokenLink(
                Link.CONVERSION, one.document_id, None, what, row["document_sha256"], sha256_hex(row["content"])
            )
        for what, expected, found in (
            ("other converted text", row["text_sha256"], sha256_hex(document.text)),
            ("other structured document", row["document_sha256"], document.document_sha256),
        ):
            if expected != found:
                return None, BrokenLink(Link.CONVERSION, one.document_id, None, what, expected, found)
        text = document.text
    return text, None


def _text_fault(row: dict[str, Any], converted: list[str]) -> BrokenLink | None:
    found = sha256_hex(row["text"])
    if found != row["text_sha256"]:
        return _fault(Link.FRAGMENT, {**row, "expected": row["text_sha256"], "found": found}, "other served text")
    spans = [text[row["char_start"] : row["char_end"]] for text in converted]
    # A part of a table has caption and header before its slice.
    if spans and not any(span and row["text"].endswith(span) for span in spans):
        values = {"expected": found, "found": sha256_hex(spans[0])}
        return _fault(Link.FRAGMENT, {**row, **values}, "not the converted text at its place")
    embedded = row.get("embedded_text")
    if embedded is None:
        return None
    found = sha256_hex(embedded)
    if found != row["embedded_sha256"] or not embedded.rstrip().endswith(row["text"].rstrip()):
        values = {"expected": row["embedded_sha256"], "found": found}
        return _fault(Link.FRAGMENT, {**row, **values}, "the embedded string is not its context path and its text")
    return None


def _fault(link: Link, row: dict[str, Any], what: str) -> BrokenLink:
    return BrokenLink(link, row["document_id"], row["place"], what, str(row["expected"]), str(row["found"]))


def _check_vectors(connection: Connection, known: Generation, tally: Tally) -> None:
    fingerprint = known.embedding_fingerprint
    model = load_queries("trust").known_model(connection, fingerprint=fingerprint)
    if model is None or sha256_hex(canonical_json(model["parts"])) != fingerprint:
        found = sha256_hex(canonical_json(model["parts"])) if model else "unknown"
        what = "the fingerprint of the embedding model stands for something else"
        tally.fault(BrokenLink(Link.VECTOR, None, None, what, fingerprint, found))
        return
    table = qualified(known.serving_table)
    tally.add(Link.VECTOR, one_value(connection, completed("count_rows", table=table), _scope(known)))
    values = {
        **_scope(known),
        "fingerprint": fingerprint,
        "dimensions": model["dimensions"],
        "tolerance": VECTOR_TOLERANCE,
    }
    row = one_row(connection, completed("faulty_vector", table=table), values)
    if row is not None:
        what, expected, found = _vector_fault(row, model["dimensions"])
        tally.fault(_fault(Link.VECTOR, {**row, "expected": expected, "found": found}, what), row["faults"])


def _vector_fault(row: dict[str, Any], dimensions: int) -> tuple[str, str, str]:
    if not row["cached"]:
        return "its vector is not in the cache", "a vector", "none"
    if row["dims"] != dimensions or row["distance"] is None:
        return "a vector of another model", f"{dimensions} dimensions", f"{row['dims']} dimensions"
    if abs(row["norm"] - 1) > VECTOR_TOLERANCE:
        return "no unit vector in the cache", "length 1", f"length {row['norm']:.4f}"
    return "the served vector is not the cached one", "distance 0", f"distance {row['distance']:.4f}"


def _check_rows(connection: Connection, known: Generation, tally: Tally) -> None:
    """The digest of every served row, computed by the database from its columns."""
    if not load_queries("trust").knows_other_sources(connection, table_name=known.serving_table):
        tally.skipped[Link.SERVING_ROW] = "loaded by an older version of this software; the next generation is not"
        return
    table, scope = qualified(known.serving_table), _scope(known)
    columns = row_values(_DOCUMENT_NAMES)
    query = completed("document_values", table=table, columns=columns)
    documents = each_row(connection, query, scope, name="document_values")
    copy_heads(connection, "row_heads", (head for row in documents for head in document_heads(row)))
    query = completed("parent_values", columns=row_values(SHARED_BY_PARENTS))
    parents = each_row(connection, query, scope, name="parent_values")
    copy_heads(connection, "parent_heads", (_parent_head(row) for row in parents))
    fragment_columns, parent_columns = row_values(_DOCUMENT_NAMES, "s"), row_values(SHARED_BY_PARENTS, "s")
    for query in (
        completed("altered_fragment_row", table=table, columns=fragment_columns),
        completed("altered_parent_row", columns=parent_columns),
    ):
        row = one_row(connection, query, scope)
        if row is not None:
            what = "its columns do not hash to what was recorded when it was loaded"
            tally.fault(_fault(Link.SERVING_ROW, row, what), row["faults"])
    for name in (table, qualified(PARENTS_TABLE)):
        tally.add(Link.SERVING_ROW, one_value(connection, completed("count_rows", table=name), scope))


def document_heads(row: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Beginnings of fragment digests for the values of a document, one for each conversion they may come from."""
    values = {name: row[name] for name in _DOCUMENT_NAMES}
    fingerprints = {*(row["converter_fingerprints"] or ()), row["present_fingerprint"]} - {None}
    for fingerprint in sorted(fingerprints):
        yield row["values_key"], part_of_values(values, fingerprint).fragment_head


def _parent_head(row: dict[str, Any]) -> tuple[str, str]:
    return row["values_key"], canonical_json([row[name] for name in SHARED_BY_PARENTS])[:-1]


def _check_root(connection: Connection, known: Generation, tally: Tally) -> None:
    pointer = publication(connection, known.corpus)
    found = root_of_served_rows(connection, known)
    tally.add(Link.GENERATION_ROOT, 1)
    published = pointer.root_sha256 if pointer else "nothing published"
    for what, expected in (
        ("the rows do not make up the root of the generation: one is missing, altered or extra", known.root_sha256),
        ("the pointer names another root than the rows make up", published),
    ):
        if found != expected:
            tally.fault(BrokenLink(Link.GENERATION_ROOT, None, None, what, expected, found))
            return
