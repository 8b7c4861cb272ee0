"""Filters become plain conditions on columns, which indexes can serve under row-level security."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg.types.json import Jsonb

from corpus_pipeline.index import leaf_indexes, leaves, publication, read_session

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


NEAREST = (
    "SELECT text FROM serving.{table} WHERE corpus = 'handbook' AND {condition} ORDER BY embedding <=> {vector} LIMIT 3"
)


SHARES = {"Rare": 3, "O'Hare": 8, "Most": 20}


def publish_shares(corpus: Any, monkeypatch: pytest.MonkeyPatch) -> tuple[str, dict[str, list[str]]]:
    """Publishes a rare product, one between and one that most rows have; the serving table, and the texts of each."""
    monkeypatch.setattr(leaf_indexes, "GRAPH_FROM_ROWS", 5)
    texts = {name: [f"{name} text {number}" for number in range(count)] for name, count in SHARES.items()}
    corpus.publish(*(corpus.doc(f"{name}.md", *texts[name], product=name) for name in SHARES))
    with corpus.context.database.connection() as connection:
        return publication(connection, corpus.slug).serving_table, texts


def test_a_product_between_rare_and_most_has_a_graph_of_its_own(corpus: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    table, texts = publish_shares(corpus, monkeypatch)
    with corpus.context.database.connection() as connection:
        graphs = connection.execute(
            "SELECT indexdef FROM pg_indexes WHERE tablename = %s AND indexdef LIKE '%%USING hnsw%%' ORDER BY indexdef",
            (leaves(table, corpus.slug)[0].name,),
        ).fetchall()
    conditions = [row["indexdef"].partition(" WHERE ")[2] for row in graphs]
    assert sorted(conditions) == ["", "(product_key = 'o''hare'::text)"]
    query = NEAREST.format(table=table, condition=CONDITION, vector=f"'{[1] * 16}'::halfvec")
    with read_session(corpus.context.database, groups=["everyone"], show_archived=False) as connection:
        connection.execute("SET LOCAL enable_sort = off; SET LOCAL enable_seqscan = off")
        values = (Jsonb({"product": "O'Hare"}),)
        plan_lines = [row["QUERY PLAN"] for row in connection.execute(f"EXPLAIN {query}", values)]
        found = {row["text"] for row in connection.execute(query, values)}
    assert any("_hnsw_" in line for line in plan_lines)
    assert len(found) == 3
    assert found <= set(texts["O'Hare"])


def test_no_index_leads_to_the_values_that_most_rows_have(corpus: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    table, _ = publish_shares(corpus, monkeypatch)
    query = NEAREST.format(table=table, condition=CONDITION, vector=f"'{[1] * 16}'::halfvec")
    indexes = {"most": "_hnsw on", "rare": "_product on"}
    with read_session(corpus.context.database, groups=["everyone"], show_archived=False) as connection:
        connection.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off")
        for product, index in indexes.items():
            values = (Jsonb({"product": product}),)
            plan_lines = [row["QUERY PLAN"] for row in connection.execute(f"EXPLAIN {query}", values)]
            assert any(index in line for line in plan_lines), plan_lines
            assert len(connection.execute(query, values).fetchall()) == 3
