"""Errors of a real server reach the caller as ours, each with its remedy."""

from __future__ import annotations

import psycopg
import pytest
from psycopg import errors as pg_errors

from corpus_pipeline.errors import (
    DatabaseAuthenticationError,
    DatabaseConflictError,
    DatabaseUnreachableError,
    DiskFullError,
    StoreError,
)
from corpus_pipeline.store import Database
from corpus_pipeline.store import database as module

RAISE = "DO $$ BEGIN RAISE EXCEPTION 'could not extend file: what the server says' USING ERRCODE = '{state}'; END $$"


@pytest.mark.parametrize(
    ("state", "kind", "found", "remedy"),
    [
        ("disk_full", DiskFullError, "no space left", "Free space"),
        ("out_of_memory", StoreError, "gave up a statement", "memory"),
        ("lock_not_available", StoreError, "gave up a statement", "Run this again"),
        ("deadlock_detected", DatabaseConflictError, "in another one's way", "nothing of it was written"),
        ("serialization_failure", DatabaseConflictError, "in another one's way", "Run this again"),
    ],
)
def test_a_failing_statement_is_named_by_its_sqlstate(
    database: Database, state: str, kind: type[StoreError], found: str, remedy: str
) -> None:
    with pytest.raises(StoreError, match=found) as caught, database.connection() as connection:
        connection.execute(RAISE.format(state=state))
    assert type(caught.value) is kind
    assert remedy in caught.value.remedy
    assert "what the server says" in caught.value.message
    assert isinstance(caught.value.__cause__, psycopg.Error)


def test_a_statement_that_takes_too_long_is_no_unreachable_server(database: Database) -> None:
    with pytest.raises(StoreError, match="statement timeout") as caught, database.connection() as connection:  # noqa: PT012 - the block as a whole is rolled back
        connection.execute("SET LOCAL statement_timeout = 50")
        connection.execute("SELECT pg_sleep(5)")
    assert not isinstance(caught.value, DatabaseUnreachableError)


def test_a_connection_cut_by_the_server_is_unreachable_and_the_pool_recovers(database: Database) -> None:
    with pytest.raises(DatabaseUnreachableError) as caught, database.connection() as connection:  # noqa: PT012 - the block as a whole is rolled back
        pid = connection.info.backend_pid
        with database.session() as other:
            other.execute("SELECT pg_terminate_backend(%s)", (pid,))
        connection.execute("SELECT 1")
    assert "Start the server" in caught.value.remedy
    with database.connection() as connection:
        assert connection.execute("SELECT 1 AS one").fetchone() == {"one": 1}


def test_a_pool_that_gives_no_connection_says_so(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CONNECT_TIMEOUT_SECONDS", 1)
    with Database.connect(database_url, pool_size=1) as small, small.connection():
        with pytest.raises(DatabaseUnreachableError, match="no connection in time") as caught, small.connection():
            pytest.fail("a second connection came from a pool of one")
        assert "max_connections" in caught.value.remedy


def test_faults_of_ours_are_not_taken_for_faults_of_the_server(database: Database) -> None:
    with pytest.raises(pg_errors.UndefinedTable), database.connection() as connection:
        connection.execute("SELECT * FROM corpus.no_such_table")
    with pytest.raises(pg_errors.UniqueViolation), database.connection() as connection:  # noqa: PT012 - the block as a whole is rolled back
        connection.execute("CREATE TEMPORARY TABLE once (one integer PRIMARY KEY)")
        connection.execute("INSERT INTO once VALUES (1), (1)")


def test_nobody_listens() -> None:
    with pytest.raises(DatabaseUnreachableError, match="cannot be reached") as caught:
        Database.connect("postgresql://corpus:hush@127.0.0.1:1/corpus")
    assert "hush" not in str(caught.value)


def test_no_such_database_and_no_such_role(database_url: str) -> None:
    name = database_url.rsplit("/", maxsplit=1)[0]
    url = psycopg.conninfo.conninfo_to_dict(database_url)
    with pytest.raises(DatabaseUnreachableError, match="does not exist") as missing:
        Database.connect(f"postgresql://postgres@/no_role_here?host={url['host']}")
    assert "createdb" in missing.value.remedy
    with pytest.raises(DatabaseAuthenticationError, match="refuses the login"):
        Database.connect(f"postgresql://nobody_{len(name)}@/{url['dbname']}?host={url['host']}")


def test_a_failed_block_leaves_nothing_behind(database: Database) -> None:
    with pytest.raises(ZeroDivisionError), database.connection() as connection:  # noqa: PT012 - the block as a whole is rolled back
        connection.execute("CREATE TABLE corpus.half_done (one integer)")
        _ = 1 / 0
    with database.connection() as connection:
        assert connection.execute("SELECT to_regclass('corpus.half_done') AS found").fetchone() == {"found": None}


def test_every_connection_works_in_utc(database: Database) -> None:
    with database.connection() as connection, database.session() as session:
        for one in (connection, session):
            assert one.execute("SHOW timezone").fetchone() == {"TimeZone": "UTC"}
