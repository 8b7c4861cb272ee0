"""Staging: what is written, what is not, and what a root stands for."""

from __future__ import annotations

from typing import Any

import pytest

from corpus_pipeline.errors import StageError, UpstreamMissingError
from corpus_pipeline.index import (
    generation,
    generations,
    publication,
    root_of_served_rows,
    stage_generation,
    staged_generation,
)
from corpus_pipeline.index.tables import leaves
from corpus_pipeline.records import Stage


def counts_of(result: Any, *names: str) -> dict[str, Any]:
    return {name: result.counts[name] for name in names}


def test_a_first_generation_is_loaded_whole_and_seen_by_nobody(corpus: Any, documents: Any) -> None:
    result = corpus.stage(*documents)
    assert result.counts == {
        "generation": 1,
        "root": result.output_sha256,
        "rows": 4,
        "rows_added": 4,
        "rows_retired": 0,
        "current": 3,
        "archived": 1,
        "documents_current": 2,
        "parents_added": 3,
        "parents_retired": 0,
        "ann_recall_at_10": 1.0,
    }
    with corpus.context.database.connection() as connection:
        assert staged_generation(connection, "handbook") == 1
        assert publication(connection, "handbook") is None
        known = generation(connection, "handbook", 1)
        assert known is not None
        assert known.counts == result.counts
        assert root_of_served_rows(connection, known) == result.output_sha256
        table = known.serving_table
    assert corpus.seen("everyone", "hr", as_evaluator=("handbook", 1)) == {
        "Refunds take 30 days.",
        "Refunds go to the card.",
        "Salaries are paid monthly.",
    }
    from corpus_pipeline.index import read_session

    with read_session(corpus.context.database, groups=("everyone", "hr")) as connection:
        assert corpus.texts(connection, table) == set()
        assert connection.execute("SELECT count(*) AS n FROM serving.parents").fetchone()["n"] == 0


def test_only_differences_are_written(corpus: Any, documents: Any) -> None:
    corpus.publish(*documents)
    changed = corpus.doc("refunds.md", "Refunds take 60 days.", "Refunds go to the card.")
    result = corpus.stage(changed, *documents[1:])
    # The document's hash is part of every row of it: both fragments of refunds.md are new, nothing else is.
    assert counts_of(result, "generation", "rows", "rows_added", "rows_retired") == {
        "generation": 2,
        "rows": 4,
        "rows_added": 2,
        "rows_retired": 2,
    }


def test_nothing_is_staged_when_the_published_root_is_the_same(corpus: Any, documents: Any) -> None:
    first = corpus.publish(*documents)
    again = corpus.stage(*documents)
    assert again.output_sha256 == first.output_sha256
    assert again.unchanged
    assert counts_of(again, "generation", "rows", "rows_added", "rows_retired") == {
        "generation": 1,
        "rows": 4,
        "rows_added": 0,
        "rows_retired": 0,
    }
    with corpus.context.database.connection() as connection:
        assert [known.generation for known in generations(connection, "handbook")] == [1]


def test_a_staged_generation_is_used_again_after_a_retry(corpus: Any, documents: Any) -> None:
    first = corpus.stage(*documents)
    again = corpus.stage(*documents)
    assert again.counts["generation"] == first.counts["generation"] == 1
    assert again.counts["rows_added"] == 0
    assert again.output_sha256 == first.output_sha256


def test_a_staged_generation_whose_rows_were_changed_is_staged_anew(corpus: Any, documents: Any) -> None:
    first = corpus.stage(*documents)
    with corpus.context.database.connection() as connection:
        table = generation(connection, "handbook", 1).serving_table
        connection.execute(f"DELETE FROM serving.{table} WHERE document_id = 'handbook/old.md'")
    again = corpus.stage(*documents)
    assert again.counts["generation"] == 2
    assert again.counts["rows_added"] == 4
    assert again.output_sha256 == first.output_sha256


def test_rows_lost_from_the_published_generation_are_staged_again(corpus: Any, documents: Any) -> None:
    first = corpus.publish(*documents)
    with corpus.context.database.connection() as connection:
        table = publication(connection, "handbook").serving_table
        connection.execute(f"DELETE FROM serving.{table} WHERE document_id = 'handbook/old.md'")
    repaired = corpus.publish(*documents)
    assert (repaired.output_sha256, repaired.counts["generation"]) == (first.output_sha256, 2)


def test_an_abandoned_generation_leaves_nothing_behind(corpus: Any, documents: Any) -> None:
    corpus.publish(*documents)
    corpus.stage(corpus.doc("refunds.md", "A bad night."))
    result = corpus.stage(corpus.doc("refunds.md", "Refunds take 45 days."), *documents[1:])
    assert result.counts["generation"] == 3
    corpus.evaluate()
    with corpus.context.database.connection() as connection:
        assert [known.status for known in generations(connection, "handbook")] == ["published", "abandoned", "staged"]
        table = publication(connection, "handbook").serving_table
        rows = connection.execute(
            f"SELECT text, generation_from, generation_to FROM serving.{table} ORDER BY text"
        ).fetchall()
    assert [tuple(row.values()) for row in rows] == [
        ("Refunds go to the card.", 1, 3),
        ("Refunds take 14 days.", 1, None),
        ("Refunds take 30 days.", 1, 3),
        ("Refunds take 45 days.", 3, None),
        ("Salaries are paid monthly.", 1, None),
    ]


def test_leftovers_go_also_when_the_source_returns_to_what_is_published(corpus: Any, documents: Any) -> None:
    corpus.publish(*documents)
    corpus.stage(corpus.doc("refunds.md", "A bad night."))
    corpus.stage(*documents)
    with corpus.context.database.connection() as connection:
        assert staged_generation(connection, "handbook") is None
        table = publication(connection, "handbook").serving_table
        row = connection.execute(
            f"SELECT count(*) AS rows, count(generation_to) AS retired, max(generation_from) AS newest"
            f" FROM serving.{table}"
        ).fetchone()
    assert row == {"rows": 4, "retired": 0, "newest": 1}


def test_the_root_is_the_same_in_a_rebuild_from_nothing(corpus: Any, documents: Any) -> None:
    corpus.publish(corpus.doc("first.md", "Something else."))
    corpus.publish(corpus.doc("second.md", "Something else again."))
    later = corpus.publish(*documents)
    with corpus.context.database.connection() as connection:
        connection.execute("DELETE FROM serving.publications")
        connection.execute("DELETE FROM corpus.generations")
        for name in ("parents", f"{leaves_table(corpus)}"):
            connection.execute(f"DELETE FROM serving.{name}")
    rebuilt = corpus.stage(*reversed(documents))
    assert rebuilt.output_sha256 == later.output_sha256


def leaves_table(corpus: Any) -> str:
    from corpus_pipeline.embedding import embedding_fingerprint
    from corpus_pipeline.index import analyser_for
    from corpus_pipeline.index.tables import serving_table_name

    spec = corpus.context.spec
    return serving_table_name(embedding_fingerprint(spec.embedding), analyser_for(spec.lexical.language).fingerprint)


def test_a_moved_corpus_keeps_its_root_and_its_rows_follow(corpus: Any, documents: Any) -> None:
    first = corpus.publish(*documents)
    with corpus.context.database.connection() as connection:
        connection.execute("UPDATE corpus.documents SET source_uri = replace(source_uri, '/docs', '/elsewhere')")
    again = stage_generation(corpus.context)
    assert (again.output_sha256, again.unchanged) == (first.output_sha256, True)
    with corpus.context.database.connection() as connection:
        table = publication(connection, "handbook").serving_table
        rows = connection.execute(f"SELECT DISTINCT source_uri FROM serving.{table}").fetchall()
    assert {row["source_uri"] for row in rows} == {
        "/elsewhere/refunds.md",
        "/elsewhere/old.md",
        "/elsewhere/salaries.md",
    }


def test_a_fragment_without_a_vector_stops_staging(corpus: Any, documents: Any) -> None:
    corpus.publish(*documents)
    corpus.write(*documents, corpus.doc("new.md", "No vector yet."))
    with corpus.context.database.connection() as connection:
        connection.execute(
            "DELETE FROM corpus.embeddings WHERE embedded_sha256 = encode(sha256('No vector yet.'), 'hex')"
        )
    with pytest.raises(StageError, match=r"1 of 1 fragments to be added to fragments_[0-9a-f]{12} have no vector"):
        stage_generation(corpus.context)
    assert "No vector yet." not in corpus.seen()
    with corpus.context.database.connection() as connection:
        assert [known.generation for known in generations(connection, "handbook")] == [1]


def test_a_document_without_a_decision_stops_staging(corpus: Any, documents: Any) -> None:
    corpus.write(*documents)
    with corpus.context.database.connection() as connection:
        connection.execute("DELETE FROM corpus.document_versions WHERE document_id = 'handbook/old.md'")
    with pytest.raises(UpstreamMissingError, match=r"no version decision for handbook/old\.md"):
        stage_generation(corpus.context)


def test_an_empty_corpus_can_be_staged(corpus: Any, documents: Any) -> None:
    corpus.publish(*documents)
    result = corpus.stage(corpus.doc("empty.md"))
    assert counts_of(result, "rows", "rows_retired", "documents_current") == {
        "rows": 0,
        "rows_retired": 4,
        "documents_current": 0,
    }


def test_each_leaf_has_its_indexes(corpus: Any, documents: Any) -> None:
    corpus.stage(*documents)
    with corpus.context.database.connection() as connection:
        table = generation(connection, "handbook", 1).serving_table
        for leaf in leaves(table, "handbook"):
            rows = connection.execute(
                "SELECT indexdef FROM pg_indexes WHERE schemaname = 'serving' AND tablename = %s", (leaf.name,)
            ).fetchall()
            definitions = " ".join(row["indexdef"] for row in rows)
            assert "USING hnsw (embedding halfvec_cosine_ops) WITH (m='32', ef_construction='256')" in definitions
            assert "USING gin (terms)" in definitions
            assert "UNIQUE INDEX" in definitions
            assert "(product_key)" in definitions
            assert "(document_id)" in definitions


def test_decisions_on_a_neighbour_are_recorded_as_inputs(corpus: Any, other_corpus: Any, documents: Any) -> None:
    published = other_corpus.publish(other_corpus.doc("law.md", "The law.", excluded="superseded"))
    copy = corpus.doc("copy.md", "The law.", excluded="copy_of_superseded", reference="legal/law.md")
    corpus.stage(*documents, copy)
    with corpus.context.database.connection() as connection:
        inputs = generation(connection, "handbook", 1).inputs
    assert inputs["neighbours"] == {"legal": {"generation": 1, "root_sha256": published.output_sha256}}


def test_staging_needs_the_embeddings_stage(corpus: Any) -> None:
    with pytest.raises(UpstreamMissingError, match=f"needs {Stage.FRAGMENT_EMBEDDINGS}"):
        stage_generation(corpus.context)
