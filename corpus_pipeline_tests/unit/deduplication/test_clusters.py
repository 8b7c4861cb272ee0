"""Clusters are stars of verified edges, whatever the order of what they are made from."""

from __future__ import annotations

import random
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from corpus_pipeline.deduplication.clusters import ComparedDocument, SignaturePair, form_clusters, form_edges
from corpus_pipeline.deduplication.parameters import comparison_parameters
from corpus_pipeline.records import DuplicateKind
from corpus_pipeline.registry import DeduplicationSpec

PARAMETERS = comparison_parameters(DeduplicationSpec())


def documents_of(sets: list[frozenset[int]]) -> list[ComparedDocument]:
    return [
        ComparedDocument(f"c/{number:03}", f"t{number}", f"n{sorted(content)}", number)
        for number, content in enumerate(sets)
    ]


def pairs_of(sets: list[frozenset[int]]) -> list[SignaturePair]:
    return [
        SignaturePair(left, right, len(sets[left]), len(sets[right]), len(sets[left] & sets[right]))
        for left, right in combinations(range(len(sets)), 2)
    ]


SETS = st.lists(
    st.builds(
        lambda start, size, extra: frozenset(range(start, start + size)) | frozenset(extra),
        st.integers(0, 12),
        st.integers(10, 40),
        st.sets(st.integers(100, 110), max_size=3),
    ),
    min_size=1,
    max_size=14,
)


@settings(max_examples=300)
@given(SETS, st.randoms())
def test_order_makes_no_difference(sets: list[frozenset[int]], generator: random.Random) -> None:
    documents, pairs = documents_of(sets), pairs_of(sets)
    edges = form_edges(documents, pairs, PARAMETERS)
    clusters = form_clusters("c", documents, edges)
    generator.shuffle(documents)
    generator.shuffle(pairs)
    assert form_edges(documents, pairs, PARAMETERS) == edges
    generator.shuffle(edges)
    assert form_clusters("c", documents, edges) == clusters


@settings(max_examples=300)
@given(SETS)
def test_every_member_is_alike_or_contained_in_the_centre(sets: list[frozenset[int]]) -> None:
    documents = documents_of(sets)
    content = {item.document_id: sets[number] for number, item in enumerate(documents)}
    clusters = form_clusters("c", documents, form_edges(documents, pairs_of(sets), PARAMETERS))
    seen = [member for cluster in clusters for member in cluster.members]
    assert len(seen) == len(set(seen))
    for cluster in clusters:
        centre = content[cluster.centre_id]
        assert cluster.similarity[cluster.centre_id] == 1.0
        assert set(cluster.similarity) == set(cluster.members)
        for member in cluster.members:
            mine = content[member]
            jaccard = len(mine & centre) / len(mine | centre)
            assert cluster.similarity[member] == jaccard
            assert jaccard >= PARAMETERS.threshold or (
                len(mine & centre) / len(mine) >= PARAMETERS.containment_threshold and len(mine) < len(centre)
            )


@settings(max_examples=200)
@given(SETS)
def test_every_document_with_a_near_duplicate_is_in_a_cluster(sets: list[frozenset[int]]) -> None:
    documents = documents_of(sets)
    edges = form_edges(documents, pairs_of(sets), PARAMETERS)
    clusters = form_clusters("c", documents, edges)
    clustered = {member for cluster in clusters for member in cluster.members}
    near = [edge for edge in edges if edge.kind is not DuplicateKind.CONTAINED]
    # A neighbour's neighbour may take it; alone it never stays, unless its neighbours all joined others.
    for edge in near:
        assert {edge.left_id, edge.right_id} & clustered


def test_a_chain_with_unlike_ends_is_not_one_cluster() -> None:
    sets = [frozenset(range(start, start + 100)) for start in (0, 10, 20, 30, 40)]
    documents = documents_of(sets)
    edges = form_edges(documents, pairs_of(sets), PARAMETERS)
    assert [(edge.left_id, edge.right_id) for edge in edges] == [
        ("c/000", "c/001"), ("c/001", "c/002"), ("c/002", "c/003"), ("c/003", "c/004"),
    ]  # fmt: skip
    clusters = form_clusters("c", documents, edges)
    assert [cluster.members for cluster in clusters] == [("c/000", "c/001", "c/002"), ("c/003", "c/004")]


def test_copies_stand_behind_their_representative() -> None:
    documents = [
        ComparedDocument("c/a", "1", "same", 1),
        ComparedDocument("c/b", "2", "same"),
        ComparedDocument("c/c", "3", "other", 3),
    ]
    edges = form_edges(documents, [SignaturePair(1, 3, 100, 100, 95)], PARAMETERS)
    assert [(e.left_id, e.right_id, e.kind) for e in edges] == [("c/a", "c/b", "exact"), ("c/a", "c/c", "near")]
    (cluster,) = form_clusters("c", documents, edges)
    assert (cluster.members, cluster.centre_id, cluster.kind) == (("c/a", "c/b", "c/c"), "c/a", "near")
    assert cluster.similarity == {"c/a": 1.0, "c/b": 1.0, "c/c": 95 / 105}


def test_a_text_with_an_appendix_takes_in_the_text_it_contains() -> None:
    documents = [ComparedDocument("c/a", "1", "1", 1), ComparedDocument("c/b", "2", "2", 2)]
    edges = form_edges(documents, [SignaturePair(1, 2, 100, 150, 98)], PARAMETERS)
    assert (edges[0].kind, edges[0].contained_id) == (DuplicateKind.CONTAINED, "c/a")
    (cluster,) = form_clusters("c", documents, edges)
    assert (cluster.centre_id, cluster.kind) == ("c/b", DuplicateKind.CONTAINED)


def test_a_handbook_does_not_make_its_chapters_copies_of_each_other() -> None:
    documents = [ComparedDocument(f"c/{number}", f"{number}", f"{number}", number) for number in range(4)]
    pairs = [SignaturePair(0, chapter, 1000, 300, 300) for chapter in (1, 2, 3)]
    edges = form_edges(documents, pairs, PARAMETERS)
    assert {edge.contained_id for edge in edges} == {"c/1", "c/2", "c/3"}
    assert form_clusters("c", documents, edges) == []


def test_a_cluster_id_is_that_of_its_smallest_member() -> None:
    documents = [ComparedDocument("c/a", "1", "same"), ComparedDocument("c/b", "2", "same")]
    more = [*documents, ComparedDocument("c/z", "3", "same")]
    first = form_clusters("c", documents, form_edges(documents, [], PARAMETERS))
    second = form_clusters("c", more, form_edges(more, [], PARAMETERS))
    assert first[0].cluster_id == second[0].cluster_id
