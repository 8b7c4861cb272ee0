"""`versions`, `duplicates`, `quarantine` and `status` say for each document whether it is served, and why not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from corpus_pipeline.inventory import take_inventory
from corpus_pipeline.quality import check_stage
from corpus_pipeline.records import Stage
from corpus_pipeline_tests.integration.cli.conftest import CommandLine


def _flat(text: str) -> str:
    """Without the lines of trees and the wrapping of terminals."""
    return " ".join(re.sub("[│├└─]", " ", text).split())


@pytest.fixture
def decided(command_line: CommandLine, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    monkeypatch.setenv("COLUMNS", "220")
    command_line.decide()
    return command_line


def _documents(decided: CommandLine) -> dict[str, dict[str, Any]]:
    return {
        entry["document_id"].removeprefix("handbook/"): entry
        for entry in decided.json("versions", "handbook")["documents"]
    }


def test_versions_as_json_say_what_is_served_and_what_keeps_the_others_out(decided: CommandLine) -> None:
    documents = _documents(decided)
    assert {name: entry["kept_out"] for name, entry in documents.items()} == {
        "refund-policy.md": None,
        "archive/refund-policy-2023.md": "superseded",
        "macro.md": "copy_of_superseded",
        "conduct.md": None,
        "training/conduct.md": "duplicate",
        "tariff.md": "not_yet_effective",
        "idea.md": "draft",
        "parking.md": None,
    }
    assert all(entry["served"] == (entry["kept_out"] is None) for entry in documents.values())
    old = documents["archive/refund-policy-2023.md"]
    assert old["superseded_by"] == old["kept_out_by"] == "handbook/refund-policy.md"
    assert old["family"] == documents["refund-policy.md"]["family"]
    assert "supersedes" in old["evidence"] or "refund-policy" in old["evidence"]
    copy = documents["training/conduct.md"]
    assert (copy["is_current"], copy["served"]) == (True, False), "its text is in force, and served once"
    assert copy["duplicate_of"] == copy["kept_out_by"] == "handbook/conduct.md"
    assert documents["tariff.md"]["valid_from"] == "2027-01-01"
    assert all(entry["source_uri"].endswith(name) for name, entry in documents.items())


def test_versions_for_people_say_served_or_kept_out_by_what_and_why(decided: CommandLine) -> None:
    text = _flat(decided.run("versions", "handbook").output)
    assert "served handbook/refund-policy.md" in text
    assert re.search(
        r"kept out handbook/archive/refund-policy-2023.md (version \S+ )?superseded by handbook/refund", text
    )
    assert "copy of handbook/archive/refund-policy-2023.md, which is superseded by handbook/refund-policy.md" in text
    assert "kept out handbook/training/conduct.md duplicate of handbook/conduct.md" in text
    assert "not in force before 2027-01-01" in text
    assert "kept out handbook/idea.md a draft" in text
    assert "8 documents" in text
    assert "3 served, 5 kept out" in text
    assert "parking.md" not in text, "a single served document is only counted"
    evidence = _documents(decided)["archive/refund-policy-2023.md"]["evidence"]
    assert " ".join(evidence.split()) in text


def test_duplicates_name_the_canonical_member_and_the_fate_of_the_others(decided: CommandLine) -> None:
    clusters = {cluster["canonical"]: cluster for cluster in decided.json("duplicates", "handbook")["clusters"]}
    assert set(clusters) == {"handbook/conduct.md", "handbook/archive/refund-policy-2023.md"}
    conduct = clusters["handbook/conduct.md"]
    assert conduct["kind"] == "exact"
    assert {
        member["document_id"]: (member["similarity"], member["served"], member["kept_out"])
        for member in conduct["members"]
    } == {
        "handbook/conduct.md": (1.0, True, None),
        "handbook/training/conduct.md": (1.0, False, "duplicate"),
    }
    text = _flat(decided.run("duplicates", "handbook").output)
    assert "handbook/conduct.md (exact) served" in text
    assert "1.000 handbook/training/conduct.md kept out: duplicate of handbook/conduct.md" in text
    assert "says the same as handbook/conduct.md, which is canonical by" in text
    assert "2 clusters" in text


def test_duplicates_show_the_words_that_differ(decided: CommandLine) -> None:
    clusters = decided.json("duplicates", "handbook", "handbook/archive/refund-policy-2023.md", "--diff")["clusters"]
    (cluster,) = clusters
    members = {member["document_id"]: member for member in cluster["members"]}
    (copy,) = set(members) - {cluster["canonical"]}
    assert members[copy]["relation"] in ("exact", "near", "contained")
    assert members[copy]["jaccard"] <= members[copy]["containment"] <= 1.0
    assert [run["kind"] for run in members[cluster["canonical"]]["diff"]] in (["omitted"], ["same", "omitted", "same"])
    text = _flat(decided.run("duplicates", "handbook", "handbook/conduct.md", "--diff").output)
    assert "1 clusters" in text
    assert "the same words" in text or "words removed" in text
    failed = decided.run("duplicates", "handbook", "handbook/parking.md", expect=1)
    assert "in no cluster of copies" in str(failed.exception)


def test_quarantine_lists_the_reason_and_replay_marks_the_file(decided: CommandLine) -> None:
    (file,) = decided.json("quarantine", "list")["files"]
    assert (file["document_id"], file["reason"], file["attempts"]) == ("handbook/empty.md", "empty", 1)
    assert file["message"]
    text = _flat(decided.run("quarantine", "list", "handbook").output)
    assert "handbook/empty.md" in text
    assert "empty" in text
    assert decided.json("quarantine", "replay", "handbook") == {"corpus": "handbook", "marked": 1}
    assert "1 files will be tried again" in decided.run("quarantine", "replay", "handbook", "handbook/empty.md").output


def test_status_before_anything_ran_and_after(command_line: CommandLine) -> None:
    (before,) = command_line.json("status")["corpora"]
    assert (before["generation"], before["root"], before["documents"], before["last_run_at"]) == (
        None,
        None,
        None,
        None,
    )
    assert "never ingested" in command_line.run("status").output
    command_line.decide()
    (after,) = command_line.json("status")["corpora"]
    assert (after["documents"], after["quarantined"], after["duplicate_clusters"], after["superseded"]) == (8, 1, 2, 1)
    assert after["fragments"] is None
    assert after["generation"] is None
    assert [entry["stage"] for entry in after["blocked"]] == [stage.value for stage in list(Stage)[4:-1]]
    assert after["checks"]["converted_documents"]["passed"]


def test_status_shows_a_failed_check_with_its_documents_and_the_remedy(
    command_line: CommandLine, corpus_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "220")
    take_inventory(command_line.context)
    for name in ("conduct.md", "idea.md", "macro.md", "parking.md", "tariff.md"):
        (corpus_folder / name).unlink()
    take_inventory(command_line.context)
    check_stage(command_line.context, Stage.SOURCE_INVENTORY)
    text = _flat(command_line.run("status").output)
    assert "blocked" in text
    assert "source_inventory: its check failed: no_sudden_shrinkage" in text
    assert "handbook/conduct.md" in text
    assert "to do: Really gone? corpus-pipeline approve-removals handbook" in text
    (corpus,) = command_line.json("status")["corpora"]
    (failure,) = corpus["checks"]["source_inventory"]["failures"]
    assert len(failure["documents"]) == 5
    approved = command_line.json("approve-removals", "handbook")
    assert approved == {"corpus": "handbook", "approved": failure["documents"]}


def test_hostile_names_command_no_terminal(command_line: CommandLine, hostile_name: str) -> None:
    command_line.decide()
    shown = [
        command_line.run(*arguments).output
        for arguments in (("status",), ("versions", "handbook"), ("duplicates", "handbook"), ("quarantine", "list"))
    ]
    assert all("\x1b" not in text for text in shown)
    names = {entry["document_id"] for entry in command_line.json("versions", "handbook")["documents"]}
    names |= {file["document_id"] for file in command_line.json("quarantine", "list")["files"]}
    assert f"handbook/{hostile_name}" in names


@pytest.mark.parametrize(
    "command",
    [("versions",), ("duplicates",), ("rollback",), ("resume",), ("approve-removals",), ("quarantine", "replay")],
)
def test_an_unknown_corpus_is_refused(command_line: CommandLine, command: tuple[str, ...]) -> None:
    from typer.testing import CliRunner

    import corpus_pipeline.cli
    from corpus_pipeline.errors import UnknownCorpusError

    done = CliRunner().invoke(corpus_pipeline.cli.app, [*command, "nowhere"])
    assert isinstance(done.exception, UnknownCorpusError)
    assert "it has: handbook" in done.exception.message
