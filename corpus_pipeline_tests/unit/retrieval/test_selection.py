from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_pipeline.retrieval.candidate import Candidate, rank
from corpus_pipeline.retrieval.selection import DropCause, select_diverse


def candidate(name: str, score: float, angle: float, *, text: str | None = None, space: str = "s") -> Candidate:
    vector = np.array([np.cos(angle), np.sin(angle)], dtype=np.float32)
    return Candidate(
        fragment_id=name,
        parent_id="p",
        corpus="c",
        document_id=f"c/{name}",
        source_uri=name,
        title=None,
        score=score,
        text=text or name,
        text_sha256=text or name,
        section_path=(),
        page_number=None,
        char_start=0,
        char_end=1,
        space=space,
        vector=vector,
    )


def test_equal_scores_are_ranked_by_fragment_id():
    assert [c.fragment_id for c in rank([candidate("b", 0.5, 0), candidate("a", 0.5, 1), candidate("c", 0.6, 2)])] == [
        "c",
        "a",
        "b",
    ]


def test_a_fragment_close_to_a_better_one_is_dropped_and_names_it():
    # cos(0.5) = 0.8776, cos(0.6) = 0.8253: one on each side of the limit 0.85.
    near, far = candidate("near", 0.8, 0.5), candidate("far", 0.7, 0.6)
    selection = select_diverse([candidate("best", 0.9, 0.0), near, far], top_k=3, max_similarity=0.85)
    assert [c.fragment_id for c in selection.selected] == ["best", "far"]
    (dropped,) = selection.dropped
    assert (dropped.blocked_by, dropped.position, dropped.cause) == ("best", 2, DropCause.NEAR_COPY)
    assert dropped.similarity == pytest.approx(np.cos(0.5))


def test_identical_text_collapses_even_between_vector_spaces():
    first = candidate("first", 0.9, 0.0, text="same", space="one")
    copy = candidate("copy", 0.8, 1.5, text="same", space="two")
    selection = select_diverse([copy, first], top_k=5, max_similarity=0.85)
    assert [c.fragment_id for c in selection.selected] == ["first"]
    assert selection.dropped[0].cause is DropCause.IDENTICAL


def test_cosines_of_different_spaces_are_not_compared():
    selection = select_diverse(
        [candidate("a", 0.9, 0.0, space="one"), candidate("b", 0.8, 0.0, space="two")], top_k=5, max_similarity=0.85
    )
    assert len(selection.selected) == 2


def test_what_comes_after_the_last_place_is_not_blocked_by_anything():
    selection = select_diverse([candidate("a", 0.9, 0.0), candidate("b", 0.8, 1.0)], top_k=1, max_similarity=0.85)
    assert [(d.candidate.fragment_id, d.blocked_by, d.position) for d in selection.dropped] == [("b", None, 2)]


def test_no_document_and_no_section_takes_more_places_than_allowed():
    candidates = [candidate(f"f{i}", 1 - i / 10, i * 1.0)._replace(document_id="c/one") for i in range(3)]
    candidates.append(candidate("other", 0.1, 4.0))
    by_source = select_diverse(candidates, top_k=4, max_similarity=1.0, max_per_source=2)
    assert [c.fragment_id for c in by_source.selected] == ["f0", "f1", "other"]
    assert [d.cause for d in by_source.dropped] == [DropCause.SAME_SOURCE]
    by_section = select_diverse(candidates, top_k=4, max_similarity=1.0, max_per_section=1)
    assert [c.fragment_id for c in by_section.selected] == ["f0"]
    assert {d.cause for d in by_section.dropped} == {DropCause.SAME_SECTION}


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 6.28)), max_size=12),
    st.integers(1, 5),
    st.floats(0.1, 1.0),
    st.randoms(),
)
def test_selection_is_diverse_complete_and_independent_of_input_order(points, top_k, limit, random):
    candidates = [candidate(f"f{i}", score, angle) for i, (score, angle) in enumerate(points)]
    selection = select_diverse(candidates, top_k=top_k, max_similarity=limit)
    shuffled = list(candidates)
    random.shuffle(shuffled)
    assert select_diverse(shuffled, top_k=top_k, max_similarity=limit) == selection
    assert len(selection.selected) <= top_k
    assert len(selection.selected) + len(selection.dropped) == len(candidates)
    for i, one in enumerate(selection.selected):
        for other in selection.selected[:i]:
            assert float(one.vector @ other.vector) < limit
            assert one.score <= other.score
    if candidates:
        assert selection.selected[0] == rank(candidates)[0]
