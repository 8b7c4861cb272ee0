from __future__ import annotations

import numpy as np

from corpus_pipeline.retrieval.budget import SectionText, within_budget
from corpus_pipeline.retrieval.candidate import Candidate


def candidate(name: str, parent: str, tokens: int = 10) -> Candidate:
    vector = np.zeros(2, dtype=np.float32)
    made = Candidate(name, parent, "c", "c/a", "u", None, 0.5, name, name, (), None, 0, 1, "s", vector)
    return made._replace(token_count=tokens)


SECTIONS = {"p1": SectionText("one", 100), "p2": SectionText("two", 50)}


def test_without_a_budget_all_is_kept_with_its_sections():
    found = within_budget([candidate("a", "p1"), candidate("b", "p2")], SECTIONS, None)
    assert [one.fragment_id for one in found.kept] == ["a", "b"]
    assert (found.sections, found.tokens, found.left_out) == ({"p1": "one", "p2": "two"}, 150, ())


def test_a_section_counts_once_however_many_of_its_fragments_are_accepted():
    found = within_budget([candidate("a", "p1"), candidate("b", "p1")], SECTIONS, 100)
    assert (len(found.kept), found.tokens) == (2, 100)


def test_a_fragment_stands_alone_where_its_section_is_too_long_and_is_left_out_where_it_is_too():
    found = within_budget([candidate("a", "p2"), candidate("b", "p1", 40), candidate("c", "p3", 40)], SECTIONS, 100)
    assert [one.fragment_id for one in found.kept] == ["a", "b"]
    assert found.sections == {"p2": "two"}
    assert ([one.fragment_id for one in found.left_out], found.tokens) == (["c"], 90)
