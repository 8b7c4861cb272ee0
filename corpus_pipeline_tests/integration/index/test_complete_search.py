"""A filter that few rows pass gives all of them, also where the graph gives up before it has met them."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
import pytest

from corpus_pipeline.index import publication, read_session
from corpus_pipeline.retrieval import repository
from corpus_pipeline.retrieval.repository import SearchTarget, nearest_fragments
from corpus_pipeline.retrieval.request import SearchFilters, SearchRequest

ROWS = 400


@pytest.mark.parametrize(
    ("small", "wanted"),
    [
        # Each is searched once more, exactly, for nothing is found here.
        (0, [("800", False), ("110", True), ("110", False), ("110", True), ("800", False), ("110", True)]),
        # Few rows are looked at one by one at once.
        (repository.EXACT_UP_TO_ROWS, [("110", True)] * 3),
    ],
)
def test_what_no_index_serves_is_searched_wider_or_exactly(
    corpus: Any, documents: Any, monkeypatch: pytest.MonkeyPatch, small: int, wanted: list[tuple[str, bool]]
) -> None:
    corpus.publish(*documents)
    with corpus.context.database.connection() as connection:
        known = publication(connection, corpus.slug)
    target = SearchTarget(corpus.slug, known.generation, known.serving_table, "space", known.analyser)
    searched: list[tuple[str, bool]] = []

    def noted(
        connection: Any, _name: str, _target: Any, values: Any, _parts: Any = None, *, prepare: bool = False
    ) -> Any:
        row = connection.execute(
            "SELECT current_setting('hnsw.ef_search') AS width, current_setting('enable_seqscan') AS others,"
            " current_setting('plan_cache_mode') AS plans"
        ).fetchone()
        width, others, plans = row.values()
        assert others == ("on" if values["exactly"] else "off")
        assert plans == ("force_custom_plan" if prepare else "auto")
        assert prepare is not values["exactly"]
        searched.append((width, values["exactly"]))
        return connection.execute("SELECT 1 WHERE false")

    monkeypatch.setattr(repository, "_execute", noted)
    monkeypatch.setattr(repository, "EXACT_UP_TO_ROWS", small)
    with read_session(corpus.context.database, groups=["everyone"], show_archived=False) as connection:
        for filters in ({"plan_tier": "free"}, {"product": "Relay"}, {"attributes.team": "Ada"}):
            vector, limits = np.ones(16, np.float32), SearchRequest(query="q").limits()
            nearest_fragments(connection, target, vector, SearchFilters.from_pairs(filters), limits, date(2026, 11, 1))
    assert searched == wanted


def test_rows_beyond_what_the_graph_visits_are_found(corpus: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repository, "EXACT_UP_TO_ROWS", 0)
    texts = [f"text {number}" for number in range(ROWS)]
    corpus.publish(
        corpus.doc("many.md", *texts), corpus.doc("few.md", "one", "two", "three", attributes={"team": "Ada"})
    )
    with corpus.context.database.connection() as connection:
        known = publication(connection, corpus.slug)
    target = SearchTarget(corpus.slug, known.generation, known.serving_table, "space", known.analyser)
    vector = np.ones(16, np.float32) / 4
    request = SearchRequest(query="q", top_k=4)
    with read_session(corpus.context.database, groups=["everyone"], show_archived=False) as connection:
        connection.execute("SET LOCAL hnsw.max_scan_tuples = 1; SET LOCAL hnsw.ef_search = 1")
        connection.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off")
        graph = connection.execute(
            f"SELECT text FROM serving.{known.serving_table} WHERE corpus = 'handbook' AND serving_state = 'current'"
            " AND attributes ->> 'team' = 'Ada' ORDER BY embedding <=> %s::halfvec LIMIT 12",
            (str(vector.tolist()),),
        ).fetchall()
        found = nearest_fragments(
            connection,
            target,
            vector,
            SearchFilters.from_pairs({"attributes.team": "ada"}),
            request.limits(),
            date(2026, 11, 1),
        )
    assert len(graph) < 3, "the graph gives up"
    assert {each.text for each in found} == {"one", "two", "three"}
