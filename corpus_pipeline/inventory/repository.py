"""The inventory's tables. Rows go in by COPY, a whole inventory at once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import sql
from psycopg.types.json import Jsonb

from corpus_pipeline.inventory.changes import SourceChange
from corpus_pipeline.inventory.container_contents import ContainerContents
from corpus_pipeline.inventory.reading import Reading
from corpus_pipeline.records import SourceFile
from corpus_pipeline.store import Connection, load_queries

__all__ = [
    "Hold",
    "approve_removals",
    "delete_containers",
    "delete_readings",
    "held_removals",
    "purged_files",
    "read_containers",
    "read_holds",
    "read_readings",
    "removed_documents",
    "reopen_refused",
    "save_container",
    "save_readings",
    "source_changes",
    "source_files",
    "write_inventory",
]

_FILE_COLUMNS = (
    "corpus", "document_id", "relative_path", "source_uri", "sha256", "size_bytes", "modified_at", "extension",
    "declared", "declared_by", "doubt", "container", "refusal",
)  # fmt: skip
_READING_COLUMNS = (
    "corpus",
    "path",
    "change_token",
    "sha256",
    "size_bytes",
    "declared",
    "problems",
    "may_be_container",
)
_CHANGE_COLUMNS = (
    "corpus", "document_id", "change", "sha256", "previous_sha256", "renamed_from", "approved_by", "run_id",
)  # fmt: skip


@dataclass(frozen=True)
class Hold:
    """A file kept although the listing lacks it."""

    document_id: str
    approved_by: str | None


def source_files(connection: Connection, corpus: str) -> list[SourceFile]:
    """The files of a corpus as the last inventory left them, in code point order of their ids."""
    return [SourceFile.model_validate(row) for row in load_queries("inventory").source_files(connection, corpus=corpus)]


def held_removals(connection: Connection, corpus: str) -> list[str]:
    """Ids of files that are missing from the source but kept until approved; sorted."""
    return [hold.document_id for hold in read_holds(connection, corpus) if hold.approved_by is None]


def approve_removals(connection: Connection, corpus: str, who: str) -> int:
    """A person agrees that the files held now are gone; the next inventory removes them.

    Args:
        connection: A connection whose transaction the caller commits.
        corpus: Slug.
        who: Recorded with each removal.

    Returns:
        How many removals were approved.
    """
    return int(load_queries("inventory").approve_removals(connection, corpus=corpus, approved_by=who))


def source_changes(connection: Connection, corpus: str, most: int = 1000) -> list[dict[str, Any]]:
    """What the inventories found added, changed, removed or restored, newest first, at most ``most``."""
    return list(load_queries("inventory").source_changes(connection, corpus=corpus, most=most))


def read_holds(connection: Connection, corpus: str) -> list[Hold]:
    """All holds of a corpus, approved ones included."""
    rows = load_queries("inventory").removal_holds(connection, corpus=corpus)
    return [Hold(row["document_id"], row["approved_by"]) for row in rows]


def purged_files(connection: Connection, sha256s: Collection[str]) -> set[str]:
    """Those of the hashes whose files were purged and are not taken in again."""
    rows = load_queries("inventory").purged_files(connection, sha256s=sorted(sha256s))
    return {row["file_sha256"] for row in rows}


def removed_documents(connection: Connection, corpus: str, document_ids: Sequence[str]) -> set[str]:
    """Those of the named documents whose last recorded change is their removal."""
    rows = load_queries("inventory").removed_documents(connection, corpus=corpus, document_ids=list(document_ids))
    return {row["document_id"] for row in rows}


def read_readings(connection: Connection, corpus: str) -> dict[str, Reading]:
    """Kept readings by path."""
    return {
        row["path"]: Reading(
            row["path"],
            row["change_token"],
            row["sha256"],
            row["size_bytes"],
            row["declared"],
            tuple(row["problems"]),
            may_be_container=row["may_be_container"],
        )
        for row in load_queries("inventory").source_readings(connection, corpus=corpus)
    }


def save_readings(connection: Connection, corpus: str, readings: Iterable[Reading]) -> None:
    """Keeps readings for the next inventory."""
    queries = load_queries("inventory")
    queries.stage_source_readings(connection)
    rows = (
        (
            corpus,
            one.path,
            one.change_token,
            one.sha256,
            one.size_bytes,
            Jsonb(one.declared),
            Jsonb(list(one.problems)),
            one.may_be_container,
        )
        for one in readings
    )
    _copy(connection, "staged_source_readings", _READING_COLUMNS, rows)
    queries.merge_source_readings(connection)


def delete_readings(connection: Connection, corpus: str, paths: Collection[str]) -> None:
    """Forgets readings of files that are gone."""
    if paths:
        load_queries("inventory").delete_source_readings(connection, corpus=corpus, paths=sorted(paths))


def read_containers(connection: Connection, corpus: str) -> dict[str, ContainerContents]:
    """What containers held when they were opened, by path."""
    rows = load_queries("inventory").container_readings(connection, corpus=corpus)
    return {row["path"]: ContainerContents.from_row(row) for row in rows}


def save_container(connection: Connection, corpus: str, contents: ContainerContents) -> None:
    """Keeps what a container holds for the next inventory."""
    row = contents.to_row()
    load_queries("inventory").save_container_reading(
        connection, corpus=corpus, **{**row, "members": Jsonb(row["members"])}
    )


def delete_containers(connection: Connection, corpus: str, paths: Collection[str]) -> None:
    """Forgets containers that are gone."""
    if paths:
        load_queries("inventory").delete_container_readings(connection, corpus=corpus, paths=sorted(paths))


def reopen_refused(connection: Connection, corpus: str, document_ids: Sequence[str] | None) -> None:
    """Lets the next inventory open again the containers that were refused, or of which a member was.

    Args:
        connection: In a transaction of the caller.
        corpus: Slug.
        document_ids: Refused containers or members; ``None`` means all of the corpus.
    """
    chosen = None if document_ids is None else list(document_ids)
    rows = load_queries("inventory").refused_containers(connection, corpus=corpus, document_ids=chosen)
    delete_containers(connection, corpus, [row["path"] for row in rows])


def write_inventory(
    connection: Connection,
    corpus: str,
    *,
    before: Mapping[str, SourceFile],
    after: Mapping[str, SourceFile],
    changes: Sequence[SourceChange],
    held: Sequence[str],
    holds: Collection[str],
    run_id: str,
) -> None:
    """Writes the difference between two inventories in the caller's transaction.

    Args:
        connection: The stage's transaction.
        corpus: Slug.
        before: Files in the database, by id.
        after: Files that shall be there, by id.
        changes: What is recorded of the difference.
        held: Ids to hold.
        holds: Ids held before; those not in ``held`` are released.
        run_id: Recorded with changes and holds.
    """
    queries = load_queries("inventory")
    differing = [file for one, file in after.items() if before.get(one) != file]
    if differing:
        queries.stage_source_files(connection)
        _copy(connection, "staged_source_files", _FILE_COLUMNS, (_file_row(file) for file in differing))
        queries.merge_source_files(connection)
    gone = sorted(before.keys() - after.keys())
    if gone:
        queries.delete_source_files(connection, corpus=corpus, document_ids=gone)
    rows = (
        (
            corpus,
            one.document_id,
            one.change,
            one.sha256,
            one.previous_sha256,
            one.renamed_from,
            one.approved_by,
            run_id,
        )
        for one in changes
    )
    _copy(connection, "source_changes", _CHANGE_COLUMNS, rows, schema="corpus")
    released = sorted(set(holds) - set(held))
    if released:
        queries.release_holds(connection, corpus=corpus, document_ids=released)
    if held:
        queries.hold_removals(connection, corpus=corpus, document_ids=list(held), run_id=run_id)


def _file_row(file: SourceFile) -> tuple[Any, ...]:
    return (
        file.corpus,
        file.document_id,
        file.relative_path,
        file.source_uri,
        file.sha256,
        file.size_bytes,
        file.modified_at,
        file.extension,
        Jsonb(file.declared),
        Jsonb(file.declared_by),
        file.doubt,
        file.container,
        file.refusal,
    )


def _copy(
    connection: Connection, table: str, columns: Sequence[str], rows: Iterable[tuple[Any, ...]], *, schema: str = ""
) -> None:
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(
        sql.Identifier(*([schema] if schema else []), table), sql.SQL(", ").join(map(sql.Identifier, columns))
    )
    with connection.cursor().copy(statement) as copy:
        for row in rows:
            copy.write_row(row)
