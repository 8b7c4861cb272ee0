"""The JSON of a whole ingestion has the fields that docs/cli.md promises, each documented and none missing."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from corpus_pipeline.cli.search import result_json
from corpus_pipeline.conversion import converted_document, documents
from corpus_pipeline.records import Stage
from corpus_pipeline.retrieval import SearchResult, SearchScope
from corpus_pipeline_tests.integration.cli.conftest import CommandLine

MANUAL = (Path(__file__).parents[3] / "docs" / "cli.md").read_text(encoding="utf-8")


def _documented(heading: str, table: int = 0) -> set[str]:
    """Names in the first column of a table below a heading."""
    section = re.split(r"\n#+ ", MANUAL.split(f"# {heading}\n", maxsplit=1)[1], maxsplit=1)[0]
    tables = re.findall(r"(?:^\|.*\n)+", section + "\n", re.MULTILINE)
    rows = tables[table].splitlines()[2:]
    return {name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])}


def _same(entries: Iterable[dict[str, Any]], documented: set[str]) -> None:
    seen = list(entries)
    assert seen, "nothing to compare"
    for entry in seen:
        assert set(entry) == documented


@pytest.mark.slow
def test_every_field_is_documented_and_every_documented_field_is_there(command_line: CommandLine) -> None:
    form = command_line.json("ingest", "handbook")
    assert set(form) == {"as_of", "corpora"}
    _same(form["corpora"], _documented("`ingest --json`"))
    (run,) = form["corpora"]
    assert run["published"], run
    counts = _documented_counts()
    assert list(run["stages"]) == list(run["checks"]) == list(counts) == [stage.value for stage in Stage]
    for stage, entry in run["stages"].items():
        assert counts[stage] <= set(entry), stage
        assert isinstance(entry["seconds"], float)
        assert entry["unchanged"] is False
    failures = [failure for check in run["checks"].values() for failure in check["failures"]]
    _same(failures, _documented("A failure"))

    (status,) = command_line.json("status")["corpora"]
    _same([status], _documented("`status --json`"))
    assert (status["generation"], status["root"]) == (1, run["stages"]["published_corpus"]["root"])
    assert (status["documents"], status["quarantined"], status["superseded"]) == (8, 1, 1)
    assert status["blocked"] == []
    assert status["held"] is None
    _same(command_line.json("versions", "handbook")["documents"], _documented("`versions CORPUS --json`"))
    clusters = command_line.json("duplicates", "handbook")["clusters"]
    _same(clusters, _documented("`duplicates CORPUS --json`"))
    _same(
        (member for cluster in clusters for member in cluster["members"]),
        {"document_id", "similarity", "relation", "jaccard", "containment", "served", "kept_out", "reason"},
    )
    _search(command_line)
    _again(command_line, status["root"])
    _rollback(command_line)


def _documented_counts() -> dict[str, set[str]]:
    section = MANUAL.split("counts, among others |", maxsplit=1)[1].split("\n\n", maxsplit=1)[0]
    rows = [row.split("|") for row in section.splitlines()[2:]]
    return {row[1].strip().strip("`"): set(re.findall(r"`(\w+)`", row[2])) for row in rows}


def _search(command_line: CommandLine) -> None:
    found = command_line.json("search", "Within how many days can a customer get a refund?", "--explain")
    _same([found], _documented("`search QUERY --json`"))
    _same(found["accepted"], _documented("`search QUERY --json`", 1))
    _same(found["kept_out"], _documented("`search QUERY --json`", 2))
    best = found["accepted"][0]
    assert best["document_id"] == "handbook/refund-policy.md"
    reasons = {entry["document_id"]: entry["reason"] for entry in found["kept_out"]}
    assert reasons["handbook/archive/refund-policy-2023.md"] == "superseded"
    assert reasons["handbook/macro.md"] == "copy_of_superseded"
    with command_line.context.database.connection() as connection:
        document = next(
            entry for entry in documents(connection, "handbook") if entry.document_id == best["document_id"]
        )
        text = converted_document(connection, document).text
    start, end = best["span"]
    assert text[start:end] == best["text"], "a span points into the converted text"
    shown = command_line.run("search", "Within how many days can a customer get a refund?", "--explain").output
    assert "Kept out" in shown
    assert f"[{start}:{end}]" in "".join(shown.split())


def _again(command_line: CommandLine, root: str) -> None:
    (run,) = command_line.json("ingest", "--all")["corpora"]
    stages = run["stages"]
    assert (stages["converted_documents"]["converted"], stages["fragments"]["chunked"]) == (0, 0)
    assert stages["fragment_embeddings"]["embedded"] == 0
    assert stages["published_corpus"]["root"] == root
    assert all(entry["unchanged"] for entry in stages.values())


def _rollback(command_line: CommandLine) -> None:
    source = command_line.context.spec.base_folder / "docs" / "parking.md"
    source.write_text("# Parking\n\nBicycles stand in the new shed; cars stand in front of the house.\n")
    assert command_line.json("ingest", "handbook")["corpora"][0]["published"]
    rolled = command_line.json("rollback", "handbook", "--reason", "the shed is not built")
    assert (rolled["generation"], rolled["held"]["reason"]) == (1, "the shed is not built")
    (held,) = command_line.json("ingest", "handbook", expect=1)["corpora"]
    assert not held["published"]
    assert "on hold" in held["error"]
    (status,) = command_line.json("status")["corpora"]
    assert status["held"]["reason"] == "the shed is not built"
    assert set(status["held"]) == {"by", "at", "reason"}
    assert command_line.json("resume", "handbook")["held"] is None
    assert command_line.json("ingest", "handbook")["corpora"][0]["published"]


def test_commands_that_need_no_run_print_their_documented_json(command_line: CommandLine, tmp_path: Path) -> None:
    checked = command_line.json("config", "check")
    assert checked == {"config": str(tmp_path / "corpora.yaml"), "corpora": ["handbook"]}
    store = command_line.json("store", "check")
    assert set(store) == {"url", "postgresql", "pgvector", "drift"}
    assert store["drift"] is False
    assert command_line.json("quarantine", "list") == {"files": []}
    (tmp_path / "fresh").mkdir()
    (tmp_path / "fresh" / "a.md").write_text("# A\n\nText.\n")
    fresh = tmp_path / "fresh.yaml"
    assert command_line.json("--config", str(fresh), "init", str(tmp_path / "fresh")) == {"config": str(fresh)}
    assert command_line.json("--config", str(fresh), "config", "check")["corpora"] == ["fresh"]


def test_an_empty_result_keeps_its_form() -> None:
    result = SearchResult(
        query="q",
        as_of="2026-11-01",
        groups=("everyone",),
        generations={"handbook": 1},
        sufficient=False,
        verdict="abstain",
        reason="nothing",
        scope=SearchScope(corpora=("handbook",), reason="the only corpus"),
        accepted=(),
    )
    form = result_json(result)
    assert set(form) == _documented("`search QUERY --json`")
    assert form["accepted"] == form["kept_out"] == []
