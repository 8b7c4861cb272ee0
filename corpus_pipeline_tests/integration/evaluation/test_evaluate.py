"""The stage on a small corpus that goes through the real rooms with the real model."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from corpus_pipeline import (
    chunking,
    conversion,
    deduplication,
    embedding,
    evaluation,
    index,
    inventory,
    quality,
    versions,
)
from corpus_pipeline.errors import GoldenQueriesError, UpstreamMissingError
from corpus_pipeline.evaluation import MissClass
from corpus_pipeline.records import Stage
from corpus_pipeline.store import StageContext, StageResult, stage_output

FILES = {
    "refunds.md": "---\ntitle: Refund policy\nsupersedes: [archive/refunds-2023.md]\n---\n"
    "# Refund policy\n\nCustomers may ask for a refund within 30 days of purchase. Write to billing.\n",
    "archive/refunds-2023.md": "# Refund rules of 2023\n\nA customer may request a refund during the 14 days after "
    "the purchase, by telephone only.\n",
    "sla-free.md": "---\nplan_tiers: [free]\n---\n# Support on the free plan\n\n"
    "Support answers within five working days.\n",
    "sla-enterprise.md": "---\nplan_tiers: [enterprise]\n---\n# Support on the enterprise plan\n\n"
    "Support answers within one hour, day and night, also at weekends.\n",
    "salaries.md": "# Salary bands\n\nThe salary band of a senior engineer starts at eighty thousand.\n",
    "salaries.md.meta.yaml": "acl_groups: [finance]\n",
}
GOLDEN = [
    {
        "query_id": "refund",
        "query": "How many days do customers have to ask for a refund?",
        "expected_sources": ["refunds.md"],
        "forbidden_sources": ["archive/refunds-2023.md"],
        "domain": "billing",
    },
    {"query_id": "weather", "query": "What is the boiling point of tungsten?", "should_match": False},
    {
        "query_id": "salary",
        "query": "Where does the salary band of a senior engineer start?",
        "expected_sources": ["salaries.md"],
        "groups": ["finance"],
        "domain": "people",
    },
]


@pytest.fixture
def corpus(context: StageContext, corpus_folder: Path, tmp_path: Path) -> Callable[..., StageContext]:
    """Writes files and golden queries; gives the context that names them."""

    def write(golden: list[dict] | None, **files: str | bytes) -> StageContext:
        for name, content in {**FILES, **files}.items():
            path = corpus_folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        if golden is None:
            return context
        (tmp_path / "golden.jsonl").write_text("\n".join(map(json.dumps, golden)))
        return replace(context, spec=context.spec.model_copy(update={"golden_queries": "golden.jsonl"}))

    return write


def stage(context: StageContext) -> None:
    """The chain up to a staged generation."""
    inventory.take_inventory(context)
    conversion.convert_corpus(context)
    deduplication.cluster_corpus(context)
    versions.resolve_corpus(context)
    chunking.fragment_corpus(context)
    embedding.embed_corpus(context)
    index.stage_generation(context)


def evaluate(context: StageContext) -> StageResult:
    stage(context)
    return evaluation.evaluate_generation(context)


def misses(context: StageContext) -> dict[str, MissClass]:
    with context.database.connection() as connection:
        outcomes = evaluation.evaluation_results(connection, context.spec.slug)
    return {outcome.query_id: miss.miss_class for outcome in outcomes for miss in outcome.misses}


def test_a_good_corpus_passes_every_query_before_readers_see_it(corpus):
    context = corpus(GOLDEN)
    result = evaluate(context)
    counts = dict(result.counts)
    assert counts == {
        "queries": 3,
        "passed_queries": 3,
        "forbidden_hits": 0,
        "stale_hits": 0,
        "authorisation_hits": 0,
        "authority_violations": 0,
        "metadata_mismatches": 0,
        "hit_at_1": 1.0,
        "hit_at_3": 1.0,
        "hit_at_5": 1.0,
        "hit_at_50": 1.0,
        "recall_at_5": 1.0,
        "precision": counts["precision"],
        "mrr": 1.0,
        "ndcg_at_10": 1.0,
        "abstention_recall": 1.0,
        "abstention_precision": 1.0,
        "unknown_sources": 0,
        "evaluated": 3,
        "generation": 1,
    }
    with context.database.connection() as connection:
        assert index.publication(connection, "handbook") is None
        stored = evaluation.latest_evaluation(connection, "handbook")
        assert stage_output(connection, "handbook", Stage.RETRIEVAL_EVALUATION) == stored.output_sha256
    assert stored.is_staged
    assert sorted(stored.metrics["domains"]) == ["billing", "people", "undeclared"]
    assert stored.metrics["domains"]["people"]["recall_at_5"] == 1.0


def test_every_miss_is_blamed_on_the_stage_that_lost_the_document(corpus):
    refund = GOLDEN[0]["query"]
    context = corpus(
        [
            {"query_id": "never_ingested", "query": refund, "expected_sources": ["gone.md"]},
            {"query_id": "quarantined", "query": refund, "expected_sources": ["broken.docx"]},
            {"query_id": "excluded", "query": refund, "expected_sources": ["archive/refunds-2023.md"]},
            {"query_id": "not_permitted", "query": GOLDEN[2]["query"], "expected_sources": ["salaries.md"]},
            {
                "query_id": "filtered",
                "query": "How fast does support answer on the free plan?",
                "expected_sources": ["sla-free.md"],
                "filters": {"plan_tier": "enterprise"},
            },
            {"query_id": "below_score", "query": "boiling point of tungsten", "expected_sources": ["refunds.md"]},
        ],
        **{"broken.docx": b"PK\x03\x04" + b"cut short" * 9},
    )
    result = evaluate(context)
    assert misses(context) == {name: MissClass(name) for name in misses(context)}
    assert len(misses(context)) == 6
    assert result.counts["unknown_sources"] == 1
    assert result.counts["recall_at_5"] == 0.0


def test_a_document_that_is_not_current_by_the_chain_is_counted_as_stale(corpus):
    context = corpus(GOLDEN[:1])
    stage(context)
    with context.database.connection() as connection:
        connection.execute(
            "UPDATE corpus.document_versions SET is_current = false WHERE document_id = 'handbook/refunds.md'"
        )
    result = evaluation.evaluate_generation(context)
    assert (result.counts["stale_hits"], result.counts["passed_queries"]) == (1, 0)


def test_a_forbidden_document_that_is_accepted_is_counted(corpus):
    context = corpus(
        [{**GOLDEN[0], "forbidden_sources": ["sla-free.md"], "query": "refund and support on the free plan"}]
    )
    result = evaluate(context)
    assert result.counts["forbidden_hits"] == 1
    with context.database.connection() as connection:
        (outcome,) = evaluation.evaluation_results(connection, "handbook")
    assert (outcome.forbidden_hits, outcome.passed) == (("handbook/sla-free.md",), False)


def test_equal_inputs_are_not_evaluated_twice_and_changed_ones_are(corpus, tmp_path):
    context = corpus(GOLDEN)
    first = evaluate(context)
    again = evaluation.evaluate_generation(context)
    assert again.unchanged
    assert (again.output_sha256, again.counts["evaluated"]) == (first.output_sha256, 0)
    assert {**again.counts, "evaluated": 3} == first.counts
    (tmp_path / "golden.jsonl").write_text(json.dumps(GOLDEN[0]))
    changed = evaluation.evaluate_generation(context)
    assert (changed.counts["queries"], changed.counts["evaluated"]) == (1, 1)
    assert changed.output_sha256 != first.output_sha256


def test_a_lost_evaluation_is_found_again_with_the_same_digest(corpus):
    context = corpus(GOLDEN)
    first = evaluate(context)
    with context.database.connection() as connection:
        connection.execute("DELETE FROM corpus.evaluations")
    assert evaluation.evaluate_generation(context).output_sha256 == first.output_sha256


def test_without_golden_queries_the_stage_passes_with_none(corpus):
    result = evaluate(corpus(None))
    assert result.counts == {
        "queries": 0,
        "passed_queries": 0,
        "forbidden_hits": 0,
        "stale_hits": 0,
        "authorisation_hits": 0,
        "authority_violations": 0,
        "metadata_mismatches": 0,
        "unknown_sources": 0,
        "evaluated": 0,
        "generation": 1,
    }


def test_faults_in_the_golden_queries_stop_the_stage_with_their_lines(corpus, tmp_path):
    context = corpus(GOLDEN)
    (tmp_path / "golden.jsonl").write_text('{"query_id": 1')
    with pytest.raises(GoldenQueriesError, match=r"golden\.jsonl:1 column"):
        evaluation.evaluate_generation(context)


def test_without_a_generation_there_is_nothing_to_evaluate(corpus):
    with pytest.raises(UpstreamMissingError):
        evaluation.evaluate_generation(corpus(GOLDEN))


def test_with_nothing_new_the_published_generation_is_evaluated(corpus):
    context = corpus(GOLDEN)
    first = evaluate(context)
    for checked in list(Stage)[:-1]:
        assert quality.check_stage(context, checked).passed
    index.publish_corpus(context)
    later = replace(context, as_of=context.as_of.replace(day=2))
    again = evaluate(later)
    assert (again.counts["generation"], again.counts["evaluated"]) == (1, 3)
    assert again.output_sha256 == first.output_sha256
    with context.database.connection() as connection:
        assert not evaluation.latest_evaluation(connection, "handbook").is_staged


def test_a_new_generation_is_evaluated_before_it_is_seen(corpus, corpus_folder):
    context = corpus(GOLDEN)
    evaluate(context)
    for checked in list(Stage)[:-1]:
        quality.check_stage(context, checked)
    index.publish_corpus(context)
    (corpus_folder / "refunds.md").unlink()
    (corpus_folder / "shipping.md").write_text("# Shipping\n\nParcels leave the warehouse within two days.\n")
    result = evaluate(context)
    assert (result.counts["generation"], result.counts["recall_at_5"]) == (2, 0.5)
    assert misses(context) == {"refund": MissClass.NEVER_INGESTED}
    with context.database.connection() as connection:
        assert index.publication(connection, "handbook").generation == 1
