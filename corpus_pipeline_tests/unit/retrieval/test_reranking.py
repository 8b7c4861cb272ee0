"""The packaged cross-encoder with its real weights."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from corpus_pipeline.errors import ModelUnavailableError
from corpus_pipeline.retrieval import load_reranker
from corpus_pipeline.retrieval.candidate import Candidate
from corpus_pipeline.retrieval.reranking import PACKAGED_RERANKER, passage, rerank

QUESTION = "How many days do customers have to ask for a refund?"
TEXTS = {
    "parking": "Bicycles stand behind the house, cars in front of it.",
    "answer": "Customers may ask for a refund within thirty days of the purchase.",
    "near": "Refunds are paid to the card that was charged.",
}


def candidate(name: str, score: float) -> Candidate:
    vector = np.zeros(2, dtype=np.float32)
    made = Candidate(name, "p", "c", "c/a", "u", "Refunds", score, TEXTS[name], name, (), None, 0, 1, "s", vector)
    return replace(made, section_path=("Window",))


def test_the_answer_is_put_first_and_what_does_not_answer_is_removed():
    candidates = [candidate("parking", 0.9), candidate("near", 0.8), candidate("answer", 0.7)]
    stay, removed = rerank(load_reranker(PACKAGED_RERANKER), QUESTION, candidates, most=10, min_score=0.1)
    assert stay[0].fragment_id == "answer"
    assert stay[0].standing == stay[0].rerank_score > 0.9
    assert "parking" in {one.fragment_id for one in removed}


def test_only_the_best_are_read():
    stay, removed = rerank(
        load_reranker(PACKAGED_RERANKER),
        QUESTION,
        [candidate("answer", 0.9), candidate("near", 0.8)],
        most=1,
        min_score=0.0,
    )
    assert ([one.fragment_id for one in stay], removed) == (["answer"], [])


def test_no_text_needs_no_reading():
    assert rerank(load_reranker(PACKAGED_RERANKER), QUESTION, [], most=10, min_score=0.0) == ([], [])


def test_batches_and_their_padding_change_nothing():
    reranker = load_reranker(PACKAGED_RERANKER)
    texts = [TEXTS["answer"], *(TEXTS["parking"] * n for n in range(1, 20))]
    together = reranker.probabilities(QUESTION, texts)
    assert together[0] == pytest.approx(float(reranker.probabilities(QUESTION, texts[:1])[0]), abs=0.02)


def test_a_passage_begins_with_where_it_stands():
    assert passage(candidate("near", 0.5)).startswith("Refunds > Window\nRefunds are paid")


def test_an_unknown_reranker_is_refused_with_a_remedy(tmp_path):
    with pytest.raises(ModelUnavailableError) as caught:
        load_reranker(str(tmp_path / "none"))
    assert caught.value.remedy
