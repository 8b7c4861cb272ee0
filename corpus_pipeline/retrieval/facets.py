"""The vocabulary of published corpora, kept in the process while a generation is published."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from datetime import date
from threading import Lock

from corpus_pipeline.retrieval.repository import facet_rows
from corpus_pipeline.retrieval.rows import SearchTarget
from corpus_pipeline.retrieval.scope import Facets, collect_facets, merge_facets
from corpus_pipeline.store import Connection

__all__ = ["published_facets"]

_MOST_KEPT = 64
_kept: OrderedDict[tuple[object, ...], Facets] = OrderedDict()
_lock = Lock()


def published_facets(reader: Connection, targets: Sequence[SearchTarget], groups: Sequence[str], as_of: date) -> Facets:
    """What the documents that these groups may see on that day declare.

    Read once a process for each generation, day and set of groups: the rows of a generation do not change.

    Args:
        reader: A read session of those groups and that day.
        targets: The corpora that are searched.
        groups: Another set of groups sees another vocabulary.
        as_of: Another day has other documents in force.
    """
    return merge_facets([_facets(reader, target, tuple(sorted(groups)), as_of) for target in targets])


def _facets(reader: Connection, target: SearchTarget, groups: tuple[str, ...], as_of: date) -> Facets:
    info = reader.info
    server = (info.host, info.port, info.dbname)
    key = (*server, target.corpus, target.generation, target.table, groups, as_of)
    with _lock:
        known = _kept.get(key)
    if known is None:
        known = collect_facets(facet_rows(reader, target))
        with _lock:
            _kept[key] = known
            while len(_kept) > _MOST_KEPT:
                _kept.popitem(last=False)
    return known
