"""Attacks on lexical ranking: the function runs as its owner and must show no more than row-level security would."""

from __future__ import annotations

from datetime import date
from typing import Any

import psycopg
import pytest
from psycopg import errors
from psycopg.types.json import Jsonb

from corpus_pipeline.index import analyser_for, read_session, serving_table
from corpus_pipeline.index.analyser import TERM_BUCKETS

TERMS = analyser_for("english").terms
CALL = "SELECT fragment_id FROM serving.lexical_candidates(%s, %s, %s, %s)"


@pytest.fixture
def table(corpus: Any, documents: Any) -> str:
    """A published generation 1 with a restricted, an archived and an expired document, and a staged generation 2."""
    expired = corpus.doc("expired.md", "Refunds took 7 days.", valid_until=date(2020, 1, 1))
    corpus.publish(*documents, expired)
    corpus.stage(*documents, corpus.doc("draft.md", "Refunds on approval, not yet checked."))
    with corpus.context.database.connection() as connection:
        return str(serving_table(connection, "handbook"))


def found(connection: Any, query: str, *, filters: Any = None, most: int = 50, corpus: str = "handbook") -> set[str]:
    rows = connection.execute(CALL, (corpus, TERMS(query), Jsonb(filters or {}), most)).fetchall()
    ids = {row["fragment_id"] if isinstance(row, dict) else row[0] for row in rows}
    return {name.removeprefix("handbook/") for name in ids}


OPEN = {"refunds.md::f0000", "refunds.md::f0001"}
SECRET = {"salaries.md::f0000"}
EVERYTHING = "refunds salaries paid monthly days took take approval checked card"


def test_groups_generation_state_and_validity_hold(corpus: Any, table: str) -> None:
    for groups, seen in ((["everyone"], OPEN), (["everyone", "hr"], OPEN | SECRET), (["hr"], SECRET), ([], set())):
        with read_session(corpus.context.database, groups=groups, show_archived=False) as connection:
            assert found(connection, EVERYTHING) == seen, groups


def test_showing_archived_rows_brings_none_into_the_ranking(corpus: Any, table: str) -> None:
    with read_session(corpus.context.database, groups=["everyone"], show_archived=True) as connection:
        assert found(connection, EVERYTHING) == OPEN


def test_the_day_asked_for_counts(corpus: Any, table: str) -> None:
    with read_session(corpus.context.database, groups=["everyone"], as_of=date(2019, 1, 1)) as connection:
        assert found(connection, "refunds") == {*OPEN, "expired.md::f0000"}


def test_an_evaluator_sees_the_generation_it_names_and_no_more_groups(corpus: Any, table: str) -> None:
    call = CALL.replace("lexical_candidates", "evaluated_lexical_candidates")
    for groups, seen in ((["everyone"], {*OPEN, "draft.md::f0000"}), (["hr"], SECRET)):
        with read_session(corpus.context.database, groups=groups, as_evaluator=("handbook", 2)) as connection:
            rows = connection.execute(call, ("handbook", TERMS(EVERYTHING), Jsonb({}), 50)).fetchall()
            assert {row["fragment_id"].removeprefix("handbook/") for row in rows} == seen


def test_an_evaluator_may_not_mix_words_of_what_is_published_with_staged_rows(corpus: Any, table: str) -> None:
    with (
        pytest.raises(errors.InsufficientPrivilege, match="lexical_candidates"),
        read_session(corpus.context.database, groups=["everyone"], as_evaluator=("handbook", 2)) as connection,
    ):
        found(connection, EVERYTHING)


def test_persons_and_strangers(login: Any, table: str) -> None:
    alice, mallory = login(groups=["everyone"]), login(mapped=False)
    for attempt in (
        "SET corpus.groups = 'hr'",
        "SET corpus.evaluate_generation = 'handbook:2'",
        "SET ROLE corpus_reader",
    ):
        for connection, seen in ((alice, OPEN), (mallory, set())):
            connection.execute(attempt)
            assert found(connection, EVERYTHING) == seen, attempt


DENIED = [
    "SELECT * FROM corpus.term_statistics",
    "SELECT * FROM corpus.analysed_texts",
    "SELECT * FROM serving.evaluated_lexical_candidates('handbook', '{1}', '{}', 1)",
    "SELECT * FROM corpus.lexical_candidates('published_rows', '{table}', 'handbook', 2, '{1}', '{}', 1)",
    "SELECT corpus.fragment_digest('', NULL)",
    "SELECT lexical_fragments FROM corpus.generations",
    "CREATE FUNCTION serving.passes_filters(jsonb) RETURNS boolean LANGUAGE sql AS 'SELECT true'",
]


def test_what_lies_behind_is_closed(login: Any, table: str) -> None:
    alice = login(groups=["everyone"])
    for statement in DENIED:
        with pytest.raises(errors.InsufficientPrivilege):
            alice.execute(statement.replace("{table}", table))


POSTINGS = [
    "SELECT * FROM corpus.posting_indexes",
    "SELECT * FROM corpus.posting_places",
    "SELECT * FROM corpus.posting_blocks",
    "DELETE FROM corpus.posting_indexes",
    "SELECT corpus.prepared_lexical_search('published_rows', '{table}', 'handbook', 2, '{1}', '{}')",
    "SELECT corpus.candidates_by_impact(NULL, NULL, 1)",
    "SELECT corpus.candidates_by_key(NULL, 1)",
    "SELECT corpus.share_passing('pg_class', '{}')",
    "SELECT corpus.total('[1]'::vector)",
]


@pytest.mark.parametrize("role", ["corpus_reader", "corpus_evaluator"])
def test_posting_lists_are_closed(login: Any, table: str, role: str) -> None:
    alice = login(groups=["everyone"], role=role)
    for statement in POSTINGS:
        with pytest.raises(errors.InsufficientPrivilege):
            alice.execute(statement.replace("{table}", table))


@pytest.mark.parametrize("role", ["corpus_reader", "corpus_evaluator"])
def test_posting_lists_would_be_closed_if_their_schema_were_not(corpus: Any, role: str) -> None:
    with corpus.context.database.connection() as connection:
        reached = connection.execute(
            "SELECT relname AS name, has_any_column_privilege(%(role)s, oid, 'SELECT, INSERT, UPDATE')"
            " OR has_table_privilege(%(role)s, oid, 'DELETE, TRUNCATE, TRIGGER') AS may"
            " FROM pg_class WHERE relnamespace = 'corpus'::regnamespace AND relname = ANY (%(tables)s)"
            " UNION SELECT proname, has_function_privilege(%(role)s, oid, 'EXECUTE')"
            " FROM pg_proc WHERE pronamespace = 'corpus'::regnamespace AND proname = ANY (%(functions)s)",
            {"role": role, "tables": POSTING_TABLES, "functions": SEARCH_FUNCTIONS},
        ).fetchall()
    assert {row["name"]: row["may"] for row in reached} == dict.fromkeys(POSTING_TABLES + SEARCH_FUNCTIONS, False)


POSTING_TABLES = ["posting_indexes", "posting_places", "posting_blocks"]
SEARCH_FUNCTIONS = ["prepared_lexical_search", "candidates_by_impact", "candidates_by_key", "share_passing", "total"]


@pytest.mark.parametrize(
    "filters",
    [
        {"product": "x' OR true --"},
        {"product": "%s {0} %L $1"},
        {"attributes": {"a') OR true OR ('": "x"}},
        {"unknown": "x"},
        ["product"],
        {"product": ["x"], "customer_facing": {"a": 1}},
    ],
)
def test_no_filter_shows_more(login: Any, table: str, filters: Any) -> None:
    assert found(login(groups=["everyone"]), EVERYTHING, filters=filters) <= OPEN


def test_no_argument_shows_more(login: Any, table: str) -> None:
    alice = login(groups=["everyone"])
    for corpus in ("handbook' OR true --", "legal", "", f"{table}"):
        assert found(alice, EVERYTHING, corpus=corpus) == set()
    for terms, filters, most in (
        ([-1, 2**31 - 1], "{}", 5),
        (TERMS(EVERYTHING) * 40, "{}", 10_000),
        (TERMS(EVERYTHING), None, 10),
        (TERMS(EVERYTHING), "{}", None),
        (None, "{}", 10),
        (TERMS(EVERYTHING), "{}", -3),
    ):
        rows = alice.execute(CALL, ("handbook", terms, filters, most)).fetchall()
        assert {row[0].removeprefix("handbook/") for row in rows} <= OPEN


def test_asking_for_keys_tells_not_how_often_hidden_rows_have_a_word(corpus: Any, documents: Any, login: Any) -> None:
    """Keys of terms that occur often are numbers beyond those of terms; a caller may give any."""
    hidden = corpus.doc("bonus.md", "bonus bonus bonus bonus", groups=("hr",))
    corpus.publish(*documents, hidden)
    alice = login(groups=["everyone"])
    answers = []
    for word in ("bonus", "unheard"):
        for often in range(1, 5):
            terms = [*TERMS("refunds"), TERMS(word)[0] + often * TERM_BUCKETS]
            rows = alice.execute(CALL, ("handbook", terms, Jsonb({}), 5)).fetchall()
            answers.append(sorted(row[0] for row in rows))
    assert answers == [answers[0]] * len(answers)
    assert answers[0]


def test_an_error_tells_nothing_of_hidden_rows(login: Any, table: str) -> None:
    """Bad filters and settings fail alike for words of hidden rows, of visible rows and of none."""
    alice = login(groups=["everyone"])
    for query in ("salaries", "refunds", "xylophone"):
        with pytest.raises(errors.InvalidParameterValue):
            found(alice, query, filters={"attributes": 1})
    alice.execute("SET corpus.as_of = 'no day'")
    for query in ("salaries", "refunds", "xylophone"):
        with pytest.raises(errors.InvalidDatetimeFormat):
            found(alice, query)


def test_a_word_of_hidden_rows_looks_like_a_word_of_none(corpus: Any, table: str) -> None:
    with read_session(corpus.context.database, groups=["everyone"], show_archived=False) as connection:
        assert found(connection, "salaries monthly") == found(connection, "xylophone") == set()
        one = connection.execute(CALL.replace("fragment_id", "bm25"), ("handbook", TERMS("card"), "{}", 9)).fetchall()
        both = connection.execute(
            CALL.replace("fragment_id", "bm25"), ("handbook", TERMS("card salaries"), "{}", 9)
        ).fetchall()
        assert one == both


def test_nothing_of_the_callers_is_run_as_the_owner(login: Any, table: str) -> None:
    alice = login(groups=["everyone"])
    alice.execute("CREATE TEMPORARY TABLE publications (corpus text, generation integer, serving_table text)")
    alice.execute("CREATE TEMPORARY TABLE term_statistics (corpus text, term integer)")
    for name, returned in (("pg_get_expr(pg_node_tree, oid)", "text"), ("format(text, VARIADIC text[])", "text")):
        alice.execute(f"CREATE FUNCTION pg_temp.{name} RETURNS {returned} LANGUAGE sql AS $$ SELECT 'true' $$")
    alice.execute(
        "CREATE FUNCTION pg_temp.arrayoverlap(anyarray, anyarray) RETURNS boolean LANGUAGE sql AS 'SELECT true'"
    )
    alice.execute(
        "CREATE OPERATOR pg_temp.&& (LEFTARG = anyarray, RIGHTARG = anyarray, FUNCTION = pg_temp.arrayoverlap)"
    )
    alice.execute("SET search_path = pg_temp, pg_catalog, public")
    assert found(alice, EVERYTHING) == OPEN


def test_the_rule_is_that_of_the_table(corpus: Any, table: str) -> None:
    """Whatever changes the policy changes the ranking; without a policy there is none."""
    database = corpus.context.database
    with database.connection() as connection:
        connection.execute(f"ALTER POLICY published_rows ON serving.{table} USING (text LIKE '%%card%%')")
    with read_session(database, groups=["everyone"], show_archived=False) as connection:
        assert found(connection, EVERYTHING) == {"refunds.md::f0001"}
    with database.connection() as connection:
        connection.execute(f"DROP POLICY published_rows ON serving.{table}")
    with (
        pytest.raises(psycopg.Error, match="no rows"),
        read_session(database, groups=["everyone"], show_archived=False) as connection,
    ):
        found(connection, EVERYTHING)


def test_filters_mean_the_same_for_words_and_vectors(corpus: Any) -> None:
    corpus.publish(
        corpus.doc("a.md", "Refunds one.", attributes={"tier": 2, "team": "Billing"}),
        corpus.doc("b.md", "Refunds two.", attributes={"tier": "3"}),
        corpus.doc("c.md", "Refunds three."),
    )
    with corpus.context.database.connection() as connection:
        name = serving_table(connection, "handbook")
    for filters in ({}, {"attributes": {"tier": "2"}}, {"attributes": {"team": "billing"}}, {"product": "none"}):
        with read_session(corpus.context.database, groups=["everyone"], show_archived=False) as connection:
            rows = connection.execute(
                f"SELECT fragment_id FROM serving.{name} WHERE serving.passes_filters(%s, product_key, domain_key,"
                " audience_key, source_class_key, region_key, environment_key, plan_tiers, answer_use, attributes)",
                (Jsonb(filters),),
            ).fetchall()
            assert found(connection, "refunds", filters=filters) == {
                row["fragment_id"].removeprefix("handbook/") for row in rows
            }, filters
