"""How long ``verify`` and ``drift`` take for a large corpus, in what memory, and how long they are silent.

    python -m benchmarks.trust.audit [--documents 20000]

Generated documents are taken through all stages up to publication on an embedded database; then each audit runs
in a process of its own, once on what is sound and once after a vector, a row and a parent were altered behind
the software's back. The model is of the smallest size: what is audited does not depend on it but for the width of
vectors.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks.embedding.changed_paragraph import STAGES, corpus_spec, write_documents
from benchmarks.embedding.tiny_model import make_tiny_model
from corpus_pipeline.evaluation import evaluate_generation
from corpus_pipeline.index import publish_corpus, stage_generation
from corpus_pipeline.quality import check_stage
from corpus_pipeline.records import Stage
from corpus_pipeline.registry import CorpusSpec, Registry
from corpus_pipeline.settings import Settings
from corpus_pipeline.store import Database, StageContext
from corpus_pipeline.store.embedded import start_embedded_server, stop_embedded_server
from corpus_pipeline.store.migrations import apply_migrations
from corpus_pipeline.trust import audit_drift, verify_corpus

HERE = Path(__file__).parent
AS_OF = date(2026, 11, 1)
AUDITS = ("verify", "verify --sources", "drift")


@dataclass(frozen=True)
class Audit:
    """What one run of an audit took.

    Attributes:
        silence: Longest time between two reports of progress.
        memory_mb: Most memory of the process, interpreter and libraries included.
        found: What is wrong, in a line; empty when nothing is.
    """

    name: str
    seconds: float
    processor_seconds: float
    silence: float
    memory_mb: int
    found: str


class Clock:
    """Progress that knows the longest time without a report."""

    def __init__(self) -> None:
        self.longest, self._last = 0.0, time.monotonic()

    def _seen(self) -> None:
        now = time.monotonic()
        self.longest, self._last = max(self.longest, now - self._last), now

    def start(self, _stage: Stage, _total: int | None, _what: str) -> None:
        """A piece of work begins."""
        self._seen()

    def advance(self, _items: int = 1) -> None:
        """Some of it is done."""
        self._seen()

    def note(self, _message: str) -> None:
        """Something else was said."""
        self._seen()


def context_of(database: Database, home: Path, spec: CorpusSpec) -> StageContext:
    """The corpus alone in its registry."""
    registry = Registry(path=home / "corpora.yaml", corpora={spec.slug: spec})
    settings = Settings(home=home / "state", workers=os.cpu_count() or 1)
    return StageContext(database, settings, registry, spec, AS_OF, "benchmark")


def audited(name: str, url: str, home: Path, spec: CorpusSpec) -> Audit:
    """Runs one audit in this process."""
    clock = Clock()
    with Database.connect(url, pool_size=2) as database:
        context = replace(context_of(database, home, spec), progress=clock)
        began, busy = time.monotonic(), time.process_time()
        found = _found(name, context)
        clock.note("")
        seconds, processor = time.monotonic() - began, time.process_time() - busy
    return Audit(name, round(seconds, 1), round(processor, 1), round(clock.longest, 1), _most_memory_mb(), found)


def _most_memory_mb() -> int:
    """Of this process since it began: ``getrusage`` would give that of the one which started it, if that had more."""
    status = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) // 1024


def _found(name: str, context: StageContext) -> str:
    if name == "drift":
        drift = audit_drift(context)
        return ", ".join(f"{count} {kind}" for kind, count in drift.counts.items() if count)
    report = verify_corpus(context, sources=name.endswith("--sources"))
    return ", ".join(f"{count.broken} {count.link.value}" for count in report.counts if count.broken)


def in_own_process(name: str, url: str, home: Path, spec: CorpusSpec) -> Audit:
    """The same in a new process, so that its memory is its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(audited, (name, url, home, spec))


def publish(context: StageContext) -> dict[str, Any]:
    """All stages with the checks that publication asks for; counts of the generation."""
    for stage in (*STAGES, stage_generation, evaluate_generation):
        check_stage(context, stage(context).stage)
    result = publish_corpus(context)
    with context.database.connection() as connection:
        rows = connection.execute("SELECT count(*) AS rows FROM corpus.fragments").fetchone() or {}
    return {"fragments": rows["rows"], "root": result.output_sha256}


def alter(database: Database) -> None:
    """What no command does: one text, one vector and one parent are changed in the serving tables."""
    with database.connection() as connection:
        table = (connection.execute("SELECT serving_table FROM corpus.generations").fetchone() or {})["serving_table"]
        connection.execute(
            f"""UPDATE serving.{table} SET text = text || '!'
                WHERE fragment_id = (SELECT min(fragment_id) FROM serving.{table})"""
        )
        connection.execute(
            f"""UPDATE serving.{table} SET embedding = embedding + embedding
                WHERE fragment_id = (SELECT max(fragment_id) FROM serving.{table})"""
        )
        connection.execute(
            """UPDATE serving.parents SET page_number = 7
               WHERE parent_id = (SELECT min(parent_id) FROM serving.parents)"""
        )


def shown(state: str, audit: Audit) -> str:
    """A line of the table."""
    return (
        f"{state:<9}{audit.name:<18}{audit.seconds:>9}{audit.processor_seconds:>8}{audit.silence:>9}"
        f"{audit.memory_mb:>7}  {audit.found or 'sound'}"
    )


def main() -> int:
    """Prints the table and stores JSON; fails when an audit finds what is not there or misses what is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--output", type=Path, default=HERE / "results" / "audit.json")
    arguments = parser.parse_args()
    audits: dict[str, list[Audit]] = {}
    with tempfile.TemporaryDirectory(prefix="audit-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        home.chmod(0o755)  # the embedded server runs as a user of its own
        url = start_embedded_server(home / "server", database="benchmark")
        try:
            apply_migrations(url)
            write_documents(home / "docs", arguments.documents)
            spec = corpus_spec(home, make_tiny_model(home / "model"))
            with Database.connect(url, pool_size=4) as database:
                published = publish(context_of(database, home, spec))
                print(f"{arguments.documents} documents, {published['fragments']} fragments", flush=True)
                print(f"{'':<9}{'':<18}{'seconds':>9}{'CPU s':>8}{'silence':>9}{'MB':>7}  found", flush=True)
                for state in ("sound", "altered"):
                    for name in AUDITS:
                        audits.setdefault(state, []).append(in_own_process(name, url, home, spec))
                        print(shown(state, audits[state][-1]), flush=True)
                    alter(database)
        finally:
            stop_embedded_server(home / "server")
    stored = {
        "cores": os.cpu_count(),
        "documents": arguments.documents,
        **published,
        **{state: [asdict(audit) for audit in each] for state, each in audits.items()},
    }
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(json.dumps(stored, indent=1) + "\n")
    return int(any(audit.found for audit in audits["sound"]) or not all(audit.found for audit in audits["altered"]))


if __name__ == "__main__":
    sys.exit(main())
