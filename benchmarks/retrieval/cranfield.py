"""Dense, sparse, hybrid and reranked search through the index on the Cranfield collection, with paired intervals.

    python -m benchmarks.retrieval.cranfield FOLDER [--queries N]

FOLDER has corpus.jsonl, queries.jsonl and qrels.tsv (1,400 abstracts, 225 queries, graded judgements). An abstract is
one fragment. Thresholds and diversity are off: what is compared is the order.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.index.corpora import BenchDocument, context_for, fill, fresh_database, publish, stage
from corpus_pipeline.embedding import load_model
from corpus_pipeline.index import publication, read_session
from corpus_pipeline.retrieval import Question, SearchRequest, SearchTarget, rank_fragments
from corpus_pipeline.retrieval.reranking import PACKAGED_RERANKER
from corpus_pipeline.store import StageContext

K = 10
SAMPLES = 2000
RESULTS = Path(__file__).parent / "results"
SYSTEMS: dict[str, dict[str, Any]] = {
    "sparse": {"mode": "sparse"},
    "dense": {"mode": "dense"},
    "hybrid": {"mode": "hybrid"},
    "reranked": {"mode": "hybrid", "reranker": PACKAGED_RERANKER, "rerank_candidates": 50},
}
Runs = dict[str, dict[str, list[str]]]


def main() -> None:
    """Prints and stores the measures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--queries", type=int, default=None, help="only the first N queries")
    arguments = parser.parse_args()
    folder: Path = arguments.folder
    rows = _jsonl(folder / "corpus.jsonl")
    texts = {row["id"]: _text(row) for row in rows}
    queries = {row["id"]: row["text"] for row in _jsonl(folder / "queries.jsonl")[: arguments.queries]}
    with tempfile.TemporaryDirectory() as state, fresh_database() as database:
        context = context_for(database, "cranfield", Path(state))
        model = load_model(context.spec.embedding)
        vectors = model.encode_passages(list(texts.values()))
        asked = dict(zip(queries, model.encode_queries(list(queries.values())), strict=True))
        fill(
            context,
            (BenchDocument(key, [text]) for key, text in texts.items()),
            dict(zip(texts.values(), vectors, strict=True)),
        )
        stage(context)
        publish(context)
        runs = {name: ranked(context, queries, asked, options) for name, options in SYSTEMS.items()}
    lines = (folder / "qrels.tsv").read_text().splitlines()[1:]
    judgements = [(q, d, int(r)) for q, d, r in (line.split("\t") for line in lines) if q in queries]
    report(runs, judgements)


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
            request = SearchRequest(
                query=text, top_k=K, fetch_multiplier=10, min_score=-1.0, max_similarity=1.0, **options
            )
            question = Question(request, {target.space: vectors[key]}, date(2026, 11, 1))
            ranking = rank_fragments(reader, [target], question)
            found[key] = [one.document_id.split("/", 1)[1] for one in ranking.accepted]
    return found


def report(runs: Runs, judgements: list[tuple[str, str, int]]) -> None:
    """Means, and each system beside the one before it with a paired bootstrap interval."""
    import ir_measures

    qrels = [ir_measures.Qrel(*one) for one in judgements]
    measures = [ir_measures.nDCG @ K, ir_measures.R @ K, ir_measures.RR @ K]
    by_query = {}
    rows = []
    for name, run in runs.items():
        scored = [
            ir_measures.ScoredDoc(q, document, float(-place))
            for q, documents in run.items()
            for place, document in enumerate(documents)
        ]
        values = ir_measures.calc_aggregate(measures, qrels, scored)
        by_query[name] = {one.query_id: one.value for one in ir_measures.iter_calc([measures[0]], qrels, scored)}
        rows.append({"ranking": name} | {str(measure): round(values[measure], 4) for measure in measures})
    table = Table(*rows[0], title="cranfield")
    for row in rows:
        table.add_row(*map(str, row.values()))
    console = Console(width=140)
    console.print(table)
    pairs = [("hybrid", "sparse"), ("hybrid", "dense"), ("reranked", "hybrid")]
    gains = {f"{one} - {other}": gain(by_query[one], by_query[other]) for one, other in pairs}
    console.print(gains)
    RESULTS.mkdir(exist_ok=True)
    conditions = {"queries": len(runs["dense"]), "cores": os.cpu_count(), "nDCG@10 gains, 95 % paired": gains}
    (RESULTS / "cranfield.json").write_text(json.dumps({"rows": rows, "conditions": conditions}, indent=1) + "\n")


def gain(one: dict[str, float], other: dict[str, float]) -> dict[str, Any]:
    """Mean difference over the queries and its paired bootstrap interval (percentiles, fixed seed)."""
    differences = np.array([one[key] - other[key] for key in sorted(one)])
    drawn = np.random.default_rng(1).choice(differences, (SAMPLES, len(differences))).mean(axis=1)
    low, high = np.percentile(drawn, [2.5, 97.5])
    return {"mean": round(float(differences.mean()), 4), "interval": [round(float(low), 4), round(float(high), 4)]}


def _text(row: dict[str, Any]) -> str:
    """Title and abstract; an abstract that begins with its title is not given it twice."""
    title, text = str(row.get("title") or "").strip(), str(row["text"]).strip()
    return (text if not title or text.startswith(title) else f"{title}\n{text}") or "(empty)"


def _jsonl(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


if __name__ == "__main__":
    main()
