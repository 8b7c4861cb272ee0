"""Six faults planted in a published corpus, 10,000 off-topic documents among them: what the gate says of each.

    python -m benchmarks.retrieval.planted_faults [--documents 10000] [--words 12]

The corpus is small, with ten judged questions; every fault goes through the whole chain from files to the gate and is
taken back. The exit code is 1 where the gate lets one pass, or calls it by another name.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.index.corpora import context_for, fresh_database
from benchmarks.reporting import report
from benchmarks.retrieval.amplified import with_backend
from corpus_pipeline_tests.faults import Corpus, Fault, faults

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    """Prints and stores the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--words", type=int, default=12, help="of an off-topic document")
    parser.add_argument("--backend", default="openvino", help="of the embedding model: openvino, onnx or torch")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, fresh_database() as database:
        source = Path(folder) / "docs"
        source.mkdir()
        corpus = Corpus(with_backend(context_for(database, "handbook", Path(folder)), arguments.backend), source)
        corpus.publish()
        planted = faults(corpus, off_topic=arguments.documents, off_topic_words=arguments.words)
        rows = [row(corpus, fault) for fault in planted]
    report(
        RESULTS, "planted_faults", rows, {"off-topic documents": arguments.documents, "words of each": arguments.words}
    )
    if not all(each["as expected"] for each in rows):
        sys.exit(1)


def row(corpus: Corpus, fault: Fault) -> dict[str, Any]:
    """What the gate says of one fault."""
    started, busy = time.perf_counter(), time.process_time()
    verdict = fault.plant(corpus)
    seconds, processor = time.perf_counter() - started, time.process_time() - busy
    misses = corpus.misses()
    critical = {one["expectation"]: one["found"] for one in verdict.failures if one["severity"] == "critical"}
    called = misses.most_common(1)[0][0] if misses else None
    right = not verdict.passed and set(fault.caught_by) <= set(critical)
    right = right and (not fault.classes or called in fault.classes)
    for name in fault.caught_by:
        print(f"{fault.name}: {name}: {critical.get(name, 'let pass')}\n")
    return {
        "fault": fault.name,
        "caught by": ", ".join(critical),
        "misses": ", ".join(f"{name} {count}" for name, count in misses.most_common()) or "none",
        "says": str(critical.get(fault.caught_by[0], "")),
        "as expected": right,
        "seconds": round(seconds, 1),
        "of processor, this process": round(processor, 1),
    }


if __name__ == "__main__":
    main()
