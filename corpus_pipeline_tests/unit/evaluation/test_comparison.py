from __future__ import annotations

import numpy as np
import pytest

from corpus_pipeline.evaluation import Drop, Hit, Miss, MissClass, QueryOutcome
from corpus_pipeline.evaluation.comparison import compare
from corpus_pipeline.evaluation.novelty import MAX_REFERENCES, off_topic, references

NOTHING_NEW: frozenset[str] = frozenset()


def outcome(name: str, found: bool, *, domain: str = "billing", above: tuple[str, ...] = ()) -> QueryOutcome:
    accepted = ("e",) if found else above[:5]
    return QueryOutcome(
        query_id=name,
        query="q",
        domain=domain,
        category="other",
        should_match=True,
        expected=("e",),
        accepted=tuple(
            Hit(position=place, document_id=one, fragment_id=one, score=0.5) for place, one in enumerate(accepted, 1)
        ),
        forbidden_hits=(),
        stale_hits=(),
        misses=() if found else (Miss(document_id="e", miss_class=MissClass.RANKED_TOO_LOW, detail=""),),
        best_score=None,
        reason="",
        ranked=("e", *above) if found else (*above, "e"),
    )


def answers(found: str, **changes: object) -> list[QueryOutcome]:
    """One query a character: ``1`` found."""
    return [outcome(f"q{number}", one == "1", **changes) for number, one in enumerate(found)]


def of_domain(drops: tuple[Drop, ...]) -> Drop:
    return next(drop for drop in drops if drop.domain == "billing")


@pytest.mark.parametrize(
    ("after", "is_significant"),
    [("00", False), ("000", True), ("0011", False), ("00011", True), ("0001111111", False), ("0000111111", True)],
)
def test_a_drop_is_significant_when_chance_over_the_questions_does_not_explain_it(after: str, is_significant: bool):
    drop = of_domain(compare(answers("1" * len(after)), answers(after), NOTHING_NEW))
    assert drop.is_significant is is_significant
    assert drop.size == pytest.approx(after.count("0") / len(after))


def test_what_did_not_fall_is_no_drop():
    assert compare(answers("1010"), answers("1010"), NOTHING_NEW) == ()
    assert compare(answers("1010"), answers("1110"), NOTHING_NEW) == ()


def test_gains_make_up_for_losses_only_within_a_domain():
    before = [*answers("1111"), *(outcome(f"s{n}", found=False, domain="support") for n in range(4))]
    after = [*answers("0000"), *(outcome(f"s{n}", found=True, domain="support") for n in range(4))]
    drops = compare(before, after, NOTHING_NEW)
    assert [(drop.domain, drop.is_significant) for drop in drops] == [("billing", True)]


def test_a_drop_says_in_words_which_queries_and_what_stands_above_the_expected_documents_now():
    before = answers("1111", above=("old",))
    after = [*answers("000", above=("new1", "new2", "old")), outcome("q3", found=True)]
    drop = of_domain(compare(before, after, frozenset({"new1"})))
    assert (drop.lost, drop.above, drop.new_count) == (("q0", "q1", "q2"), ("new1", "new2", "old"), 1)
    assert drop.sentence == (
        "recall for billing fell from 1.00 to 0.25 (4 queries; 95 % interval of the difference -1.00 to -0.25); "
        "these 3 queries: q0, q1, q2; these 3 documents now rank above the expected ones (1 of them new): "
        "new1, new2, old; the expected ones are missing because: ranked too low 3"
    )


def test_a_query_that_only_one_generation_was_asked_is_not_compared():
    assert compare(answers("1"), [outcome("other", found=False)], NOTHING_NEW) == ()


def test_a_new_document_far_from_all_published_ones_is_off_topic():
    draw = np.random.default_rng(3)
    axis = np.eye(8, dtype=np.float32)[0]
    published = {f"p{n}": axis + draw.normal(0, 0.1, 8).astype(np.float32) for n in range(20)}
    new = {"near": axis + draw.normal(0, 0.02, 8).astype(np.float32), "far": np.eye(8, dtype=np.float32)[5]}
    assert off_topic(new, published) == ["far"]
    assert off_topic({}, published) == []
    assert off_topic(new, dict(list(published.items())[:4])) == []


def test_the_sample_of_a_large_corpus_is_always_the_same():
    ids = [f"d{number}" for number in range(MAX_REFERENCES + 50)]
    assert len(references(ids)) == MAX_REFERENCES
    assert references(ids) == references(ids[::-1])
