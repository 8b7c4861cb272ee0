"""Where columns stand in a serving row: what every search reads comes before the rest."""

from __future__ import annotations

from typing import Any

from corpus_pipeline.index import DOCUMENT_COLUMNS, FRAGMENT_COLUMNS, serving_table


def test_permissions_filters_and_vector_stand_before_what_only_answers_need(corpus: Any, documents: Any) -> None:
    corpus.publish(*documents)
    with corpus.context.database.connection() as connection:
        table = serving_table(connection, corpus.slug)
        rows = connection.execute(
            "SELECT attname, attnum FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0",
            (f"serving.{table}",),
        ).fetchall()
        leaf = connection.execute(
            "SELECT count(*) FILTER (WHERE l.attnum <> p.attnum) AS moved FROM pg_attribute l"
            " JOIN pg_attribute p ON p.attrelid = %s::regclass AND p.attname = l.attname"
            " JOIN pg_inherits i ON i.inhrelid = l.attrelid"
            " JOIN pg_inherits j ON j.inhrelid = i.inhparent AND j.inhparent = %s::regclass",
            (f"serving.{table}", f"serving.{table}"),
        ).fetchone()
    place = {row["attname"]: row["attnum"] for row in rows}
    first = {
        "generation_from",
        "generation_to",
        "acl_groups",
        "serving_state",
        "product_key",
        "answer_use",
        "fragment_id",
        "embedding",
    }
    assert max(place[name] for name in first) <= 17
    every = {column.name for column in (*FRAGMENT_COLUMNS, *DOCUMENT_COLUMNS)} | {"also_in", "is_boilerplate"}
    assert every <= set(place)
    assert leaf["moved"] == 0
