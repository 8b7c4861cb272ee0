from __future__ import annotations

import numpy as np

from corpus_pipeline.retrieval.candidate import Candidate
from corpus_pipeline.retrieval.sufficiency import assess


def candidate(score: float, document: str = "c/a") -> Candidate:
    return Candidate(
        "f", "p", "c", document, "u", None, score, "t", "t", (), None, 0, 1, "s", np.zeros(2, dtype=np.float32)
    )


def test_nothing_within_scope_is_not_enough():
    assert assess([], [], 0.3) == (False, "not enough evidence: no current fragment within this scope")


def test_the_best_score_below_the_limit_is_named():
    found = assess([candidate(0.11), candidate(0.21)], [], 0.3)
    assert found == (False, "not enough evidence: best score 0.21 below 0.30")


def test_a_score_that_rounds_to_the_limit_is_shown_in_full():
    assert assess([candidate(0.299999)], [], 0.3)[1] == "not enough evidence: best score 0.299999 below 0.30"


def test_accepted_fragments_are_counted_with_their_documents():
    accepted = [candidate(0.7), candidate(0.5), candidate(0.4, "c/b")]
    assert assess(accepted, accepted, 0.3) == (
        True,
        "3 fragments of 2 documents at or above 0.30; best score 0.70",
    )
