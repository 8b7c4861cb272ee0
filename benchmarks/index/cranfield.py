"""BM25 of the database beside bm25s on the same terms, and HNSW beside exact search, on the Cranfield collection.

    python -m benchmarks.index.cranfield FOLDER [--words] [--backend onnx --precision int8]

``--words`` leaves the model out and measures BM25 alone.
FOLDER has corpus.jsonl, queries.jsonl and qrels.tsv (1,400 abstracts, 225 queries, 1,837 judgements).
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from pgvector import HalfVector
from psycopg import sql

from benchmarks.index.corpora import BenchDocument, context_for, fill, fresh_database, publish, stage
from benchmarks.index.synthetic import vectors
from benchmarks.reporting import report
from benchmarks.retrieval.amplified import with_backend
from corpus_pipeline.embedding import load_model
from corpus_pipeline.index import Publication, analyser_of, publication, read_session
from corpus_pipeline.store import StageContext

RESULTS = Path(__file__).parent / "results"
K = 10
Run = dict[str, list[tuple[str, float]]]


def main() -> None:
    """Prints and stores the measures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--words", action="store_true", help="without vectors: nothing is embedded")
    parser.add_argument("--backend", default="torch", help="of the embedding model: torch, openvino or onnx")
    parser.add_argument("--precision", default="float32", help="of the embedding model: float32, bfloat16 or int8")
    arguments = parser.parse_args()
    folder, with_vectors = arguments.folder, not arguments.words
    if not (folder / "corpus.jsonl").is_file():
        parser.error(f"{folder} has no corpus.jsonl")
    import ir_measures

    texts = {row["id"]: row["text"].strip() or "(empty)" for row in _jsonl(folder / "corpus.jsonl")}
    queries = {row["id"]: row["text"] for row in _jsonl(folder / "queries.jsonl")}
    lines = (folder / "qrels.tsv").read_text().splitlines()[1:]
    qrels = [ir_measures.Qrel(q, d, int(r)) for q, d, r in (line.split("\t") for line in lines)]
    with tempfile.TemporaryDirectory() as state, fresh_database() as database:
        context = with_backend(context_for(database, "cranfield", Path(state)), arguments.backend, arguments.precision)
        passages, asked = _vectors(context, list(texts.values()), list(queries.values()), with_vectors=with_vectors)
        fill(
            context,
            (BenchDocument(key, [text]) for key, text in texts.items()),
            dict(zip(texts.values(), passages, strict=True)),
        )
        counts = stage(context).counts
        publish(context)
        ours, dense, seconds = _runs(context, queries, asked)
        reference = _bm25s(context, texts, queries)
    exact = _exact(list(texts), passages, dict(zip(queries, asked, strict=True)))
    measures = [ir_measures.nDCG @ K, ir_measures.R @ K, ir_measures.RR @ K]
    rankings = {"BM25, PostgreSQL": ours, "BM25, bm25s": reference}
    if with_vectors:
        rankings |= {"vectors, HNSW": dense, "vectors, exact": exact}
    rows = []
    for name, run in rankings.items():
        scored = [ir_measures.ScoredDoc(q, d, s) for q, found in run.items() for d, s in found]
        values = ir_measures.calc_aggregate(measures, qrels, scored)
        rows.append({"ranking": name} | {str(measure): round(values[measure], 4) for measure in measures})
    report(
        RESULTS,
        ("cranfield" if with_vectors else "cranfield_words")
        + ("" if arguments.precision == "float32" else f"_{arguments.precision}"),
        rows,
        {
            "documents": len(texts),
            "queries": len(queries),
            "largest difference of a BM25 score": _largest_difference(ours, reference),
            "same ten documents, BM25": _agreement(ours, reference),
            "same ten documents, vectors": _agreement(dense, exact),
            "ann_recall_at_10": counts["ann_recall_at_10"],
            "BM25 p50 ms": round(float(np.percentile(seconds, 50)) * 1000, 2),
            "BM25 p95 ms": round(float(np.percentile(seconds, 95)) * 1000, 2),
        },
    )


def _vectors(
    context: StageContext, texts: list[str], queries: list[str], *, with_vectors: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Vectors of the texts and the queries by the model, or any unit vectors."""
    if with_vectors:
        model = load_model(context.spec.embedding)
        return np.asarray(model.encode_passages(texts)), np.asarray(model.encode_queries(queries))
    return vectors(len(texts)), vectors(len(queries), seed=2)


def _jsonl(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


def _runs(context: StageContext, queries: dict[str, str], vectors: Any) -> tuple[Run, Run, list[float]]:
    words: Run = {}
    dense: Run = {}
    seconds = []
    known = _publication(context)
    analyser = analyser_of(known.analyser or {})
    nearest = sql.SQL(
        "SELECT fragment_id, 1 - (embedding <=> %s) AS score FROM {}"
        " WHERE corpus = %s AND serving_state = 'current' ORDER BY embedding <=> %s LIMIT %s"
    ).format(sql.Identifier("serving", known.serving_table))
    with read_session(context.database, groups=["everyone"], show_archived=False) as reader:
        # Without these the planner searches so small a leaf exactly, and the index goes unmeasured.
        reader.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off")
        for (key, _), vector in zip(queries.items(), vectors, strict=True):
            half = HalfVector(vector)
            found = reader.execute(nearest, (half, known.corpus, half, K)).fetchall()
            dense[key] = [(_name(row["fragment_id"]), row["score"]) for row in found]
        reader.execute("SET LOCAL enable_seqscan = on; SET LOCAL enable_sort = on")
        for key, text in queries.items():
            started = time.perf_counter()
            found = reader.execute(
                "SELECT fragment_id, bm25 FROM serving.lexical_candidates(%s, %s, '{}', %s)",
                (known.corpus, analyser.terms(text), K),
            ).fetchall()
            seconds.append(time.perf_counter() - started)
            words[key] = [(_name(row["fragment_id"]), row["bm25"]) for row in found]
    return words, dense, seconds


def _name(fragment_id: str) -> str:
    return fragment_id.split("/", 1)[1].split("::", 1)[0]


def _bm25s(context: StageContext, texts: dict[str, str], queries: dict[str, str]) -> Run:
    import bm25s

    analyser = analyser_of(_publication(context).analyser or {})
    retriever = bm25s.BM25(k1=1.5, b=0.75, method="lucene")
    retriever.index([analyser.words(text) for text in texts.values()], show_progress=False)
    found, scores = retriever.retrieve(
        [analyser.words(text) for text in queries.values()], k=K, corpus=list(texts), show_progress=False
    )
    return {
        key: [(str(name), float(score)) for name, score in zip(names, row, strict=True)]
        for key, names, row in zip(queries, found, scores, strict=True)
    }


def _publication(context: StageContext) -> Publication:
    with context.database.connection() as connection:
        known = publication(connection, context.spec.slug)
    assert known is not None
    return known


def _exact(names: list[str], vectors: Any, asked: dict[str, Any]) -> Run:
    run = {}
    for key, vector in asked.items():
        scores = vectors @ vector
        best = np.argsort(-scores, kind="stable")[:K]
        run[key] = [(names[place], float(scores[place])) for place in best]
    return run


def _largest_difference(left: Run, right: Run) -> float:
    differences = [
        abs(score - dict(right[key])[name])
        for key, found in left.items()
        for name, score in found
        if name in dict(right[key])
    ]
    return round(max(differences), 6)


def _agreement(left: Run, right: Run) -> float:
    return round(
        sum(len({name for name, _ in left[key]} & {name for name, _ in right[key]}) for key in left)
        / sum(map(len, right.values())),
        4,
    )


if __name__ == "__main__":
    main()
