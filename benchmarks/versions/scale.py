"""Time and memory of the resolver on generated documents.

    python benchmarks/versions/scale.py [DOCUMENTS]

A fifth of the documents are versions of another (by name), a tenth near-copies; the texts are
short, because the resolver sees evidence and not texts.
"""

from __future__ import annotations

import json
import random
import resource
import sys
import time
from datetime import date
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from corpus_texts import read, spec_of

from corpus_pipeline.records import DuplicateCluster, DuplicateEdge, DuplicateKind
from corpus_pipeline.versions import resolve


def main() -> None:
    """Prints seconds and memory and writes them beside this file."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    chance = random.Random(1)
    texts = {}
    for number in range(count):
        stem = f"{number // 1000}/guide-{number - (number % 5 == 0)}"
        texts[f"{stem}-v{1 + (number % 5 == 0)}.md"] = (
            f"Title: guide {number}\nVersion: {1 + number % 5}\n\nText {number}."
        )
    documents, evidence = read("generated", texts)
    ids = [one.document_id for one in documents]
    edges, clusters = [], []
    for _ in range(len(ids) // 10):
        left, right = sorted(chance.sample(ids, 2))
        edges.append(
            DuplicateEdge(left_id=left, right_id=right, kind=DuplicateKind.NEAR, jaccard=0.9, containment=0.95)
        )
        clusters.append(
            DuplicateCluster(
                corpus="generated",
                cluster_id=left,
                members=(left, right),
                similarity={left: 1.0, right: 0.9},
                kind=DuplicateKind.NEAR,
                centre_id=left,
            )
        )
    started = time.perf_counter()
    resolution = resolve(documents, evidence, clusters, edges, spec_of("generated"), date(2026, 11, 1))
    result = {
        "documents": len(documents),
        "relations": len(resolution.relations),
        "superseded": sum(one.superseded_by is not None for one in resolution.decisions),
        "duplicates_suppressed": sum(one.exclusion_reason == "duplicate" for one in resolution.decisions),
        "resolution_seconds": round(time.perf_counter() - started, 1),
        "peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }
    (Path(__file__).parent / "scale.json").write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
