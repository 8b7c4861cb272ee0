"""BM25 inside PostgreSQL: the scores are those of the formula, over exactly the rows a reader may see."""

from __future__ import annotations

import math
import random
from collections import Counter
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from corpus_pipeline.index import analyser_for, read_session, rollback_corpus

ENGLISH = analyser_for("english")
COMMON = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu"]
WORDS = [*COMMON, "nu", "xi", "omicron", "pi", "rho", "sigma", "tau"]


def search(
    corpus: Any, query: str, *, groups: tuple[str, ...] = ("everyone",), most: int = 10, **options: Any
) -> dict[str, float]:
    """Scores by fragment id, best first, as a reader gets them."""
    evaluated = "evaluated_" if "as_evaluator" in options else ""
    filters = options.pop("filters", {})
    with read_session(corpus.context.database, groups=groups, show_archived=False, **options) as connection:
        rows = connection.execute(
            f"SELECT fragment_id, bm25 FROM serving.{evaluated}lexical_candidates(%s, %s, %s, %s)",
            (corpus.slug, ENGLISH.terms(query), Jsonb(filters), most),
        ).fetchall()
    return {row["fragment_id"].removeprefix(f"{corpus.slug}/"): row["bm25"] for row in rows}


def bm25(texts: dict[str, str], query: str) -> dict[str, float]:
    """The formula itself: Robertson's BM25 with Lucene's idf, k1 1.5, b 0.75."""
    words = {name: Counter(ENGLISH.words(text)) for name, text in texts.items()}
    mean = sum(map(Counter.total, words.values())) / len(words)
    scores: dict[str, float] = {}
    for word in ENGLISH.words(query):
        holders = sum(word in counts for counts in words.values())
        idf = math.log(1 + (len(words) - holders + 0.5) / (holders + 0.5))
        for name, counts in words.items():
            if word in counts:
                norm = 1.5 * (0.25 + 0.75 * counts.total() / mean)
                scores[name] = scores.get(name, 0.0) + idf * counts[word] / (counts[word] + norm)
    return scores


def random_texts(chance: random.Random, count: int) -> dict[str, str]:
    """Texts in which the first words of WORDS are frequent and the last are rare."""
    weights = [1 / (place + 1) for place in range(len(WORDS))]
    return {
        f"d{number:03d}.md": " ".join(chance.choices(WORDS, weights, k=chance.randint(1, 24)))
        for number in range(count)
    }


def assert_same(found: dict[str, float], expected: dict[str, float], most: int) -> None:
    """The same scores in the same order; names may differ only where scores are equal."""
    best = sorted(expected.values(), reverse=True)[:most]
    assert list(found.values()) == pytest.approx(best, abs=1e-5)
    assert all(expected[name.split("::")[0]] == pytest.approx(score, abs=1e-5) for name, score in found.items())


@pytest.mark.parametrize("seed", range(2))
def test_scores_are_those_of_the_formula(corpus: Any, seed: int) -> None:
    chance = random.Random(seed)
    texts = random_texts(chance, 250)
    corpus.publish(*(corpus.doc(name, text) for name, text in texts.items()))
    for _ in range(12):
        query = " ".join(chance.choices(WORDS, k=chance.randint(1, 9)))
        for most in (1, 5, 300):
            assert_same(search(corpus, query, most=most), bm25(texts, query), most)


def test_statistics_follow_every_generation(corpus: Any) -> None:
    chance = random.Random(3)
    texts = random_texts(chance, 60)
    kept = dict(texts)
    for night in range(4):
        corpus.publish(*(corpus.doc(name, text) for name, text in texts.items()))
        assert_same(search(corpus, "alpha kappa tau", most=100), bm25(texts, "alpha kappa tau"), 100)
        kept = dict(texts)
        for name in chance.sample(sorted(texts), 10):
            del texts[name]
        texts |= {f"night{night}-{name}": text for name, text in random_texts(chance, 12).items()}
    corpus.stage(*(corpus.doc(name, text) for name, text in texts.items()))
    assert_same(search(corpus, "alpha tau", most=100), bm25(kept, "alpha tau"), 100)
    staged = search(corpus, "alpha tau", most=100, as_evaluator=("handbook", 5))
    assert_same(staged, bm25(texts, "alpha tau"), 100)


def test_a_rollback_brings_its_statistics_back(corpus: Any) -> None:
    first = random_texts(random.Random(1), 30)
    corpus.publish(*(corpus.doc(name, text) for name, text in first.items()))
    corpus.publish(*(corpus.doc(name, text) for name, text in random_texts(random.Random(2), 90).items()))
    rollback_corpus(corpus.context.database, "handbook", "ana", "a test")
    assert_same(search(corpus, "alpha beta tau", most=100), bm25(first, "alpha beta tau"), 100)


def test_archived_texts_do_not_count(corpus: Any) -> None:
    texts = {"a.md": "alpha beta", "b.md": "beta gamma"}
    stale = corpus.doc("old.md", "alpha alpha alpha", excluded="superseded", reference="handbook/a.md")
    corpus.publish(*(corpus.doc(name, text) for name, text in texts.items()), stale)
    assert_same(search(corpus, "alpha beta"), bm25(texts, "alpha beta"), 10)


def test_a_word_that_occurs_very_often(corpus: Any) -> None:
    corpus.publish(corpus.doc("a.md", "alpha " * 16), corpus.doc("b.md", "alpha " * 400), corpus.doc("c.md", "beta"))
    found = search(corpus, "alpha")
    assert set(found) == {"a.md::f0000", "b.md::f0000"}


def test_the_same_ranking_whatever_the_order_of_the_documents(corpus: Any, other_corpus: Any) -> None:
    texts = random_texts(random.Random(5), 80)
    corpus.publish(*(corpus.doc(name, text) for name, text in texts.items()))
    other_corpus.publish(*(other_corpus.doc(name, texts[name]) for name in sorted(texts, reverse=True)))
    assert search(corpus, "alpha tau nu") == search(other_corpus, "alpha tau nu")


def test_nothing_is_found_without_a_word_in_common(corpus: Any, documents: Any) -> None:
    corpus.publish(*documents)
    assert search(corpus, "xylophone") == {}
    assert search(corpus, "") == {}
    assert search(corpus, "refund", most=0) == {}
