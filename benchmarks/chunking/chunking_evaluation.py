"""Strategies of this project beside LangChain's and docling's on chunking_evaluation, with the same model.

    python -m benchmarks.chunking.chunking_evaluation FOLDER [--sizes 64 128 200] [--budgets 200 400 800]

``FOLDER`` is the data set: ``corpora/*.md`` and ``questions_df.csv`` with exact character ranges
(github.com/brandonstarxel/chunking_evaluation). All chunks of all texts compete for every question;
each strategy may retrieve the same number of tokens. The default strategy is held against every other
at the same limit, and at the default limit against every other at its best one, question by question.
Vectors are kept in ``--cache``, so that a second run embeds nothing.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.chunking.measures import Difference, Scores, difference, first_tokens, mean, scores, token_spans
from benchmarks.chunking.splitters import SPLITTERS, Chunk, Splitter
from benchmarks.chunking.vector_cache import VectorCache
from corpus_pipeline.chunking import TokenCounter, token_counter
from corpus_pipeline.embedding import load_model
from corpus_pipeline.embedding.model import Vectors
from corpus_pipeline.registry import ChunkingSpec, EmbeddingSpec

HERE = Path(__file__).parent
SIZES = (64, 128, 200)
BUDGETS = (200, 400, 800)
DEFAULT = ChunkingSpec().strategy
DEFAULT_SIZE = ChunkingSpec().child_tokens


@dataclass(frozen=True)
class Question:
    """A question, the text that answers it, and the half-open character ranges of the answer."""

    text: str
    corpus: str
    references: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Row:
    """One line of the table: scores by token budget."""

    strategy: str
    size: int
    chunks: int
    mean_tokens: float
    longest: int
    by_budget: dict[int, Scores]


@dataclass(frozen=True)
class Lead:
    """The default strategy less another one."""

    size: int
    strategy: str
    other_size: int
    budget: int
    recall: Difference
    iou: Difference


Measured = dict[int, list[Scores]]
"""Scores of every question by token budget."""


def read_texts(folder: Path) -> dict[str, str]:
    """The source texts by name."""
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted((folder / "corpora").glob("*.md"))}


def read_questions(folder: Path) -> list[Question]:
    """All questions with their references."""
    with (folder / "questions_df.csv").open(encoding="utf-8", newline="") as file:
        return [
            Question(
                row["question"],
                row["corpus_id"],
                tuple((each["start_index"], each["end_index"]) for each in json.loads(row["references"])),
            )
            for row in csv.DictReader(file)
        ]


def token_starts(text: str, counter: TokenCounter) -> npt.NDArray[np.int64]:
    """Where the model's tokens begin in a whole text."""
    return np.asarray(counter.marks(text, [(0, len(text))]).starts, dtype=np.int64)


def measured(
    chunks: dict[str, list[Chunk]],
    found: dict[str, Vectors],
    questions: list[tuple[Question, Vectors]],
    starts: dict[str, npt.NDArray[np.int64]],
    budgets: tuple[int, ...],
) -> Measured:
    """Scores of every question for each budget."""
    names = list(chunks)
    owners = np.concatenate([np.full(len(chunks[name]), at) for at, name in enumerate(names)])
    spans = [span for name in names for span in token_spans(starts[name], [(c.start, c.end) for c in chunks[name]])]
    matrix = np.concatenate([found[name] for name in names])
    by_budget: dict[int, list[Scores]] = {budget: [] for budget in budgets}
    for question, vector in questions:
        order = np.argsort(-(matrix @ vector), kind="stable")[: max(budgets)]
        relevant = token_spans(starts[question.corpus], question.references)
        for budget in budgets:
            kept = first_tokens((spans[at] for at in order), budget)
            # Spans of another text count as retrieved, and cannot be relevant.
            placed = [
                (a, b) if names[owners[at]] == question.corpus else (-1 - b - at * 10_000_000, -1 - a - at * 10_000_000)
                for at, (a, b) in zip(order, kept, strict=False)
            ]
            by_budget[budget].append(scores(relevant, placed))
    return by_budget


def leads(found: dict[tuple[str, int], Measured]) -> list[Lead]:
    """The default strategy against every other: at each common size, and at its default against their best ones."""
    pairs = {(size, name, size) for name, size in found if name != DEFAULT and (DEFAULT, size) in found}
    result = [_lead(found, *pair, budget) for pair in sorted(pairs) for budget in found[DEFAULT, pair[0]]]
    if (DEFAULT, DEFAULT_SIZE) not in found:
        return result
    for name in sorted({name for name, _ in found if name != DEFAULT}):
        for budget in found[DEFAULT, DEFAULT_SIZE]:
            best = max((mean(by[budget]).iou, size) for (other, size), by in found.items() if other == name)[1]
            if best != DEFAULT_SIZE:
                result.append(_lead(found, DEFAULT_SIZE, name, best, budget))
    return result


def _lead(found: dict[tuple[str, int], Measured], size: int, name: str, other_size: int, budget: int) -> Lead:
    ours, theirs = found[DEFAULT, size][budget], found[name, other_size][budget]
    return Lead(size, name, other_size, budget, difference(ours, theirs, "recall"), difference(ours, theirs, "iou"))


def lead_shown(lead: Lead) -> str:
    """A line of the second table."""
    recall, iou = lead.recall, lead.iou
    return (
        f"{lead.size:>4}  {lead.strategy:<24} {lead.other_size:>4} {lead.budget:>6}   "
        f"{recall.mean:+.3f} [{recall.low:+.3f}, {recall.high:+.3f}]   "
        f"{iou.mean:+.4f} [{iou.low:+.4f}, {iou.high:+.4f}]"
    )


def row_of(
    name: str,
    splitter: Splitter,
    size: int,
    texts: dict[str, str],
    cache: VectorCache,
    counter: TokenCounter,
    measure: Any,
) -> tuple[Row, Measured]:
    """Cuts, embeds and measures one strategy at one size."""
    chunks = {key: splitter(key, text, counter, size) for key, text in texts.items()}
    found = {key: cache.vectors([chunk.embedded for chunk in each]) for key, each in chunks.items()}
    counts = [count for each in chunks.values() for count in counter.counts([chunk.embedded for chunk in each])]
    by_budget: Measured = measure(chunks, found)
    means = {budget: mean(each) for budget, each in by_budget.items()}
    return Row(name, size, len(counts), round(float(np.mean(counts)), 1), max(counts), means), by_budget


def shown(row: Row) -> str:
    """A line of the table."""
    cells = [f"{each.recall:.3f} {each.precision:.3f} {each.iou:.4f}" for _, each in sorted(row.by_budget.items())]
    return (
        f"{row.size:>4}  {row.strategy:<24} {row.chunks:>6} {row.mean_tokens:>6} {row.longest:>5}   {'   '.join(cells)}"
    )


def main() -> int:
    """Measures every strategy at every size, prints the table and stores JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="limits in tokens")
    parser.add_argument("--budgets", type=int, nargs="+", default=list(BUDGETS), help="retrieved tokens")
    parser.add_argument("--texts", nargs="+", help="only these texts and their questions")
    parser.add_argument("--strategies", nargs="+", default=list(SPLITTERS), choices=list(SPLITTERS))
    parser.add_argument("--backend", default="openvino", choices=["torch", "onnx", "openvino"])
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "chunking-evaluation")
    parser.add_argument("--output", type=Path, default=HERE / "results" / "chunking_evaluation.json")
    arguments = parser.parse_args()
    if not (arguments.folder / "questions_df.csv").is_file():
        sys.stderr.write(f"{arguments.folder}/questions_df.csv is absent: nothing measured\n")
        return 0
    spec = EmbeddingSpec(backend=arguments.backend)
    counter, model = token_counter(spec), load_model(spec, export_folder=arguments.cache / "models")
    texts = {k: v for k, v in read_texts(arguments.folder).items() if not arguments.texts or k in arguments.texts}
    questions = [question for question in read_questions(arguments.folder) if question.corpus in texts]
    starts = {name: token_starts(text, counter) for name, text in texts.items()}
    budgets = tuple(arguments.budgets)
    print(f"{len(questions)} questions; recall, precision, IoU at {', '.join(map(str, budgets))} retrieved tokens")
    print("size  strategy                 chunks  tokens  max")
    rows: list[Row] = []
    of_questions: dict[tuple[str, int], Measured] = {}
    with VectorCache(arguments.cache / "vectors.sqlite", model) as cache:
        asked = list(zip(questions, cache.vectors([question.text for question in questions]), strict=True))
        started = time.monotonic()
        for size in arguments.sizes:
            for name in arguments.strategies:
                row, of_questions[name, size] = row_of(
                    name, SPLITTERS[name], size, texts, cache, counter,
                    lambda chunks, found: measured(chunks, found, asked, starts, budgets),
                )  # fmt: skip
                rows.append(row)
                print(shown(row), flush=True)
        print(f"{cache.embedded} texts embedded in {time.monotonic() - started:.0f} s")
    ahead = leads(of_questions)
    print(f"{DEFAULT} less another, with 95 % intervals\nsize  other                    size tokens   recall   IoU")
    for lead in ahead:
        print(lead_shown(lead))
    stored = {
        "model": model.parts,
        "cores": os.cpu_count(),
        "questions": len(questions),
        "texts": sorted(texts),
        "rows": [asdict(row) for row in rows],
        "leads": [asdict(lead) for lead in ahead],
    }
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(json.dumps(stored, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
