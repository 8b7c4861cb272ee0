"""A table of the layout before lexical ranking serves until its corpus is staged again, and after a rollback."""

from __future__ import annotations

from typing import Any

import pytest

from corpus_pipeline.index import (
    analyser_for,
    generation,
    publication,
    read_session,
    resume_corpus,
    rollback_corpus,
    root_of_served_rows,
    serving_table,
    stage_generation,
)

FORMER = "fragments_0123456789ab"
OPEN = {"Refunds take 30 days.", "Refunds go to the card."}


@pytest.fixture
def former(corpus: Any, documents: Any) -> str:
    """The synthetic corpus as it was published before the upgrade: without terms, under the root of then."""
    corpus.publish(*documents)
    with corpus.context.database.connection() as connection:
        present = serving_table(connection, corpus.slug)
        columns = connection.execute(
            "SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) AS names FROM pg_attribute"
            " WHERE attrelid = %s::regclass AND attnum > 0 AND attgenerated = '' AND attname NOT LIKE 'term%%'",
            (f"serving.{present}",),
        ).fetchone()["names"]
        connection.execute(f"CREATE TABLE serving.copied AS SELECT {columns} FROM serving.{present}")
        connection.execute(f"CREATE TABLE serving.{FORMER} (LIKE serving.copied) PARTITION BY LIST (corpus)")
        connection.execute(f"SELECT corpus.protect_serving_table('{FORMER}', '{FORMER}')")
        connection.execute(
            f"CREATE TABLE serving.{FORMER}_handbook PARTITION OF serving.{FORMER} FOR VALUES IN ('handbook')"
        )
        connection.execute(f"INSERT INTO serving.{FORMER} SELECT * FROM serving.copied")
        connection.execute(f"DROP TABLE serving.copied, serving.{present}")
        connection.execute(f"UPDATE corpus.generations SET serving_table = '{FORMER}', analyser = NULL")
        connection.execute(
            "UPDATE corpus.generations SET lexical_fragments = NULL, lexical_terms = NULL, lexical_shortest = NULL"
        )
        connection.execute("DELETE FROM corpus.term_statistics")
        connection.execute("DELETE FROM corpus.analysed_texts")
        known = generation(connection, corpus.slug, 1)
        root = root_of_served_rows(connection, known)
        assert root != known.root_sha256
        connection.execute("UPDATE corpus.generations SET root_sha256 = %s", (root,))
        connection.execute(
            f"UPDATE serving.publications SET serving_table = '{FORMER}', analyser = NULL, root_sha256 = %s", (root,)
        )
    return root


def by_words(corpus: Any) -> int:
    with read_session(corpus.context.database, groups=["everyone"], show_archived=False) as connection:
        terms = analyser_for("english").terms("refunds")
        rows = connection.execute("SELECT * FROM serving.lexical_candidates('handbook', %s)", (terms,)).fetchall()
    return len(rows)


def test_the_former_table_serves_and_finds_nothing_by_words(corpus: Any, former: str) -> None:
    assert corpus.seen() == OPEN
    assert by_words(corpus) == 0


def test_the_next_night_loads_a_table_of_the_present_layout(corpus: Any, former: str) -> None:
    corpus.publish()
    with corpus.context.database.connection() as connection:
        known = publication(connection, corpus.slug)
    assert known.generation == 2
    assert known.serving_table != FORMER
    assert known.root_sha256 != former
    assert (corpus.seen(), by_words(corpus)) == (OPEN, 2)
    assert stage_generation(corpus.context).unchanged


def test_a_rollback_goes_back_to_the_former_table_and_forward_again(corpus: Any, former: str) -> None:
    corpus.publish()
    database = corpus.context.database
    assert rollback_corpus(database, corpus.slug, "ana", "a test").root_sha256 == former
    assert (corpus.seen(), by_words(corpus)) == (OPEN, 0)
    resume_corpus(database, corpus.slug, "ana")
    corpus.publish()
    assert (corpus.seen(), by_words(corpus)) == (OPEN, 2)
