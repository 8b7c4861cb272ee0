from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from corpus_pipeline.evaluation import Passage
from corpus_pipeline.evaluation.passage import covers, locate, normalised

WORDS = st.lists(st.text("abc", min_size=1, max_size=4), min_size=1, max_size=30)
SPACE = st.sampled_from([" ", "\n", "\n\n", "\t ", " \u00a0"])


@given(WORDS, st.data())
def test_an_anchor_is_found_however_its_white_space_is_written(words: list[str], data: st.DataObject):
    text = "".join(word + data.draw(SPACE) for word in words)
    start = data.draw(st.integers(0, len(words) - 1))
    end = data.draw(st.integers(start + 1, len(words)))
    anchor = " ".join(words[start:end])
    places = locate(text, anchor)
    assert places
    assert all(normalised(text[left:right]) == anchor for left, right in places)


def test_a_passage_cut_in_two_is_had_by_the_part_with_at_least_half_of_it():
    anchor = "refund within 30 days of purchase"
    assert covers("Customers may ask for a refund within 30", anchor)
    assert covers("30 days of purchase, in writing", anchor)
    assert not covers("of purchase by letter", anchor)
    assert not covers("refund", anchor)


def test_a_span_becomes_the_words_it_covers_and_is_lost_with_the_text():
    passage = Passage(source="a.md", span=(4, 9))
    assert passage.words_in("One\n\ntwo\nthree") == "two"
    assert passage.words_in("short") is None
    assert passage.words_in(None) is None


@pytest.mark.parametrize(
    "keys", [{}, {"anchor": "a", "span": (0, 1)}, {"anchor": "  "}, {"span": (3, 3)}, {"span": (-1, 2)}]
)
def test_a_passage_is_named_in_one_way(keys: dict):
    with pytest.raises(ValidationError):
        Passage(source="a.md", **keys)
