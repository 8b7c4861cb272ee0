"""Compares texts in an empty database, as the stage does."""

from __future__ import annotations

import time
from typing import NamedTuple

from reporting import fresh_database

from corpus_pipeline.deduplication.change import ComparisonChange
from corpus_pipeline.deduplication.comparison import Changes, compare_corpus
from corpus_pipeline.deduplication.parameters import comparison_parameters
from corpus_pipeline.records import DuplicateCluster, DuplicateEdge, sha256_hex
from corpus_pipeline.registry import DeduplicationSpec
from corpus_pipeline.store import SilentProgress


class Compared(NamedTuple):
    """Everything a comparison from nothing found."""

    edges: list[DuplicateEdge]
    clusters: list[DuplicateCluster]
    change: ComparisonChange
    seconds: float


def compared(texts: dict[str, str], spec: DeduplicationSpec, workers: int = 1) -> Compared:
    """Edges and clusters of texts by document id."""
    hashes = {name: sha256_hex(text) for name, text in texts.items()}
    by_sha256 = {hashes[name]: text for name, text in texts.items()}
    with fresh_database() as database:
        started = time.perf_counter()
        change = compare_corpus(
            database,
            "c",
            lambda *_: Changes(sorted(hashes.items()), []),
            lambda wanted: ((key, by_sha256[key]) for _, key in wanted),
            comparison_parameters(spec),
            remove_boilerplate=spec.remove_boilerplate,
            workers=workers,
            progress=SilentProgress(),
        )
        seconds = time.perf_counter() - started
    return Compared(change.edges_after, change.clusters_after, change, seconds)
