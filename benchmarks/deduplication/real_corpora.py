"""Precision, recall and F1 of near-duplicate pairs on real corpora with known pairs.

    python benchmarks/deduplication/real_corpora.py

Precision is the share of exact and near edges that a recomputation from the words confirms: equal
words for an exact edge (a word broken at a hyphen counts as joined), Jaccard of the word sets for a
near one. Recall is over the listed pairs at Jaccard 0.8 and above (minhash_articles: the planted
pairs), where a copy stands for the document it equals. `removal` repeats each corpus with boilerplate removal on.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from itertools import combinations, product
from pathlib import Path
from typing import Any

from reporting import data_folder, machine, report
from running import compared

from corpus_pipeline.deduplication.normalisation import words
from corpus_pipeline.records import DuplicateEdge, DuplicateKind
from corpus_pipeline.registry import DeduplicationSpec

Pairs = set[tuple[str, str]]


def articles(folder: Path) -> tuple[dict[str, str], Pairs]:
    lines = (folder / "articles_2500.train").read_text(encoding="utf-8").splitlines()
    truth = (folder / "articles_2500.truth").read_text(encoding="utf-8").splitlines()
    texts = {name: text for name, _, text in (line.partition(" ") for line in lines)}
    return texts, {_pair(*line.split()) for line in truth}


def listed(folder: Path, suffix: str) -> tuple[dict[str, str], Pairs]:
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted((folder / "docs").iterdir())}
    with (folder / "jaccard_pairs.tsv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    pairs = {_pair(r["a"] + suffix, r["b"] + suffix) for r in rows if float(r["jaccard_5word"]) >= 0.8}
    return texts, {pair for pair in pairs if set(pair) <= set(texts)}


def _pair(left: str, right: str) -> tuple[str, str]:
    return (left, right) if left < right else (right, left)


def stands_for(edges: Sequence[DuplicateEdge]) -> Pairs:
    """Document pairs of the exact and near edges, with the copies behind each representative."""
    copies: dict[str, list[str]] = {}
    for edge in edges:
        if edge.kind is DuplicateKind.EXACT:
            copies.setdefault(edge.left_id, [edge.left_id]).append(edge.right_id)
    pairs = {_pair(*pair) for ids in copies.values() for pair in combinations(ids, 2)}
    for edge in edges:
        if edge.kind is DuplicateKind.NEAR:
            sides = copies.get(edge.left_id, [edge.left_id]), copies.get(edge.right_id, [edge.right_id])
            pairs |= {_pair(left, right) for left, right in product(*sides)}
    return pairs


def confirmed(edge: DuplicateEdge, texts: dict[str, str], spec: DeduplicationSpec) -> bool:
    """Whether the whole texts bear the edge out; with removal on, lines that were removed count too."""
    if edge.kind is DuplicateKind.EXACT:
        left, right = ("".join(words(texts[side])).replace("_", "") for side in (edge.left_id, edge.right_id))
        return left == right
    first, second = (
        shingles(texts[edge.left_id], spec.shingle_words),
        shingles(texts[edge.right_id], spec.shingle_words),
    )
    return len(first & second) >= spec.threshold * len(first | second)


def shingles(text: str, size: int) -> set[tuple[str, ...]]:
    found = words(text)
    return {tuple(found[n : n + size]) for n in range(len(found) - size + 1)}


def measure(name: str, texts: dict[str, str], truth: Pairs, spec: DeduplicationSpec) -> dict[str, Any]:
    edges, clusters, change, seconds = compared(texts, spec)
    found = stands_for(edges)
    claimed = [edge for edge in edges if edge.kind is not DuplicateKind.CONTAINED]
    true = sum(confirmed(edge, texts, spec) for edge in claimed)
    precision, recall = true / len(claimed), len(found & truth) / len(truth)
    return {
        "corpus": name,
        "removal": spec.remove_boilerplate,
        "documents": len(texts),
        "listed": len(truth),
        "edges": len(claimed),
        "pairs": len(found),
        "precision": precision,
        "recall": recall,
        "F1": 2 * precision * recall / (precision + recall),
        "contained": sum(edge.kind is DuplicateKind.CONTAINED for edge in edges),
        "clusters": len(clusters),
        "largest": max(len(cluster.members) for cluster in clusters),
        "boilerplate_lines": change.boilerplate.size,
        "seconds": seconds,
    }


def main() -> None:
    data = data_folder()
    corpora = {
        "minhash_articles": (*articles(data / "minhash_articles"), 3),
        "licence_texts": (*listed(data / "licence_texts", ".txt"), 5),
        "terms_versions": (*listed(data / "terms_versions", ""), 5),
    }
    rows = [
        measure(name, texts, truth, DeduplicationSpec(shingle_words=size, remove_boilerplate=removal))
        for name, (texts, truth, size) in corpora.items()
        for removal in (False, True)
    ]
    report("real_corpora", rows, machine())


if __name__ == "__main__":
    main()
