"""Dense, sparse, hybrid and reranked search through the index on the Cranfield collection, with paired intervals.

    python -m benchmarks.retrieval.cranfield FOLDER [--queries N] [--depth 50] [--cache FOLDER]

FOLDER has corpus.jsonl, queries.jsonl and qrels.tsv (1,400 abstracts, 225 queries, 1,837 judgements). An abstract is
one fragment, its title before it as the pipeline puts it before every fragment. Thresholds and diversity are off: what
is compared is the order. All else is as a corpus has it that configures nothing. With ``--cache`` vectors and
probabilities of the cross-encoder are kept for the next run, or for one that was cut short.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import tempfile
import time
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.chunking.vector_cache import VectorCache
from benchmarks.index.corpora import BenchDocument, context_for, fill, fresh_database, publish, stage
from benchmarks.reporting import report
from benchmarks.retrieval.amplified import with_backend
from corpus_pipeline.embedding import load_model
from corpus_pipeline.index import publication, read_session
from corpus_pipeline.records import sha256_hex
from corpus_pipeline.retrieval import (
    Question,
    Reranker,
    SearchRequest,
    SearchTarget,
    load_reranker,
    rank_fragments,
    ranking,
)
from corpus_pipeline.retrieval.packaged_rerankers import PACKAGED_CROSS_ENCODER, PACKAGED_EMBEDDING
from corpus_pipeline.store import StageContext

RESULTS = Path(__file__).parent / "results"
K = 10
SAMPLES = 2000
SYSTEMS: dict[str, dict[str, Any]] = {
    "sparse": {"mode": "sparse"},
    "dense": {"mode": "dense"},
    "hybrid": {"mode": "hybrid"},
    "reranked": {"mode": "hybrid", "reranker": PACKAGED_EMBEDDING},
    "reranked by cross-encoder": {"mode": "hybrid", "reranker": PACKAGED_CROSS_ENCODER},
}
Runs = dict[str, dict[str, list[str]]]


def main() -> None:
    """Prints and stores the measures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--queries", type=int, default=None, help="only the first N queries")
    parser.add_argument("--depth", type=int, default=50, help="candidates that a reranker reads; 0: no reranker")
    parser.add_argument("--cross-encoder", action="store_true", help="also reranked by the cross-encoder (slow)")
    parser.add_argument("--cache", type=Path, default=None)
    parser.add_argument("--backend", default="openvino", help="of the embedding model: openvino, onnx or torch")
    parser.add_argument("--precision", default="float32", help="of the embedding model: float32, bfloat16 or int8")
    arguments = parser.parse_args()
    folder: Path = arguments.folder
    if not (folder / "corpus.jsonl").is_file():
        parser.error(f"{folder} has no corpus.jsonl")
    rows = _jsonl(folder / "corpus.jsonl")
    texts = {row["id"]: _text(row) for row in rows}
    queries = {row["id"]: row["text"] for row in _jsonl(folder / "queries.jsonl")[: arguments.queries]}
    with tempfile.TemporaryDirectory() as state, fresh_database() as database:
        cache = arguments.cache or Path(state)
        context = with_backend(context_for(database, "cranfield", Path(state)), arguments.backend, arguments.precision)
        model = load_model(context.spec.embedding)
        with VectorCache(cache / "vectors.sqlite", model) as kept:
            vectors = kept.vectors(list(texts.values()))
            asked = dict(zip(queries, kept.vectors(list(queries.values())), strict=True))
        fill(
            context,
            (BenchDocument(key, [text]) for key, text in texts.items()),
            dict(zip(texts.values(), vectors, strict=True)),
        )
        stage(context)
        publish(context)
        cached = CachedReranker(load_reranker(PACKAGED_CROSS_ENCODER), cache / "reranked.sqlite")
        vars(ranking)["load_reranker"] = lambda name: cached if name == PACKAGED_CROSS_ENCODER else load_reranker(name)
        systems = _systems(arguments.depth, cross_encoder=arguments.cross_encoder)
        runs = {name: ranked(context, queries, asked, options) for name, options in systems.items()}
    lines = (folder / "qrels.tsv").read_text().splitlines()[1:]
    judgements = [(q, d, int(r)) for q, d, r in (line.split("\t") for line in lines) if q in queries]
    conditions = {
        "embedding": f"{context.spec.embedding.model}, {arguments.backend}, {arguments.precision}",
        "depth": arguments.depth,
    }
    summarise(runs, judgements, conditions | {"seconds per pair": cached.seconds_per_pair})


def _systems(depth: int, *, cross_encoder: bool) -> dict[str, dict[str, Any]]:
    wanted = {"sparse", "dense", "hybrid"} | ({"reranked"} if depth else set())
    wanted |= {"reranked by cross-encoder"} if depth and cross_encoder else set()
    return {
        name: options | ({"rerank_candidates": depth} if "reranker" in options else {})
        for name, options in SYSTEMS.items()
        if name in wanted
    }


class CachedReranker:
    """A cross-encoder whose probabilities are kept in a file."""

    def __init__(self, reranker: Reranker, path: Path) -> None:
        self.name = reranker.name
        self._reranker = reranker
        self._database = sqlite3.connect(path)
        self._database.execute("CREATE TABLE IF NOT EXISTS probabilities (key TEXT PRIMARY KEY, value REAL NOT NULL)")
        self._pairs, self._seconds = 0, 0.0

    @property
    def seconds_per_pair(self) -> float | None:
        """Processor time of the pairs that were read in this run."""
        return round(self._seconds / self._pairs, 4) if self._pairs else None

    def probabilities(self, question: str, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """See :class:`Reranker`."""
        keys = [sha256_hex(f"{self.name}\n{question}\n{text}") for text in texts]
        known = {key: self._known(key) for key in keys}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if known[key] is None}
        if missing:
            started = time.process_time()
            found = self._reranker.probabilities(question, list(missing.values()))
            self._seconds += time.process_time() - started
            self._pairs += len(missing)
            read = dict(zip(missing, map(float, found), strict=True))
            self._database.executemany("INSERT OR IGNORE INTO probabilities VALUES (?, ?)", read.items())
            self._database.commit()
            known.update(read)
        return np.array([known[key] for key in keys], np.float64)

    def _known(self, key: str) -> float | None:
        row = self._database.execute("SELECT value FROM probabilities WHERE key = ?", (key,)).fetchone()
        return float(row[0]) if row else None


def ranked(
    context: StageContext, queries: dict[str, str], vectors: dict[str, Any], options: dict[str, Any]
) -> dict[str, list[str]]:
    """Document names by query, best first."""
    with context.database.connection() as connection:
        known = publication(connection, context.spec.slug)
    assert known is not None
    target = SearchTarget(
        known.corpus, known.generation, known.serving_table, known.embedding_fingerprint, known.analyser
    )
    found = {}
    with read_session(context.database, groups=["everyone"], show_archived=False) as reader:
        for key, text in queries.items():
            request = SearchRequest(query=text, top_k=K, min_score=-1.0, max_similarity=1.0, **options)
            question = Question(request, {target.space: vectors[key]}, date(2026, 11, 1))
            accepted = rank_fragments(reader, [target], question).accepted
            found[key] = [one.document_id.split("/", 1)[1] for one in accepted]
    return found


def summarise(runs: Runs, judgements: list[tuple[str, str, int]], conditions: dict[str, Any]) -> None:
    """Means with intervals, and each system beside the one before it with a paired bootstrap interval."""
    import ir_measures

    qrels = [ir_measures.Qrel(*one) for one in judgements]
    measures = [ir_measures.nDCG @ K, ir_measures.R @ K, ir_measures.RR @ K]
    by_query: dict[str, dict[str, float]] = {}
    rows = []
    for name, run in runs.items():
        scored = [
            ir_measures.ScoredDoc(q, document, float(-place))
            for q, documents in run.items()
            for place, document in enumerate(documents)
        ]
        values = ir_measures.calc_aggregate(measures, qrels, scored)
        by_query[name] = {one.query_id: one.value for one in ir_measures.iter_calc([measures[0]], qrels, scored)}
        figures = {str(measure): round(values[measure], 4) for measure in measures}
        rows.append({"ranking": name} | figures | {"95 % of nDCG@10": _interval(list(by_query[name].values()))})
    pairs = [("hybrid", "sparse"), ("hybrid", "dense"), ("reranked", "hybrid")]
    pairs += [("reranked by cross-encoder", "hybrid")]
    gains = {f"{one} - {other}": gain(by_query[one], by_query[other]) for one, other in pairs if one in runs}
    report(
        RESULTS, "cranfield", rows, {"queries": len(runs["dense"]), "nDCG@10 gains, 95 % paired": gains} | conditions
    )


def gain(one: dict[str, float], other: dict[str, float]) -> dict[str, Any]:
    """Mean difference over the queries and its paired bootstrap interval (percentiles, fixed seed)."""
    differences = [one[key] - other[key] for key in sorted(one)]
    return {"mean": round(float(np.mean(differences)), 4), "interval": _interval(differences)}


def _interval(values: list[float]) -> list[float]:
    drawn = np.random.default_rng(1).choice(np.array(values), (SAMPLES, len(values))).mean(axis=1)
    return [round(float(each), 4) for each in np.percentile(drawn, [2.5, 97.5])]


def _text(row: dict[str, Any]) -> str:
    """Title, newline, abstract: what the pipeline embeds of a document with a title."""
    return f"{str(row.get('title') or '').strip()}\n{str(row['text']).strip()}".strip() or "(empty)"


def _jsonl(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


if __name__ == "__main__":
    main()
