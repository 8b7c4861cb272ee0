"""What SQL lets through, against the same decisions worked out row by row in Python."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import pytest
from pgvector import HalfVector

from corpus_pipeline.index import EF_SEARCH, read_session
from corpus_pipeline.retrieval import KeptOutReason, Question, SearchFilters, SearchRequest, rank_fragments, repository
from corpus_pipeline.retrieval.explanation import filter_mismatch
from corpus_pipeline.retrieval.ranking import explain_documents, explain_ranking
from corpus_pipeline.store import Database

AS_OF = date(2026, 11, 1)
DIMENSIONS = 8
SPACE = "5" * 64
GROUPS = ("everyone", "finance", "legal")


def unit(vector: np.ndarray) -> np.ndarray:
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def random_documents(served, seed: int, count: int) -> list:
    generator = np.random.default_rng(seed)
    pick = random.Random(seed)
    documents = []
    for number in range(count):
        excluded = pick.random() < 0.2
        columns = {
            "acl_groups": sorted(pick.sample(GROUPS, pick.randint(1, 2))),
            "product": pick.choice([None, "Atlas", "relay"]),
            "region": pick.choice([None, "eu", "us"]),
            "environment": pick.choice([None, "prod"]),
            "audience": pick.choice([None, "customers"]),
            "plan_tiers": pick.choice([[], ["free"], ["enterprise", "pro"]]),
            "answer_use": pick.choice(["any", "internal"]),
            "valid_from": pick.choice([None, AS_OF, AS_OF + timedelta(days=1)]),
            "valid_until": pick.choice([None, AS_OF, AS_OF - timedelta(days=1)]),
            "attributes": pick.choice([{}, {"tier": 2}, {"tier": "2", "beta": True}]),
        }
        if excluded:
            columns |= {"exclusion_reason": "superseded", "exclusion_ref": "c/new.md"}
        documents.append(served(f"{number:03}.md", vector=unit(generator.normal(size=DIMENSIONS)), columns=columns))
    return documents


def random_request(seed: int) -> SearchRequest:
    pick = random.Random(seed)
    filters = {
        "product": pick.choice([None, None, "atlas", "Relay"]),
        "region": pick.choice([None, None, "EU"]),
        "environment": pick.choice([None, "prod", "test"]),
        "audience": pick.choice([None, None, "Customers"]),
        "plan_tier": pick.choice([None, "free", "Enterprise"]),
        "customer_facing": pick.random() < 0.3,
        "attributes": pick.choice([{}, {}, {"tier": 2}, {"beta": True}]),
    }
    return SearchRequest(
        query="q",
        groups=tuple(pick.sample(GROUPS, pick.randint(0, 2))),
        filters=SearchFilters(**filters),
        top_k=100,
        min_score=-1.0,
        max_similarity=1.0,
        as_of=AS_OF,
    )


def may_answer(document, request: SearchRequest) -> bool:
    columns = document.columns
    return (
        "exclusion_reason" not in columns
        and bool(set(columns["acl_groups"]) & set(request.groups))
        and (columns["valid_from"] is None or columns["valid_from"] <= AS_OF)
        and (columns["valid_until"] is None or columns["valid_until"] >= AS_OF)
        and filter_mismatch(request.filters, columns) is None
    )


def test_no_row_that_may_not_answer_is_ever_a_candidate_and_none_that_may_is_lost(database: Database, serve, served):
    documents = random_documents(served, 7, 120)
    target = serve("c", documents, space=SPACE)
    accepted_in_all = 0
    for seed in range(60):
        request = random_request(seed)
        query = unit(np.random.default_rng(seed).normal(size=DIMENSIONS))
        question = Question(request, {SPACE: query}, AS_OF)
        with read_session(database, groups=request.groups, as_of=AS_OF, show_archived=False) as reader:
            ranking = rank_fragments(reader, [target], question)
        expected = {f"c/{document.path}" for document in documents if may_answer(document, request)}
        assert {candidate.document_id for candidate in ranking.candidates} == expected
        accepted_in_all += len(expected)
        cosines = {f"c/{d.path}": float(d.vector @ query) for d in documents}
        for candidate in ranking.candidates:
            assert candidate.score == pytest.approx(cosines[candidate.document_id], abs=2e-3)  # half precision
        scores = [(-candidate.score, candidate.fragment_id) for candidate in ranking.accepted]
        assert scores == sorted(scores)
    assert accepted_in_all > 100  # the oracle was not vacuous


def test_every_document_is_accepted_or_explained_by_a_reason_that_holds(database: Database, serve, served):
    documents = random_documents(served, 11, 60)
    target = serve("c", documents, space=SPACE)
    by_id = {f"c/{document.path}": document for document in documents}
    reasons = set()
    for seed in range(20):
        request = random_request(seed).model_copy(update={"kept_out_limit": 200})
        question = Question(request, {SPACE: unit(np.random.default_rng(seed).normal(size=DIMENSIONS))}, AS_OF)
        with read_session(database, groups=request.groups, as_of=AS_OF, show_archived=False) as reader:
            ranking = rank_fragments(reader, [target], question)
        with database.connection() as operator:
            kept_out = explain_ranking(operator, [target], question, ranking)
            one_by_one = explain_documents(operator, target, question, ranking, list(by_id))
        assert ranking.accepted_documents | {entry.document_id for entry in kept_out} == set(by_id)
        for entry in kept_out:
            reasons.add(entry.reason)
            assert one_by_one[entry.document_id].reason is entry.reason
            assert entry.reason is not KeptOutReason.NOT_RETRIEVED
            assert not may_answer(by_id[entry.document_id], request)
    assert reasons >= {
        KeptOutReason.SUPERSEDED,
        KeptOutReason.EXPIRED,
        KeptOutReason.NOT_YET_EFFECTIVE,
        KeptOutReason.NOT_PERMITTED,
        KeptOutReason.FILTERED,
    }


def test_a_filter_that_leaves_few_rows_still_fills_the_places(database: Database, serve, served, monkeypatch):
    # Without an iterative scan HNSW would look at 100 rows and find hardly one of the 20 that pass.
    generator = np.random.default_rng(3)
    documents = [
        served(
            f"{number:04}.md",
            vector=unit(generator.normal(size=DIMENSIONS)),
            columns={"product": "rare" if number % 100 == 0 else "common"},
        )
        for number in range(2000)
    ]
    target = serve("c", documents, space=SPACE)
    query = unit(generator.normal(size=DIMENSIONS))
    request = SearchRequest(query="q", top_k=5, min_score=-1, filters=SearchFilters(product="rare"), as_of=AS_OF)
    monkeypatch.setattr(repository, "EXACT_UP_TO_ROWS", 0)
    with read_session(database, groups=("everyone",), as_of=AS_OF, show_archived=False) as reader:
        repository.prefer_graph(reader, EF_SEARCH)
        plan = reader.execute(
            f"EXPLAIN SELECT fragment_id FROM serving.{target.table} WHERE corpus = 'c' AND serving_state = 'current'"
            " ORDER BY embedding <=> %s LIMIT 20",
            (HalfVector(query),),
        ).fetchall()
        assert "_hnsw on" in str(plan)
        repository.prefer_nothing(reader)
        reader.execute("SET LOCAL enable_sort = off")  # the planner would search so few rows exactly
        reader.execute("SET LOCAL enable_seqscan = off")
        ranking = rank_fragments(reader, [target], Question(request, {SPACE: query}, AS_OF))
    assert len(ranking.candidates) == 20
    assert all(candidate.metadata["product"] == "rare" for candidate in ranking.candidates)


def test_the_server_looks_for_words_before_the_vector_is_begun(
    database: Database, serve, served, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = serve("c", [served("one.md", "the dunning cycle", vector=unit(np.ones(DIMENSIONS)))], space=SPACE)
    told: list[str] = []
    send_words, send_nearest, wait = repository.send_words, repository.NearestLookup.send, repository.SentLookup.wait
    monkeypatch.setattr(repository, "send_words", lambda *given: (told.append("words"), send_words(*given))[1])
    prefer = repository._prefer
    monkeypatch.setattr(
        repository, "_prefer", lambda *given, **settings: (told.append("settings"), prefer(*given, **settings))[1]
    )
    monkeypatch.setattr(repository, "EXACT_UP_TO_ROWS", -1)
    monkeypatch.setattr(repository.SentLookup, "wait", lambda sent: (wait(sent), told.append("found"))[0])
    monkeypatch.setattr(
        repository.NearestLookup, "send", lambda *given: (told.append("vector"), send_nearest(*given))[1]
    )
    question = Question(SearchRequest(query="dunning", as_of=AS_OF), {SPACE: unit(np.ones(DIMENSIONS))}, AS_OF)
    with read_session(database, groups=("everyone",), as_of=AS_OF, show_archived=False) as reader:
        found = rank_fragments(reader, [target], question, meanwhile=lambda: told.append("begun"))
    assert told == ["words", "begun", "settings", "found", "vector", "settings"], "words are found without preferences"
    assert found.accepted_documents == {"c/one.md"}


def test_each_corpus_is_searched_under_its_own_settings_and_the_session_has_its_own_again(
    database: Database, serve, served, monkeypatch: pytest.MonkeyPatch
) -> None:
    vector = unit(np.ones(DIMENSIONS))
    targets = [serve(name, [served("one.md", "the dunning cycle", vector=vector)], space=SPACE) for name in "abc"]
    sizes = {"a": 100, "b": 100_000, "c": 100}  # exactly, by the graph, exactly
    monkeypatch.setattr("corpus_pipeline.retrieval.ranking.leaf_sizes", lambda *_: sizes)
    asked: list[tuple[str, str]] = []
    send = repository._send

    def noted(connection, name, target, *given, **options):
        cursor = send(connection, name, target, *given, **options)
        scans = connection.execute("SHOW enable_seqscan")  # in the order in which the server comes to it
        asked.append((f"{target.corpus} {name}", scans))
        return cursor

    monkeypatch.setattr(repository, "_send", noted)
    question = Question(SearchRequest(query="dunning", as_of=AS_OF, top_k=3), {SPACE: vector}, AS_OF)
    with read_session(database, groups=("everyone",), as_of=AS_OF, show_archived=False) as reader:
        found = rank_fragments(reader, targets, question)
        told = [(name, scans.fetchone()["enable_seqscan"]) for name, scans in asked]
        assert reader.execute("SHOW enable_seqscan").fetchone() == {"enable_seqscan": "on"}
        assert reader.execute("SHOW plan_cache_mode").fetchone() == {"plan_cache_mode": "auto"}
    assert found.candidates[0].document_id == "a/one.md"
    assert told == [
        ("a lexical_fragments", "on"),
        ("b lexical_fragments", "on"),
        ("c lexical_fragments", "on"),
        ("a nearest_fragments", "on"),
        ("b nearest_by_graph", "off"),
        ("c nearest_fragments", "on"),
        ("b nearest_fragments", "on"),  # the graph had fewer rows than were wanted
    ]


def test_generations_above_the_published_one_are_not_seen(database: Database, serve, served):
    vector = unit(np.ones(DIMENSIONS))
    serve("c", [served("old.md", vector=vector)], space=SPACE)
    target = serve("c", [served("new.md", "the dunning cycle", vector)], space=SPACE, generation=2, publish=False)
    question = Question(SearchRequest(query="q", as_of=AS_OF), {SPACE: vector}, AS_OF)
    with read_session(database, groups=("everyone",), as_of=AS_OF, show_archived=False) as reader:
        assert rank_fragments(reader, [target], question).accepted_documents == {"c/old.md"}
    with read_session(
        database, groups=("everyone",), as_of=AS_OF, show_archived=False, as_evaluator=("c", 2)
    ) as evaluator:
        staged = replace(target, is_evaluated=True)
        by_words = replace(question, request=SearchRequest(query="dunning", as_of=AS_OF, mode="sparse"))
        (found,) = rank_fragments(evaluator, [staged], by_words).accepted
        assert (found.document_id, (found.lexical_score or 0) > 0) == ("c/new.md", True)
        assert rank_fragments(evaluator, [staged], question).accepted_documents >= {"c/new.md"}


def test_each_stage_reports_its_counts(database: Database, serve, served):
    from corpus_pipeline.retrieval.trace import Trace

    near, far = unit(np.eye(DIMENSIONS)[0]), unit(np.eye(DIMENSIONS)[1])
    documents = [served("a.md", vector=near), served("copy.md", vector=near), served("far.md", vector=far)]
    target = serve("c", documents, space=SPACE)
    trace = Trace()
    with read_session(database, groups=("everyone",), as_of=AS_OF, show_archived=False) as reader:
        ranking = rank_fragments(
            reader, [target], Question(SearchRequest(query="q", as_of=AS_OF), {SPACE: near}, AS_OF), trace
        )
    assert [(stage.stage, stage.counts) for stage in trace.stages] == [
        ("sparse", {"corpora": 1, "fragments": 0}),
        ("dense", {"corpora": 1, "fragments": 3}),
        ("fusion", {"documents": 3, "fragments": 3, "found_both_ways": 0}),
        ("acceptance", {"accepted": 2, "below_score": 1}),
        ("diversity", {"selected": 1, "identical": 0, "near_copies": 1, "same_source": 0, "outranked": 0}),
        ("parents", {"parents": 1}),
        ("budget", {"kept": 1, "left_out": 0, "tokens": 5}),
        ("sufficiency", {"sufficient": 1}),
    ]
    assert ranking.sections == {"c/a.md::p0001": "# Section\n\n"}
