"""Connections: one pool per process, foreign errors mapped once."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import psycopg
from pgvector.psycopg import register_vector
from psycopg import errors as pg_errors
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus
from psycopg.rows import dict_row
from psycopg.types.json import set_json_loads
from psycopg_pool import ConnectionPool, PoolTimeout

from corpus_pipeline.errors import (
    DatabaseAuthenticationError,
    DatabaseConflictError,
    DatabaseUnreachableError,
    DiskFullError,
    MissingExtensionError,
    StoreError,
    UnsupportedServerError,
)
from corpus_pipeline.settings import Settings

__all__ = ["Connection", "Database", "safe_url", "translate_errors"]

Connection = psycopg.Connection[dict[str, Any]]
"""A psycopg connection whose rows are dictionaries."""

MIN_POSTGRES = 160000
MIN_PGVECTOR = (0, 8)
CONNECT_TIMEOUT_SECONDS = 10
LOGIN_REFUSED = re.compile(
    r"password authentication failed|no password supplied|no pg_hba\.conf entry|role \".*\" does not exist"
)
NO_DATABASE = re.compile(r"database \".*\" does not exist")
# The server is there; it ended this statement.
ABANDONED = (pg_errors.QueryCanceled, pg_errors.LockNotAvailable, pg_errors.OutOfMemory, pg_errors.ProgramLimitExceeded)
# It ended this transaction for the sake of another one: trying again is right.
CONFLICTS = (pg_errors.DeadlockDetected, pg_errors.SerializationFailure)


def safe_url(url: str) -> str:
    """The URL without its password, for messages and logs; one that should have been encoded is hidden too.

    >>> safe_url("postgresql://u:secret@db:5432/corpus")
    'postgresql://u@db:5432/corpus'
    """
    return re.sub(r"(://[^:/@]*):.*@", r"\1@", re.sub(r"password=[^&]*", "password=…", url))


@contextmanager
def translate_errors(url: str = "") -> Iterator[None]:
    """Maps errors of psycopg to those of the package; others pass through unchanged.

    Raises:
        StoreError: Or the subclass that names the cause.
    """
    try:
        yield
    except pg_errors.DiskFull as error:
        raise DiskFullError(
            f"{_shown(url)} has no space left: {_first_line(error)}",
            remedy="Free space where the database keeps its data, then run this again; nothing was published.",
        ) from error
    except PoolTimeout as error:
        raise DatabaseUnreachableError(
            f"{_shown(url)} gave no connection in time: {_first_line(error)}",
            remedy="Check that the server is up and its max_connections suffices.",
        ) from error
    except psycopg.OperationalError as error:
        raise _connection_error(error, _shown(url)) from error


def _shown(url: str) -> str:
    return safe_url(url) if url else "the database"


def _first_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


def _connection_error(error: psycopg.OperationalError, shown: str) -> StoreError:
    text = str(error)
    if LOGIN_REFUSED.search(text):
        return DatabaseAuthenticationError(
            f"{shown} refuses the login: {_first_line(error)}",
            remedy="Correct user and password in CORPUS_DATABASE_URL.",
        )
    if NO_DATABASE.search(text):
        return DatabaseUnreachableError(
            f"{shown}: {_first_line(error)}",
            remedy="Create the database (createdb) or correct its name in CORPUS_DATABASE_URL.",
        )
    if "No space left" in text:
        return DiskFullError(f"{shown} has no space left", remedy="Free space where the database keeps its data.")
    if isinstance(error, CONFLICTS):
        return DatabaseConflictError(
            f"{shown} ended a transaction that stood in another one's way: {_first_line(error)}",
            remedy="Run this again; nothing of it was written.",
        )
    if isinstance(error, ABANDONED):
        return StoreError(
            f"{shown} gave up a statement: {_first_line(error)}",
            remedy="Run this again; if it comes back, see the server's log and its limits on memory and time.",
        )
    return DatabaseUnreachableError(
        f"{shown} cannot be reached: {_first_line(error)}",
        remedy="Start the server, or correct CORPUS_DATABASE_URL; unset it to use the embedded database.",
    )


class Database:
    """A pool of connections to one database.

    Use :meth:`open`; close it, or use it as a context manager.

    Attributes:
        state_folder: Where this installation keeps what it makes, as exported models; ``None`` for a connection made
            by URL alone.

    Example:
        >>> # with Database.open(load_settings()) as database, database.connection() as connection:
        >>> #     connection.execute("SELECT 1")
    """

    def __init__(self, url: str, pool: ConnectionPool[Connection], *, state_folder: Path | None = None) -> None:
        self.url = url
        self.state_folder = state_folder
        self._pool = pool

    @classmethod
    def open(cls, settings: Settings, *, migrate: bool = True) -> Database:
        """Opens the configured database, starting the embedded server when none is named.

        Args:
            settings: Names the URL, or the state folder of the embedded server.
            migrate: Apply pending migrations first (under a lock; a no-op when there are none).

        Raises:
            StoreError: Unreachable, wrong login, no pgvector, server too old, no disk space;
                each subclass names its remedy.
        """
        url = database_url(settings)
        if migrate:
            from corpus_pipeline.store.migrations import apply_migrations

            apply_migrations(url)
        return cls.connect(url, pool_size=settings.pool_size, state_folder=settings.state_folder)

    @classmethod
    def connect(cls, url: str, *, pool_size: int = 8, state_folder: Path | None = None) -> Database:
        """Opens a pool on ``url`` without migrating."""
        with translate_errors(url):
            check_server(url)
            pool: ConnectionPool[Connection] = ConnectionPool(
                url,
                min_size=1,
                max_size=pool_size,
                open=False,
                timeout=CONNECT_TIMEOUT_SECONDS * 3,
                kwargs={
                    "row_factory": dict_row,
                    "connect_timeout": CONNECT_TIMEOUT_SECONDS,
                    "application_name": "corpus-pipeline",
                },
                configure=_configure,
                check=ConnectionPool.check_connection,
            )
            pool.open(wait=True, timeout=CONNECT_TIMEOUT_SECONDS)
        return cls(url, pool, state_folder=state_folder)

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """A connection in a transaction: committed at the end, rolled back on an exception.

        Raises:
            StoreError: The connection was lost or refused.
        """
        with translate_errors(self.url), self._pool.connection() as connection:
            yield connection

    @contextmanager
    def begun(self, begin: sql.Composed) -> Iterator[Connection]:
        """As :meth:`connection`, in a transaction that ``begin`` begins.

        Args:
            begin: BEGIN and what comes first in the transaction, sent as one message: each answer waited for costs as
                much as a small query.
        """
        with translate_errors(self.url):
            connection = self._pool.getconn()
            try:
                with connection:
                    # Otherwise psycopg would send a BEGIN of its own, and wait for the answer.
                    connection.autocommit = True
                    connection.execute(begin)
                    yield connection
            finally:
                # Interrupted while it waited, it can neither be set nor used again: the pool replaces it.
                if connection.info.transaction_status is TransactionStatus.IDLE:
                    connection.autocommit = False
                else:
                    connection.pgconn.finish()
                self._pool.putconn(connection)

    @contextmanager
    def session(self) -> Iterator[Connection]:
        """A connection of its own in autocommit mode, outside the pool.

        For session state that must not leak into the pool: advisory locks, roles.
        """
        with translate_errors(self.url):
            connection: Connection = psycopg.connect(
                self.url, row_factory=dict_row, autocommit=True, connect_timeout=CONNECT_TIMEOUT_SECONDS
            )
            with connection:
                _configure(connection)
                yield connection

    def close(self) -> None:
        """Closes all connections of the pool."""
        self._pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def database_url(settings: Settings) -> str:
    """The configured URL, or that of the embedded server, which is started.

    Raises:
        StoreError: The embedded server cannot start.
        DatabaseUnreachableError: ``CORPUS_DATABASE_URL`` is no PostgreSQL URL, or none that can be read.
    """
    if settings.database_url is None:
        from corpus_pipeline.store.embedded import start_embedded_server

        return start_embedded_server(settings.state_folder, version=settings.embedded_postgres_version)
    url = settings.database_url.get_secret_value()
    scheme, separator, _ = url.partition("://")
    if not separator or scheme not in {"postgresql", "postgres"}:
        raise DatabaseUnreachableError(
            f"CORPUS_DATABASE_URL starts with {scheme if separator else 'no scheme'!r}, expected postgresql://",
            remedy="Write it as postgresql://USER:PASSWORD@HOST:5432/DATABASE.",
        )
    if not _is_well_formed(url):
        # libpq's own message would quote the part it cannot read, which may be the password.
        raise DatabaseUnreachableError(
            "CORPUS_DATABASE_URL cannot be read as a URL",
            remedy="Write it as postgresql://USER:PASSWORD@HOST:5432/DATABASE, with special characters of user and "
            "password percent-encoded: %40 for @, %2F for /, %25 for %.",
        )
    return url


def _is_well_formed(url: str) -> bool:
    authority = re.split(r"[/?#]", url.partition("://")[2], maxsplit=1)[0]
    try:
        conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        return False
    return authority.count("@") <= 1


def check_server(url: str) -> None:
    """Demands PostgreSQL 16 and an available pgvector 0.8, or newer.

    Raises:
        UnsupportedServerError: One of them is too old.
        MissingExtensionError: pgvector is not available on the server.
    """
    with psycopg.connect(url, connect_timeout=CONNECT_TIMEOUT_SECONDS) as connection:
        version = connection.info.server_version
        if version < MIN_POSTGRES:
            raise UnsupportedServerError(
                f"{safe_url(url)} is PostgreSQL {version // 10000}; expected 16 or newer",
                remedy="Upgrade the server, or unset CORPUS_DATABASE_URL to use the embedded one.",
            )
        row = connection.execute(
            "SELECT coalesce(installed_version, default_version) FROM pg_available_extensions WHERE name = 'vector'"
        ).fetchone()
    if row is None:
        raise MissingExtensionError(
            f"{safe_url(url)} has no pgvector",
            remedy="Install pgvector 0.8 or newer on the server (package postgresql-NN-pgvector).",
        )
    if tuple(int(part) for part in str(row[0]).split(".")[:2]) < MIN_PGVECTOR:
        raise UnsupportedServerError(
            f"{safe_url(url)} has pgvector {row[0]}; expected 0.8 or newer",
            remedy="Install a newer pgvector and run ALTER EXTENSION vector UPDATE.",
        )


_EMPTY_JSON = {b"[]": list, b"{}": dict}


def _json(data: bytes | str) -> Any:
    # Most values are empty, and search reads hundreds of them.
    kind = _EMPTY_JSON.get(bytes(data)) if isinstance(data, (bytes, bytearray, memoryview)) else None
    return kind() if kind else json.loads(data)


def _configure(connection: psycopg.Connection[Any]) -> None:
    register_vector(connection)
    set_json_loads(_json, connection)
    connection.execute("SET TIME ZONE 'UTC'")
    if not connection.autocommit:
        connection.commit()
