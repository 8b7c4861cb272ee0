from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from corpus_pipeline.evaluation import Observed, QueryOutcome, calibrate


def judged(expected: float | None, top: float | None, *, should_match: bool = True) -> QueryOutcome:
    return QueryOutcome(
        query_id="q",
        query="q",
        domain="d",
        category="calibration",
        should_match=should_match,
        expected=("e",) if should_match else (),
        accepted=(),
        forbidden_hits=(),
        stale_hits=(),
        misses=(),
        best_score=top,
        reason="",
        observed=Observed(expected_score=expected, top_score=top),
    )


def unanswerable(top: float) -> QueryOutcome:
    return judged(None, top, should_match=False)


def test_the_limit_lies_in_the_middle_between_what_to_answer_and_what_not():
    found = calibrate([judged(0.6, 0.6), judged(0.5, 0.55), unanswerable(0.3), unanswerable(0.2)], 0.25)
    assert found.best.min_score == 0.4
    assert (found.best.f1, found.best.abstention_precision, found.best.abstention_recall) == (1.0, 1.0, 1.0)
    # At 0.25 one of two unanswerable queries is answered: 2 right, 1 wrong.
    assert (found.present.f1, found.present.abstention_recall) == (2 * 2 / (2 * 2 + 1), 0.5)
    assert found.is_informed


def test_without_queries_of_both_kinds_there_is_nothing_to_tell_apart():
    assert not calibrate([judged(0.6, 0.6)], 0.3).is_informed
    assert not calibrate([unanswerable(0.2)], 0.3).is_informed
    assert calibrate([], 0.3).best.min_score == 0.3


SCORES = st.floats(0.0, 1.0).map(lambda score: round(score, 3))


@given(st.lists(SCORES, min_size=1, max_size=12), st.lists(SCORES, min_size=1, max_size=12), SCORES)
def test_no_limit_is_better_than_the_best(answers: list[float], others: list[float], any_limit: float):
    outcomes = [*(judged(score, score) for score in answers), *map(unanswerable, others)]
    found = calibrate(outcomes, any_limit)
    assert found.best.f1 >= found.present.f1 - 1e-9
