"""Recall and precision on real corpora with known pairs, every pair recomputed from its words."""

from __future__ import annotations

import csv
from itertools import combinations
from pathlib import Path

import pytest

from corpus_pipeline.deduplication.comparison import Changes, compare_corpus
from corpus_pipeline.deduplication.normalisation import words
from corpus_pipeline.deduplication.parameters import comparison_parameters
from corpus_pipeline.records import DuplicateCluster, DuplicateEdge, DuplicateKind, sha256_hex
from corpus_pipeline.registry import DeduplicationSpec
from corpus_pipeline.store import Database, SilentProgress

pytestmark = [pytest.mark.data, pytest.mark.slow]
Found = tuple[list[DuplicateEdge], list[DuplicateCluster]]


def compare(database: Database, texts: dict[str, str], spec: DeduplicationSpec) -> Found:
    by_sha256 = {sha256_hex(text): text for text in texts.values()}
    parameters = comparison_parameters(spec)
    change = compare_corpus(
        database,
        "c",
        lambda *_: Changes(sorted((name, sha256_hex(text)) for name, text in texts.items()), []),
        lambda wanted: ((key, by_sha256[key]) for _, key in wanted),
        parameters,
        remove_boilerplate=spec.remove_boilerplate,
        workers=1,
        progress=SilentProgress(),
    )
    return sorted(change.edges_after, key=lambda edge: (edge.left_id, edge.right_id)), change.clusters_after


def jaccard(left: str, right: str, size: int) -> tuple[float, float]:
    first, second = (
        {tuple(found[start : start + size]) for start in range(len(found) - size + 1)}
        for found in (words(left), words(right))
    )
    shared = len(first & second)
    return shared / len(first | second), shared / min(len(first), len(second))


def demand_confirmed(found: Found, texts: dict[str, str], spec: DeduplicationSpec) -> None:
    """Every edge and every member of a cluster is what its words say."""
    edges, clusters = found
    content = {}
    for edge in edges:
        if edge.kind is DuplicateKind.EXACT:
            assert "".join(words(texts[edge.left_id])) == "".join(words(texts[edge.right_id]))
            continue
        expected = jaccard(texts[edge.left_id], texts[edge.right_id], spec.shingle_words)
        assert (edge.jaccard, edge.containment) == expected
        assert expected[0] >= spec.threshold or expected[1] >= spec.containment_threshold
        content[edge.left_id, edge.right_id] = edge
    for cluster in clusters:
        for member in cluster.members:
            if cluster.similarity[member] < spec.threshold:
                assert cluster.similarity[member] >= 0.5
                pair = jaccard(texts[member], texts[cluster.centre_id], spec.shingle_words)
                assert pair[1] >= spec.containment_threshold


def together(edges: list[DuplicateEdge]) -> set[tuple[str, str]]:
    """All document pairs the edges stand for, copies of representatives included."""
    copies: dict[str, list[str]] = {}
    for edge in edges:
        if edge.kind is DuplicateKind.EXACT:
            copies.setdefault(edge.left_id, [edge.left_id]).append(edge.right_id)
    pairs = {pair for ids in copies.values() for pair in combinations(ids, 2)}
    for edge in edges:
        for left in copies.get(edge.left_id, [edge.left_id]):
            for right in copies.get(edge.right_id, [edge.right_id]):
                pairs.add((min(left, right), max(left, right)))
    return pairs


@pytest.mark.parametrize("size", [3, 5])
def test_the_twenty_planted_articles_are_the_only_pairs(database: Database, real_data: Path, size: int) -> None:
    folder = real_data / "minhash_articles"
    lines = (folder / "articles_2500.train").read_text(encoding="utf-8").splitlines()
    texts = {name: text for name, _, text in (line.partition(" ") for line in lines)}
    spec = DeduplicationSpec(shingle_words=size)
    found = compare(database, texts, spec)
    demand_confirmed(found, texts, spec)
    planted = {tuple(sorted(line.split())) for line in (folder / "articles_2500.truth").read_text().splitlines()}
    assert len(planted) == 20
    assert planted <= together(found[0])
    near = {(edge.left_id, edge.right_id) for edge in found[0] if edge.kind is not DuplicateKind.CONTAINED}
    assert near == planted


@pytest.mark.parametrize(("corpus", "suffix"), [("licence_texts", ".txt"), ("terms_versions", "")])
def test_listed_pairs_are_found_and_every_edge_is_true(
    database: Database, real_data: Path, corpus: str, suffix: str
) -> None:
    folder = real_data / corpus
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted((folder / "docs").iterdir())}
    spec = DeduplicationSpec(remove_boilerplate=False)
    found = compare(database, texts, spec)
    demand_confirmed(found, texts, spec)
    with (folder / "jaccard_pairs.tsv").open(encoding="utf-8", newline="") as stream:
        listed = {
            tuple(sorted((row["a"] + suffix, row["b"] + suffix)))
            for row in csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
            if float(row["jaccard_5word"]) >= 0.8
        }
    listed = {pair for pair in listed if set(pair) <= set(texts)}
    assert len(listed) > 300
    pairs = together(found[0])
    assert len(listed & pairs) / len(listed) >= 0.99
