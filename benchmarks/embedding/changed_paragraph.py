"""A night after one changed paragraph: what is converted, cut and embedded again.

    python -m benchmarks.embedding.changed_paragraph [--documents 10000]

Documents are generated, each text different. The stages from inventory to embedding run twice on an
embedded database, with a paragraph of one document changed in between. The model is of the smallest
size: what is counted does not depend on it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

from benchmarks.embedding.tiny_model import make_tiny_model
from corpus_pipeline.chunking import fragment_corpus, fragments
from corpus_pipeline.conversion import convert_corpus
from corpus_pipeline.deduplication import cluster_corpus
from corpus_pipeline.embedding import embed_corpus
from corpus_pipeline.inventory import take_inventory
from corpus_pipeline.registry import CorpusSpec, EmbeddingSpec, Registry, SourceSpec
from corpus_pipeline.settings import Settings
from corpus_pipeline.store import Database, StageContext, StageResult
from corpus_pipeline.store.embedded import start_embedded_server, stop_embedded_server
from corpus_pipeline.store.migrations import apply_migrations
from corpus_pipeline.versions import resolve_corpus

HERE = Path(__file__).parent
STAGES: tuple[Callable[[StageContext], StageResult], ...] = (
    take_inventory,
    convert_corpus,
    cluster_corpus,
    resolve_corpus,
    fragment_corpus,
    embed_corpus,
)
SECTIONS = 4
WORDS = ("refund", "invoice", "sensor", "harbour", "ticket", "garden", "server", "ledger", "engine", "window", "river")


def write_documents(folder: Path, count: int) -> None:
    """Text files of a few sections, no two alike."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        (folder / f"{number:05d}.md").write_text(document_text(number), encoding="utf-8")


def document_text(number: int) -> str:
    """Markdown with a paragraph a section."""
    sections = [
        f"## Section {section}\n\n"
        + " ".join(
            f"The {WORDS[(number * 7 + section * 3 + at * at) % len(WORDS)]} {number * 31 + section * 17 + at} is "
            f"kept beside {WORDS[(number + section + at) % len(WORDS)]} {number * number + at}."
            for at in range(6)
        )
        for section in range(SECTIONS)
    ]
    return f"# Manual {number}\n\n" + "\n\n".join(sections) + "\n"


def change_one(folder: Path, number: int) -> None:
    """One paragraph of one document says something else."""
    path = folder / f"{number:05d}.md"
    text = path.read_text(encoding="utf-8")
    head, title, rest = text.partition("## Section 2\n\n")
    _, gap, after = rest.partition("\n\n")
    path.write_text(f"{head}{title}This paragraph was written anew. Nothing of the old one is left.{gap}{after}")


def night(context: StageContext) -> dict[str, dict[str, object]]:
    """Runs the stages; counts and seconds by stage."""
    figures = {}
    for stage in STAGES:
        began = time.monotonic()
        result = stage(context)
        figures[result.stage.value] = {**result.counts, "seconds": round(time.monotonic() - began, 1)}
    return figures


def embedded_texts(context: StageContext) -> set[str]:
    """The distinct strings that are embedded for the corpus."""
    with context.database.connection() as connection:
        return {fragment.embedded_text for fragment in fragments(connection, context.spec.slug)}


def corpus_spec(home: Path, model: Path) -> CorpusSpec:
    """The corpus of the benchmark: the smallest model."""
    return CorpusSpec(
        slug="manuals",
        base_folder=home,
        owner="benchmarks@example.com",
        source=SourceSpec(url="docs"),
        embedding=EmbeddingSpec(model=str(model), batch_size=256),
    )


def measure(context: StageContext, documents: Path, count: int) -> dict[str, object]:
    """Two nights with a change in between, and the fragments whose text it changed."""
    write_documents(documents, count)
    first = night(context)
    before = embedded_texts(context)
    change_one(documents, count // 2)
    second = night(context)
    changed = len(embedded_texts(context) - before)
    return {"documents": count, "changed_texts": changed, "first": first, "second": second}


def main() -> int:
    """Prints the figures of both nights and stores JSON; fails when more was embedded than changed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--output", type=Path, default=HERE / "results" / "changed_paragraph.json")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="changed-paragraph-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        home.chmod(0o755)  # the embedded server runs as a user of its own
        url = start_embedded_server(home / "server", database="benchmark")
        apply_migrations(url)
        spec = corpus_spec(home, make_tiny_model(home / "model"))
        try:
            with Database.connect(url, pool_size=4) as database:
                registry = Registry(path=home / "corpora.yaml", corpora={spec.slug: spec})
                settings = Settings(home=home / "state", workers=os.cpu_count() or 1)
                context = StageContext(database, settings, registry, spec, date(2026, 11, 1), "benchmark")
                figures = measure(context, home / "docs", arguments.documents)
        finally:
            stop_embedded_server(home / "server")
    for which in ("first", "second"):
        print(f"{which} night")
        for stage, counts in figures[which].items():  # type: ignore[attr-defined]
            print(f"  {stage:<24} " + ", ".join(f"{name} {value}" for name, value in counts.items() if value))
    embedded = figures["second"]["fragment_embeddings"]["embedded"]  # type: ignore[index]
    print(f"fragments whose text changed: {figures['changed_texts']}; embedded: {embedded}")
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(json.dumps({"cores": os.cpu_count(), **figures}, indent=1) + "\n")
    return int(embedded != figures["changed_texts"])


if __name__ == "__main__":
    sys.exit(main())
