"""A generated corpus with planted duplicates, clustered from nothing by the stage itself; then nights.

    python benchmarks/deduplication/scale.py [--documents 10000 30000 100000] [--new 100] [--workers 2]

One document in five is planted: a copy, or a copy with a changed sentence. The documents lie in the conversion
tables of an embedded PostgreSQL; what is measured is the whole asset ``near_duplicate_clusters``: reading and
unpacking texts, profiles, signatures, candidates, verified pairs, clusters, and everything it writes. A night adds
as many documents as asked for, a fifth of them planted; the one after it finds nothing new. Seconds are of the
clock; processor time is that of this process, its workers and the database server together; memory is the largest
proportional share (PSS) of all of them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import threading
import time
import zlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from psycopg.types.json import Jsonb
from reporting import fresh_server, machine, report

from corpus_pipeline.deduplication import cluster_corpus, duplicate_clusters
from corpus_pipeline.records import Block, BlockKind, ConvertedDocument, Stage, canonical_json, sha256_hex
from corpus_pipeline.registry import CorpusSpec, Registry, SourceSpec
from corpus_pipeline.settings import Settings
from corpus_pipeline.store import Database, SilentProgress, StageContext, StageResult, load_queries

SENTENCES = 25
SENTENCE_WORDS = 12
CORPUS = "generated"


class Corpus:
    """Texts made from their number."""

    def __init__(self) -> None:
        letters = "etaoinshrdlucmfwypvbgkjqxz"
        generator = random.Random(1)
        self.vocabulary = ["".join(generator.choices(letters, k=generator.randint(2, 10))) for _ in range(30_000)]

    def origin(self, number: int) -> int:
        """The document it is planted from, or itself."""
        return number - 1 - (number // 5) % 4 if number % 5 == 4 and number > 4 else number

    def lines(self, number: int) -> list[str]:
        lines = self.sentences(self.origin(number), SENTENCES)
        if self.origin(number) != number and number % 2:
            lines[number % SENTENCES] = self.sentences(number, 1)[0]
        return lines

    def sentences(self, seed: int, count: int) -> list[str]:
        chosen = np.random.default_rng(seed).integers(0, len(self.vocabulary), (count, SENTENCE_WORDS)).tolist()
        return [" ".join([self.vocabulary[index] for index in sentence]) + "." for sentence in chosen]


def converted(lines: list[str], block: dict[str, Any]) -> tuple[str, bytes]:
    """Text and stored form, as the conversion room keeps them."""
    blocks, position = [], 0
    for line in lines:
        blocks.append(block | {"text": line, "char_start": position, "char_end": position + len(line)})
        position += len(line) + 2
    text = "\n\n".join(lines)
    whole = {"blocks": blocks, "language": None, "page_count": None, "properties": {}, "text": text, "title": None}
    return text, zlib.compress(canonical_json(whole).encode())


CONVERSIONS = """COPY corpus.conversions (source_sha256, converter_fingerprint, effective_converter, document_sha256,
    text_sha256, char_count, properties, content, elapsed_seconds) FROM STDIN"""
DOCUMENTS = """COPY corpus.documents (corpus, document_id, relative_path, source_uri, source_sha256, source_extension,
    size_bytes, requested_converter, effective_converter, processor_version, converter_fingerprint, document_sha256,
    text_sha256, char_count, metadata, metadata_provenance, properties) FROM STDIN"""


def store(database: Database, corpus: Corpus, numbers: range) -> None:
    """Puts documents where the conversion leaves them."""
    one = ConvertedDocument.from_blocks([Block(kind=BlockKind.PARAGRAPH, text="a")])
    block = one.blocks[0].model_dump(mode="json")
    contents: dict[str, tuple[Any, ...]] = {}
    rows = []
    for number in numbers:
        text, content = converted(corpus.lines(number), block)
        sha256, name = sha256_hex(text), f"{number:07}.md"
        source = hashlib.sha256(f"{number}".encode()).hexdigest()
        contents[source] = (source, "f", "markdown", sha256, sha256, len(text), Jsonb({}), content, 0.0)
        rows.append(
            (CORPUS, f"{CORPUS}/{name}", name, f"file:///docs/{name}", source, "md", len(text), "markdown", "markdown",
             "1", "f", sha256, sha256, len(text), Jsonb({}), Jsonb({}), Jsonb({}))
        )  # fmt: skip
    with database.connection() as connection:
        for statement, values in ((CONVERSIONS, contents.values()), (DOCUMENTS, rows)):
            with connection.cursor().copy(statement) as copy:
                for row in values:
                    copy.write_row(row)
        load_queries("store").record_stage(
            connection, corpus=CORPUS, stage=Stage.CONVERTED_DOCUMENTS.value, input_sha256="",
            output_sha256=f"{numbers.stop}", as_of=date(2026, 1, 1), run_id="r", counts=Jsonb({}), elapsed_seconds=0.0,
        )  # fmt: skip


class Timed(SilentProgress):
    """Notes when each piece of work began."""

    def __init__(self) -> None:
        self.begun = [("changes", time.perf_counter())]

    def start(self, stage: Stage, total: int | None, what: str) -> None:  # noqa: ARG002 - the protocol's
        self.begun.append((what, time.perf_counter()))

    def advance(self, items: int = 1) -> None:  # noqa: ARG002 - the protocol's
        self.last = time.perf_counter()

    def seconds(self) -> dict[str, float]:
        ends = [moment for _, moment in self.begun[1:]] + [time.perf_counter()]
        return {what: round(end - moment, 2) for (what, moment), end in zip(self.begun, ends, strict=True)}


class Machine:
    """Processor time and memory of this process, its children, and a database server."""

    def __init__(self, folder: Path) -> None:
        self.server = psutil.Process(int(next(folder.rglob("postmaster.pid")).read_text().splitlines()[0]))
        self.peak = 0
        self._over = threading.Event()

    def processes(self) -> Iterator[psutil.Process]:
        mine = psutil.Process()
        seen = set()
        for process in (mine, *mine.children(recursive=True), self.server, *self.server.children(recursive=True)):
            if process.pid not in seen:
                seen.add(process.pid)
                yield process

    def cpu(self) -> float:
        """Seconds; what ended children used is counted by their parents."""
        total = 0.0
        for process in self.processes():
            try:
                times = process.cpu_times()
            except psutil.Error:
                continue
            total += times.user + times.system + times.children_user + times.children_system
        return total

    def watch(self) -> None:
        while not self._over.wait(0.5):
            total = 0
            for process in self.processes():
                try:
                    total += process.memory_full_info().pss
                except psutil.Error:
                    continue
            self.peak = max(self.peak, total)

    def stop(self) -> None:
        self._over.set()


def run(context: StageContext, here: Machine, name: str) -> tuple[dict[str, object], StageResult]:
    progress = Timed()
    started, processor = time.perf_counter(), here.cpu()
    result = cluster_corpus(replace(context, progress=progress))
    row: dict[str, object] = {
        "run": name,
        "documents": result.counts["documents"],
        "signed": result.counts["signatures_computed"],
        "candidates": result.counts["candidates_compared"],
        "clusters": result.counts["clusters"],
        "seconds": round(time.perf_counter() - started, 2),
        "cpu_seconds": round(here.cpu() - processor, 2),
        "steps": json.dumps(progress.seconds()),
    }
    return row, result


def planted_recall(corpus: Corpus, count: int, database: Database) -> dict[str, float]:
    """The share of planted documents clustered with their origin, and clusters joining unlike origins."""
    with database.connection() as connection:
        clusters = duplicate_clusters(connection, CORPUS)
    number_of = {member: int(Path(member).stem) for cluster in clusters for member in cluster.members}
    cluster_of = {number_of[member]: cluster.cluster_id for cluster in clusters for member in cluster.members}
    planted = [number for number in range(count) if corpus.origin(number) != number]
    found = sum(cluster_of.get(n, "-") == cluster_of.get(corpus.origin(n), "+") for n in planted)
    mixed = sum(len({corpus.origin(number_of[member]) for member in cluster.members}) > 1 for cluster in clusters)
    return {"planted": len(planted), "planted_recall": found / len(planted), "mixed_clusters": mixed}


def measure(corpus: Corpus, count: int, new: int, workers: int) -> tuple[list[dict[str, object]], dict[str, float]]:
    with fresh_server() as (database, name):
        folder = Path(name)
        spec = CorpusSpec(slug=CORPUS, base_folder=folder, owner="docs@example.com", source=SourceSpec(url="docs"))
        registry = Registry(path=folder / "corpora.yaml", corpora={CORPUS: spec})
        settings = Settings(home=folder, config=folder / "corpora.yaml", workers=workers)
        context = StageContext(database, settings, registry, spec, date(2026, 1, 1), "run")
        store(context.database, corpus, range(count))
        here = Machine(folder)
        threading.Thread(target=here.watch, daemon=True).start()
        rows = [run(context, here, "from nothing")[0]]
        here.stop()
        found = planted_recall(corpus, count, context.database)
        for night in (1, 2, 3):
            store(context.database, corpus, range(count + (night - 1) * new, count + night * new))
            rows.append(run(context, here, f"night with {new} new")[0])
        rows.append(run(context, here, "unchanged")[0])
    return rows, found | {"peak_pss_mb": here.peak // 2**20}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, nargs="+", default=[10_000, 30_000, 100_000])
    parser.add_argument("--new", type=int, default=100)
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    corpus, rows, conditions = Corpus(), [], {"workers": arguments.workers}
    for count in arguments.documents:
        measured, found = measure(corpus, count, arguments.new, arguments.workers)
        rows += measured
        conditions[str(count)] = found | {"load_average_after": round(os.getloadavg()[0], 2)}
        report("scale", rows, conditions | machine())


if __name__ == "__main__":
    main()
