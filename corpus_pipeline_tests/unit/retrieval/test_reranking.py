"""The packaged rerankers with their real weights."""

from __future__ import annotations

import numpy as np
import pytest

from corpus_pipeline.errors import ModelUnavailableError
from corpus_pipeline.retrieval import load_reranker
from corpus_pipeline.retrieval.candidate import Candidate
from corpus_pipeline.retrieval.packaged_rerankers import PACKAGED_CROSS_ENCODER, PACKAGED_EMBEDDING
from corpus_pipeline.retrieval.reranking import passage, readers_of, rerank

QUESTION = "How many days do customers have to ask for a refund?"
TEXTS = {
    "parking": "Bicycles stand behind the house, cars in front of it.",
    "answer": "Customers may ask for a refund within thirty days of the purchase.",
    "near": "Refunds are paid to the card that was charged.",
}


def packaged():
    return {"c": load_reranker(PACKAGED_CROSS_ENCODER)}


def candidate(name: str, score: float) -> Candidate:
    vector = np.zeros(2, dtype=np.float32)
    made = Candidate(name, "p", "c", "c/a", "u", "Refunds", score, TEXTS[name], name, (), None, 0, 1, "s", vector)
    return made._replace(section_path=("Window",))


def test_the_answer_is_put_first_and_what_does_not_answer_is_removed():
    candidates = [candidate("parking", 0.9), candidate("answer", 0.8), candidate("near", 0.7)]
    stay, removed = rerank(packaged(), QUESTION, candidates, most=10, min_scores={"c": 0.1})
    assert stay[0].fragment_id == "answer"
    assert stay[0].rerank_score > 0.9
    assert "parking" in {one.fragment_id for one in removed}


def test_the_place_before_counts_as_much_as_the_reading():
    names = "abcdefgh"
    read = [candidate("near", 0.9 - place / 100)._replace(fragment_id=name) for place, name in enumerate(names)]

    class Likes:
        name = "likes"

        def probabilities(self, question, texts):
            return np.array([0.8, 0.9, 0.1, 0.2, 0.3, 0.4, 0.5, 0.99])

    stay, _ = rerank({"c": Likes()}, QUESTION, read, most=10, min_scores={"c": 0.0})
    # a: places 1 and 3, b: 2 and 2, h: 8 and 1, c: 3 and 8.
    assert [one.fragment_id for one in stay[:3]] == ["a", "b", "h"]


def test_only_the_best_are_read():
    read = [candidate("answer", 0.9), candidate("near", 0.8)]
    stay, removed = rerank(packaged(), QUESTION, read, most=1, min_scores={"c": 0.0})
    assert ([one.fragment_id for one in stay], removed) == (["answer"], [])


def test_no_text_needs_no_reading():
    assert rerank(packaged(), QUESTION, [], most=10, min_scores={}) == ([], [])


class Prefers:
    """Judges by length alone, so that two of them cannot agree."""

    def __init__(self, name: str, sign: float) -> None:
        self.name = name
        self._sign = sign
        self.read: list[str] = []

    def probabilities(self, question, texts):
        self.read += texts
        return 1 / (1 + np.exp(-self._sign * np.array([len(text) / 100 for text in texts])))


def test_each_corpus_is_read_by_its_own_reranker_and_kept_by_its_own_limit():
    short, long = Prefers("short", -1.0), Prefers("long", 1.0)
    candidates = [
        candidate(name, 0.9)._replace(corpus=corpus, fragment_id=f"{corpus} {name}")
        for corpus in ("a", "b")
        for name in TEXTS
    ]
    stay, removed = rerank({"a": short, "b": long}, QUESTION, candidates, most=10, min_scores={"a": 0.32, "b": 0.0})
    assert len(short.read) == len(long.read) == len(TEXTS)
    assert sorted(one.corpus for one in stay) == ["a", "a", "b", "b", "b"]
    assert [one.fragment_id for one in removed] == ["a answer"]


def test_different_scales_are_merged_by_place():
    class Says:
        def __init__(self, name: str, values: list[float]) -> None:
            self.name = name
            self._values = values

        def probabilities(self, question, texts):
            return np.array(self._values[: len(texts)])

    read = [
        candidate("near", 0.9 - place / 100)._replace(corpus=corpus, fragment_id=f"{corpus}{place}")
        for place, corpus in enumerate("abab")
    ]
    rerankers = {"a": Says("cosines", [0.7, 0.6]), "b": Says("probabilities", [0.4, 0.01])}
    stay, _ = rerank(rerankers, QUESTION, read, most=4, min_scores={"a": 0.0, "b": 0.0})
    assert [one.fragment_id for one in stay] == ["a0", "b1", "a2", "b3"]


def test_a_corpus_without_a_reranker_is_read_by_the_usual_one():
    assert readers_of({"a": None, "b": None}) == {}
    assert readers_of({"a": None, "b": "y", "c": "x"}) == {"a": "x", "b": "y", "c": "x"}
    assert readers_of({"a": None, "b": "y", "c": "x", "d": "y"})["a"] == "y"


def test_a_text_is_judged_alone_whatever_its_company():
    reranker = load_reranker(PACKAGED_CROSS_ENCODER)
    texts = [TEXTS["answer"], *(TEXTS["parking"] * n for n in range(1, 20))]
    together = reranker.probabilities(QUESTION, texts)
    assert list(together[:3]) == [float(reranker.probabilities(QUESTION, [text])[0]) for text in texts[:3]]


def test_a_passage_begins_with_where_it_stands():
    assert passage(candidate("near", 0.5)).startswith("Refunds > Window\nRefunds are paid")


def test_an_unknown_reranker_is_refused_with_a_remedy(tmp_path):
    with pytest.raises(ModelUnavailableError) as caught:
        load_reranker(str(tmp_path / "none"))
    assert caught.value.remedy


def test_the_other_embedding_model_puts_what_answers_before_what_does_not():
    reranker = load_reranker(PACKAGED_EMBEDDING)
    judged = reranker.probabilities(QUESTION, [TEXTS[name] for name in ("near", "answer", "parking")])
    assert judged.min() >= 0.0
    assert judged.max() <= 1.0
    assert judged[0] > judged[2] < judged[1]


def test_what_stood_first_tells_what_a_question_means():
    reranker = load_reranker(PACKAGED_EMBEDDING)
    animal = "The jaguar hunts at night in the rain forest, swims well and eats fish and caimans."
    car = "The Jaguar has an engine of six cylinders, leather seats and a top speed of 240 km/h."
    forest = "In the forest big cats hunt animals that come to the river to drink."
    garage = "The brakes and tyres of this model are checked once a year by the garage."

    def gap(first: str) -> float:
        judged = reranker.probabilities("What is known of the jaguar?", [first, first, first, forest, garage])
        return float(judged[3] - judged[4])

    assert gap(animal) > gap(car)


def test_no_texts_are_judged_as_none():
    assert load_reranker(PACKAGED_EMBEDDING).probabilities(QUESTION, []).shape == (0,)
