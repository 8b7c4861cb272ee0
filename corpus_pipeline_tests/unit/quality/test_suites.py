"""Each rule of each suite fails on exactly the fault it is for, and passes without it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from corpus_pipeline.errors import GateError
from corpus_pipeline.quality.engine import run_suite
from corpus_pipeline.quality.rules import Batches, Rule
from corpus_pipeline.quality.suites import suite
from corpus_pipeline.records import Stage
from corpus_pipeline.registry import CorpusSpec, SourceSpec

GOOD: dict[Stage, tuple[dict[str, Any], dict[str, Any]]] = {
    Stage.SOURCE_INVENTORY: ({"files": 10, "held_removals": 0}, {"doubt": None}),
    Stage.CONVERTED_DOCUMENTS: (
        {"documents": 10, "quarantined_ratio": 0.0, "unreadable_ratio": 0.0, "page_coverage": 1.0},
        {
            "quarantined": None,
            "effective_converter": "plain",
            "characters": 900,
            "garbled_ratio": 0.0,
            "uncovered": None,
            "characters_per_page": None,
            "tables_dropped": 0,
            "tables": "2 of 2 kept",
            "language": None,
        },
    ),
    Stage.NEAR_DUPLICATE_CLUSTERS: ({"duplicate_ratio": 0.1}, {"similarity_margin": 0.1}),
    Stage.DOCUMENT_VERSIONS: (
        {"undecided": 0, "current": 8, "review_ratio": 0.0},
        {"unexplained": None, "conflict": None},
    ),
    Stage.FRAGMENTS: (
        {"fragments": 30},
        {"uncovered_characters": 0, "uncovered_by_parents": 0, "excess_tokens": 0},
    ),
    Stage.FRAGMENT_EMBEDDINGS: ({"dimensions": 1}, {"missing_vectors": 0, "norm_error": 1e-6}),
    Stage.INDEX_GENERATION: ({"rows_missing": 0, "ann_recall": 1.0}, {}),
    Stage.RETRIEVAL_EVALUATION: (
        {
            "queries": 5,
            "recall_at_5": 1.0,
            "forbidden_hits": 0,
            "stale_hits": 0,
            "displaced_by_stale": 0,
            "authorisation_hits": 0,
            "metadata_mismatches": 0,
            "authority_violations": 0,
            "significant_drops": 0,
            "other_drops": 0,
            "off_topic_ratio": 0.3,
        },
        {"failed": None},
    ),
    Stage.PUBLISHED_CORPUS: ({"roots_differ": 0}, {}),
}

CORPUS_FAULTS = [
    (Stage.SOURCE_INVENTORY, "files", 0, "enough_files", "critical"),
    (Stage.SOURCE_INVENTORY, "held_removals", 4, "no_sudden_shrinkage", "critical"),
    (Stage.CONVERTED_DOCUMENTS, "documents", 0, "enough_documents", "critical"),
    (Stage.CONVERTED_DOCUMENTS, "quarantined_ratio", 0.11, "few_quarantined", "critical"),
    (Stage.CONVERTED_DOCUMENTS, "unreadable_ratio", 0.11, "few_unreadable", "critical"),
    (Stage.CONVERTED_DOCUMENTS, "page_coverage", 0.97, "page_coverage", "critical"),
    (Stage.NEAR_DUPLICATE_CLUSTERS, "duplicate_ratio", 0.51, "few_duplicates", "warning"),
    (Stage.DOCUMENT_VERSIONS, "undecided", 1, "every_document_decided", "critical"),
    (Stage.DOCUMENT_VERSIONS, "current", 0, "something_current", "critical"),
    (Stage.DOCUMENT_VERSIONS, "review_ratio", 0.3, "few_reviews", "warning"),
    (Stage.FRAGMENTS, "fragments", 0, "some_fragments", "critical"),
    (Stage.FRAGMENT_EMBEDDINGS, "dimensions", 2, "one_dimension", "critical"),
    (Stage.INDEX_GENERATION, "rows_missing", 1, "rows_complete", "critical"),
    (Stage.INDEX_GENERATION, "ann_recall", 0.9, "index_recall", "critical"),
    (Stage.RETRIEVAL_EVALUATION, "queries", 0, "some_golden_queries", "warning"),
    (Stage.RETRIEVAL_EVALUATION, "recall_at_5", 0.79, "recall_at_5", "critical"),
    (Stage.RETRIEVAL_EVALUATION, "forbidden_hits", 1, "no_forbidden_source", "critical"),
    (Stage.RETRIEVAL_EVALUATION, "stale_hits", 1, "no_stale_source", "critical"),
    (Stage.RETRIEVAL_EVALUATION, "displaced_by_stale", 1, "current_not_displaced", "critical"),
    (Stage.RETRIEVAL_EVALUATION, "authorisation_hits", 1, "no_unauthorised_source", "critical"),
    (Stage.RETRIEVAL_EVALUATION, "metadata_mismatches", 1, "metadata_as_required", "critical"),
    (Stage.RETRIEVAL_EVALUATION, "authority_violations", 1, "authority_respected", "warning"),
    (Stage.RETRIEVAL_EVALUATION, "significant_drops", 1, "recall_kept", "critical"),
    (Stage.RETRIEVAL_EVALUATION, "other_drops", 1, "recall_steady", "warning"),
    (Stage.RETRIEVAL_EVALUATION, "off_topic_ratio", 0.31, "new_documents_on_topic", "critical"),
    (Stage.PUBLISHED_CORPUS, "roots_differ", 1, "published_is_staged", "critical"),
]
DOCUMENT_FAULTS = [
    (Stage.SOURCE_INVENTORY, "doubt", "bad date", "readable_metadata", "warning"),
    (Stage.CONVERTED_DOCUMENTS, "quarantined", "corrupt: cut off", "not_quarantined", "warning"),
    (Stage.CONVERTED_DOCUMENTS, "effective_converter", "auto", "concrete_converter", "critical"),
    (Stage.CONVERTED_DOCUMENTS, "characters", 3, "enough_text", "warning"),
    (Stage.CONVERTED_DOCUMENTS, "garbled_ratio", 0.02, "readable_text", "warning"),
    (Stage.CONVERTED_DOCUMENTS, "uncovered", "pages 3", "every_page_covered", "warning"),
    (Stage.CONVERTED_DOCUMENTS, "characters_per_page", 12.0, "enough_text_a_page", "warning"),
    (Stage.CONVERTED_DOCUMENTS, "tables_dropped", 1, "tables_kept", "warning"),
    (Stage.CONVERTED_DOCUMENTS, "language", "declared en, looks like de", "language_as_declared", "warning"),
    (Stage.NEAR_DUPLICATE_CLUSTERS, "similarity_margin", -0.01, "verified_similarity", "critical"),
    (Stage.DOCUMENT_VERSIONS, "unexplained", "no reason", "reasons_given", "critical"),
    (Stage.DOCUMENT_VERSIONS, "conflict", "a cycle", "no_conflicts", "warning"),
    (Stage.FRAGMENTS, "uncovered_characters", 1, "every_character_in_a_fragment", "critical"),
    (Stage.FRAGMENTS, "uncovered_by_parents", 1, "every_character_in_a_parent", "critical"),
    (Stage.FRAGMENTS, "excess_tokens", 1, "within_the_model_limit", "critical"),
    (Stage.FRAGMENT_EMBEDDINGS, "missing_vectors", 1, "every_fragment_embedded", "critical"),
    (Stage.FRAGMENT_EMBEDDINGS, "norm_error", 0.2, "unit_vectors", "critical"),
    (Stage.RETRIEVAL_EVALUATION, "failed", "not found", "each_query_answered", "warning"),
]


@pytest.fixture
def spec(tmp_path: Path) -> CorpusSpec:
    return CorpusSpec(slug="handbook", base_folder=tmp_path, owner="me", source=SourceSpec(url="docs"))


def _batches(stage: Stage, corpus: dict[str, Any] | None = None, bad: dict[str, Any] | None = None) -> Batches:
    figures, row = GOOD[stage]
    rows = [{"document_id": f"handbook/{name}.md", **row} for name in ("a", "b", "c")] if row else []
    if bad:
        rows[1] = {**rows[1], **bad}
    return Batches("hash", rows, {**figures, **(corpus or {})})


@pytest.mark.parametrize("stage", list(Stage))
def test_a_good_output_passes_every_rule(spec: CorpusSpec, stage: Stage) -> None:
    assert run_suite("s", suite(stage, spec), _batches(stage)) == []


@pytest.mark.parametrize(("stage", "figure", "value", "rule", "severity"), CORPUS_FAULTS)
def test_a_fault_of_the_corpus_fails_its_rule_alone(
    spec: CorpusSpec, stage: Stage, figure: str, value: float, rule: str, severity: str
) -> None:
    failures = run_suite("s", suite(stage, spec), _batches(stage, {figure: value}))
    assert [(failure["expectation"], failure["severity"]) for failure in failures] == [(rule, severity)]
    assert failures[0]["remedy"]


@pytest.mark.parametrize(("stage", "column", "value", "rule", "severity"), DOCUMENT_FAULTS)
def test_a_fault_of_one_document_names_that_document(
    spec: CorpusSpec, stage: Stage, column: str, value: object, rule: str, severity: str
) -> None:
    failures = run_suite("s", suite(stage, spec), _batches(stage, bad={column: value}))
    assert [(failure["expectation"], failure["severity"]) for failure in failures] == [(rule, severity)]
    assert failures[0]["documents"] == ["handbook/b.md"]


def test_every_rule_has_a_test_that_triggers_it(spec: CorpusSpec) -> None:
    tested = {(stage, rule) for stage, _, _, rule, _ in [*CORPUS_FAULTS, *DOCUMENT_FAULTS]}
    written = {(stage, rule.name) for stage in Stage for rule in suite(stage, spec)}
    assert written - tested == {(Stage.SOURCE_INVENTORY, "unique_documents")}


def test_a_document_listed_twice_fails(spec: CorpusSpec) -> None:
    failures = run_suite(
        "s",
        suite(Stage.SOURCE_INVENTORY, spec),
        _batches(Stage.SOURCE_INVENTORY, bad={"document_id": "handbook/a.md"}),
    )
    assert [failure["expectation"] for failure in failures] == ["unique_documents"]


def test_conflicts_block_where_the_corpus_says_so(spec: CorpusSpec) -> None:
    strict = spec.model_copy(update={"versions": spec.versions.model_copy(update={"conflicts": "fail"})})
    failures = run_suite(
        "s", suite(Stage.DOCUMENT_VERSIONS, strict), _batches(Stage.DOCUMENT_VERSIONS, bad={"conflict": "a cycle"})
    )
    assert [failure["severity"] for failure in failures] == ["critical"]


def test_a_rule_that_cannot_be_evaluated_is_an_error_and_no_pass() -> None:
    rule = Rule(
        "r", "corpus", "ExpectColumnValuesToBeBetween", {"column": "absent", "min_value": 1}, "critical", "x", "y"
    )
    with pytest.raises(GateError, match="could not be evaluated"):
        run_suite("s", [rule], Batches("hash", [], {"files": 1}))
