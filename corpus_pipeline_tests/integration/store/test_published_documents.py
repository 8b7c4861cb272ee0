"""What other corpora know of a corpus: by generation, so that the pointer can go back without writing documents."""

from __future__ import annotations

from typing import Any

import pytest

from corpus_pipeline.store import (
    PublishedDocument,
    StageContext,
    forget_documents_before,
    point_published_documents,
    published_superseded,
    record_published_documents,
)

CORPUS = "legal"
NIGHTS = {
    1: {"a.md": None, "b.md": "superseded"},
    2: {"a.md": "superseded", "b.md": "superseded", "c.md": None},
    4: {"b.md": "draft", "c.md": "copy_of_superseded"},
}


def record(connection: Any, generation: int, documents: dict[str, str | None]) -> None:
    record_published_documents(
        connection,
        CORPUS,
        [
            PublishedDocument(CORPUS, name, f"sha-{name}", reason, None, generation, f"root-{generation}")
            for name, reason in documents.items()
        ],
    )


def known(connection: Any) -> set[tuple[str, str | None, int, str]]:
    found = published_superseded(connection, except_corpus="handbook")
    return {(one.document_id, one.exclusion_reason, one.generation, one.root_sha256) for one in found}


def wanted(generation: int, documents: dict[str, str | None]) -> set[tuple[str, str | None, int, str]]:
    kept_out = {name: reason for name, reason in documents.items() if reason in ("superseded", "copy_of_superseded")}
    return {(name, reason, generation, f"root-{generation}") for name, reason in kept_out.items()}


def rows(connection: Any) -> int:
    return int(connection.execute("SELECT count(*) AS n FROM corpus.published_documents").fetchone()["n"])


@pytest.fixture
def published(context: StageContext) -> StageContext:
    """Three published generations."""
    with context.database.connection() as connection:
        for generation, documents in NIGHTS.items():
            record(connection, generation, documents)
            assert known(connection) == wanted(generation, documents)
    return context


def test_only_what_differs_is_written(published: StageContext) -> None:
    with published.database.connection() as connection:
        # a twice (as it was, as it became), b twice, c twice.
        assert rows(connection) == 6
        record(connection, 5, NIGHTS[4])
        assert rows(connection) == 6


def test_the_pointer_goes_back_and_what_was_rolled_back_never_comes_again(published: StageContext) -> None:
    with published.database.connection() as connection:
        assert point_published_documents(connection, CORPUS, 1, "root-1")
        assert known(connection) == wanted(1, NIGHTS[1])
        record(connection, 5, {**NIGHTS[1], "d.md": "superseded"})
        assert known(connection) == wanted(5, {**NIGHTS[1], "d.md": "superseded"})
        assert rows(connection) == 3
        assert point_published_documents(connection, CORPUS, 1, "root-1")
        assert known(connection) == wanted(1, NIGHTS[1])


def test_a_generation_before_those_that_are_kept_must_be_recorded_again(context: StageContext) -> None:
    with context.database.connection() as connection:
        assert not point_published_documents(connection, CORPUS, 1, "root-1")
        record(connection, 2, NIGHTS[2])
        assert not point_published_documents(connection, CORPUS, 1, "root-1")
        assert not point_published_documents(connection, CORPUS, 3, "root-3")
        assert known(connection) == wanted(2, NIGHTS[2])
        record(connection, 1, NIGHTS[1])
        assert known(connection) == wanted(1, NIGHTS[1])
        assert rows(connection) == 2


def test_retention_keeps_what_a_rollback_may_need(published: StageContext) -> None:
    with published.database.connection() as connection:
        forget_documents_before(connection, CORPUS, 2)
        # Gone is a.md as it was in generation 1 alone.
        assert rows(connection) == 5
        assert point_published_documents(connection, CORPUS, 2, "root-2")
        assert known(connection) == wanted(2, NIGHTS[2])
