"""A generated corpus with planted duplicates, clustered from nothing; then a night with new documents.

    python benchmarks/deduplication/scale.py [--documents 100000] [--new 100] [--workers 2]

One document in five is planted: a copy, or a copy with a changed sentence. The night adds as many
documents as asked for, a fifth of them planted. Seconds are of the clock, workers
and database server included; processor time and memory are those of the main process.
"""

from __future__ import annotations

import argparse
import random
import resource
import time
from collections.abc import Iterator, Sequence

import numpy as np
from reporting import fresh_database, machine, report

from corpus_pipeline.deduplication import repository
from corpus_pipeline.deduplication.clusters import form_clusters, form_edges
from corpus_pipeline.deduplication.comparison import compare_documents
from corpus_pipeline.deduplication.parameters import comparison_parameters
from corpus_pipeline.records import DuplicateCluster, Stage, sha256_hex
from corpus_pipeline.registry import DeduplicationSpec
from corpus_pipeline.store import Database, SilentProgress

PARAMETERS = comparison_parameters(DeduplicationSpec())
SENTENCES = 25
SENTENCE_WORDS = 12


class Corpus:
    """Texts made from their number, so that they need no memory."""

    def __init__(self) -> None:
        letters = "etaoinshrdlucmfwypvbgkjqxz"
        generator = random.Random(1)
        self.vocabulary = ["".join(generator.choices(letters, k=generator.randint(2, 10))) for _ in range(30_000)]
        self.number_of: dict[str, int] = {}

    def origin(self, number: int) -> int:
        """The document it is planted from, or itself."""
        return number - 1 - (number // 5) % 4 if number % 5 == 4 and number > 4 else number

    def text(self, number: int) -> str:
        lines = self.sentences(self.origin(number), SENTENCES)
        if self.origin(number) != number and number % 2:
            lines[number % SENTENCES] = self.sentences(number, 1)[0]
        return ".\n".join(lines)

    def sentences(self, seed: int, count: int) -> list[str]:
        chosen = np.random.default_rng(seed).integers(0, len(self.vocabulary), (count, SENTENCE_WORDS)).tolist()
        return [" ".join([self.vocabulary[index] for index in sentence]) for sentence in chosen]

    def listing(self, numbers: range) -> list[tuple[str, str]]:
        found = []
        for number in numbers:
            key = sha256_hex(self.text(number))
            self.number_of[key] = number
            found.append((f"generated/{number:07}", key))
        return found

    def __call__(self, text_sha256s: Sequence[str]) -> Iterator[tuple[str, str]]:
        for key in text_sha256s:
            yield key, self.text(self.number_of[key])


class Timed(SilentProgress):
    """Notes when each piece of work began."""

    def __init__(self) -> None:
        self.begun = [("listing", time.perf_counter())]

    def start(self, stage: Stage, total: int | None, what: str) -> None:  # noqa: ARG002 - the protocol's
        self.begun.append((what, time.perf_counter()))

    def seconds(self) -> dict[str, float]:
        ends = [moment for _, moment in self.begun[1:]] + [time.perf_counter()]
        return {what: round(end - moment, 2) for (what, moment), end in zip(self.begun, ends, strict=True)}


def cpu_seconds() -> float:
    """Processor time of this process, the making of the texts included; not that of workers and server."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def run(
    database: Database, corpus: Corpus, listing: list[tuple[str, str]], workers: int
) -> tuple[dict[str, object], list[DuplicateCluster]]:
    started, processor, progress = time.perf_counter(), cpu_seconds(), Timed()
    comparison = compare_documents(
        database, listing, corpus, PARAMETERS, remove_boilerplate=True, workers=workers, progress=progress
    )
    progress.start(Stage.NEAR_DUPLICATE_CLUSTERS, None, "clusters and writing")
    edges = form_edges(comparison.documents, comparison.pairs, PARAMETERS)
    clusters = form_clusters("generated", comparison.documents, edges)
    with database.connection() as connection:
        repository.replace_comparison(connection, "generated", comparison.documents, edges, clusters)
    row: dict[str, object] = {
        "documents": len(listing),
        "computed": comparison.computed,
        "seconds": round(time.perf_counter() - started, 2),
        "main_cpu_seconds": round(cpu_seconds() - processor, 2),
        "edges": len(edges),
        "clusters": len(clusters),
        "steps": progress.seconds(),
    }
    return row, clusters


def planted_recall(corpus: Corpus, count: int, clusters: list[DuplicateCluster]) -> tuple[int, float, int]:
    """Planted documents, the share of them clustered with their origin, and clusters joining unlike origins."""
    cluster_of = {member: cluster.cluster_id for cluster in clusters for member in cluster.members}
    planted = [number for number in range(count) if corpus.origin(number) != number]
    found = sum(
        cluster_of.get(f"generated/{n:07}", "-") == cluster_of.get(f"generated/{corpus.origin(n):07}", "+")
        for n in planted
    )
    mixed = sum(len({corpus.origin(int(member[-7:])) for member in cluster.members}) > 1 for cluster in clusters)
    return len(planted), found / len(planted), mixed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--new", type=int, default=100)
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    corpus = Corpus()
    count, more = arguments.documents, arguments.documents + arguments.new
    listing = corpus.listing(range(more))
    with fresh_database() as database:
        first, clusters = run(database, corpus, listing[:count], arguments.workers)
        planted, recall, mixed = planted_recall(corpus, count, clusters)
        night, _ = run(database, corpus, listing, arguments.workers)
        unchanged, _ = run(database, corpus, listing, arguments.workers)
    memory = {"peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}
    rows = [{"run": name} | row for name, row in (("from nothing", first), ("night", night), ("unchanged", unchanged))]
    conditions = {"workers": arguments.workers, "planted": planted, "planted_recall": recall, "mixed_clusters": mixed}
    report(f"scale_{count}", rows, conditions | memory | machine())


if __name__ == "__main__":
    main()
