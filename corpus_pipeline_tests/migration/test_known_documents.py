"""What neighbours know of a published corpus outlives the upgrade that keeps it by generation."""

from __future__ import annotations

from collections.abc import Callable

import psycopg

from corpus_pipeline.store import Database, migrations, point_published_documents, published_superseded

BEFORE = "0019_pre_evaluation"


def test_published_documents_are_kept_for_the_generation_that_has_them(migrated_up_to: Callable[[str], str]) -> None:
    url = migrated_up_to(BEFORE)
    with psycopg.connect(url) as connection:
        connection.execute(
            "INSERT INTO corpus.published_documents VALUES"
            " ('legal', 'legal/a', 'a', 'superseded', NULL, 3, 'root-3'),"
            " ('legal', 'legal/b', 'b', NULL, NULL, 3, 'root-3'),"
            " ('sales', 'sales/a', 'a', 'superseded', 'sales/b', 7, 'root-7')"
        )
    migrations.apply_migrations(url)
    assert migrations.schema_drift(url) == []
    with Database.connect(url, pool_size=2) as database, database.connection() as connection:
        found = published_superseded(connection, except_corpus="handbook")
        assert [(one.document_id, one.generation, one.root_sha256) for one in found] == [
            ("legal/a", 3, "root-3"),
            ("sales/a", 7, "root-7"),
        ]
        assert point_published_documents(connection, "legal", 3, "root-3")
        assert not point_published_documents(connection, "legal", 2, "root-2")
