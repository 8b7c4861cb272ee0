"""sql/schema.sql says what the migrations make."""

from __future__ import annotations

from corpus_pipeline.store.files import project_file
from corpus_pipeline.store.schema_file import dump_schema


def test_schema_file_agrees_with_the_migrations(database_url: str) -> None:
    written = (project_file("sql") / "schema.sql").read_text()
    assert written == dump_schema(database_url), "run `make schema`"
