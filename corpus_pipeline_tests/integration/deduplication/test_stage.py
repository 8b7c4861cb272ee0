"""The asset on converted files: what it stores, reports and repeats."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from corpus_pipeline.conversion import convert_corpus
from corpus_pipeline.deduplication import cluster_corpus, duplicate_clusters, duplicate_edges
from corpus_pipeline.errors import UpstreamMissingError
from corpus_pipeline.inventory import take_inventory
from corpus_pipeline.records import DuplicateKind
from corpus_pipeline.store import StageContext, StageResult

POLICY = """# Refund policy

A customer may return a product within thirty days of delivery and receives the full price back.

- The product must be complete and in its original packaging.
- Digital goods can be returned only while they have not been activated by the customer.
- Shipping costs are refunded where the product was faulty or the wrong one was sent.

Refunds are paid to the account the order was paid from, within five working days of the return.
Questions are answered by the service desk on every working day between eight and six o'clock.
"""
PLAIN = POLICY.replace("# ", "").replace("- ", "* ")
EDITED = POLICY.replace("five working days", "six working days")
EXTENDED = POLICY + "\nApproved by the board in its spring meeting, valid for all shops and the online store.\n"
OTHER = """# Escalation

An incident of the first severity is reported to the head of operations by telephone at once.
Every further hour without a solution the next level of management is informed as well.
The report names the customers concerned, the time it began and what has been tried already.
"""


def run(context: StageContext, run_id: str = "one") -> StageResult:
    context = replace(context, run_id=run_id)
    take_inventory(context)
    convert_corpus(context)
    return cluster_corpus(context)


def test_copies_are_found_stored_and_counted(context: StageContext, corpus_folder: Path) -> None:
    for name, text in {
        "a.md": POLICY, "b.txt": PLAIN, "c.md": EDITED, "d.md": EXTENDED, "e.md": OTHER,
    }.items():  # fmt: skip
        (corpus_folder / name).write_text(text, encoding="utf-8")
    result = run(context)
    with context.database.connection() as connection:
        edges = duplicate_edges(connection, "handbook")
        clusters = duplicate_clusters(connection, "handbook")
    found = {(edge.left_id[-4:], edge.right_id[-5:].lstrip("/")): edge.kind for edge in edges}
    assert found[("a.md", "b.txt")] is DuplicateKind.EXACT
    assert found[("a.md", "c.md")] is found[("a.md", "d.md")] is DuplicateKind.NEAR
    assert all("e.md" not in pair for pair in found)
    (cluster,) = clusters
    assert [member.removeprefix("handbook/") for member in cluster.members] == ["a.md", "b.txt", "c.md", "d.md"]
    assert cluster.centre_id == "handbook/a.md"
    counts = dict(result.counts)
    assert counts["documents"] == 5
    assert counts["signatures_computed"] == 4  # b.txt has the words of a.md
    assert (counts["exact_duplicates"], counts["clusters"], counts["largest_cluster"]) == (1, 1, 4)
    assert counts["duplicate_ratio"] == pytest.approx(3 / 5)


def test_an_unchanged_night_computes_nothing_and_keeps_its_output(context: StageContext, corpus_folder: Path) -> None:
    (corpus_folder / "a.md").write_text(POLICY, encoding="utf-8")
    (corpus_folder / "c.md").write_text(EDITED, encoding="utf-8")
    first, second = run(context), run(context, "two")
    assert (second.output_sha256, second.unchanged) == (first.output_sha256, True)
    assert (second.counts["signatures_computed"], second.counts["signatures_reused"]) == (0, 2)


def test_a_removed_document_leaves_edges_and_clusters(context: StageContext, corpus_folder: Path) -> None:
    for name, text in {"a.md": POLICY, "c.md": EDITED, "e.md": OTHER, "f.md": OTHER}.items():
        (corpus_folder / name).write_text(text, encoding="utf-8")
    before = run(context)
    (corpus_folder / "c.md").unlink()
    after = run(context, "two")
    assert (before.counts["clusters"], after.counts["clusters"]) == (2, 1)
    with context.database.connection() as connection:
        (cluster,) = duplicate_clusters(connection, "handbook")
        (edge,) = duplicate_edges(connection, "handbook")
    assert (edge.left_id, edge.right_id) == cluster.members == ("handbook/e.md", "handbook/f.md")


def test_a_corpus_not_converted_is_refused(context: StageContext) -> None:
    with pytest.raises(UpstreamMissingError, match="converted_documents"):
        cluster_corpus(context)


def test_the_metadata_show_cluster_sizes_and_the_recall_curve(context: StageContext, corpus_folder: Path) -> None:
    from corpus_pipeline.orchestration.metadata import duplicates_metadata

    for name, text in {"a.md": POLICY, "c.md": EDITED, "e.md": OTHER, "f.md": OTHER, "g.md": OTHER}.items():
        (corpus_folder / name).write_text(text, encoding="utf-8")
    run(context)
    shown = duplicates_metadata(context)
    sizes = shown["cluster sizes"].value.splitlines()
    assert [row.split("|")[1:3] for row in sizes[2:]] == [[" 2 ", " 1 "], [" 3 ", " 1 "]]
    curve = shown["recall curve"].value
    assert "21 bands of 6 rows" in curve
    assert "| 0.80 | 0.9983 |" in curve
    assert "| 100 | 0.9924 |" in curve
