from __future__ import annotations

import pytest

from corpus_pipeline.deduplication import CrossCorpusEdge
from corpus_pipeline.records import DuplicateKind
from corpus_pipeline.versions.neighbours import PublishedVersion, neighbours_of

OLD = PublishedVersion("policies", "policies/old.md", "sha-old", True, "policies/new.md")
TWIN = PublishedVersion("policies", "policies/twin.md", "sha-old", True, "policies/new.md")


def edge(kind: DuplicateKind = DuplicateKind.NEAR) -> CrossCorpusEdge:
    return CrossCorpusEdge("policies", "policies/old.md", "support", "support/a.txt", kind, 0.85, 0.9)


def test_equal_texts_are_found_without_an_edge() -> None:
    found = neighbours_of("support", [], [OLD], {"support/a.txt": "sha-old", "support/b.txt": "sha-b"})
    assert [(one.document_id, one.score) for one in found] == [("support/a.txt", 1.0)]


def test_an_edge_holds_for_all_equal_documents_on_both_sides() -> None:
    found = neighbours_of("support", [edge()], [OLD, TWIN], {"support/a.txt": "s", "support/b.txt": "s"})
    assert [(one.document_id, one.published.document_id, one.score) for one in found] == [
        ("support/a.txt", "policies/old.md", 0.9),
        ("support/a.txt", "policies/twin.md", 0.9),
        ("support/b.txt", "policies/old.md", 0.9),
        ("support/b.txt", "policies/twin.md", 0.9),
    ]


@pytest.mark.parametrize("kind", [DuplicateKind.EXACT, DuplicateKind.CONTAINED])
def test_other_edges_say_nothing(kind: DuplicateKind) -> None:
    # Exact copies are known by hash; containment between corpora does not say which side is the part.
    assert neighbours_of("support", [edge(kind)], [OLD], {"support/a.txt": "s"}) == []


def test_an_unpublished_neighbour_says_nothing() -> None:
    assert neighbours_of("support", [edge()], [], {"support/a.txt": "s"}) == []
