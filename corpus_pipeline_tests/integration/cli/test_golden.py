"""`golden`: what a superseded source means for a query, a proposed line, the least score, the report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from corpus_pipeline.evaluation import load_golden_queries
from corpus_pipeline_tests.integration.cli.conftest import CommandLine

REPLACED, CURRENT = "archive/refund-policy-2023.md", "refund-policy.md"
HOSTILE = "<script>alert(1)</script> & bicycles?"


def write(folder: Path, *queries: dict) -> None:
    (folder / "golden.jsonl").write_text("\n".join(map(json.dumps, queries)) + "\n", encoding="utf-8")


def query(query_id: str, **keys: object) -> dict:
    return {"query_id": query_id, "query": "How?", "review_status": "reviewed", "reviewer": "kim", **keys}


def passage(source: str, anchor: str) -> dict:
    return {"expected_passages": [{"source": source, "anchor": anchor}]}


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "240")


def test_a_golden_set_is_held_against_the_corpus(command_line: CommandLine, tmp_path: Path) -> None:
    command_line.decide()
    write(
        tmp_path,
        query("fine", **passage("parking.md", "Bicycles stand\nbehind the house")),
        query("old", **passage(REPLACED, "monthly plans are not refunded")),
        query("changed", **passage(REPLACED, "refund within 14 days")),
        query("lost", **passage("parking.md", "in the garage")),
        query("often", **passage(CURRENT, "refunded")),
        query("gone", expected_sources=["nowhere.md"]),
        query("watched", expected_sources=[CURRENT], forbidden_sources=[REPLACED]),
        query("broken", expected_sources=["empty.md"]),
        {**query("new", expected_sources=["parking.md"]), "review_status": "proposed"},
    )
    form = command_line.json("golden", "check", "handbook", expect=3)
    assert form["queries"] == 9
    kinds: dict[str, list[str]] = {}
    for finding in form["findings"]:
        kinds.setdefault(finding["query_id"], []).append(finding["kind"])
    assert kinds == {
        "old": ["kept_out", "kept_out"],
        "changed": ["kept_out", "kept_out"],
        "lost": ["anchor_lost"],
        "often": ["anchor_repeated"],
        "gone": ["unknown_source"],
        "broken": ["not_converted"],
        "new": ["not_reviewed"],
    }
    follows = {one["query_id"]: one["in_successor"] for one in form["findings"] if one["in_successor"] is not None}
    assert follows == {"old": True, "changed": False}
    shown = command_line.run("golden", "check", "handbook", expect=3).output
    assert f"answers now: handbook/{CURRENT}; it does not say this" in shown
    assert "[-14-] {+60+}" in shown
    assert "9 queries, 7 faults, 2 remarks" in shown


def test_a_sound_golden_set_passes(command_line: CommandLine) -> None:
    command_line.decide()
    assert "1 queries, 0 faults, 0 remarks" in command_line.run("golden", "check", "handbook").output


@pytest.mark.slow
def test_a_proposed_line_is_asked_as_it_is_and_the_score_and_the_report_come_from_it(
    command_line: CommandLine, tmp_path: Path
) -> None:
    command_line.run("ingest", "handbook")
    line = command_line.run("golden", "propose", "handbook", "Where do bicycles stand?", "-k", "1").stdout
    (tmp_path / "golden.jsonl").write_text(line, encoding="utf-8")
    (proposed,) = load_golden_queries(tmp_path / "golden.jsonl").queries
    assert (proposed.query_id, proposed.review_status) == ("where-do-bicycles-stand", "proposed")
    assert [one.source for one in proposed.expected_passages] == ["parking.md"]
    nothing = {"query_id": "none", "query": HOSTILE, "should_match": False}
    (tmp_path / "golden.jsonl").write_text(line + json.dumps(nothing) + "\n", encoding="utf-8")

    found = command_line.json("golden", "calibrate", "handbook")
    assert (found["answerable"], found["unanswerable"]) == (1, 1)
    assert found["best"]["f1"] >= found["present"]["f1"]

    command_line.run("ingest", "handbook")
    page = tmp_path / "report.html"
    assert command_line.json("golden", "report", "handbook", "--out", str(page))["generation"] == 1
    text = page.read_text(encoding="utf-8")
    assert "default-src &#39;none&#39;" in text
    assert "<script" not in text
    assert "http" not in text.replace("http-equiv", "")
    assert "recall@5" in text
