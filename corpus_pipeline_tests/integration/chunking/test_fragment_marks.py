"""Copies and boilerplate among fragments, on a real database."""

from __future__ import annotations

from typing import Any

from psycopg.types.json import Jsonb

from corpus_pipeline.chunking import FragmentMark, fragment_marks
from corpus_pipeline.chunking.repository import replace_marks
from corpus_pipeline.records import sha256_hex
from corpus_pipeline.store import StageContext

SUPPORT = "Ask support for help with refunds."


class Corpus:
    """Documents of one or more fragments, with just what marks depend on."""

    def __init__(self, context: StageContext) -> None:
        self._database = context.database
        self._corpus = context.spec.slug

    def add(self, name: str, *texts: str, title: str = "Help", family: str | None = None, **changes: Any) -> None:
        """Adds a document; ``changes`` are metadata, or ``state`` and ``reason`` of the decision."""
        key = f"{self._corpus}/{name}"
        state, reason = changes.pop("state", "current"), changes.pop("reason", None)
        metadata = {"title": title, "acl_groups": ["all"], "owner": name, "product": "shop", **changes}
        with self._database.connection() as connection:
            connection.execute(
                "INSERT INTO corpus.documents VALUES (%s, %s, %s, '', '', 'md', 1, NULL, '', '', '', '', '', '', 1,"
                " NULL, %s, 'en', %s, '{}', '{}')",
                (self._corpus, key, name, title, Jsonb(metadata)),
            )
            connection.execute(
                "INSERT INTO corpus.document_versions (corpus, document_id, family, lifecycle, current_document_id,"
                " is_canonical, is_current, serving_state, exclusion_reason, evidence, needs_review, decision_sha256)"
                " VALUES (%s, %s, %s, 'active', %s, true, %s, %s, %s, '', false, '')",
                (self._corpus, key, family or key, key, state == "current", state, reason),
            )
            connection.execute(
                "INSERT INTO corpus.chunked_documents VALUES (%s, %s, '', '', '', 1, %s, 0, 0)",
                (key, self._corpus, len(texts)),
            )
            connection.execute(
                "INSERT INTO corpus.parents VALUES (%s, %s, %s, 1, '{}', '', '', 0, 0, 1)",
                (f"{key}::p0001", self._corpus, key),
            )
            for ordinal, text in enumerate(texts, start=1):
                embedded = f"{title}\n{text.rstrip()}"
                connection.execute(
                    "INSERT INTO corpus.fragments VALUES (%s, %s, %s, %s, %s, %s, '', %s, %s, 5, '{}', 3, %s, %s)",
                    (
                        f"{key}::f{ordinal:04d}", f"{key}::p0001", self._corpus, key, ordinal, text, embedded,
                        sha256_hex(embedded), ordinal * 100, ordinal * 100 + len(text),
                    ),
                )  # fmt: skip

    def remove(self, name: str) -> None:
        """A source that is gone."""
        key = f"{self._corpus}/{name}"
        with self._database.connection() as connection:
            for table in ("documents", "document_versions", "chunked_documents"):
                connection.execute(f"DELETE FROM corpus.{table} WHERE document_id = %s", (key,))

    def marks(self, min_documents: int = 10, min_share: float = 0.02) -> dict[str, FragmentMark]:
        """Marks by fragment, without the corpus's name."""
        with self._database.connection() as connection:
            replace_marks(connection, self._corpus, min_documents=min_documents, min_share=min_share)
            found = fragment_marks(connection, self._corpus)
        return {mark.fragment_id.partition("/")[2]: mark for mark in found}


def test_a_copy_names_the_first_and_the_first_cites_every_source(context: StageContext) -> None:
    corpus = Corpus(context)
    corpus.add("c.md", SUPPORT + "\n\n", "Only here.")
    corpus.add("a.md", SUPPORT, "Only in a.", SUPPORT)
    corpus.add("b.md", SUPPORT)
    marks = corpus.marks()
    assert sorted(marks) == ["a.md::f0001", "a.md::f0003", "b.md::f0001", "c.md::f0001"]
    first = marks.pop("a.md::f0001")
    assert first.copy_of is None
    assert [place["fragment_id"].partition("/")[2] for place in first.also_in] == sorted(marks)
    assert first.also_in[1] == {
        "fragment_id": "handbook/b.md::f0001", "document_id": "handbook/b.md", "title": "Help", "page_number": 3,
        "char_start": 100, "char_end": 100 + len(SUPPORT),
    }  # fmt: skip
    assert {(mark.copy_of, tuple(mark.also_in)) for mark in marks.values()} == {("handbook/a.md::f0001", ())}


def test_nobody_loses_the_only_copy_that_they_may_read_or_filter_for(context: StageContext) -> None:
    corpus = Corpus(context)
    corpus.add("everyone.md", SUPPORT)
    corpus.add("staff.md", SUPPORT, acl_groups=["staff"])
    corpus.add("other-product.md", SUPPORT, product="bank")
    corpus.add("internal.md", SUPPORT, answer_use="internal")
    corpus.add("other-title.md", SUPPORT, title="Refunds")
    corpus.add("old.md", SUPPORT, state="archived", reason="superseded")
    corpus.add("draft.md", SUPPORT, state="archived", reason="draft")
    assert corpus.marks() == {}


def test_when_a_source_goes_the_others_stay(context: StageContext) -> None:
    corpus = Corpus(context)
    for name in ("a.md", "b.md", "c.md"):
        corpus.add(name, SUPPORT)
    assert len(corpus.marks()) == 3
    corpus.remove("a.md")
    marks = corpus.marks()
    assert (marks["b.md::f0001"].copy_of, len(marks["b.md::f0001"].also_in)) == (None, 1)
    corpus.remove("c.md")
    assert corpus.marks() == {}


def test_a_text_of_many_families_is_boilerplate_whatever_its_title(context: StageContext) -> None:
    corpus = Corpus(context)
    for number in range(4):
        corpus.add(f"{number}.md", "All rights   RESERVED.\n" if number else "All rights reserved.", title=f"T{number}")
        corpus.add(f"v{number}.md", "Refunds take 5 days.", title=f"V{number}", family="refunds")
        corpus.add(f"old{number}.md", "Old news.", title=f"O{number}", state="archived", reason="superseded")
    marks = corpus.marks(min_documents=4)
    assert sorted(marks) == [f"{number}.md::f0001" for number in range(4)]
    assert all(mark.is_boilerplate and mark.copy_of is None for mark in marks.values())
    assert corpus.marks(min_documents=5) == {}
    assert corpus.marks(min_documents=2, min_share=0.9) == {}


def test_marks_depend_on_no_order_of_arrival(context: StageContext) -> None:
    corpus = Corpus(context)
    names = ["b.md", "a.md", "c.md"]
    for name in names:
        corpus.add(name, SUPPORT, "Text.")
    before = corpus.marks(min_documents=3)
    for name in names:
        corpus.remove(name)
    for name in sorted(names):
        corpus.add(name, SUPPORT, "Text.")
    assert corpus.marks(min_documents=3) == before
    assert sum(mark.copy_of is not None for mark in before.values()) == 4
