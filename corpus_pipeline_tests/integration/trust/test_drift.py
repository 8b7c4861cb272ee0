"""Rows lost, altered and smuggled in behind the pipeline's back, listed and put right."""

from __future__ import annotations

import pytest

from corpus_pipeline.errors import StageError
from corpus_pipeline.index import analyser_for, publication_log, read_session, rebuild_postings
from corpus_pipeline.inventory import take_inventory
from corpus_pipeline.trust import audit_drift, repair_drift

SERVED = "generation_to IS NULL"
DRIFT = {
    "fragment lost": ("DELETE FROM {table} WHERE document_id = %s AND " + SERVED, "fragments", "missing", ()),
    "fragment hidden": (
        "UPDATE {table} SET generation_to = generation_from WHERE document_id = %s AND " + SERVED,
        "fragments",
        "missing",
        (),
    ),
    "parent lost": ("DELETE FROM serving.parents WHERE document_id = %s AND " + SERVED, "parents", "missing", ()),
    "text": (
        "UPDATE {table} SET text = 'forged' WHERE document_id = %s AND " + SERVED,
        "fragments",
        "altered",
        ("text",),
    ),
    "groups": (
        "UPDATE {table} SET acl_groups = ARRAY['strangers'] WHERE document_id = %s AND " + SERVED,
        "fragments",
        "altered",
        ("acl_groups",),
    ),
    "state": (
        "UPDATE {table} SET serving_state = 'archived' WHERE document_id = %s AND " + SERVED,
        "fragments",
        "altered",
        ("serving_state",),
    ),
    "digest": (
        "UPDATE {table} SET row_sha256 = md5(text) WHERE document_id = %s AND " + SERVED,
        "fragments",
        "altered",
        ("row_sha256",),
    ),
    "vector": (
        "UPDATE {table} SET embedding = (SELECT embedding FROM {table} WHERE document_id ="
        " 'handbook/parking.md' LIMIT 1) WHERE document_id = %s AND " + SERVED,
        "fragments",
        "altered",
        ("embedding",),
    ),
    "terms": (
        "UPDATE {table} SET terms = ARRAY[1], term_count = 1 WHERE document_id = %s AND " + SERVED,
        "fragments",
        "altered",
        ("terms",),
    ),
    "parent's text": (
        "UPDATE serving.parents SET text = 'forged' WHERE document_id = %s AND " + SERVED,
        "parents",
        "altered",
        ("text",),
    ),
    "retired fragment": (
        "UPDATE {table} SET generation_to = NULL WHERE document_id = %s AND generation_to IS NOT NULL",
        "fragments",
        "extra",
        (),
    ),
}


def test_a_corpus_as_published_has_no_drift(published) -> None:
    assert audit_drift(published.context).is_empty
    log = published.rows("SELECT * FROM corpus.publication_log")
    assert repair_drift(published.context, "tester").is_empty
    assert published.rows("SELECT * FROM corpus.publication_log") == log


@pytest.mark.parametrize(("statement", "table", "kind", "columns"), DRIFT.values(), ids=DRIFT)
def test_drift_is_named_and_repaired(published, statement, table, kind, columns) -> None:
    root, before = published.root, _content(published)
    changed = published.tamper(statement, "handbook/refund.md")
    assert changed >= 1
    found = audit_drift(published.context)
    assert not found.is_empty
    assert found.counts == {"missing": 0, "altered": 0, "extra": 0} | {kind: changed}
    assert {(row.table, row.kind, row.document_id) for row in found.rows} == {(table, kind, "handbook/refund.md")}
    assert {row.columns for row in found.rows} == {columns}
    assert repair_drift(published.context, "tester").repaired
    assert audit_drift(published.context).is_empty
    assert published.verify(sources=True).is_sound
    assert published.root == root
    assert _content(published) == before
    with published.context.database.connection() as connection:
        entry = publication_log(connection, "handbook")[-1]
    assert (entry.action, entry.who, entry.to_generation) == ("repair", "tester", 2)


def test_a_smuggled_row_is_removed(published) -> None:
    columns = [
        row["column_name"]
        for row in published.rows(
            "SELECT column_name FROM information_schema.columns WHERE table_schema = 'serving' AND table_name = %s"
            " AND is_generated = 'NEVER'",
            published.table,
        )
    ]
    values = [{"fragment_id": "'handbook/x.md::f1'", "text": "'forged'"}.get(name, name) for name in columns]
    statement = (
        f"INSERT INTO {{table}} ({', '.join(columns)}) SELECT {', '.join(values)} FROM {{table}}"
        " WHERE document_id = %s AND generation_to IS NULL LIMIT 1"
    )
    assert published.tamper(statement, "handbook/parking.md") == 1
    found = repair_drift(published.context, "tester")
    # It sits beside the rows it was made from: one generation back there was the same one.
    assert [(row.kind, row.row_id) for row in found.rows] == [("extra", "handbook/x.md::f1")]
    assert published.verify().is_sound


def test_a_lost_row_is_found_by_its_words_again(published) -> None:
    before = _found_by_words(published, "refund")
    assert before
    lost = published.rows("SELECT fragment_id FROM {table} WHERE document_id = 'handbook/refund.md' AND " + SERVED)
    published.tamper("DELETE FROM {table} WHERE document_id = 'handbook/refund.md' AND " + SERVED)
    published.tamper(
        "DELETE FROM corpus.posting_places WHERE fragment_id = ANY (%s)", [row["fragment_id"] for row in lost]
    )
    assert _found_by_words(published, "refund") == {}
    assert repair_drift(published.context, "tester").repaired
    assert _found_by_words(published, "refund") == before


def test_a_repaired_row_is_found_by_its_own_words_only(published) -> None:
    """Terms were altered and posting lists made of them: those are made anew with the row."""
    before = _found_by_words(published, "refund")
    published.tamper(
        "UPDATE {table} SET (terms, term_levels, term_count) = (SELECT terms, term_levels, term_count FROM {table}"
        " WHERE document_id = 'handbook/conduct.md' LIMIT 1) WHERE document_id = 'handbook/refund.md' AND " + SERVED
    )
    with published.context.database.connection() as connection:
        rebuild_postings(connection, published.table, "handbook", 2)
    assert _found_by_words(published, "refund") == {}
    assert repair_drift(published.context, "tester").repaired
    assert _found_by_words(published, "refund") == before
    assert published.verify(sources=True).is_sound


def test_earlier_generations_keep_their_rows(published) -> None:
    (old,) = published.rows("SELECT * FROM {table} WHERE generation_to IS NOT NULL")
    published.tamper("UPDATE {table} SET generation_to = NULL WHERE generation_to IS NOT NULL")
    repair_drift(published.context, "tester")
    assert published.rows("SELECT * FROM {table} WHERE generation_to IS NOT NULL") == [old]


def test_a_changed_corpus_is_not_repaired_by_guesses(published) -> None:
    from corpus_pipeline.conversion import convert_corpus

    (published.folder / "parking.md").write_text("# Parking\n\nNo bicycles.\n")
    take_inventory(published.context)
    convert_corpus(published.context)
    published.tamper("DELETE FROM {table} WHERE document_id = %s", "handbook/refund.md")
    before = _content(published)
    for audit in (lambda: audit_drift(published.context), lambda: repair_drift(published.context, "tester")):
        with pytest.raises(StageError, match="have changed since it was published") as refusal:
            audit()
        assert "ingest handbook" in refusal.value.remedy
    assert _content(published) == before


def test_a_row_whose_vector_is_lost_is_not_invented(published) -> None:
    published.tamper("DELETE FROM {table} WHERE document_id = %s", "handbook/refund.md")
    published.tamper(
        "DELETE FROM corpus.embeddings WHERE embedded_sha256 IN"
        " (SELECT embedded_sha256 FROM corpus.fragments WHERE document_id = %s)",
        "handbook/refund.md",
    )
    with pytest.raises(StageError, match="not cached"):
        repair_drift(published.context, "tester")


def _found_by_words(published, question: str) -> dict[str, float]:
    """By posting lists alone, which a small corpus always has."""
    with published.context.database.connection() as connection:
        connection.execute("ALTER FUNCTION corpus.candidates_by_key RENAME TO closed")
    with read_session(published.context.database, groups=["everyone"], show_archived=False) as connection:
        found = connection.execute(
            "SELECT fragment_id, bm25 FROM serving.lexical_candidates('handbook', %s, '{}', 10)",
            (analyser_for("english").terms(question),),
        ).fetchall()
    with published.context.database.connection() as connection:
        connection.execute("ALTER FUNCTION corpus.closed RENAME TO candidates_by_key")
    return {row["fragment_id"]: row["bm25"] for row in found}


def _content(published) -> list[str]:
    """Everything both tables hold, without the places of rows."""
    rows = published.rows("SELECT s::text AS content FROM {table} s UNION ALL SELECT p::text FROM serving.parents p")
    return sorted(row["content"] for row in rows)
