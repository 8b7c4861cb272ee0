from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from corpus_pipeline.retrieval.candidate import Candidate
from corpus_pipeline.retrieval.fusion import fuse


def candidate(name: str, score: float = 0.5, bm25: float | None = None, space: str = "s") -> Candidate:
    vector = np.zeros(2, dtype=np.float32)
    made = Candidate(name, "p", "c", name, "u", None, score, name, name, (), None, 0, 1, space, vector)
    return made._replace(lexical_score=bm25)


def test_scores_are_sums_of_reciprocal_ranks():
    fused = fuse([candidate("a", 0.9), candidate("b", 0.8)], [candidate("b", 0.8, 7.0), candidate("c", 0.1, 3.0)])
    assert {one.fragment_id: one.fused_score for one in fused} == {
        "b": 1 / 62 + 1 / 61,
        "a": 1 / 61,
        "c": 1 / 62,
    }
    assert [one.fragment_id for one in fused] == ["b", "a", "c"]
    assert [one.lexical_score for one in fused] == [7.0, None, 3.0]


def test_cosines_of_different_spaces_are_ranked_apart():
    fused = fuse([candidate("a", 0.9, space="one"), candidate("b", 0.2, space="two")], [])
    assert {one.fused_score for one in fused} == {1 / 61}


@given(
    st.lists(st.tuples(st.integers(0, 8), st.floats(0, 1)), max_size=8, unique_by=lambda pair: pair[0]), st.randoms()
)
def test_the_order_of_the_input_does_not_matter_and_nothing_is_lost(points, random):
    dense = [candidate(f"f{number}", score) for number, score in points]
    sparse = [candidate(f"f{number}", score, 1.0 + number) for number, score in points if number % 2]
    fused = fuse(dense, sparse)
    random.shuffle(dense)
    random.shuffle(sparse)
    assert [one.fragment_id for one in fuse(dense, sparse)] == [one.fragment_id for one in fused]
    assert len(fused) == len(points)
