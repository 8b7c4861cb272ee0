"""The size of a leaf is asked for at most once a minute, and only while it is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from corpus_pipeline.index import leaves, read_session
from corpus_pipeline.retrieval import leaf_sizes as module
from corpus_pipeline.retrieval.leaf_sizes import KEPT_SECONDS, leaf_sizes
from corpus_pipeline.store import Connection, Database


def test_a_known_size_is_kept_for_a_minute_and_an_unknown_one_not_at_all(
    database: Database, serve: Any, served: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [1000.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: clock[0])
    asked: list[list[str]] = []
    counted_rows = module.counted_rows

    def noted(connection: Connection, names: list[str]) -> dict[str, int | None]:
        asked.append(names)
        return counted_rows(connection, names)

    monkeypatch.setattr(module, "counted_rows", noted)
    target = serve(
        "sized",
        [served(f"{number}.md", vector=np.array([1, number, 0, 0], np.float32)) for number in range(7)],
        space="b" * 64,
    )
    leaf = leaves(target.table, "sized")[0].name

    def size() -> int | None:
        with read_session(database, groups=["everyone"]) as reader:
            return leaf_sizes(reader, [target])["sized"]

    def count(text: str) -> None:
        with database.connection() as connection:
            connection.execute(text)

    count(f"UPDATE pg_class SET reltuples = -1 WHERE oid = 'serving.{leaf}'::regclass")
    assert [size(), size()] == [None, None]
    assert len(asked) == 2, "what is unknown is asked for again"
    count(f"ANALYZE serving.{leaf}")
    assert [size(), size()] == [7, 7]
    assert len(asked) == 3
    count(f"UPDATE pg_class SET reltuples = 70000 WHERE oid = 'serving.{leaf}'::regclass")
    clock[0] += KEPT_SECONDS - 1
    assert size() == 7
    clock[0] += 1
    assert size() == 70_000
    assert len(asked) == 4
