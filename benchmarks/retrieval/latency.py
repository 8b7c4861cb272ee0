"""Milliseconds of a search by stage, through the Python interface, on a corpus of 100,000 fragments.

    python -m benchmarks.retrieval.latency FOLDER [--fragments 100000] [--questions 300] [--rounds 3] [--home FOLDER]

FOLDER has cranfield/ and chunking_evaluation/: their sentences, put together anew, are the corpus, and their questions
are asked. With ``--home`` the corpus and the vectors of the sentences are kept for the next run.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.chunking.vector_cache import VectorCache
from benchmarks.index.corpora import BenchDocument, add_vectors, context_for, fill, publish, stage
from benchmarks.reporting import report
from benchmarks.retrieval.amplified import Material, fragments, material, with_backend
from corpus_pipeline.embedding import load_model
from corpus_pipeline.index import publication
from corpus_pipeline.records import sha256_hex
from corpus_pipeline.retrieval import SearchRequest, SearchResult, search
from corpus_pipeline.settings import Settings
from corpus_pipeline.store import Database, StageContext

RESULTS = Path(__file__).parent / "results"
SLUG = "amplified"
GROUPS = ("everyone",)
WARM_UP = 200
"""Questions asked before, others than those that are measured: the server has read its tables into memory."""
KINDS: dict[str, dict[str, Any]] = {
    "hybrid": {},
    "dense": {"mode": "dense"},
    "sparse": {"mode": "sparse"},
    "hybrid, filter of 1 %": {"filters": {"product": "Chatlogs"}},
}
_DOCUMENTS_AT_ONCE = 1_000


def main() -> None:
    """Prints and stores the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--fragments", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3, help="how often all questions are asked, one after the other")
    parser.add_argument("--home", type=Path, default=None)
    parser.add_argument("--backend", default="onnx", help="of the embedding model: openvino, onnx or torch")
    parser.add_argument("--precision", default="float32", help="of the embedding model: float32, bfloat16 or int8")
    arguments = parser.parse_args()
    if not (arguments.folder / "cranfield" / "corpus.jsonl").is_file():
        parser.error(f"{arguments.folder} has no cranfield/corpus.jsonl")
    source = material(arguments.folder)
    with _state(arguments.home) as home, Database.open(Settings(home=home)) as database:
        context = with_backend(context_for(database, SLUG, home), arguments.backend, arguments.precision)
        prepare(context, source, arguments.fragments)
        chance = np.random.default_rng(3)
        shuffled = [source.questions[at] for at in chance.permutation(len(source.questions))]
        asked, others = shuffled[: arguments.questions], shuffled[arguments.questions :]
        rows = [
            row
            for kind, options in KINDS.items()
            for row in measured(context, kind, asked * arguments.rounds, others[:WARM_UP], options)
        ]
    report(
        RESULTS,
        f"latency_{arguments.fragments}" + ("" if arguments.precision == "float32" else f"_{arguments.precision}"),
        rows,
        {
            "fragments": arguments.fragments,
            "questions": len(asked),
            "rounds": arguments.rounds,
            "asked before": len(others[:WARM_UP]),
            "top_k": 5,
            "groups": GROUPS,
            "embedding": f"{context.spec.embedding.model}, {arguments.backend}, {arguments.precision}",
            "threads": os.environ.get("OMP_NUM_THREADS", "as many as cores"),
        },
    )


@contextmanager
def _state(home: Path | None) -> Iterator[Path]:
    if home is not None:
        home.mkdir(parents=True, exist_ok=True)
        yield home.absolute()
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def prepare(context: StageContext, source: Material, count: int) -> None:
    """Fills, stages and publishes the corpus, unless it is there."""
    with context.database.connection() as connection:
        if publication(connection, SLUG) is not None:
            return
    sentences = source.sentences
    with VectorCache(context.settings.state_folder / "sentences.sqlite", load_model(context.spec.embedding)) as cache:
        vectors = dict(zip(sentences, cache.vectors(sentences), strict=True))
    print(f"{len(sentences):,} distinct sentences of {len(source.sections):,} stretches of text")
    batch: list[tuple[BenchDocument, np.ndarray]] = []
    for pair in fragments(source, vectors, count):
        batch.append(pair)
        if len(batch) == _DOCUMENTS_AT_ONCE:
            _fill(context, batch)
            batch.clear()
    if batch:
        _fill(context, batch)
    with context.database.session() as connection:
        connection.execute("ANALYZE")
    stage(context)
    publish(context)
    with context.database.session() as connection:
        connection.execute("VACUUM ANALYZE")


def _fill(context: StageContext, batch: list[tuple[BenchDocument, np.ndarray]]) -> None:
    fill(context, [document for document, _ in batch])
    with context.database.connection() as connection:
        pairs = (
            (sha256_hex(text), row) for document, rows in batch for text, row in zip(document.texts, rows, strict=True)
        )
        add_vectors(connection, context, pairs)


def measured(
    context: StageContext, kind: str, questions: list[str], before: list[str], options: dict[str, Any]
) -> list[dict[str, Any]]:
    """A row for each stage, and some for the whole of the search, by the clock and in processor time.

    A question that is there several times has its median as well: the machine's own unrest does not count in it.
    """

    def ask(question: str) -> SearchResult:
        return search(context.database, context.registry, SearchRequest(query=question, groups=GROUPS, **options))

    for question in before or questions[:1]:
        ask(question)
    whole: list[float] = []
    processor: list[float] = []
    stages: dict[str, list[float]] = {}
    outside: list[float] = []
    by_question: dict[str, list[float]] = {}
    unrest: list[float] = []
    accepted = 0
    for question in questions:
        unrest.append(_fixed_work())
        result, wall, spent = _timed(ask, question)
        by_question.setdefault(question, []).append(wall)
        whole.append(wall)
        processor.append(spent)
        accepted += len(result.accepted)
        for one in result.trace:
            stages.setdefault(one.stage, []).append(one.milliseconds)
        outside.append(wall - covered([(one.begins_at, one.begins_at + one.milliseconds) for one in result.trace]))
    rows = [_row(kind, name, each) for name, each in stages.items()]
    rows.append(_row(kind, "outside the stages", outside))
    rows.append(_row(kind, "whole, by the clock", whole))
    rows.append(_row(kind, "whole, each question's median", [median(each) for each in by_question.values()]))
    rows.append(_row(kind, "a fixed piece of work in between", unrest))
    rows.append(_row(kind, "whole, processor time of the client", processor))
    print(f"{kind}: {accepted / len(questions):.1f} fragments accepted a question")
    return rows


def covered(spans: list[tuple[float, float]]) -> float:
    """How much time at least one of some spans lasts: stages run side by side.

    >>> covered([(0, 2), (1, 4), (6, 7)])
    5.0
    """
    total, reached = 0.0, float("-inf")
    for begin, end in sorted(spans):
        total += max(0.0, end - max(begin, reached))
        reached = max(reached, end)
    return total


def _fixed_work() -> float:
    """Milliseconds of always the same computation: how even the machine runs by itself."""
    started, total = time.perf_counter(), 0
    for number in range(50_000):
        total += number
    return (time.perf_counter() - started) * 1000


def _timed(ask: Callable[[str], SearchResult], question: str) -> tuple[SearchResult, float, float]:
    started, busy = time.perf_counter(), time.process_time()
    result = ask(question)
    return result, (time.perf_counter() - started) * 1000, (time.process_time() - busy) * 1000


def _row(kind: str, name: str, milliseconds: list[float]) -> dict[str, Any]:
    return {"search": kind, "stage": name} | {
        f"p{each} ms": round(float(np.percentile(milliseconds, each)), 2) for each in (50, 95)
    }


if __name__ == "__main__":
    main()
