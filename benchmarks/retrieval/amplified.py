"""A corpus of any size that reads like real text: sentences of real documents, put together anew, with their vectors.

A fragment is three to five sentences of one document, its vector the mean of theirs: as near to the vector of the
whole as a search needs, and only the sentences have to be embedded.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.index.corpora import BenchDocument
from corpus_pipeline.records import DocumentMetadata
from corpus_pipeline.store import StageContext

FRAGMENTS_OF_A_DOCUMENT = 10
FRAGMENTS_OF_A_SECTION = 5
SECTION_CHARS = 8_000
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n{2,}")
_LEAST_CHARS, _MOST_CHARS = 40, 400


@dataclass(frozen=True)
class Material:
    """What a corpus is made of.

    Attributes:
        sections: Sentences of each stretch of text, by name.
        questions: Asked of the same text by people.
    """

    sections: dict[str, list[str]]
    questions: list[str]

    @property
    def sentences(self) -> list[str]:
        """Each distinct sentence once, in order."""
        return list(dict.fromkeys(sentence for section in self.sections.values() for sentence in section))


def with_backend(context: StageContext, backend: str, precision: str = "float32") -> StageContext:
    """The context with its model on another backend, or in another precision."""
    embedding = context.spec.embedding.model_copy(update={"backend": backend, "precision": precision})
    return replace(context, spec=context.spec.model_copy(update={"embedding": embedding}))


def material(folder: Path) -> Material:
    """Text and questions of ``cranfield/`` and ``chunking_evaluation/`` below a folder."""
    sections: dict[str, list[str]] = {}
    for row in _jsonl(folder / "cranfield" / "corpus.jsonl"):
        sections[f"cranfield {row['id']}"] = _sentences(row["text"].replace(" . ", ". "))
    for path in sorted((folder / "chunking_evaluation" / "corpora").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        for number, start in enumerate(range(0, len(text), SECTION_CHARS)):
            sections[f"{path.stem} {number}"] = _sentences(text[start : start + SECTION_CHARS])
    questions = [row["text"] for row in _jsonl(folder / "cranfield" / "queries.jsonl")]
    with (folder / "chunking_evaluation" / "questions_df.csv").open(encoding="utf-8", newline="") as rows:
        questions += [row["question"] for row in csv.DictReader(rows)]
    return Material({name: section for name, section in sections.items() if len(section) > 2}, questions)


def fragments(
    source: Material, vectors: dict[str, np.ndarray], count: int, *, seed: int = 1
) -> Iterator[tuple[BenchDocument, np.ndarray]]:
    """Documents of ten fragments each with the vectors of these, float32 of unit length.

    Every tenth document may be seen by the group ``staff`` only; sections are the products.
    """
    chance = np.random.default_rng(seed)
    names = list(source.sections)
    for number in range(count // FRAGMENTS_OF_A_DOCUMENT):
        name = names[number % len(names)]
        section = source.sections[name]
        picked = [
            sorted(chance.choice(len(section), min(len(section), int(chance.integers(3, 6))), replace=False))
            for _ in range(FRAGMENTS_OF_A_DOCUMENT)
        ]
        texts = [
            f"{' '.join(section[at] for at in places)} ({number}-{place})"
            for place, places in enumerate(picked, start=1)
        ]
        rows = np.stack([np.mean([vectors[section[at]] for at in places], axis=0) for places in picked])
        rows += chance.normal(scale=0.25 / rows.shape[1] ** 0.5, size=rows.shape)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        group = "staff" if number % 10 == 9 else "everyone"
        kind = name.split()[0].replace("_", " ").capitalize()
        yield (
            BenchDocument(f"d{number:06d}", texts, DocumentMetadata(acl_groups=(group,), product=kind)),
            rows.astype(np.float32),
        )


def _sentences(text: str) -> list[str]:
    parts = (" ".join(part.split())[:_MOST_CHARS] for part in _SENTENCE.split(text))
    return [part for part in parts if len(part) >= _LEAST_CHARS]


def _jsonl(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
