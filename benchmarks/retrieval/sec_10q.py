"""Quarterly reports from PDF to answer: the whole pipeline beside plain ingestion, with the same model.

    python -m benchmarks.retrieval.sec_10q FOLDER [--home STATE_FOLDER]

``FOLDER`` holds ``docs/*.pdf`` (20 reports: 5 companies, 4 quarters) and ``questions.jsonl``. Asked are the questions
with one labelled source. Plain ingestion is the usual recipe: the text of the PDF, chunks of 200 words, exact cosine.
With a state folder that was used before nothing is ingested or embedded again.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from rich.console import Console
from rich.table import Table

from corpus_pipeline.embedding import load_model
from corpus_pipeline.registry import EmbeddingSpec, load_registry
from corpus_pipeline.retrieval import SearchRequest, search
from corpus_pipeline.settings import Settings
from corpus_pipeline.store import Database

CORPUS = "filings"
TOP_K = 5
CHUNK_WORDS = 200
RESULTS = Path(__file__).parent / "results"
MODEL = EmbeddingSpec(backend="openvino")


@dataclass(frozen=True)
class Asked:
    """A question and the one document that answers it, by file name."""

    question: str
    source: str


def main() -> int:
    """Ingests, asks, prints and stores."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--home", type=Path)
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    if not (folder / "questions.jsonl").is_file():
        sys.stderr.write(f"{folder}/questions.jsonl is absent: nothing measured\n")
        return 0
    home = arguments.home or Path(tempfile.mkdtemp(prefix="sec-10q-"))
    config = write_config(folder, home)
    ingested = ingest(config, home)
    if not ingested["published"]:
        sys.stderr.write(f"not published: {ingested}\n")
        return 1
    questions = read_questions(folder)
    rows = [
        measured("plain ingestion", questions, plain_answers(folder, home, questions)),
        measured("pipeline, scope not read", questions, answers(config, home, questions, read_scope=False)),
        measured("pipeline", questions, answers(config, home, questions, read_scope=True)),
    ]
    show(rows)
    RESULTS.mkdir(exist_ok=True)
    conditions = {"cores": os.cpu_count(), "questions": len(questions), "stages": ingested["stages"]}
    (RESULTS / "sec_10q.json").write_text(json.dumps({"rows": rows, "conditions": conditions}, indent=1) + "\n")
    return 0


def write_config(folder: Path, home: Path) -> Path:
    """corpora.yaml of the benchmark."""
    home.mkdir(parents=True, exist_ok=True)
    corpus: dict[str, Any] = {
        "owner": "benchmarks@example.com",
        "source": {"url": str(folder / "docs"), "include": ["*.pdf"]},
        "source_class": "report",
        "embedding": MODEL.model_dump(mode="json"),
    }
    config = home / "corpora.yaml"
    config.write_text(yaml.safe_dump({"version": 1, "corpora": {CORPUS: corpus}}))
    return config


def ingest(config: Path, home: Path) -> dict[str, Any]:
    """The run of the command line."""
    command = [sys.executable, "-m", "corpus_pipeline.cli", "--config", str(config), "--home", str(home)]
    done = subprocess.run([*command, "ingest", CORPUS, "--json"], stdout=subprocess.PIPE, text=True, check=False)
    run: dict[str, Any] = json.loads(done.stdout)["corpora"][0]
    return run


def read_questions(folder: Path) -> list[Asked]:
    """The questions with one labelled source."""
    rows = [json.loads(line) for line in (folder / "questions.jsonl").read_text().splitlines() if line.strip()]
    return [Asked(row["question"], row["source_docs"][0]) for row in rows if len(row["source_docs"]) == 1]


def answers(config: Path, home: Path, questions: Sequence[Asked], *, read_scope: bool) -> list[list[str]]:
    """File names of the accepted fragments of each question, best first."""
    registry = load_registry(config)
    found = []
    with Database.open(Settings(config=config, home=home)) as database:
        for asked in questions:
            request = SearchRequest(query=asked.question, top_k=TOP_K, read_scope=read_scope)
            result = search(database, registry, request)
            found.append([Path(hit.source_uri).name for hit in result.accepted])
    return found


def plain_answers(folder: Path, home: Path, questions: Sequence[Asked]) -> list[list[str]]:
    """The same for plain ingestion; its vectors are kept in the state folder."""
    names, texts = [], []
    for path in sorted((folder / "docs").glob("*.pdf")):
        words = pdf_text(path).split()
        pieces = [" ".join(words[start : start + CHUNK_WORDS]) for start in range(0, len(words), CHUNK_WORDS)]
        names += [path.name] * len(pieces)
        texts += pieces
    kept = home / "plain.npy"
    model = load_model(MODEL)
    vectors = np.load(kept) if kept.is_file() else np.asarray(model.encode_passages(texts))
    np.save(kept, vectors)
    asked = np.asarray(model.encode_queries([one.question for one in questions]))
    return [[names[at] for at in np.argsort(-(vectors @ vector), kind="stable")[:TOP_K]] for vector in asked]


def pdf_text(path: Path) -> str:
    """The text of all pages as pdfium gives it."""
    import pypdfium2

    with pypdfium2.PdfDocument(path) as document:
        return "\n".join(page.get_textpage().get_text_bounded() for page in document)


def measured(system: str, questions: Sequence[Asked], found: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Hit@1, Hit@5, precision of the fragments accepted, and the share from another quarter of the right company.

    The precision divides by what was accepted, at most five; a question without any counts as 0.
    """
    hits_1 = [bool(names) and names[0] == asked.source for asked, names in zip(questions, found, strict=True)]
    hits_5 = [asked.source in names for asked, names in zip(questions, found, strict=True)]
    right = [names.count(asked.source) for asked, names in zip(questions, found, strict=True)]
    wrong_quarter = [
        sum(name != asked.source and company(name) == company(asked.source) for name in names)
        for asked, names in zip(questions, found, strict=True)
    ]
    sizes = [max(1, len(names)) for names in found]
    return {
        "system": system,
        "hit@1": mean(hits_1),
        "hit@5": mean(hits_5),
        "precision@5": mean([good / size for good, size in zip(right, sizes, strict=True)]),
        "wrong quarter": mean([bad / size for bad, size in zip(wrong_quarter, sizes, strict=True)]),
        "without answer": sum(not names for names in found),
        "accepted": mean([len(names) for names in found]),
        "hit@5 interval": interval(hits_5),
        "precision@5 interval": interval([good / size for good, size in zip(right, sizes, strict=True)]),
    }


def company(name: str) -> str:
    """The company in a file name."""
    return Path(name).stem.split()[-1]


def mean(values: Sequence[float]) -> float:
    """Mean, to four places."""
    return round(float(np.mean(values)), 4)


def interval(values: Sequence[float], samples: int = 2000) -> list[float]:
    """95 % bootstrap interval of the mean (percentiles, fixed seed)."""
    drawn = np.random.default_rng(1).choice(np.asarray(values, float), (samples, len(values)))
    return [round(float(edge), 4) for edge in np.percentile(drawn.mean(axis=1), [2.5, 97.5])]


def show(rows: Sequence[dict[str, Any]]) -> None:
    """Prints the table."""
    table = Table(*rows[0], title="One-source questions on quarterly reports")
    for row in rows:
        table.add_row(*(str(value) for value in row.values()))
    Console(width=180).print(table)


if __name__ == "__main__":
    sys.exit(main())
