"""The same words in any format are the same text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_pipeline.deduplication.normalisation import lines_of_words, normalised_sha256, words


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("# Refunds\n\n- within **30** days", "Refunds\n• within 30 days"),
        ("| a | b |\n| c | d |", "a b\nc d"),
        ("infor-\nmation", "information"),
        ("well\u2010known", "well-known"),
        ("ﬁnal “quote”", 'FINAL "quote"'),
        ("soft\u00adhyphen", "softhyphen"),
        ("some_name", "somename"),
        ("\uff11\uff12", "12"),
    ],
)
def test_markup_and_typography_make_no_difference(left: str, right: str) -> None:
    assert normalised_sha256(left) == normalised_sha256(right)


@pytest.mark.parametrize(("left", "right"), [("1 23", "12 3"), ("refund", "refunds"), ("***", "---"), ("a b", "b a")])
def test_other_words_make_another_text(left: str, right: str) -> None:
    assert normalised_sha256(left) != normalised_sha256(right)


def test_scripts_without_spaces_give_a_word_a_character() -> None:
    assert words("東京タワー is tall") == ["東", "京", "タ", "ワ", "ー", "is", "tall"]


@given(st.text(alphabet=st.characters(codec="ascii")))
def test_words_of_plain_text_are_what_the_usual_expression_finds(text: str) -> None:
    assert words(text) == re.findall(r"\w+", text.lower())


@given(st.text())
def test_lines_together_have_the_words_of_the_text(text: str) -> None:
    assert [word for _, found in lines_of_words(text) for word in found] == words(text)
