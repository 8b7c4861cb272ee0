"""A filter that few rows pass gives all of them, also where the graph gives up before it has met them."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
import pytest

from corpus_pipeline.index import leaf_indexes, publication, read_session
from corpus_pipeline.retrieval import repository
from corpus_pipeline.retrieval.candidate import Candidate
from corpus_pipeline.retrieval.request import SearchFilters, SearchRequest
from corpus_pipeline.retrieval.rows import SearchTarget, found_by_vector

ROWS = 400


def nearest_fragments(
    connection: Any, target: SearchTarget, vector: Any, filters: SearchFilters, limits: Any, day: date
) -> list[Candidate]:
    """As search looks for them."""
    (rows,) = repository.counted_rows(connection, [repository.leaf_of(target)]).values()
    with repository.pipelined(connection):
        lookup = repository.NearestLookup(connection, target, rows, filters, limits, day)
        with repository.graph_scans(connection) as prefer:
            sent = lookup.send(vector, prefer)
        return found_by_vector(sent.rows(), target)


@pytest.mark.parametrize(
    ("small", "wanted"),
    [
        # Each is searched once more, exactly, for nothing is found here.
        (
            0,
            [
                ("800", "generic"),
                ("110", "exactly"),
                ("160", "generic"),
                ("110", "exactly"),
                ("800", "generic"),
                ("110", "exactly"),
                ("110", "generic"),
                ("110", "exactly"),
            ],
        ),
        # Few rows are looked at one by one at once.
        (repository.EXACT_UP_TO_ROWS, [("110", "exactly")] * 4),
    ],
)
def test_what_no_index_serves_is_searched_wider_or_exactly(
    corpus: Any, documents: Any, monkeypatch: pytest.MonkeyPatch, small: int, wanted: list[tuple[str, str]]
) -> None:
    corpus.publish(*documents)
    with corpus.context.database.connection() as connection:
        known = publication(connection, corpus.slug)
    target = SearchTarget(corpus.slug, known.generation, known.serving_table, "space", known.analyser)
    searched: list[tuple[str, str]] = []

    def noted(
        connection: Any, name: str, _target: Any, _values: Any, *, scope: Any = None, prepare: bool = False
    ) -> Any:
        row = connection.execute(
            "SELECT current_setting('hnsw.ef_search') AS width, current_setting('enable_seqscan') AS others,"
            " current_setting('plan_cache_mode') AS plans"
        ).fetchone()
        width, others, plans = row.values()
        exactly = scope is None
        assert others == ("on" if exactly else "off")
        assert prepare is not exactly
        assert name == ("nearest_fragments" if exactly else "nearest_by_graph")
        assert plans == "auto" or not exactly
        searched.append((width, "exactly" if exactly else plans.split("_")[1]))
        return connection.execute("SELECT 1 WHERE false")

    monkeypatch.setattr(repository, "_send", noted)
    monkeypatch.setattr(repository, "EXACT_UP_TO_ROWS", small)
    with read_session(corpus.context.database, groups=["everyone"], show_archived=False) as connection:
        for filters in ({"plan_tier": "free"}, {"product": "Relay"}, {"attributes.team": "Ada"}, {}):
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


AWKWARD = [
    'O\'Neill \\ "Söhne" 50 % %s %(vector)s {table} $1',
    "'); SELECT pg_sleep(9); --",
    "\\'; DROP TABLE serving.publications; --",
]


@pytest.mark.parametrize("exactly", [True, False])
def test_the_value_of_a_filter_is_never_read_as_sql(
    corpus: Any, monkeypatch: pytest.MonkeyPatch, exactly: bool
) -> None:
    """Where the graph is walked, filters stand in the text of the query."""
    monkeypatch.setattr(leaf_indexes, "GRAPH_FROM_ROWS", 5)
    monkeypatch.setattr(repository, "EXACT_UP_TO_ROWS", ROWS * 10 if exactly else 0)
    corpus.publish(
        *(corpus.doc(f"{number}.md", f"text {number}", product=name) for number, name in enumerate(AWKWARD)),
        corpus.doc("many.md", *(f"other text {number}" for number in range(ROWS)), product="other"),
        *(
            corpus.doc(f"a{number}.md", f"word {number}", attributes={name: name})
            for number, name in enumerate(AWKWARD)
        ),
    )
    with corpus.context.database.connection() as connection:
        known = publication(connection, corpus.slug)
    target = SearchTarget(corpus.slug, known.generation, known.serving_table, "space", known.analyser)
    vector, day = np.ones(16, np.float32) / 4, date(2026, 11, 1)
    # One row is enough: what the graph finds is not looked for once more with bound values.
    limits = SearchRequest(query="q", top_k=1, mode="dense", fetch_multiplier=1).limits()
    assert limits.fetch_limit == 1
    sent = repository._send
    names: list[str] = []
    monkeypatch.setattr(repository, "_send", lambda *given, **rest: (names.append(given[1]), sent(*given, **rest))[1])
    with read_session(corpus.context.database, groups=["everyone"], show_archived=False) as connection:

        def found(filters: SearchFilters) -> list[str]:
            names.clear()
            texts = [each.text for each in nearest_fragments(connection, target, vector, filters, limits, day)]
            if texts:
                assert names == ["nearest_fragments" if exactly else "nearest_by_graph"]
            return texts

        for number, name in enumerate(AWKWARD):
            assert found(SearchFilters(product=name)) == [f"text {number}"]
            assert found(SearchFilters(attributes={name: name})) == [f"word {number}"]
            assert found(SearchFilters(product=name + "'")) == []


def test_filters_of_any_length_are_bound_where_they_would_be_long_in_the_text(
    corpus: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repository, "EXACT_UP_TO_ROWS", 0)
    long = "x" * repository.LONGEST_FILTERS
    corpus.publish(corpus.doc("one.md", "text", attributes={"key": long}), corpus.doc("two.md", "other"))
    with corpus.context.database.connection() as connection:
        known = publication(connection, corpus.slug)
    target = SearchTarget(corpus.slug, known.generation, known.serving_table, "space", known.analyser)
    limits = SearchRequest(query="q").limits()
    with read_session(corpus.context.database, groups=["everyone"], show_archived=False) as connection:
        filters = SearchFilters(attributes={"key": long})
        found = nearest_fragments(connection, target, np.ones(16, np.float32) / 4, filters, limits, date(2026, 11, 1))
        kept = connection.execute("SELECT max(length(statement)) AS most FROM pg_prepared_statements").fetchone()[
            "most"
        ]
    assert [each.text for each in found] == ["text"]
    assert (kept or 0) < repository.LONGEST_FILTERS + 2_000


FILTERS: list[dict[str, Any]] = [{}, {"product": "half"}, {"product": "few"}]


@pytest.mark.parametrize("given", FILTERS, ids=["none", "half", "few"])
def test_one_plan_serves_all_questions_of_the_same_filters(
    corpus: Any, other_corpus: Any, monkeypatch: pytest.MonkeyPatch, given: dict[str, Any]
) -> None:
    monkeypatch.setattr(leaf_indexes, "GRAPH_FROM_ROWS", 5)
    monkeypatch.setattr(repository, "EXACT_UP_TO_ROWS", 0)
    for each in (corpus, other_corpus):
        parts = {"half": ROWS // 2, "few": 12, "other": ROWS // 2 - 12}
        each.publish(
            *(
                each.doc(
                    f"{product}.md", *(f"{product} {number} of {each.slug}" for number in range(rows)), product=product
                )
                for product, rows in parts.items()
            )
        )
    with corpus.context.database.connection() as connection:
        known = publication(connection, corpus.slug)
    target = SearchTarget(corpus.slug, known.generation, known.serving_table, "space", known.analyser)
    limits, day = SearchRequest(query="q", top_k=3, mode="dense").limits(), date(2026, 11, 1)
    filters = SearchFilters.from_pairs(given)
    generator = np.random.default_rng(7)
    with read_session(corpus.context.database, groups=["everyone"], show_archived=False) as connection:
        for _ in range(3):
            vector = generator.normal(size=16).astype(np.float32)
            vector /= np.linalg.norm(vector)
            found = nearest_fragments(connection, target, vector, filters, limits, day)
            with monkeypatch.context() as few:
                few.setattr(repository, "EXACT_UP_TO_ROWS", ROWS * 10)
                exactly = nearest_fragments(connection, target, vector, filters, limits, day)
            assert [one.fragment_id for one in found] == [one.fragment_id for one in exactly]
            assert {one.corpus for one in found} == {corpus.slug}
            assert not given or {one.metadata["product"] for one in found} == {given["product"]}
        (prepared,) = connection.execute(
            "SELECT name, generic_plans, custom_plans FROM pg_prepared_statements WHERE statement LIKE '%WITH nearest%'"
            " AND statement NOT LIKE '%+ 0%'"
        ).fetchall()
        assert (prepared["generic_plans"], prepared["custom_plans"]) == (3, 0)
        repository.prefer_graph(connection, 110)
        called = f"EXPLAIN EXECUTE {prepared['name']} ('[{','.join(['1'] * 16)}]')"
        plan = "\n".join(row["QUERY PLAN"] for row in connection.execute(called).fetchall())
        assert "Seq Scan on fragments" not in plan
        if given.get("product") != "few":
            assert "_hnsw on" in plan
        assert other_corpus.slug not in plan, "other corpora have no part in it"
        nearest_fragments(connection, target, vector, SearchFilters(product="other"), limits, day)
        counted = connection.execute(
            "SELECT count(*) AS plans FROM pg_prepared_statements WHERE statement LIKE '%WITH nearest%'"
            " AND statement NOT LIKE '%+ 0%'"
        ).fetchone()
        assert counted["plans"] == 2, "other filters have a plan of their own"
