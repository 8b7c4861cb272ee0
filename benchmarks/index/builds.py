"""Loading and building apart from staging: binary COPY into an empty leaf, and HNSW beside pgvector's own build."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

import psutil
from psycopg import sql

from corpus_pipeline.index.leaf_indexes import build_memory_mb, graph_method, index_leaf
from corpus_pipeline.index.tables import leaves
from corpus_pipeline.store import Connection, StageContext

__all__ = ["hnsw_builds", "one_table", "rows_a_second", "server_memory"]

DIMENSIONS = 384
_MOST_COPIED = 100_000


def hnsw_builds(context: StageContext, table: str, *, rounds: int = 2) -> dict[str, Any]:
    """Seconds of our build of the current leaf and of pgvector's own over its vectors, in turns, same settings."""
    leaf, _ = leaves(table, "big")
    name = sql.Identifier("serving", leaf.name)
    seconds: dict[str, list[float]] = {"ours, the leaf": [], "pgvector's own, vectors alone": []}
    with context.database.session() as connection:
        rows = _count(connection, name)
        connection.execute(sql.SQL("CREATE TABLE serving.copied AS SELECT embedding FROM {}").format(name))
        connection.execute("ANALYZE serving.copied")

        def ours() -> None:
            with connection.transaction():
                index_leaf(connection, leaf, rows=rows, changed=0, dimensions=DIMENSIONS)

        def own() -> None:
            with connection.transaction():
                memory = sql.Literal(f"{build_memory_mb(rows, DIMENSIONS)}MB")
                connection.execute(sql.SQL("SET LOCAL maintenance_work_mem = {}").format(memory))
                connection.execute(sql.SQL("CREATE INDEX copied_hnsw ON serving.copied ") + sql.SQL(graph_method(rows)))

        for _ in range(rounds):
            connection.execute(sql.SQL("DROP INDEX serving.{}").format(sql.Identifier(leaf.index_name("hnsw"))))
            seconds["ours, the leaf"].append(_timed(ours))
            connection.execute("DROP INDEX IF EXISTS serving.copied_hnsw")
            seconds["pgvector's own, vectors alone"].append(_timed(own))
        connection.execute("DROP TABLE serving.copied")
    best = {key: min(each) for key, each in seconds.items()}
    ratio = best["pgvector's own, vectors alone"] / best["ours, the leaf"]
    return {"HNSW builds, seconds": seconds, "HNSW, pgvector's own / ours": round(ratio, 2)}


def rows_a_second(context: StageContext, table: str) -> dict[str, float]:
    """Rows of the current leaf into an empty table like it, without indexes: the load alone, with nothing to look up.

    By binary COPY and by INSERT … SELECT; by the clock and of processor time of the server process.
    """
    leaf, _ = leaves(table, "big")
    name = sql.Identifier("serving", leaf.name)
    figures: dict[str, float] = {}
    with context.database.session() as connection:
        columns = sql.SQL(", ").join(
            sql.Identifier(row["attname"])
            for row in connection.execute(
                "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND attgenerated = ''"
                " ORDER BY attnum",
                (f"serving.{leaf.name}",),
            )
        )
        chosen = sql.SQL("SELECT {} FROM {} LIMIT {}").format(columns, name, sql.Literal(_MOST_COPIED))
        with connection.cursor().copy(sql.SQL("COPY ({}) TO STDOUT (FORMAT BINARY)").format(chosen)) as copy:
            blocks = [bytes(block) for block in copy]

        def copied() -> None:
            statement = sql.SQL("COPY serving.loaded ({}) FROM STDIN (FORMAT BINARY)").format(columns)
            with connection.cursor().copy(statement) as copy:
                for block in blocks:
                    copy.write(block)

        def inserted() -> None:
            connection.execute(sql.SQL("INSERT INTO serving.loaded ({}) {}").format(columns, chosen))

        process = psutil.Process(connection.info.backend_pid)
        for kind, load in (("binary COPY", copied), ("INSERT SELECT", inserted)):
            # As staging does it: what loads a partition first has made it in the same transaction.
            with connection.transaction():
                connection.execute(
                    sql.SQL(
                        "CREATE TABLE serving.loaded (LIKE {} INCLUDING GENERATED INCLUDING STORAGE)"
                        " WITH (fillfactor = 90, toast_tuple_target = 4096)"
                    ).format(name)
                )
                before = process.cpu_times()
                seconds = _timed(load)
                after = process.cpu_times()
            rows = _count(connection, sql.Identifier("serving", "loaded"))
            connection.execute("DROP TABLE serving.loaded")
            used = after.user + after.system - before.user - before.system
            figures[f"rows a second, {kind} of whole rows"] = round(rows / seconds)
            figures[f"rows a processor second, {kind} of whole rows"] = round(rows / used)
    return figures


def one_table(context: StageContext, table: str) -> None:
    """The rows of all leaves in one table ``serving.one_table`` with the same policy, HNSW and filter indexes."""
    with context.database.session() as connection:
        source = sql.Identifier("serving", table)
        connection.execute(sql.SQL("CREATE TABLE serving.one_table AS SELECT * FROM {}").format(source))
        connection.execute("SELECT corpus.protect_serving_table('one_table', %s)", (table,))
        rows = _count(connection, source)
        memory = build_memory_mb(rows, DIMENSIONS)
        connection.execute(sql.SQL("SET maintenance_work_mem = {}").format(sql.Literal(f"{memory}MB")))
        connection.execute(sql.SQL("CREATE INDEX one_table_hnsw ON serving.one_table ") + sql.SQL(graph_method(rows)))
        for key in ("product", "domain", "audience", "source_class"):
            connection.execute(f"CREATE INDEX ON serving.one_table ({key}_key)")
        connection.execute("VACUUM (ANALYZE) serving.one_table")


@contextmanager
def server_memory(context: StageContext) -> Iterator[dict[str, int]]:
    """The most memory of all server processes together in MB, shared pages counted once, looked at every second."""
    most = {"peak MB of the server (PSS)": 0}
    with context.database.session() as connection:
        postmaster = psutil.Process(psutil.Process(connection.info.backend_pid).ppid())
    ended = Event()

    def look() -> None:
        while not ended.wait(1.0):
            used = 0
            for process in (postmaster, *postmaster.children()):
                try:
                    used += process.memory_full_info().pss
                except psutil.Error:
                    continue
            key = "peak MB of the server (PSS)"
            most[key] = max(most[key], used // 1_000_000)

    watcher = Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield most
    finally:
        ended.set()
        watcher.join()


def _timed(work: Callable[[], None]) -> float:
    started = time.perf_counter()
    work()
    return round(time.perf_counter() - started, 2)


def _count(connection: Connection, table: sql.Identifier) -> int:
    row = connection.execute(sql.SQL("SELECT count(*) AS n FROM {}").format(table)).fetchone()
    return int(row["n"]) if row else 0
