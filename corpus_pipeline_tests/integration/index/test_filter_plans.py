"""Filters become plain conditions on columns, which indexes can serve under row-level security."""

from __future__ import annotations

from typing import Any

from psycopg.types.json import Jsonb

from corpus_pipeline.index import publication, read_session

CONDITION = (
    "serving.passes_filters(%s, product_key, domain_key, audience_key, source_class_key, region_key, environment_key,"
    " plan_tiers, answer_use, attributes)"
)


def plan(corpus: Any, filters: dict[str, Any]) -> str:
    """How PostgreSQL would look for a reader's rows with these filters."""
    with corpus.context.database.connection() as connection:
        known = publication(connection, corpus.slug)
    with read_session(corpus.context.database, groups=["everyone"], show_archived=False) as connection:
        rows = connection.execute(
            f"EXPLAIN SELECT 1 FROM serving.{known.serving_table} WHERE corpus = 'handbook' AND {CONDITION}",
            (Jsonb(filters),),
        ).fetchall()
    return "\n".join(row["QUERY PLAN"] for row in rows)


def test_the_call_is_replaced_by_the_conditions_it_stands_for(corpus: Any, documents: Any) -> None:
    corpus.publish(*documents)
    assert "product_key = 'relay'::text" in plan(corpus, {"product": "Relay"})
    for filters in ({}, {"plan_tier": "free"}, {"attributes": {"year": "2026"}}):
        assert "passes_filters" not in plan(corpus, filters)
    assert "has_" not in plan(corpus, {"product": "Relay"})
