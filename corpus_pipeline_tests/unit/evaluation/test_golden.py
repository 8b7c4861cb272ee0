from __future__ import annotations

import json
from pathlib import Path

import pytest

from corpus_pipeline.errors import GoldenQueriesError
from corpus_pipeline.evaluation import load_golden_queries

GOOD = {"query_id": "refund-1", "query": "How long?", "expected_sources": ["refunds.md"]}


def write(folder: Path, *lines: object) -> Path:
    path = folder / "golden.jsonl"
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines))
    return path


def faults(folder: Path, *lines: object) -> list[tuple[int, str, str]]:
    with pytest.raises(GoldenQueriesError) as caught:
        load_golden_queries(write(folder, *lines))
    return [(fault.line, fault.key, fault.message) for fault in caught.value.faults]


def test_queries_come_in_order_of_id_without_rejected_ones(tmp_path: Path):
    path = write(
        tmp_path,
        GOOD,
        "",
        {**GOOD, "query_id": "a"},
        {**GOOD, "query_id": "b", "review_status": "rejected"},
        {"query_id": "none", "query": "Who won?", "should_match": False, "category": "expected_empty"},
    )
    assert [query.query_id for query in load_golden_queries(path).queries] == ["a", "none", "refund-1"]


def test_the_digest_depends_on_the_queries_and_not_on_how_they_are_written(tmp_path: Path):
    other = {**GOOD, "query_id": "a"}
    first = load_golden_queries(write(tmp_path, GOOD, other)).sha256
    assert load_golden_queries(write(tmp_path, json.dumps(other, indent=None), "", json.dumps(GOOD))).sha256 == first
    assert load_golden_queries(write(tmp_path, {**GOOD, "query": "How short?"}, other)).sha256 != first


def test_all_faults_are_reported_together_with_their_lines(tmp_path: Path):
    found = faults(tmp_path, GOOD, "{bad", {**GOOD, "query_id": "x", "expected_source": ["a"]}, GOOD, "[1]")
    assert [(line, key) for line, key, _ in found] == [
        (2, "column 2"),
        (3, "expected_source"),
        (4, "query_id"),
        (5, "line"),
    ]
    assert "did you mean 'expected_sources'" in found[1][2]
    assert found[2][2] == "repeats that of line 1"


def test_a_key_written_twice_is_a_fault(tmp_path: Path):
    assert faults(tmp_path, '{"query_id": "a", "query_id": "b"}') == [(1, "query_id", "is written twice in one object")]


def test_an_unknown_filter_is_a_fault_with_the_nearest_key(tmp_path: Path):
    ((_, key, message),) = faults(tmp_path, {**GOOD, "filters": {"plan_tiers": "free"}})
    assert key == "filters.plan_tiers"
    assert "did you mean 'plan_tier'" in message


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"expected_sources": []}, "expected_sources"),
        ({"should_match": False}, "expected_sources"),
        ({"forbidden_sources": ["refunds.md"]}, "forbidden_sources"),
        ({"review_status": "reviewed"}, "reviewer"),
        ({"query": "   "}, "query"),
        ({"category": "misc"}, "category"),
        ({"query_id": "two words"}, "query_id"),
    ],
)
def test_queries_that_disagree_with_themselves_are_faults(tmp_path: Path, change: dict, key: str):
    ((line, found, _),) = faults(tmp_path, {**GOOD, **change})
    assert (line, found) == (1, key)


def test_a_missing_key_is_named(tmp_path: Path):
    assert faults(tmp_path, {"query_id": "a", "expected_sources": ["b"]}) == [(1, "query", "is missing")]


def test_a_missing_file_names_its_path_and_remedy(tmp_path: Path):
    with pytest.raises(GoldenQueriesError, match=r"none\.jsonl:0 golden_queries: cannot be read") as caught:
        load_golden_queries(tmp_path / "none.jsonl")
    assert "corpora.yaml" in caught.value.remedy


def test_messages_never_hold_the_text_of_a_query(tmp_path: Path):
    with pytest.raises(GoldenQueriesError) as caught:
        load_golden_queries(write(tmp_path, {"query_id": "a", "query": "confidential wording", "expected_sources": 1}))
    assert "confidential" not in str(caught.value)
