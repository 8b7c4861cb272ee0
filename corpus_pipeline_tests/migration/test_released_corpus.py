"""A corpus that the released version wrote goes on under the present one with nothing lost."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable
from pathlib import Path

import psycopg

from corpus_pipeline.conversion import (
    convert_corpus,
    converted_document,
    document_measures,
    documents,
    quarantined_files,
)
from corpus_pipeline.inventory import source_changes, take_inventory
from corpus_pipeline.records import QuarantineReason
from corpus_pipeline.store import Database, StageContext, migrations

RELEASED = Path(__file__).parent / "released"
LAST_RELEASED = "0009_pre_evaluation"


def fill(url: str, folder: Path) -> None:
    """The rows of the released version, in a database with its migrations."""
    rows = (RELEASED / "rows.sql").read_text(encoding="utf-8").replace("{folder}", str(folder))
    with psycopg.connect(url) as connection:
        connection.execute(rows)  # type: ignore[arg-type]
        for path in folder.iterdir():  # the tokens of files that are as they were when the released version read them
            status = path.stat()
            token = f"1|{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}"
            connection.execute(
                "UPDATE corpus.source_readings SET change_token = %s WHERE path = %s", (token, path.name)
            )


def test_a_corpus_of_the_released_version_is_taken_over(
    migrated_up_to: Callable[[str], str], context: StageContext, corpus_folder: Path
) -> None:
    shutil.copytree(RELEASED / "docs", corpus_folder, dirs_exist_ok=True)
    released_url = migrated_up_to(LAST_RELEASED)
    fill(released_url, corpus_folder)
    with psycopg.connect(released_url) as connection:
        before = connection.execute("SELECT * FROM corpus.source_changes ORDER BY change_id").fetchall()
        kept = dict(connection.execute("SELECT document_sha256, content FROM corpus.conversions").fetchall())
    assert migrations.apply_migrations(released_url)[0] == "0010_pre_containers"
    assert migrations.schema_drift(released_url) == []

    with Database.connect(released_url, pool_size=4) as database:
        upgraded = dataclasses.replace(context, database=database)
        inventory, first = take_inventory(upgraded), convert_corpus(upgraded)
        assert [inventory.counts[name] for name in ("files_read", "containers_opened", "removed", "held_removals")] == [
            5, 2, 1, 0,
        ]  # fmt: skip
        with database.connection() as connection:
            found = {document.relative_path: document for document in documents(connection, "handbook")}
            texts = {path: converted_document(connection, document).text for path, document in found.items()}
            refused = quarantined_files(connection, "handbook")
            measured = document_measures(connection, "handbook")
            changes = source_changes(connection, "handbook")
            content = {
                row["document_sha256"]: row["content"]
                for row in connection.execute("SELECT document_sha256, content FROM corpus.conversions").fetchall()
            }
        assert list(found) == [
            "chains.txt", "letter.eml", "letter.eml!/cranes.txt", "notes.md", "reports.zip!/2024/paint.txt",
        ]  # fmt: skip
        assert texts["chains.txt"] == "Anchor chains are measured every autumn."
        assert texts["reports.zip!/2024/paint.txt"] == "Red hull paint is renewed every third spring."
        assert found["notes.md"].title == "Notes on anchors"
        assert [(file.document_id, file.reason) for file in refused] == [
            ("handbook/damaged.pdf", QuarantineReason.CORRUPT)
        ]
        assert set(measured) == {document.document_id for document in found.values()}
        assert all(measured.values()), "every document has its measures"
        assert kept.items() <= content.items(), "what had been converted is still there"
        assert len(changes) == len(before) + 3, "the archive gave way to its member; a mail has its attachment"

        assert take_inventory(upgraded).output_sha256 == inventory.output_sha256
        again = convert_corpus(upgraded)
        assert (again.counts["converted"], again.output_sha256) == (0, first.output_sha256)
        with database.connection() as connection:
            [file] = quarantined_files(connection, "handbook")
        assert file.first_failed_at < file.last_failed_at, "how long it has failed is remembered"
