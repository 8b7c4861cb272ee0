from __future__ import annotations

import math

import pytest

from corpus_pipeline.evaluation import Hit, Miss, MissClass, Observed, QueryOutcome
from corpus_pipeline.evaluation.metrics import grouped, intervals, metrics


def outcome(name: str, accepted: list[str], expected: list[str], **changes: object) -> QueryOutcome:
    values = {
        "query_id": name,
        "query": "q",
        "domain": "billing",
        "category": "other",
        "should_match": bool(expected),
        "expected": tuple(expected),
        "accepted": tuple(
            Hit(position=i, document_id=document, fragment_id=f"{document}::f{i}", score=0.9 - i / 10)
            for i, document in enumerate(accepted, start=1)
        ),
        "forbidden_hits": (),
        "stale_hits": (),
        "misses": tuple(
            Miss(document_id=document, miss_class=MissClass.BELOW_SCORE, detail="")
            for document in expected
            if document not in accepted
        ),
        "best_score": None,
        "reason": "",
    }
    return QueryOutcome(**(values | changes))


def test_ranked_measures_against_numbers_worked_out_by_hand():
    # a: first of two found at document rank 2 (two fragments of x before it count once), 1/2 recalled.
    # b: found at rank 1. c: nothing accepted. d: found at rank 4.
    figures = metrics(
        [
            outcome("a", ["x", "x", "e1"], ["e1", "e2"]),
            outcome("b", ["e1"], ["e1"]),
            outcome("c", [], ["e1"]),
            outcome("d", ["x", "y", "z", "e1"], ["e1"]),
        ]
    )
    assert figures["hit_at_1"] == pytest.approx(1 / 4)
    assert figures["hit_at_3"] == pytest.approx(2 / 4)
    assert figures["hit_at_5"] == pytest.approx(3 / 4)
    assert figures["recall_at_5"] == pytest.approx((0.5 + 1 + 0 + 1) / 4)
    assert figures["mrr"] == pytest.approx((1 / 2 + 1 + 0 + 1 / 4) / 4)
    assert figures["passed_queries"] == 2


def test_abstention_is_measured_over_what_must_not_be_answered():
    # Two unanswerable, one answered wrongly; three abstentions, of which one was right.
    figures = metrics([outcome("a", [], []), outcome("b", ["x"], []), outcome("c", [], ["e"]), outcome("d", [], ["e"])])
    assert figures["abstention_recall"] == pytest.approx(1 / 2)
    assert figures["abstention_precision"] == pytest.approx(1 / 3)


def test_a_measure_without_a_query_to_measure_is_left_out():
    assert metrics([]) == {
        "queries": 0,
        "answerable_queries": 0,
        "unanswerable_queries": 0,
        "passed_queries": 0,
        "forbidden_hits": 0,
        "stale_hits": 0,
        "authorisation_hits": 0,
        "authority_violations": 0,
        "metadata_mismatches": 0,
    }
    assert "recall_at_5" not in metrics([outcome("a", [], [])])
    assert "abstention_recall" not in metrics([outcome("a", ["e"], ["e"])])


def test_a_query_that_only_forbids_is_counted_but_measures_no_ranking():
    watch = {"should_match": True}
    assert "recall_at_5" not in metrics([outcome("a", [], [], **watch)])
    figures = metrics([outcome("a", [], [], **watch), outcome("b", ["e"], ["e"]), outcome("c", [], [])])
    assert (figures["queries"], figures["passed_queries"], figures["recall_at_5"]) == (3, 3, 1.0)
    assert figures["abstention_precision"] == 1.0


@pytest.mark.parametrize("hit", ["forbidden_hits", "stale_hits"])
def test_a_forbidden_or_stale_hit_fails_a_query_that_found_all_it_should(hit: str):
    found = outcome("a", ["e", "old"], ["e"], **{hit: ("old",)})
    assert not found.passed
    assert metrics([found])[hit] == 1


def test_figures_by_domain_are_those_of_its_queries_alone():
    found = [outcome("b", [], ["e"], domain="limits"), outcome("a", ["e"], ["e"])]
    by_domain = {name: metrics(group) for name, group in grouped(found, lambda one: one.domain).items()}
    assert list(by_domain) == ["billing", "limits"]
    assert (by_domain["billing"]["recall_at_5"], by_domain["limits"]["recall_at_5"]) == (1.0, 0.0)


def test_deep_ranks_count_candidates_that_were_not_accepted():
    # expected at rank 12 of the candidates, nothing of it accepted; the other at rank 2, accepted.
    far = (*(f"x{n}" for n in range(11)), "e")
    figures = metrics([outcome("a", ["x0"], ["e"], ranked=far), outcome("b", ["x", "e"], ["e"], ranked=("x", "e"))])
    assert [figures[f"hit_at_{k}"] for k in (1, 5, 10, 20, 50)] == [0.0, 0.5, 0.5, 1.0, 1.0]
    assert (figures["recall_at_10"], figures["recall_at_20"]) == (0.5, 1.0)
    assert figures["ndcg_at_10"] == pytest.approx((0 + 1 / math.log2(3)) / 2)


def test_precision_passages_copies_and_metadata_are_means_over_the_queries_they_say_something_of():
    seen = Observed(
        relevant_fragments=1, expected_passages=2, found_passages=1, copies=3, looked_at=10, forbids=True,
        requires_metadata=True, metadata_mismatches=("c/x: product: wanted a, has b",),
    )  # fmt: skip
    figures = metrics([outcome("a", ["x", "e"], ["e"], observed=seen, forbidden_hits=("x",)), outcome("b", [], ["e"])])
    assert (figures["precision"], figures["passage_recall"], figures["duplicate_ratio"]) == (0.5, 0.5, 0.3)
    assert (figures["metadata_mismatch_rate"], figures["metadata_mismatches"]) == (0.5, 1)
    assert (figures["forbidden_rate"], figures["stale_rate"], figures["passed_queries"]) == (1.0, 0.0, 0)


def test_a_mean_has_an_interval_from_three_queries_on():
    found = [outcome(name, ["e"] if name in "abc" else [], ["e"]) for name in "abcd"]
    assert intervals(found)["recall_at_5"] == (0.25, 1.0)
    assert intervals(found[:2]) == {}
    assert intervals(found) == intervals(found)
