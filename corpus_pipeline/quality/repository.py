"""Figures that only the suites need: the named queries of ``sql/queries/quality.sql``."""

from __future__ import annotations

from typing import Any

from corpus_pipeline.store import Connection, load_queries

__all__ = ["fragment_coverage", "served_through_others", "vector_dimensions", "vector_faults"]


def fragment_coverage(connection: Connection, corpus: str) -> list[dict[str, Any]]:
    """Per document: ``fragments``, ``max_tokens``, ``covered_characters``, ``covered_by_parents``."""
    return list(load_queries("quality").fragment_coverage(connection, corpus=corpus))


def vector_faults(connection: Connection, corpus: str, fingerprint: str) -> list[dict[str, Any]]:
    """Per document: ``missing_vectors`` and ``norm_error``."""
    return list(load_queries("quality").vector_faults(connection, corpus=corpus, fingerprint=fingerprint))


def vector_dimensions(connection: Connection, corpus: str, fingerprint: str) -> int:
    """Number of different vector dimensions in the corpus; 1 when all is well."""
    return int(load_queries("quality").vector_dimensions(connection, corpus=corpus, fingerprint=fingerprint) or 0)


def served_through_others(connection: Connection, corpus: str) -> int:
    """Number of current fragments without a row of their own, because the first of their kind cites them."""
    return int(load_queries("quality").served_through_others(connection, corpus=corpus))
