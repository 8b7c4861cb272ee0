"""The pipeline works with a login that is no superuser, as on a managed server."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg import sql

from corpus_pipeline.errors import StoreError
from corpus_pipeline.index import read_session
from corpus_pipeline.store import Database
from corpus_pipeline.store.migrations import apply_migrations, schema_drift


@pytest.fixture
def plain_url(server_url: str) -> Iterator[str]:
    """URL of an empty database whose owner is a plain login."""
    name = f"plain_{uuid.uuid4().hex[:12]}"
    admin_url = server_url.replace("/template_corpus", "/postgres")
    owner = sql.Identifier(name)
    with psycopg.connect(admin_url, autocommit=True) as admin:
        admin.execute(sql.SQL("CREATE ROLE {} LOGIN CREATEROLE").format(owner))
        admin.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(owner, owner))
    with psycopg.connect(server_url.replace("/template_corpus", f"/{name}")) as admin:
        admin.execute("CREATE EXTENSION vector")
    yield server_url.replace("postgres:@", f"{name}:@").replace("/template_corpus", f"/{name}")
    with psycopg.connect(admin_url, autocommit=True) as admin:
        admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(owner))
        admin.execute(sql.SQL("DROP OWNED BY {}").format(owner))
        admin.execute(sql.SQL("DROP ROLE {}").format(owner))


def test_a_plain_login_migrates_stages_publishes_and_reads(
    plain_url: str, server_url: str, corpus: Any, documents: Any
) -> None:
    assert apply_migrations(plain_url)
    with Database.connect(plain_url, pool_size=4) as database:
        corpus.context = dataclasses.replace(corpus.context, database=database)
        corpus.publish(*documents)
        # The roles were made by another login of this server: until an administrator grants them, reading says so.
        with pytest.raises(StoreError, match="may not act as a reader"), read_session(database, groups=["everyone"]):
            pass
        with database.connection() as connection:
            login = connection.execute("SELECT session_user AS name").fetchone()["name"]
        with psycopg.connect(server_url) as admin:
            admin.execute(
                sql.SQL("GRANT corpus_reader, corpus_evaluator TO {} WITH INHERIT FALSE, SET TRUE").format(
                    sql.Identifier(login)
                )
            )
        assert corpus.seen("everyone") == {"Refunds take 30 days.", "Refunds go to the card."}
        assert corpus.seen("hr") == {"Salaries are paid monthly."}
    assert schema_drift(plain_url) == []
