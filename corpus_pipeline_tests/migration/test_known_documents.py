"""What neighbours know of a published corpus outlives the upgrade that keeps it by generation."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from corpus_pipeline.store import Database, migrations, point_published_documents, published_superseded

BEFORE = "0019_pre_evaluation"


@pytest.fixture
def empty_url(server_url: str) -> Iterator[str]:
    """An empty database on the server of the tests."""
    name = f"upgraded_{uuid.uuid4().hex[:12]}"
    admin = server_url.replace("/template_corpus", "/postgres")
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(name)))
    yield server_url.replace("/template_corpus", f"/{name}")
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


def test_published_documents_are_kept_for_the_generation_that_has_them(
    empty_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / "migrations"
    old.mkdir()
    for path in migrations.migration_files():
        if path.stem <= BEFORE:
            shutil.copy(path, old)
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "project_file", lambda _: tmp_path)
        migrations.apply_migrations(empty_url)
    with psycopg.connect(empty_url) as connection:
        connection.execute(
            "INSERT INTO corpus.published_documents VALUES"
            " ('legal', 'legal/a', 'a', 'superseded', NULL, 3, 'root-3'),"
            " ('legal', 'legal/b', 'b', NULL, NULL, 3, 'root-3'),"
            " ('sales', 'sales/a', 'a', 'superseded', 'sales/b', 7, 'root-7')"
        )
    migrations.apply_migrations(empty_url)
    assert migrations.schema_drift(empty_url) == []
    with Database.connect(empty_url, pool_size=2) as database, database.connection() as connection:
        found = published_superseded(connection, except_corpus="handbook")
        assert [(one.document_id, one.generation, one.root_sha256) for one in found] == [
            ("legal/a", 3, "root-3"),
            ("sales/a", 7, "root-7"),
        ]
        assert point_published_documents(connection, "legal", 3, "root-3")
        assert not point_published_documents(connection, "legal", 2, "root-2")
