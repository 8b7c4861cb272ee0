from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from corpus_pipeline.registry import RoutingSpec
from corpus_pipeline.retrieval import CentroidRouter, RuleRouter

RULES = {
    "billing": RoutingSpec(keywords=("refund", "spending limit")),
    "api": RoutingSpec(keywords=("token",), patterns=(r"\b[45]\d\d\b",)),
}
ALL = ["support", "billing", "api"]


@pytest.mark.parametrize(
    ("question", "corpora"),
    [
        ("Are refunds paid twice?", ("billing",)),
        ("REFUND?", ("billing",)),
        ("What is the spending  limit?", ("billing",)),
        ("What does a 429 mean?", ("api",)),
        ("refund of a token", ("api", "billing")),
        ("nonrefundable", ("api", "billing", "support")),
        ("What is the limit?", ("api", "billing", "support")),
    ],
)
def test_rules_claim_by_whole_words_and_patterns(question: str, corpora: tuple[str, ...]):
    found = RuleRouter(RULES).route(question, None, ALL)
    assert found.corpora == corpora
    assert found.is_fallback == (len(corpora) == len(ALL))


def test_the_reason_names_what_claimed_the_question():
    assert RuleRouter(RULES).route("HTTP 429 and refunds", None, ALL).reason == (
        "api by /\\b[45]\\d\\d\\b/; billing by 'refund'"
    )


def test_a_pattern_that_is_none_is_refused():
    with pytest.raises(ValidationError, match="no regular expression"):
        RoutingSpec(patterns=("(",))


def test_the_learned_router_takes_the_nearest_centroids_and_leaves_out_no_corpus_it_cannot_judge():
    east, north = np.array([1, 0], np.float32), np.array([0, 1], np.float32)
    router = CentroidRouter({"billing": east, "api": north})
    assert router.route("", east, ["billing", "api"]).corpora == ("billing",)
    assert router.route("", east, ALL).corpora == ("billing", "support")
    assert router.route("", None, ALL).is_fallback
