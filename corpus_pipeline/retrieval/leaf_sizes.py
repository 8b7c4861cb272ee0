"""About how many rows there are to search, kept in the process for a minute."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

from corpus_pipeline.retrieval.repository import counted_rows, leaf_of
from corpus_pipeline.retrieval.rows import SearchTarget
from corpus_pipeline.store import Connection

__all__ = ["leaf_sizes"]

KEPT_SECONDS = 60.0
"""An old number may cost time or a little recall for as long: it says how wide a graph is walked, if at all."""
_MOST_KEPT = 256
_kept: OrderedDict[tuple[object, ...], tuple[float, int]] = OrderedDict()
_lock = Lock()


def leaf_sizes(connection: Connection, targets: Sequence[SearchTarget]) -> dict[str, int | None]:
    """About how many current rows each corpus has; ``None`` where they were never counted.

    The server is asked at most once a minute.

    Args:
        connection: A read session.
        targets: Where will be looked.
    """
    info = connection.info
    server = (info.host, info.port, info.dbname)
    names = {target.corpus: leaf_of(target) for target in targets}
    now = time.monotonic()
    with _lock:
        found = {name: _kept[server, name] for name in names.values() if (server, name) in _kept}
    known = {name: rows for name, (counted_at, rows) in found.items() if now - counted_at < KEPT_SECONDS}
    missing = [name for name in names.values() if name not in known]
    if missing:
        counted = {name: rows for name, rows in counted_rows(connection, missing).items() if rows is not None}
        known |= counted
        with _lock:
            for name, rows in counted.items():
                _kept[server, name] = (now, rows)
                _kept.move_to_end((server, name))
            while len(_kept) > _MOST_KEPT:
                _kept.popitem(last=False)
    return {corpus: known.get(name) for corpus, name in names.items()}
