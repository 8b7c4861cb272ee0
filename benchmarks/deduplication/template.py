"""Thousands of copies of one template: how many pairs are compared.

python benchmarks/deduplication/template.py [--documents 1000 3000 10000]

Letters of 300 words that differ in a name and an amount; the last column is all pairs.
"""

from __future__ import annotations

import argparse

from reporting import machine, report
from running import compared

from corpus_pipeline.registry import DeduplicationSpec

LINES = [" ".join(f"w{line}x{word}" for word in range(10)) for line in range(30)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, nargs="+", default=[1000, 3000, 10_000])
    rows = []
    for count in parser.parse_args().documents:
        texts = {f"c/{n:05}": "\n".join([f"dear name{n * 7919 % 10**9}", *LINES, f"total {n}"]) for n in range(count)}
        found = compared(texts, DeduplicationSpec(remove_boilerplate=False), workers=2)
        largest = max(found.clusters, key=lambda cluster: len(cluster.members))
        rows.append(
            {
                "documents": count,
                "compared": found.change.verified,
                "edges": len(found.edges),
                "clusters": len(found.clusters),
                "largest": len(largest.members),
                "least similarity to the centre": min(largest.similarity.values()),
                "seconds": round(found.seconds, 1),
                "all pairs": count * (count - 1) // 2,
            }
        )
        report("template", rows, machine())


if __name__ == "__main__":
    main()
