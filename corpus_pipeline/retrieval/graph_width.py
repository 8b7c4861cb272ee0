"""How wide the graph of a leaf is walked for a question with filters."""

from __future__ import annotations

from corpus_pipeline.index import search_width
from corpus_pipeline.retrieval.request import SearchFilters

__all__ = ["graph_width"]

UNINDEXED_EF_SEARCH = 800
"""For filters that no index serves: the graph meets ten or twenty rows for one that passes."""
SMALL_LEAF_ROWS = 50_000
FILTERED_EF_SEARCH = 160
"""In a small leaf the nearest that pass lie far apart: of a value that half of 10,000 rows have, 110 finds 0.983."""


def graph_width(leaf_rows: int | None, filters: SearchFilters) -> int:
    """How wide a graph is walked (``hnsw.ef_search``).

    Args:
        leaf_rows: Of the leaf that it is of; ``None`` when they were never counted.
        filters: Those that no index serves need the widest walk.

    >>> graph_width(100_000, SearchFilters()), graph_width(100_000, SearchFilters(plan_tier="free"))
    (110, 800)
    >>> graph_width(10_000, SearchFilters(product="Relay")), graph_width(100_000, SearchFilters(product="Relay"))
    (160, 110)
    """
    if filters.plan_tier or filters.attributes:
        return UNINDEXED_EF_SEARCH
    if filters.as_json() and leaf_rows is not None and leaf_rows <= SMALL_LEAF_ROWS:
        return FILTERED_EF_SEARCH
    return search_width(leaf_rows)
