"""Posting lists: they find what the formula and the keys find, whatever the nights before have left in them."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from psycopg import errors
from psycopg.types.json import Jsonb

from corpus_pipeline.index import (
    postings,
    publication,
    publish_corpus,
    remove_old_rows,
    resume_corpus,
    rollback_corpus,
    serving_table,
    stage_generation,
    tables,
)
from corpus_pipeline.index import staging as staging_module
from corpus_pipeline_tests.integration.index.test_lexical_ranking import (
    ENGLISH,
    WORDS,
    assert_same,
    bm25,
    random_texts,
    search,
)

BY_IMPACT = "corpus.candidates_by_impact(corpus.lexical_search, corpus.posting_indexes, integer)"
BY_KEY = "corpus.candidates_by_key(corpus.lexical_search, integer)"
PREPARED = (
    "corpus.prepared_lexical_search('published_rows', %(table)s, %(corpus)s, %(generation)s, %(terms)s, %(filters)s)"
)
FROM_LISTS = (
    f"SELECT found.* FROM {PREPARED} AS prepared, corpus.posting_indexes AS i,"
    " corpus.candidates_by_impact(prepared, i, %(most)s) AS found"
    " WHERE i.serving_table = %(table)s AND i.corpus = %(corpus)s"
)
FROM_KEYS = f"SELECT found.* FROM {PREPARED} AS prepared, corpus.candidates_by_key(prepared, %(most)s) AS found"
CONTENT = (
    "SELECT i::text AS row FROM corpus.posting_indexes i UNION ALL SELECT p::text FROM corpus.posting_places p"
    " UNION ALL SELECT b::text FROM corpus.posting_blocks b ORDER BY 1"
)


class Interrupt(BaseException):
    """Stands for a killed process: no handler of the package catches it."""


@pytest.fixture
def appending(monkeypatch: pytest.MonkeyPatch) -> None:
    """New rows of a small corpus get blocks of their own, like those of a large one."""
    monkeypatch.setattr(postings, "SMALL_ROWS", 0)


def rows(corpus: Any, statement: str, *values: Any) -> list[dict[str, Any]]:
    with corpus.context.database.connection() as connection:
        found: list[dict[str, Any]] = connection.execute(statement, values).fetchall()
    return found


def as_owner(
    corpus: Any,
    statement: str,
    query: str,
    *,
    groups: Sequence[str] = ("everyone",),
    most: int = 10,
    filters: dict[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """Asks one way of searching words by itself, in sight of a reader's rows."""
    with corpus.context.database.connection() as connection:
        known = publication(connection, corpus.slug)
        connection.execute("SELECT set_config('corpus.groups', %s::text[]::text, true)", (list(groups),))
        found: list[dict[str, Any]] = connection.execute(
            statement,
            {
                "table": known.serving_table,
                "corpus": corpus.slug,
                "generation": known.generation,
                "terms": ENGLISH.terms(query),
                "filters": Jsonb(filters or {}),
                "most": most,
            },
        ).fetchall()
    return found


def by_lists(corpus: Any, query: str, **options: Any) -> tuple[bool, dict[str, float]]:
    """Whether posting lists alone have the answer, and the scores that they give."""
    (found,) = as_owner(corpus, FROM_LISTS, query, **options)
    names = [name.removeprefix(f"{corpus.slug}/") for name in found["fragment_ids"] or ()]
    return found["is_complete"], dict(zip(names, found["scores"] or (), strict=True))


def by_keys(corpus: Any, query: str, **options: Any) -> dict[str, float]:
    found = as_owner(corpus, FROM_KEYS, query, **options)
    return {row["fragment_id"].removeprefix(f"{corpus.slug}/"): row["bm25"] for row in found}


def assert_ways_agree(corpus: Any, query: str, **options: Any) -> dict[str, float]:
    """The same from posting lists, from keys, and as a reader gets it."""
    is_complete, found = by_lists(corpus, query, **options)
    assert is_complete
    assert list(found.items()) == list(by_keys(corpus, query, **options).items())
    assert list(found.items()) == list(search(corpus, query, **options).items())
    return found


def assert_best(found: dict[str, float], expected: dict[str, float], most: int) -> None:
    """The best fragments with their scores; fragments may differ only where scores are equal."""
    assert list(found.values()) == pytest.approx(sorted(expected.values(), reverse=True)[:most], abs=1e-5)
    assert found == pytest.approx({name: expected[name] for name in found}, abs=1e-5)


def documents(corpus: Any, texts: dict[str, str]) -> list[Any]:
    return [corpus.doc(name, text) for name, text in texts.items()]


def fragments(documents: Iterable[Any]) -> dict[str, str]:
    return {f"{each.name}::f{number:04d}": text for each in documents for number, text in enumerate(each.texts)}


def folder(corpus: Any, name: str, count: int, *, word: str, times: int = 1, length: int = 6) -> list[Any]:
    """Documents of ten fragments: so often the word, a number no other fragment has, and padding: ten lengths."""
    text = f"{'pad ' * (length - times - 1)}{f'{word} ' * times}"
    return [
        corpus.doc(f"{name}{number:02d}.md", *(f"{text}{'pad ' * part}{name}{number}x{part}" for part in range(10)))
        for number in range(count)
    ]


def places(corpus: Any) -> dict[tuple[str, int], int]:
    found = rows(corpus, "SELECT fragment_id, generation_from, place FROM corpus.posting_places")
    assert len({row["place"] for row in found}) == len(found)
    return {(row["fragment_id"], row["generation_from"]): row["place"] for row in found}


def only_index(corpus: Any) -> dict[str, Any]:
    (found,) = rows(corpus, "SELECT * FROM corpus.posting_indexes")
    return found


def leaf_rows(corpus: Any) -> set[tuple[str, int]]:
    """Current rows of all generations."""
    with corpus.context.database.connection() as connection:
        leaf, _ = tables.leaves(str(serving_table(connection, corpus.slug)), corpus.slug)
    found = rows(corpus, f"SELECT fragment_id, generation_from FROM serving.{leaf.name}")
    return {(row["fragment_id"], row["generation_from"]) for row in found}


@contextmanager
def closed(corpus: Any, function: str) -> Iterator[None]:
    """Meanwhile a search that needs the function fails."""
    name, _, arguments = function.partition("(")
    with corpus.context.database.connection() as connection:
        connection.execute(f"ALTER FUNCTION {function} RENAME TO closed")
    yield
    with corpus.context.database.connection() as connection:
        connection.execute(f"ALTER FUNCTION corpus.closed({arguments} RENAME TO {name.removeprefix('corpus.')}")


# --- the same answers as keys and the formula give ---

FILTERS: list[dict[str, Any]] = [
    {},
    {"product": "Relay"},
    {"attributes": {"tier": "2"}},
    {"product": "switch", "attributes": {"tier": "1"}},
]


@pytest.mark.parametrize("seed", range(2))
def test_posting_lists_and_keys_find_the_same(corpus: Any, seed: int) -> None:
    chance = random.Random(seed)
    texts = random_texts(chance, 200)
    about = {
        name: {"product": chance.choice(["Relay", "Switch"]), "attributes": {"tier": chance.choice("12")}}
        for name in texts
    }
    corpus.publish(*(corpus.doc(name, text, **about[name]) for name, text in texts.items()))
    for _ in range(4):
        query = " ".join(chance.choices(WORDS, k=chance.randint(1, 9)))
        for filters in FILTERS:
            product, tier = filters.get("product"), filters.get("attributes", {}).get("tier")
            expected = {
                name: score
                for name, score in bm25(texts, query).items()
                if product in (None, about[name]["product"], about[name]["product"].lower())
                and tier in (None, about[name]["attributes"]["tier"])
            }
            for most in (1, 7, 500):
                assert_same(assert_ways_agree(corpus, query, filters=filters, most=most), expected, most)


def test_either_way_answers_without_the_other(corpus: Any) -> None:
    corpus.publish(*documents(corpus, random_texts(random.Random(4), 150)))
    queries = ("alpha", "alpha alpha tau", "nu xi omicron beta", "alpha beta gamma delta")
    with closed(corpus, BY_KEY):
        listed = [search(corpus, query) for query in queries]
    assert all(len(found) == 10 for found in listed)
    with closed(corpus, BY_IMPACT):
        with pytest.raises(errors.UndefinedFunction):
            search(corpus, "alpha")
        assert len(rows(corpus, "DELETE FROM corpus.posting_indexes RETURNING index_id")) == 1
        assert [search(corpus, query) for query in queries] == listed


def test_few_rows_that_pass_a_filter_are_found_by_their_keys(corpus: Any) -> None:
    texts = random_texts(random.Random(6), 150)
    products = dict.fromkeys(texts, "Common") | dict.fromkeys(list(texts)[:2], "Rare")
    corpus.publish(*(corpus.doc(name, text, product=products[name]) for name, text in texts.items()))
    expected = {name: score for name, score in bm25(texts, "alpha beta").items() if products[name] == "Rare"}
    with closed(corpus, BY_IMPACT):
        assert_same(search(corpus, "alpha beta", filters={"product": "rare"}), expected, 10)
        with pytest.raises(errors.UndefinedFunction):
            search(corpus, "alpha beta", filters={"product": "common"})


def test_a_word_asked_for_several_times_counts_as_often(corpus: Any) -> None:
    """More fragments have the rarer word than are looked at first; the others are better only for the repetition."""
    known = [
        *folder(corpus, "a", 20, word="alpha"),
        *folder(corpus, "b", 12, word="beta"),
        *folder(corpus, "c", 10, word="gamma"),
    ]
    corpus.publish(*known)
    expected = bm25(fragments(known), "beta alpha alpha alpha")
    found = assert_ways_agree(corpus, "beta alpha alpha alpha", most=5)
    assert_best(found, expected, 5)
    assert all(name.startswith("a") for name in found)


def test_an_impact_is_what_a_term_adds_to_the_score(corpus: Any, appending: None) -> None:
    first = random_texts(random.Random(18), 80)
    later = {f"late-{name}": text for name, text in random_texts(random.Random(19), 15).items()}
    corpus.publish(*documents(corpus, first))
    corpus.publish(*documents(corpus, first | later))
    names = {place: name.removeprefix("handbook/").split("::")[0] for (name, _), place in places(corpus).items()}
    for word in ("alpha", "tau"):
        lists = rows(
            corpus,
            "SELECT block, weight, impacts::text FROM corpus.posting_blocks WHERE term = %s ORDER BY block",
            *ENGLISH.terms(word),
        )
        assert len(lists) == 2
        for found, texts, made in zip(lists, (first, first | later), (first, later), strict=True):
            entries = [entry.split(":") for entry in found["impacts"].partition("}")[0][1:].split(",")]
            impacts = {names[found["block"] * 1000 + int(at) - 1]: float(impact) for at, impact in entries}
            scores = bm25(texts, word)
            assert impacts == pytest.approx({name: scores[name] for name in made if name in scores}, rel=1e-5)
            without = len(texts) - len(scores)
            assert found["weight"] == pytest.approx(math.log(1 + (without + 0.5) / (len(scores) + 0.5)))


# --- nights ---

PADDING = (60, 0, 200, 0)


def test_nights_of_changes_leave_every_generation_exact(corpus: Any, appending: None) -> None:
    chance = random.Random(8)
    texts = random_texts(chance, 160)
    corpus.publish(*documents(corpus, texts))
    generations, removed, first = [dict(texts)], dict[str, str](), only_index(corpus)
    for night, padding in enumerate(PADDING, 2):
        texts |= removed
        removed = {name: texts.pop(name) for name in chance.sample(sorted(texts), 15)}
        for name in [*chance.sample(sorted(texts), 8), *(f"night{night}-{number}.md" for number in range(8))]:
            texts[name] = " ".join(chance.choices(WORDS, k=chance.randint(1, 16))) + " pad" * padding
        known, end = places(corpus), only_index(corpus)["places"]
        corpus.stage(*documents(corpus, texts))
        for most in (3, 300):
            query = " ".join(chance.choices(WORDS, k=5))
            assert_same(assert_ways_agree(corpus, query, most=most), bm25(generations[-1], query), most)
            staged = search(corpus, query, most=most, as_evaluator=("handbook", night))
            assert_same(staged, bm25(texts, query), most)
        corpus.evaluate()
        publish_corpus(corpus.context)
        added = places(corpus).items() - known.items()
        assert known.items() <= places(corpus).items()
        assert {row for row, _ in added} == {row for row in leaf_rows(corpus) if row[1] == night}
        assert min(place for _, place in added) >= end > max(known.values())
        assert only_index(corpus)["places"] == max(place for _, place in added) + 1
        generations.append(dict(texts))
    for served in reversed(generations):
        for query in ("alpha kappa kappa tau", " ".join(WORDS)):
            assert_same(assert_ways_agree(corpus, query, most=5), bm25(served, query), 5)
        if served is not generations[0]:
            rollback_corpus(corpus.context.database, "handbook", "ana", "a test")
    assert only_index(corpus)["index_id"] == first["index_id"]


def common_then_rare(corpus: Any) -> tuple[str, list[Any], list[Any]]:
    """In half of the fragments is alpha, then in next to none; as many have beta as before, some of them new."""
    alpha, beta = folder(corpus, "a", 20, word="alpha"), folder(corpus, "b", 13, word="beta")
    others = folder(corpus, "c", 23, word="gamma")
    return "alpha beta", [*alpha, *beta[1:], *others[:10]], [*alpha[:1], *beta[:9], *others]


def asked_for_often(corpus: Any) -> tuple[str, list[Any], list[Any]]:
    """A word becomes a little rarer, which counts because it is asked for so often."""
    alpha, beta = folder(corpus, "a", 20, word="alpha"), folder(corpus, "b", 12, word="beta")
    others = folder(corpus, "c", 24, word="gamma")
    return "alpha " * 16 + "beta " * 14, [*alpha, *beta, *others[:10]], [*alpha[:13], *beta, *others]


def short_then_long(corpus: Any) -> tuple[str, list[Any], list[Any]]:
    """Most fragments are short, then long ones come; so that those that are long and full of alpha are no more so."""
    alpha = folder(corpus, "b", 15, word="alpha", length=5)
    full = folder(corpus, "a", 1, word="alpha", times=16, length=300)
    short = folder(corpus, "c", 30, word="gamma", length=4)
    long = folder(corpus, "d", 11, word="gamma", length=250)
    return "alpha", [*alpha, *full, *short], [*alpha, *full, *short[:10], *long]


@pytest.mark.parametrize("nights", [common_then_rare, asked_for_often, short_then_long])
def test_scores_that_have_outgrown_old_impacts_are_found(corpus: Any, appending: None, nights: Any) -> None:
    """More fragments than are looked at first have a higher impact than those that are the best by now."""
    query, before, after = nights(corpus)
    corpus.publish(*before)
    first = only_index(corpus)
    found = assert_ways_agree(corpus, query, most=5)
    assert_best(found, bm25(fragments(before), query), 5)
    assert all(name.startswith("b") for name in found)
    corpus.publish(*after)
    assert only_index(corpus)["index_id"] == first["index_id"]
    found = assert_ways_agree(corpus, query, most=5)
    assert_best(found, bm25(fragments(after), query), 5)
    assert all(name.startswith("a") for name in found)


def test_a_generation_brought_back_is_searched_by_the_lists_of_a_later_one(corpus: Any) -> None:
    query, after, before = common_then_rare(corpus)
    corpus.publish(*before)
    first = only_index(corpus)
    corpus.publish(*after)
    assert only_index(corpus)["index_id"] != first["index_id"]
    rollback_corpus(corpus.context.database, "handbook", "ana", "a test")
    found = assert_ways_agree(corpus, query, most=5)
    assert_best(found, bm25(fragments(before), query), 5)
    assert all(name.startswith("a") for name in found)
    only_before = "c22x7 alpha gamma"
    assert_best(assert_ways_agree(corpus, only_before, most=5), bm25(fragments(before), only_before), 5)


def test_all_lists_are_made_anew_when_more_than_a_quarter_of_rows_is_new(corpus: Any, appending: None) -> None:
    texts = random_texts(random.Random(9), 71)
    known = documents(corpus, texts)
    corpus.publish(*known[:40])
    first = only_index(corpus)
    corpus.stage(*known[:40], corpus.doc("abandoned.md", "alpha omega"))
    corpus.publish(*known[3:53])
    assert only_index(corpus)["index_id"] == first["index_id"]
    assert places(corpus).keys() > leaf_rows(corpus)
    corpus.publish(*known[3:])
    last = only_index(corpus)
    assert last["index_id"] != first["index_id"]
    assert places(corpus).keys() == leaf_rows(corpus)
    assert sorted(places(corpus).values()) == list(range(last["places"]))
    for table in ("posting_places", "posting_blocks"):
        assert rows(corpus, f"SELECT DISTINCT index_id FROM corpus.{table}") == [{"index_id": last["index_id"]}]
    assert rows(corpus, "SELECT FROM corpus.posting_blocks WHERE term = ANY (%s)", ENGLISH.terms("omega")) == []
    for query in ("alpha beta tau", "nu xi"):
        expected = bm25(dict(list(texts.items())[3:]), query)
        assert_same(assert_ways_agree(corpus, query, most=100), expected, 100)


def test_all_lists_are_made_anew_when_blocks_are_nearly_empty(corpus: Any, appending: None) -> None:
    texts = {f"d{number}.md": f"alpha beta {number}" for number in range(8)}
    corpus.publish(*documents(corpus, texts))
    first = only_index(corpus)
    for night in range(12):
        before = only_index(corpus)
        texts[f"night{night}.md"] = f"alpha gamma {night}"
        corpus.publish(*documents(corpus, texts))
        if only_index(corpus)["index_id"] != first["index_id"]:
            break
    assert before["places"] > 10 * postings.BLOCK_PLACES
    assert only_index(corpus)["places"] == len(texts) == len(leaf_rows(corpus))
    assert places(corpus).keys() == leaf_rows(corpus)
    assert rows(corpus, "SELECT FROM corpus.posting_blocks WHERE index_id = %s", first["index_id"]) == []
    assert_same(assert_ways_agree(corpus, "beta gamma", most=50), bm25(texts, "beta gamma"), 50)


def test_a_small_corpus_has_all_lists_made_anew_each_time(corpus: Any) -> None:
    texts = random_texts(random.Random(10), 50)
    corpus.publish(*documents(corpus, texts))
    first = only_index(corpus)
    corpus.publish(*documents(corpus, texts | {"new.md": "alpha"}))
    assert only_index(corpus)["index_id"] != first["index_id"]
    assert only_index(corpus)["places"] == 51


# --- many hidden rows ---


def test_a_reader_of_few_rows_gets_the_best_of_those(corpus: Any) -> None:
    """Of one row in a hundred, of one in ten, and of nearly all."""
    chance = random.Random(11)
    weights = [1 / (place + 1) for place in range(len(WORDS))]
    known = [
        corpus.doc(
            f"d{number:03d}.md",
            *(" ".join([*chance.choices(WORDS, weights, k=chance.randint(4, 12)), f"{number}x{n}"]) for n in range(10)),
            groups=("few",) if number % 100 == 0 else ("some",) if number % 10 == 0 else ("most",),
        )
        for number in range(300)
    ]
    corpus.publish(*known)
    was_complete = set()
    for query in ("alpha", "alpha tau tau sigma"):
        scores = bm25(fragments(known), query)
        for groups in (("few",), ("few", "some"), ("few", "most")):
            visible = fragments(each for each in known if each.groups[0] in groups)
            expected = {name: score for name, score in scores.items() if name in visible}
            for most in (1, 12, 60):
                is_complete, listed = by_lists(corpus, query, most=most, groups=groups)
                was_complete.add((groups[-1], is_complete))
                found = search(corpus, query, most=most, groups=groups)
                assert list(found.items()) == list(by_keys(corpus, query, most=most, groups=groups).items())
                assert_best(found, expected, most)
                if is_complete:
                    assert list(listed.items()) == list(found.items())
    assert {("few", True), ("few", False), ("some", True), ("most", True)} <= was_complete


# --- stagings that come to nothing ---


@pytest.mark.parametrize("small_rows", [0, 5000])
def test_an_aborted_staging_leaves_the_lists_alone(
    corpus: Any, monkeypatch: pytest.MonkeyPatch, small_rows: int
) -> None:
    monkeypatch.setattr(postings, "SMALL_ROWS", small_rows)
    texts = random_texts(random.Random(12), 60)
    later = texts | {f"new{number}.md": f"alpha alpha {number}" for number in range(5)}
    corpus.publish(*documents(corpus, texts))
    before, inside = rows(corpus, CONTENT), []

    def killed(writer: Any, *_: Any) -> None:
        inside.extend(writer.execute(CONTENT).fetchall())
        raise Interrupt

    with monkeypatch.context() as patch:
        patch.setattr(staging_module, "attach_partitions", killed)
        with pytest.raises(Interrupt):
            corpus.stage(*documents(corpus, later))
    assert len(inside) > len(before)
    assert rows(corpus, CONTENT) == before
    assert_same(assert_ways_agree(corpus, "alpha tau", most=100), bm25(texts, "alpha tau"), 100)
    stage_generation(corpus.context)
    corpus.evaluate()
    publish_corpus(corpus.context)
    assert_same(assert_ways_agree(corpus, "alpha tau", most=100), bm25(later, "alpha tau"), 100)


def test_an_abandoned_generation_has_no_part_in_the_next(corpus: Any, appending: None) -> None:
    """The same fragments with other words, staged twice: only the words of the second count."""
    texts = random_texts(random.Random(13), 80)
    corpus.publish(*documents(corpus, texts))
    first = only_index(corpus)
    names = list(texts)[:10]
    abandoned = texts | {name: f"omega alpha {name}" for name in names}
    later = texts | {name: f"tau tau {name}" for name in names}
    corpus.stage(*documents(corpus, abandoned))
    assert_same(search(corpus, "omega tau", most=100, as_evaluator=("handbook", 2)), bm25(abandoned, "omega tau"), 100)
    assert_same(assert_ways_agree(corpus, "alpha tau", most=100), bm25(texts, "alpha tau"), 100)
    corpus.stage(*documents(corpus, later))
    assert_same(assert_ways_agree(corpus, "alpha tau", most=100), bm25(texts, "alpha tau"), 100)
    corpus.evaluate()
    publish_corpus(corpus.context)
    assert only_index(corpus)["index_id"] == first["index_id"]
    for query in ("alpha tau", "tau", "alpha beta"):
        assert_same(assert_ways_agree(corpus, query, most=100), bm25(later, query), 100)
    assert search(corpus, "omega") == {}


# --- tables that serve no more, or not yet ---


def test_a_table_that_serves_no_kept_generation_has_no_lists(corpus: Any, with_other_model: Any) -> None:
    texts = random_texts(random.Random(14), 30)
    corpus.publish(*documents(corpus, texts))
    former = only_index(corpus)
    with_other_model().publish(*documents(corpus, texts))
    assert len(rows(corpus, "SELECT FROM corpus.posting_indexes")) == 2
    rollback_corpus(corpus.context.database, "handbook", "ana", "a test")
    assert_same(assert_ways_agree(corpus, "alpha tau"), bm25(texts, "alpha tau"), 10)
    resume_corpus(corpus.context.database, "handbook", "ana")
    with_other_model().publish(*documents(corpus, texts))
    remove_old_rows(corpus.context.database, "handbook", kept_generations=1, kept_days=0)
    last = only_index(corpus)
    assert last["serving_table"] != former["serving_table"]
    assert places(corpus).keys() == leaf_rows(corpus)
    assert rows(corpus, "SELECT DISTINCT index_id FROM corpus.posting_blocks") == [{"index_id": last["index_id"]}]
    assert_same(assert_ways_agree(corpus, "alpha tau"), bm25(texts, "alpha tau"), 10)


def test_retention_leaves_the_lists_of_a_staged_table_alone(corpus: Any, with_other_model: Any) -> None:
    texts = random_texts(random.Random(15), 30)
    corpus.publish(*documents(corpus, texts))
    corpus.publish(*documents(corpus, texts | {"new.md": "alpha"}))
    other = with_other_model()
    other.stage(*documents(corpus, texts))
    before = rows(corpus, CONTENT)
    assert remove_old_rows(corpus.context.database, "handbook", kept_generations=1, kept_days=0) == 0
    assert rows(corpus, CONTENT) == before
    other.evaluate()
    publish_corpus(other.context)
    assert_same(assert_ways_agree(corpus, "alpha tau"), bm25(texts, "alpha tau"), 10)


# --- corpora without a word, and questions that ask for more than there is ---


def test_a_corpus_without_a_word_finds_nothing(corpus: Any) -> None:
    for texts in ({"a.md": "***"}, {"a.md": "alpha"}, {"a.md": "***", "b.md": "+++"}):
        corpus.publish(*documents(corpus, texts))
        assert search(corpus, "alpha").keys() == ({"a.md::f0000"} if "alpha" in texts["a.md"] else set())
        assert search(corpus, "") == {}


def test_a_generation_without_a_word_leaves_the_one_before_searchable(corpus: Any, appending: None) -> None:
    texts = random_texts(random.Random(16), 30)
    corpus.publish(*documents(corpus, texts))
    corpus.publish(corpus.doc("a.md", "***"))
    assert search(corpus, "alpha") == {}
    rollback_corpus(corpus.context.database, "handbook", "ana", "a test")
    assert_same(assert_ways_agree(corpus, "alpha tau", most=100), bm25(texts, "alpha tau"), 100)
    resume_corpus(corpus.context.database, "handbook", "ana")
    corpus.publish(corpus.doc("a.md", "***"), corpus.doc("b.md", "+++"))
    texts |= {"a.md": "***", "b.md": "alpha tau tau", "c.md": "alpha"}
    corpus.publish(*documents(corpus, texts))
    assert_same(assert_ways_agree(corpus, "alpha tau", most=100), bm25(texts, "alpha tau"), 100)
    assert places(corpus).keys() >= leaf_rows(corpus)


def test_any_number_may_be_asked_for(corpus: Any) -> None:
    texts = random_texts(random.Random(17), 30)
    corpus.publish(*documents(corpus, texts))
    for most in (10_000, 2**31 - 1):
        assert_same(search(corpus, "alpha tau", most=most), bm25(texts, "alpha tau"), most)


def test_words_that_every_fragment_has_count_although_they_are_not_added_up(corpus: Any, appending: None) -> None:
    chance = random.Random(18)
    # Longer and longer, so that each of them scores differently for the word that all have.
    texts = {f"{n:03}.md": " ".join(["alpha"] * (1 + n % 5) + chance.choices(WORDS, k=n % 40)) for n in range(300)}
    rare = {"tau": ("007.md",), "sigma": tuple(f"{n:03}.md" for n in range(0, 300, 30))}
    for word, names in rare.items():
        texts |= {name: f"{texts[name]} {word * 3}" for name in names}
    corpus.publish(*documents(corpus, texts))
    for query in ("alpha tautautau", "alpha sigmasigmasigma", "alpha alpha tautautau sigmasigmasigma", "alpha"):
        for most in (1, 5, 30, 250):
            assert_same(assert_ways_agree(corpus, query, most=most), bm25(texts, query), most)
