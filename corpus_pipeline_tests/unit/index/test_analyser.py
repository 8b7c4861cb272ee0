"""What words are, whichever way they are found."""

from __future__ import annotations

import re
import string

from hypothesis import example, given
from hypothesis import strategies as st

from corpus_pipeline.index.analyser import Analyser

WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")


@given(st.text(alphabet=string.printable + "\x00\x1c\x7f", max_size=200))
@example("snake_case, x-y.z 12.5% don't 'quoted' a''b")
@example("")
def test_words_of_ascii_are_runs_of_letters_and_digits(text: str) -> None:
    assert Analyser("none").words(text) == WORD.findall(text.lower())


@given(st.lists(st.text(alphabet="ab c'é", max_size=30), max_size=5))
def test_terms_of_a_text_do_not_depend_on_what_was_seen_before(texts: list[str]) -> None:
    seasoned = Analyser("english")
    together = [seasoned.terms(text) for text in texts]
    assert together == [Analyser("english").terms(text) for text in texts]
    assert [seasoned.terms(text) for text in texts] == together
