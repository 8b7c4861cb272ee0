"""The database computes the digests of rows that the pure functions define."""

from __future__ import annotations

from datetime import date
from typing import Any

from corpus_pipeline.chunking import fragments, parents
from corpus_pipeline.conversion import documents
from corpus_pipeline.index.loading import served_digests
from corpus_pipeline.index.rows import document_part, fragment_digest, parent_digest
from corpus_pipeline.index.tables import PARENTS_TABLE
from corpus_pipeline.versions import version_decisions

NASTY = (
    'quote " backslash \\ slash / tab \t line \n return \r form \f back \b bell \x07 unit \x1f delete \x7f',
    "é ß 東京 \U0001f600 \u2028 \u00a0 \ufeff combining e\u0301",
    "{}[],:null true 1e5 ' '' $$ %s %%",
)


def test_digests_of_the_database_are_those_of_the_functions(corpus: Any) -> None:
    odd = corpus.doc(
        'a "b" \\ é.md', *NASTY, groups=('g "1"', "é"), valid_from=date(2026, 1, 2), attributes={"k": 1.5, "ü": "x"}
    )
    corpus.publish(odd, corpus.doc("plain.md", "Plain."))
    with corpus.context.database.connection() as connection:
        connection.execute(
            "UPDATE corpus.fragments SET section_path = ARRAY['a \"b\"', 'c,{d}', '', 'NULL', E'e\\\\f\\n']"
        )
        connection.execute("UPDATE corpus.fragments SET page_number = 7 WHERE ordinal = 1")
        connection.execute("UPDATE corpus.parents SET section_path = ARRAY['a \"b\"', 'c,{d}'], page_number = 3")
    result = corpus.publish()
    with corpus.context.database.connection() as connection:
        decisions = {one.document_id: one for one in version_decisions(connection, corpus.slug)}
        parts = {
            one.document_id: document_part(one, decisions[one.document_id])
            for one in documents(connection, corpus.slug)
        }
        expected = {fragment_digest(parts[one.document_id], one) for one in fragments(connection, corpus.slug)}
        of_parents = {parent_digest(parts[one.document_id], one) for one in parents(connection, corpus.slug)}
        row = connection.execute("SELECT serving_table, generation FROM serving.publications").fetchone()
        assert row["generation"] == result.counts["generation"] == 2
        assert served_digests(connection, row["serving_table"], corpus.slug, 2) == expected
        assert served_digests(connection, PARENTS_TABLE, corpus.slug, 2) == of_parents
    assert len(expected) == 4
