"""Fragments that repeat others: one row with every source, and a mark on boilerplate."""

from __future__ import annotations

from typing import Any

from corpus_pipeline.chunking.repository import replace_marks
from corpus_pipeline.index import read_session

SAME = "Refunds take 30 days."


def published(corpus: Any, *documents: Any, min_documents: int = 10) -> Any:
    corpus.write(*documents)
    with corpus.context.database.connection() as connection:
        replace_marks(connection, corpus.slug, min_documents=min_documents, min_share=0.0)
    return corpus.publish()


def rows(corpus: Any, *groups: str) -> dict[str, tuple[list[str], bool]]:
    """What readers of those groups see: other sources and the mark, by fragment."""
    with corpus.context.database.connection() as connection:
        table = connection.execute(
            "SELECT serving_table FROM serving.publications WHERE corpus = %s", (corpus.slug,)
        ).fetchone()["serving_table"]
    with read_session(corpus.context.database, groups=groups) as connection:
        found = connection.execute(f"SELECT fragment_id, also_in, is_boilerplate FROM serving.{table}").fetchall()
    return {
        row["fragment_id"].partition("/")[2]: (
            [place["document_id"].partition("/")[2] for place in row["also_in"]],
            row["is_boilerplate"],
        )
        for row in found
    }


def test_an_identical_fragment_is_indexed_once_and_cites_all_its_sources(corpus: Any) -> None:
    a, b, c = (corpus.doc(f"{name}.md", SAME, f"Only in {name}.") for name in "abc")
    first = published(corpus, a, b, c)
    assert first.counts["generation"] == 1
    assert rows(corpus, "everyone") == {
        "a.md::f0000": (["b.md", "c.md"], False),
        "a.md::f0001": ([], False),
        "b.md::f0001": ([], False),
        "c.md::f0001": ([], False),
    }
    published(corpus, b, c)
    assert rows(corpus, "everyone")["b.md::f0000"] == (["c.md"], False), "the others stay when one source goes"
    published(corpus, c)
    assert rows(corpus, "everyone")["c.md::f0000"] == ([], False)
    again = published(corpus, c, a, b)
    assert again.output_sha256 == first.output_sha256


def test_nobody_loses_the_only_copy_that_they_may_read(corpus: Any) -> None:
    published(
        corpus,
        corpus.doc("a.md", SAME, groups=("hr",)),
        corpus.doc("b.md", SAME),
        corpus.doc("c.md", SAME, attributes={"tier": "gold"}),
    )
    assert sorted(rows(corpus, "hr")) == ["a.md::f0000"]
    assert sorted(rows(corpus, "everyone")) == ["b.md::f0000", "c.md::f0000"]


def test_boilerplate_is_marked_and_changes_the_root(corpus: Any) -> None:
    documents = [corpus.doc(f"{n}.md", SAME, f"Text {n}.", attributes={"n": n}) for n in range(3)]
    plain = published(corpus, *documents)
    marked = published(corpus, *documents, min_documents=3)
    assert marked.output_sha256 != plain.output_sha256
    assert rows(corpus, "everyone")["1.md::f0000"] == ([], True)
    assert rows(corpus, "everyone")["1.md::f0001"] == ([], False)
