from __future__ import annotations

import numpy as np
import pytest

from corpus_pipeline.retrieval import Verdict
from corpus_pipeline.retrieval.candidate import Candidate
from corpus_pipeline.retrieval.sufficiency import assess

LIMIT = {"c": 0.3}


def candidate(score: float, document: str = "c/a", **metadata: str) -> Candidate:
    return Candidate(
        "f", "p", "c", document, "u", None, score, "t", "t", (), None, 0, 1, "s", np.zeros(2, dtype=np.float32),
        metadata=metadata,
    )  # fmt: skip


def test_nothing_within_scope_is_not_enough():
    found = assess([], [], {})
    assert (found.verdict, found.reason) == (
        Verdict.ABSTAIN,
        "not enough evidence: no current fragment within this scope",
    )


def test_the_best_score_below_the_limit_is_named():
    found = assess([candidate(0.11), candidate(0.21)], [], LIMIT)
    assert found.reason == "not enough evidence: best score 0.21 below 0.30"
    assert not found.is_sufficient


def test_a_score_that_rounds_to_the_limit_is_shown_in_full():
    assert assess([candidate(0.299999)], [], LIMIT).reason == "not enough evidence: best score 0.299999 below 0.30"


def test_accepted_fragments_are_counted_with_their_documents():
    accepted = [candidate(0.7), candidate(0.5), candidate(0.4, "c/b")]
    found = assess(accepted, accepted, LIMIT)
    assert (found.verdict, found.reason) == (
        Verdict.ANSWER,
        "3 fragments of 2 documents at or above 0.30; best score 0.70",
    )


def test_candidates_that_a_second_look_removed_are_not_enough():
    assert "second look" in assess([candidate(0.8)], [], LIMIT).reason


def test_evidence_elsewhere_is_pointed_at_best_first():
    found = assess([candidate(0.1)], [], LIMIT, elsewhere={"a": 0.4, "b": 0.6})
    assert (found.verdict, found.options) == (Verdict.ROUTE, ("b", "a"))
    assert "0.10 below 0.30; there is some in b (0.60), a (0.40)" in found.reason


VAGUE = [candidate(0.52, domain="billing"), candidate(0.5, domain="api"), candidate(0.3, domain="storage")]


def test_a_word_with_several_meanings_asks_back_with_those_of_like_standing():
    found = assess(VAGUE, VAGUE, LIMIT, query="What is the limit?", is_scoped=False)
    assert (found.verdict, found.options) == (Verdict.CLARIFY, ("billing", "api"))
    assert not found.is_sufficient


@pytest.mark.parametrize(
    ("query", "is_scoped"), [("limit", True), ("What happens when the spending limit is exceeded?", False)]
)
def test_a_scoped_or_a_full_question_is_answered(query: str, is_scoped: bool):
    assert assess(VAGUE, VAGUE, LIMIT, query=query, is_scoped=is_scoped).verdict is Verdict.ANSWER
