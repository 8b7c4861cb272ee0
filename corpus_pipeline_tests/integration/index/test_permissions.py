"""What a reader sees, and attacks on it: row-level security holds whatever SQL a reader writes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import psycopg
import pytest
from psycopg import errors

from corpus_pipeline.index import generation, publication, read_session, serving_table
from corpus_pipeline.index.tables import leaves

OPEN = {"Refunds take 30 days.", "Refunds go to the card."}
SECRET = "Salaries are paid monthly."
STALE = "Refunds take 14 days."
STAGED = "Not yet checked."

Login = Callable[..., psycopg.Connection[Any]]


@pytest.fixture
def table(corpus: Any, documents: Any) -> str:
    """Serving table with a published generation 1 and a staged generation 2."""
    corpus.publish(*documents)
    corpus.stage(*documents, corpus.doc("draft.md", STAGED))
    with corpus.context.database.connection() as connection:
        return str(serving_table(connection, "handbook"))


def texts(connection: Any, table: str, tail: str = "") -> set[str]:
    return {row[0] for row in connection.execute(f"SELECT text FROM serving.{table} {tail}").fetchall()}


def test_groups_decide_what_is_seen(corpus: Any, table: str) -> None:
    assert corpus.seen("everyone") == OPEN
    assert corpus.seen("everyone", "hr") == {*OPEN, SECRET}
    assert corpus.seen("nobody's") == set()


def test_no_groups_see_nothing(corpus: Any, table: str) -> None:
    for groups in ([], [""], ["{everyone}"], ["everyone,hr"], ['every"one'], ["*"]):
        with read_session(corpus.context.database, groups=groups) as connection:
            assert corpus.texts(connection, table) == set(), groups


def test_group_names_may_hold_any_character(corpus: Any) -> None:
    odd = 'a,b "c" {d} \\ e'
    corpus.publish(corpus.doc("odd.md", "Odd.", groups=(odd,)))
    assert corpus.seen(odd) == {"Odd."}
    assert corpus.seen("a", "b") == set()


def test_archived_rows_are_seen_only_by_those_who_ask_and_may(corpus: Any, table: str) -> None:
    assert corpus.seen("everyone", show_archived=True) == {*OPEN, STALE}
    assert corpus.seen("hr", show_archived=True) == {SECRET}


def test_parents_follow_the_same_rules(corpus: Any, table: str) -> None:
    with read_session(corpus.context.database, groups=["everyone"], show_archived=False) as connection:
        rows = connection.execute("SELECT document_id FROM serving.parents").fetchall()
    assert [row["document_id"] for row in rows] == ["handbook/refunds.md"]


def test_validity_is_checked_at_query_time(corpus: Any) -> None:
    corpus.publish(corpus.doc("s.md", "Spring rule.", valid_from=date(2026, 3, 1), valid_until=date(2026, 5, 31)))
    for day, seen in (
        (date(2026, 2, 28), set()),
        (date(2026, 3, 1), {"Spring rule."}),
        (date(2026, 5, 31), {"Spring rule."}),
        (date(2026, 6, 1), set()),
    ):
        assert corpus.seen(as_of=day) == seen, day


def test_without_as_of_today_counts(corpus: Any) -> None:
    corpus.publish(
        corpus.doc("past.md", "Past.", valid_until=date(2020, 1, 1)),
        corpus.doc("future.md", "Future.", valid_from=date(2999, 1, 1)),
        corpus.doc("now.md", "Now.", valid_from=date(2020, 1, 1), valid_until=date(2999, 1, 1)),
    )
    assert corpus.seen() == {"Now."}


def test_a_read_session_writes_nothing_and_sees_one_moment(corpus: Any, table: str) -> None:
    with read_session(corpus.context.database, groups=["everyone"]) as connection:
        before = corpus.texts(connection, table)
        corpus.publish(corpus.doc("refunds.md", "Refunds take 90 days."))
        assert corpus.texts(connection, table) == before
        with pytest.raises(psycopg.Error):
            connection.execute(f"DELETE FROM serving.{table}")
        connection.rollback()
    assert corpus.seen() == {"Refunds take 90 days."}


def test_a_session_leaves_no_groups_behind_in_the_pool(corpus: Any, table: str) -> None:
    database = corpus.context.database
    with read_session(database, groups=["everyone", "hr"]) as connection:
        connection.execute("SELECT 1")
    for _ in range(4):
        with database.connection() as connection:
            row = connection.execute(
                "SELECT current_setting('corpus.groups', true) AS groups, current_user = session_user AS self"
            ).fetchone()
            assert (row["groups"] or "", row["self"]) == ("", True)


def test_the_evaluator_sees_the_generation_it_names(corpus: Any, table: str) -> None:
    assert corpus.seen("everyone", as_evaluator=("handbook", 2)) == {*OPEN, STAGED}
    assert corpus.seen("everyone", as_evaluator=("handbook", 1)) == OPEN


def test_the_evaluator_obeys_groups(corpus: Any, table: str) -> None:
    assert corpus.seen("nobody's", as_evaluator=("handbook", 2)) == set()


def test_the_evaluator_sees_other_corpora_as_published(corpus: Any, other_corpus: Any, table: str) -> None:
    other_corpus.publish(other_corpus.doc("law.md", "The law."))
    other_corpus.stage(other_corpus.doc("law.md", "The draft law."))
    with read_session(corpus.context.database, groups=["everyone"], as_evaluator=("handbook", 2)) as connection:
        assert other_corpus.texts(connection, table) == {"The law."}


# --- people with a login of their own ---


def test_a_persons_groups_come_from_the_login(login: Login, table: str) -> None:
    alice = login(groups=["everyone"])
    assert texts(alice, table) == OPEN
    for attempt in (
        "SET corpus.groups = 'hr,everyone'",
        "SET corpus.groups = '{hr}'",
        "SELECT set_config('corpus.groups', '{everyone,hr}', false)",
        "SET ROLE corpus_reader",
        "SET row_security = on",
    ):
        alice.execute(attempt)
        assert texts(alice, table) == OPEN, attempt


def test_an_unmapped_login_sees_nothing_whatever_it_sets(login: Login, table: str) -> None:
    mallory = login(mapped=False)
    assert texts(mallory, table) == set()
    mallory.execute("SET corpus.groups = 'everyone,hr'")
    assert texts(mallory, table) == set()


def test_an_applications_login_names_the_groups_of_its_user(login: Login, table: str) -> None:
    assistant = login(groups=None)
    assert texts(assistant, table) == set()
    assistant.execute("SET corpus.groups = ' everyone , hr '")
    assert texts(assistant, table) == {*OPEN, SECRET}
    assistant.execute("SET corpus.groups = ''")
    assert texts(assistant, table) == set()


def test_a_reader_cannot_choose_a_generation(login: Login, table: str) -> None:
    alice = login(groups=["everyone"])
    for named in ("handbook:2", "handbook:1", "nonsense"):
        alice.execute(f"SET corpus.evaluate_generation = '{named}'")
        assert texts(alice, table) == OPEN


CLAUSES = [
    "TABLESAMPLE BERNOULLI (100)",
    "WHERE generation_from > 1",
    "WHERE generation_to IS NULL OR true",
    "WHERE serving_state = 'archived'",
    "WHERE acl_groups && '{hr}'",
    "WHERE text LIKE '%Salaries%' OR text LIKE '%checked%'",
    "WHERE length(text) / nullif(position('Salaries' in text) - 1, 0) IS NULL",
    "WHERE to_tsvector('english', text) @@ to_tsquery('english', 'salaries | checked')",
    "WHERE terms && ARRAY(SELECT unnest(terms) FROM serving.{table})",
    "ORDER BY embedding <=> (SELECT embedding FROM serving.{table} LIMIT 1)",
    "WHERE corpus IN ('handbook', 'legal') OR serving.session_groups() IS NOT NULL",
]


def test_no_clause_shows_more(login: Login, table: str) -> None:
    alice = login(groups=["everyone"])
    for clause in CLAUSES:
        assert texts(alice, table, clause.replace("{table}", table)) <= OPEN, clause


def test_a_leaky_condition_is_not_run_on_hidden_rows(login: Login, table: str) -> None:
    alice = login(groups=["everyone"])
    # An error message would carry the text of any row that the condition is tried on before the policy.
    for tail in (
        "WHERE text::integer = 1",
        "WHERE CASE WHEN text LIKE 'Salaries%' THEN 1 / (length(text) - length(text)) ELSE 1 END = 1",
    ):
        shown = outcome(alice, table, tail)
        assert not any(leak in shown for leak in ("Salaries", "checked", "division")), shown


def outcome(connection: Any, table: str, tail: str) -> str:
    """The rows or the error message of a query."""
    try:
        return repr(texts(connection, table, tail))
    except psycopg.Error as error:
        return str(error)


DENIED = [
    "SELECT * FROM corpus.generations",
    "SELECT * FROM corpus.fragments",
    "SELECT * FROM corpus.documents",
    "SELECT * FROM corpus.embeddings",
    "SELECT held_by, held_reason FROM serving.publications",
    "SELECT * FROM serving.role_groups",
    "UPDATE serving.publications SET generation = 2",
    "DELETE FROM serving.publications",
    "INSERT INTO serving.role_groups VALUES (session_user, '{hr}')",
    "UPDATE serving.role_groups SET acl_groups = '{hr}'",
    "UPDATE serving.{table} SET acl_groups = '{everyone}'",
    "DELETE FROM serving.{table}",
    "TRUNCATE serving.{table}",
    "SELECT serving.evaluated_generations('{table}')",
    "SELECT corpus.protect_serving_table('x', 'y')",
    "ALTER TABLE serving.{table} DISABLE ROW LEVEL SECURITY",
    "CREATE POLICY mine ON serving.{table} FOR SELECT USING (true)",
    "CREATE TABLE serving.mine (a integer)",
    "CREATE OR REPLACE FUNCTION serving.session_groups() RETURNS text[] LANGUAGE sql AS $$ SELECT '{hr}'::text[] $$",
    "SET ROLE corpus_evaluator",
    "SET ROLE corpus_writer",
    "SET SESSION AUTHORIZATION postgres",
    "CREATE TRIGGER t BEFORE UPDATE ON serving.{table} FOR EACH ROW EXECUTE FUNCTION tsvector_update_trigger()",
    "COPY serving.{table} TO PROGRAM 'cat'",
]


def test_a_reader_is_denied(login: Login, table: str) -> None:
    alice = login(groups=["everyone"])
    for statement in DENIED:
        with pytest.raises((errors.InsufficientPrivilege, errors.FeatureNotSupported)):
            alice.execute(statement.replace("{table}", table))
    assert texts(alice, table) == OPEN


def test_partitions_are_closed(corpus: Any, login: Login, table: str) -> None:
    alice = login(groups=["everyone"])
    names = [
        row[0]
        for row in alice.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'serving'::regnamespace AND relispartition"
            " AND relkind IN ('r', 'p')"
        ).fetchall()
    ]
    assert {leaf.name for leaf in leaves(table, "handbook")} <= set(names)
    for name in names:
        with pytest.raises(errors.InsufficientPrivilege):
            alice.execute(f"SELECT * FROM serving.{name}")


def test_row_security_cannot_be_switched_off(login: Login, table: str) -> None:
    alice = login(groups=["everyone"])
    alice.execute("SET row_security = off")
    with pytest.raises(errors.InsufficientPrivilege):
        texts(alice, table)


def test_statistics_give_nothing_away(login: Login, table: str) -> None:
    alice = login(groups=["everyone"])
    rows = alice.execute("SELECT tablename FROM pg_stats WHERE schemaname IN ('serving', 'corpus')").fetchall()
    assert rows == []


def test_functions_cannot_be_shadowed_through_the_search_path(login: Login, table: str) -> None:
    alice = login(groups=["everyone"])
    alice.execute("CREATE TEMPORARY TABLE publications (corpus text, generation integer, serving_table text)")
    alice.execute(f"INSERT INTO publications VALUES ('handbook', 2, '{table}')")
    alice.execute("CREATE TEMPORARY TABLE role_groups (role_name name, acl_groups text[])")
    alice.execute("INSERT INTO role_groups VALUES (session_user, '{hr}')")
    alice.execute(
        "CREATE FUNCTION pg_temp.current_setting(text, boolean) RETURNS text LANGUAGE sql AS $$ SELECT '{hr}' $$"
    )
    alice.execute(
        "CREATE FUNCTION pg_temp.arrayoverlap(anyarray, anyarray) RETURNS boolean LANGUAGE sql AS 'SELECT true'"
    )
    alice.execute(
        "CREATE OPERATOR pg_temp.&& (LEFTARG = anyarray, RIGHTARG = anyarray, FUNCTION = pg_temp.arrayoverlap)"
    )
    alice.execute("SET search_path = pg_temp, pg_catalog, public")
    assert texts(alice, table) == OPEN
    alice.execute("SET search_path = pg_catalog, public")
    assert texts(alice, table) == OPEN


def test_every_function_that_runs_as_its_owner_has_a_fixed_search_path(database: Any) -> None:
    with database.connection() as connection:
        rows = connection.execute(
            "SELECT p.proname, p.prosecdef, p.proconfig FROM pg_proc p"
            " WHERE p.pronamespace IN ('serving'::regnamespace, 'corpus'::regnamespace) AND p.prosecdef"
        ).fetchall()
    assert {row["proname"] for row in rows} == {
        "published_generations",
        "evaluated_generations",
        "session_groups",
        "lexical_candidates",
        "evaluated_lexical_candidates",
    }
    assert all(row["proconfig"] == ["search_path=pg_catalog, pg_temp"] for row in rows)


def test_the_evaluators_role_is_bound_to_groups_too(login: Login, table: str) -> None:
    evaluator = login(groups=["everyone"], role="corpus_evaluator")
    assert texts(evaluator, table) == OPEN
    evaluator.execute("SET corpus.evaluate_generation = 'handbook:2'")
    evaluator.execute("SET corpus.groups = 'hr'")
    assert texts(evaluator, table) == {*OPEN, STAGED}


def test_readers_may_look_up_what_to_query(login: Login, table: str) -> None:
    alice = login(groups=["everyone"])
    row = alice.execute("SELECT corpus, generation, serving_table FROM serving.publications").fetchone()
    assert row == ("handbook", 1, table)


def test_inside_a_read_session_publications_tell_nothing_of_holds(corpus: Any, table: str) -> None:
    with corpus.context.database.connection() as connection:
        connection.execute("UPDATE serving.publications SET held = true, held_by = 'ana', held_reason = 'secret'")
        assert publication(connection, "handbook").held_reason == "secret"
        assert generation(connection, "handbook", 2) is not None
    with read_session(corpus.context.database, groups=["everyone"]) as connection:
        known = publication(connection, "handbook")
    assert (known.generation, known.held, known.held_reason) == (1, False, None)
