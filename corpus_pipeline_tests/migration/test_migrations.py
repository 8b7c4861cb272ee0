"""Migrations apply on every shipped server, are journalled, and drift is found."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from corpus_pipeline.errors import MigrationError, SchemaDriftError
from corpus_pipeline.store.embedded import start_embedded_server
from corpus_pipeline.store.migrations import apply_migrations, demand_no_drift, migration_files, schema_drift


@pytest.mark.parametrize("version", [16, 18])
def test_all_migrations_apply_on_each_shipped_server(tmp_path: Path, version: int) -> None:
    url = start_embedded_server(tmp_path, version=version)
    assert apply_migrations(url) == [path.stem for path in migration_files()]
    assert apply_migrations(url) == []
    assert schema_drift(url) == []


def test_a_manual_change_is_reported_as_drift(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute("ALTER TABLE corpus.stage_states ADD COLUMN surprise integer")
    with pytest.raises(SchemaDriftError, match=r"\+ column corpus\.stage_states\.surprise integer"):
        demand_no_drift(database_url)


def test_an_edited_migration_is_refused(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute("UPDATE corpus_migrations.files SET sha256 = 'other' WHERE name LIKE '0001%%'")
    with pytest.raises(MigrationError, match="edited after it had been applied"):
        apply_migrations(database_url)


def test_a_lock_left_by_a_killed_migration_does_not_block(tmp_path: Path) -> None:
    url = start_embedded_server(tmp_path)
    apply_migrations(url)
    with psycopg.connect(url) as connection:
        connection.execute("INSERT INTO corpus_migrations.yoyo_lock (locked, ctime, pid) VALUES (1, now(), 1)")
        connection.execute("DELETE FROM corpus_migrations.files WHERE name LIKE '0001%%'")
    assert apply_migrations(url) == ["0001_pre_store"]
