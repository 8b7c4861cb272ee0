"""The whole of search on real text and real weights."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import numpy as np
import pytest

from corpus_pipeline import retrieval
from corpus_pipeline.errors import (
    DatabaseUnreachableError,
    ModelUnavailableError,
    NothingPublishedError,
    SearchError,
    UnknownCorpusError,
)
from corpus_pipeline.registry import CorpusSpec, Registry, SourceSpec
from corpus_pipeline.retrieval import KeptOutReason, SearchFilters, SearchRequest, SearchResult
from corpus_pipeline.store import Database

AS_OF = date(2026, 11, 1)
REFUND = "How many days do customers have to ask for a refund?"


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    specs = {
        slug: CorpusSpec(slug=slug, base_folder=tmp_path, owner="docs@example.com", source=SourceSpec(url="docs"))
        for slug in ("handbook", "support", "empty")
    }
    return Registry(path=tmp_path / "corpora.yaml", corpora=specs)


@pytest.fixture
def handbook(serve, served):
    """Refund rules in every state a document can be in, and two plans that must not mix."""
    return serve(
        "handbook",
        [
            served("refunds.md", "Customers may ask for a refund within 30 days of purchase."),
            served(
                "archive/refunds-2023.html",
                "Customers may ask for a refund within 14 days of purchase.",
                columns={"exclusion_reason": "superseded", "exclusion_ref": "handbook/refunds.md"},
            ),
            served(
                "training.pdf",
                "In training: a customer may request a refund in the 14 days after purchase.",
                columns={
                    "exclusion_reason": "copy_of_superseded",
                    "exclusion_ref": "handbook/archive/refunds-2023.html",
                },
            ),
            served(
                "refunds-2027.md",
                "From January customers may ask for a refund within 60 days of purchase.",
                columns={"valid_from": date(2027, 1, 1)},
            ),
            served(
                "refund-fraud.md",
                "Refund requests of customers older than 10 days are checked by finance for fraud.",
                columns={"acl_groups": ["finance"]},
            ),
            served(
                "sla-free.md",
                "On the free plan support answers within five working days.",
                columns={"plan_tiers": ["free"]},
            ),
            served(
                "sla-enterprise.md",
                "On the enterprise plan support answers within one hour, day and night.",
                columns={"plan_tiers": ["enterprise"], "answer_use": "internal"},
            ),
        ],
    )


def ask(database: Database, registry: Registry, query: str, **changes: object) -> SearchResult:
    return retrieval.search(database, registry, SearchRequest(query=query, **({"as_of": AS_OF} | changes)))


def accepted(result: SearchResult) -> list[str]:
    return [fragment.document_id for fragment in result.accepted]


def kept_out(result: SearchResult) -> dict[str, KeptOutReason]:
    return {entry.document_id: entry.reason for entry in result.kept_out}


def test_the_current_rule_answers_and_stale_copies_are_kept_out_with_their_reasons(database, registry, handbook):
    result = ask(database, registry, REFUND, corpora=("handbook",), explain=True)
    assert accepted(result)[0] == "handbook/refunds.md"
    assert result.sufficient
    assert kept_out(result) == kept_out(result) | {
        "handbook/archive/refunds-2023.html": KeptOutReason.SUPERSEDED,
        "handbook/training.pdf": KeptOutReason.COPY_OF_SUPERSEDED,
        "handbook/refunds-2027.md": KeptOutReason.NOT_YET_EFFECTIVE,
        "handbook/refund-fraud.md": KeptOutReason.NOT_PERMITTED,
    }
    assert not set(accepted(result)) & set(kept_out(result))
    references = {entry.document_id: entry.reference for entry in result.kept_out}
    assert references["handbook/archive/refunds-2023.html"] == "handbook/refunds.md"


def test_a_reader_is_told_nothing_of_what_may_not_be_seen(database, registry, handbook):
    result = ask(database, registry, "Who checks refund requests for fraud?", corpora=("handbook",))
    shown = result.model_dump_json()
    assert "fraud.md" not in shown
    assert "finance" not in shown
    assert result.kept_out == ()
    permitted = ask(database, registry, "Who checks refund requests for fraud?", groups=("finance",))
    assert accepted(permitted) == ["handbook/refund-fraud.md"]


def test_a_reader_without_groups_finds_nothing(database, registry, handbook):
    result = ask(database, registry, REFUND, groups=())
    assert (result.sufficient, result.accepted) == (False, ())
    assert result.reason == "not enough evidence: no current fragment within this scope"


def test_an_unanswerable_question_abstains_with_its_numbers(database, registry, handbook):
    result = ask(database, registry, "What is the boiling point of tungsten?")
    assert (result.sufficient, result.accepted) == (False, ())
    assert result.reason.startswith("not enough evidence: best score 0.")
    assert result.reason.endswith("below 0.30")


def test_the_day_asked_for_decides_which_rule_holds(database, registry, handbook):
    # The two rules are near copies; without diversity both may answer once both are in force.
    later = ask(database, registry, REFUND, as_of=date(2027, 1, 1), max_similarity=1.0)
    assert {"handbook/refunds.md", "handbook/refunds-2027.md"} <= set(accepted(later))
    assert "60 days" not in ask(database, registry, REFUND, max_similarity=1.0).model_dump_json()


def test_plans_do_not_mix_under_a_filter_and_undeclared_documents_hold_for_all(database, registry, handbook):
    query = "How fast does support answer?"
    for tier, other in (("free", "enterprise"), ("Enterprise", "free")):
        found = accepted(ask(database, registry, query, filters=SearchFilters(plan_tier=tier)))
        assert found[0] == f"handbook/sla-{tier.lower()}.md"
        assert f"handbook/sla-{other}.md" not in found
    assert accepted(ask(database, registry, REFUND, filters={"plan_tier": "free"}))[0] == "handbook/refunds.md"


def test_internal_documents_never_face_customers(database, registry, handbook):
    query = "How fast does enterprise support answer?"
    assert accepted(ask(database, registry, query))[0] == "handbook/sla-enterprise.md"
    facing = ask(database, registry, query, filters={"customer_facing": True}, explain=True)
    assert "handbook/sla-enterprise.md" not in accepted(facing)
    assert kept_out(facing)["handbook/sla-enterprise.md"] is KeptOutReason.FILTERED


def test_a_parent_comes_with_each_accepted_fragment(database, registry, handbook):
    fragment = ask(database, registry, REFUND).accepted[0]
    assert fragment.parent_text == f"# Section\n\n{fragment.text}"
    assert (fragment.char_start, fragment.char_end) == (0, len(fragment.text))
    assert "acl_groups" not in fragment.metadata


def test_the_same_text_in_two_corpora_is_answered_once(database, registry, handbook, serve, served):
    serve("support", [served("macro.txt", "Customers may ask for a refund within 30 days of purchase.")])
    result = ask(database, registry, REFUND, explain=True)
    assert accepted(result)[0] == "handbook/refunds.md"
    assert kept_out(result)["support/macro.txt"] is KeptOutReason.CROWDED_OUT
    assert result.generations == {"handbook": 1, "support": 1}
    assert [skipped.corpus for skipped in result.skipped] == ["empty"]
    assert accepted(ask(database, registry, REFUND, corpora=("support",))) == ["support/macro.txt"]


def test_the_same_question_gives_the_same_answer(database, registry, handbook):
    first, second = (ask(database, registry, REFUND, explain=True) for _ in range(2))
    assert first.model_dump(exclude={"trace"}) == second.model_dump(exclude={"trace"})


def test_every_stage_is_named_and_timed(database, registry, handbook):
    result = ask(database, registry, REFUND, explain=True)
    assert [stage.stage for stage in result.trace] == [
        "scope", "models", "routing", "reading", "encode", "sparse", "dense", "fusion", "acceptance", "diversity",
        "parents", "budget", "sufficiency", "explanation",
    ]  # fmt: skip
    assert all(stage.milliseconds >= 0 for stage in result.trace)
    begins = {stage.stage: stage.begins_at for stage in result.trace}
    ends = {stage.stage: stage.begins_at + stage.milliseconds for stage in result.trace}
    assert begins["sparse"] < begins["dense"]
    assert ends["encode"] <= begins["dense"]


@pytest.mark.parametrize(("mode", "idle"), [("dense", "sparse"), ("sparse", "dense")])
def test_a_stage_that_asks_nothing_takes_no_time_of_others(database, registry, handbook, mode, idle):
    (unused,) = [stage for stage in ask(database, registry, REFUND, mode=mode).trace if stage.stage == idle]
    (encoded,) = [stage for stage in ask(database, registry, REFUND, mode=mode).trace if stage.stage == "encode"]
    assert unused.counts["fragments"] == 0
    assert unused.milliseconds < encoded.milliseconds


def test_the_text_of_a_query_never_reaches_the_database(database, registry, handbook):
    result = ask(database, registry, "refund'); DROP TABLE serving.publications; --")
    assert "handbook/refunds.md" in accepted(result)
    with database.connection() as connection:
        seen = connection.execute("SELECT count(*) AS n FROM serving.publications").fetchone()
    assert seen["n"] == 1


@pytest.mark.parametrize(
    ("query", "changes", "error", "message"),
    [
        ("  ", {}, SearchError, "the query is empty"),
        (REFUND, {"corpora": ("nowhere",)}, UnknownCorpusError, "has no corpus 'nowhere'"),
        (REFUND, {"corpora": ("handbook", "empty")}, NothingPublishedError, "nothing is published yet of: empty"),
        (REFUND, {"filters": {"plan": "free"}}, SearchError, "there is no filter 'plan'"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_a_remedy(database, registry, handbook, query, changes, error, message):
    with pytest.raises(error, match=message) as caught:
        ask(database, registry, query, **changes)
    assert caught.value.remedy


def test_before_the_first_publication_search_says_what_to_run(database, registry):
    with pytest.raises(NothingPublishedError) as caught:
        ask(database, registry, REFUND)
    assert "corpus-pipeline ingest" in caught.value.remedy


def test_a_server_that_dies_between_words_and_neighbours_is_named_and_the_next_search_answers(
    database, registry, handbook, monkeypatch
):
    lookup = retrieval.ranking.repository.NearestLookup
    send = lookup.send

    def killed(self, *given):
        with database.session() as operator:
            operator.execute("SELECT pg_terminate_backend(%s, 5000)", (self.connection.info.backend_pid,))
        return send(self, *given)

    request = SearchRequest(query=REFUND, corpora=("handbook",), groups=("everyone",), as_of=AS_OF)
    with monkeypatch.context() as dying:
        dying.setattr(lookup, "send", killed)
        with pytest.raises(DatabaseUnreachableError) as caught:
            retrieval.search(database, registry, request)
    assert "Start the server" in caught.value.remedy
    assert retrieval.search(database, registry, request).sufficient


def test_vectors_of_other_weights_are_not_compared_with_those_of_a_question(database, registry, serve, served):
    vector = np.ones(8, np.float32) / np.sqrt(8)
    serve("handbook", [served("refunds.md", REFUND, vector=vector)], space="b" * 64)
    with pytest.raises(ModelUnavailableError, match="were made with other files of") as caught:
        ask(database, registry, REFUND)
    assert "corpus-pipeline ingest" in caught.value.remedy
