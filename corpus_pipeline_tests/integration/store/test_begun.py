"""Transactions begun in one message: whatever happens in them, the pool has its connections back as they were."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator

import psycopg
import pytest
from psycopg import sql
from psycopg.pq import TransactionStatus

from corpus_pipeline.errors import StoreError
from corpus_pipeline.index import read_session
from corpus_pipeline.store import Database

BEGIN = sql.SQL("BEGIN READ ONLY; SET LOCAL application_name = 'begun'").format()


class StopError(Exception):
    """What a handler of a signal raises."""


@pytest.fixture
def pool_of_two(database_url: str) -> Iterator[Database]:
    with Database.connect(database_url, pool_size=2) as database:
        yield database


def assert_as_before(database: Database) -> None:
    with database.connection() as one, database.connection() as other:
        for connection in (one, other):
            assert not connection.autocommit
            assert connection.info.transaction_status is TransactionStatus.IDLE
            assert connection.execute("SHOW application_name").fetchone() == {"application_name": "corpus-pipeline"}
            connection.execute("CREATE TEMPORARY TABLE writable (number integer) ON COMMIT DROP")


def test_a_transaction_begins_as_told_and_ends(pool_of_two: Database) -> None:
    for _ in range(4):
        with pool_of_two.begun(BEGIN) as connection:
            assert connection.execute("SHOW application_name").fetchone() == {"application_name": "begun"}
            assert connection.execute("SHOW transaction_read_only").fetchone() == {"transaction_read_only": "on"}
    assert_as_before(pool_of_two)


def failing(database: Database) -> None:
    with read_session(database, groups=["everyone"]) as connection:
        connection.execute("SELECT 1 / 0")


def failing_in_a_pipeline(database: Database) -> None:
    with read_session(database, groups=["everyone"]) as connection, connection.pipeline():
        connection.execute("SELECT 1")
        connection.execute("SELECT 1 / 0")
        connection.execute("SELECT 2").fetchone()


@pytest.mark.parametrize("fail", [failing, failing_in_a_pipeline])
def test_a_statement_that_fails_is_rolled_back(pool_of_two: Database, fail: Callable[[Database], None]) -> None:
    for _ in range(4):
        with pytest.raises(psycopg.errors.DivisionByZero):
            fail(pool_of_two)
    assert_as_before(pool_of_two)


def test_a_beginning_that_fails_costs_no_connection(pool_of_two: Database) -> None:
    for _ in range(4):
        begin = sql.SQL("BEGIN; SET nowhere = 1").format()
        with pytest.raises(psycopg.errors.UndefinedObject), pool_of_two.begun(begin):
            pass
    assert_as_before(pool_of_two)


def waiting(database: Database) -> None:
    with read_session(database, groups=["everyone"]) as connection:
        connection.execute("SELECT pg_sleep(30)")


def test_an_interrupt_while_the_server_works_is_raised_as_it_is(pool_of_two: Database) -> None:
    def interrupt(_signal: int, _frame: object) -> None:
        raise StopError

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for _ in range(3):
            signal.setitimer(signal.ITIMER_REAL, 0.5)
            with pytest.raises(StopError):
                waiting(pool_of_two)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert_as_before(pool_of_two)


def cut(database: Database) -> None:
    with read_session(database, groups=["everyone"]) as reader:
        with psycopg.connect(database.url, autocommit=True) as operator:
            operator.execute("SELECT pg_terminate_backend(%s, 5000)", (reader.info.backend_pid,))
        reader.execute("SELECT 1")


def test_a_lost_connection_is_an_error_with_a_remedy_and_replaced(pool_of_two: Database) -> None:
    with pytest.raises(StoreError, match="cannot be reached"):
        cut(pool_of_two)
    assert_as_before(pool_of_two)
