"""`versions` as trees with word differences, conflicts with their override, and what held on an earlier day."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
import yaml

from corpus_pipeline.errors import CorpusPipelineError
from corpus_pipeline.quality import check_stage
from corpus_pipeline.records import Stage
from corpus_pipeline.registry import load_registry
from corpus_pipeline_tests.integration.cli.conftest import CommandLine

REPLACED = "handbook/archive/refund-policy-2023.md"
CURRENT = "handbook/refund-policy.md"


def _flat(text: str) -> str:
    return " ".join(re.sub("[│├└─]", " ", text).split())


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "240")


@pytest.fixture
def decided(command_line: CommandLine) -> CommandLine:
    command_line.decide()
    return command_line


def test_a_tree_shows_rule_confidence_and_quote_and_the_words_that_changed(decided: CommandLine) -> None:
    lines = decided.run("versions", "handbook", "--diff").output.splitlines()
    served = next(n for n, line in enumerate(lines) if f"served  {CURRENT}" in line)
    replaced = next(n for n, line in enumerate(lines) if f"kept out  {REPLACED}" in line)
    assert served < replaced, "what was replaced hangs below what replaced it"
    assert lines[replaced].index("kept out") > lines[served].index("served")
    text = _flat(decided.run("versions", "handbook", REPLACED, "--diff").output)
    assert f"replaced by {CURRENT} (metadata, 0.95" in text
    assert "front matter of refund-policy.md: supersedes archive/refund-policy-2023.md" in text
    assert "[-14-] {+60+} days" in text
    assert "[-letter-] {+message+}" in text
    assert "conduct" not in text, "only the family asked for"


def test_json_holds_relations_conflicts_and_differences(decided: CommandLine) -> None:
    form = decided.json("versions", "handbook", CURRENT, "--diff")
    documents = {entry["document_id"]: entry for entry in form["documents"]}
    assert {"removed", "added"} <= {run["kind"] for run in documents[REPLACED]["diff"]}
    assert documents[CURRENT]["diff"] is None
    assert [(one["source_id"], one["target_id"], one["applied"]) for one in form["relations"]] == [
        (CURRENT, REPLACED, True)
    ]
    assert form["conflicts"] == []


def test_an_unknown_family_is_refused(decided: CommandLine) -> None:
    from typer.testing import CliRunner

    import corpus_pipeline.cli

    done = CliRunner().invoke(corpus_pipeline.cli.app, ["versions", "handbook", "nothing"])
    assert isinstance(done.exception, CorpusPipelineError)
    assert "nothing" in done.exception.message


def test_what_held_on_a_day_as_known_at_a_time(command_line: CommandLine, corpus_folder: Path) -> None:
    first = command_line.context
    (corpus_folder / "refund-policy.md").rename(corpus_folder / "waiting.txt")
    (corpus_folder / "archive" / "refund-policy-2023.md").rename(corpus_folder / "refunds.md")
    command_line.context = replace(first, as_of=date(2026, 1, 10))
    command_line.decide()
    between = datetime.now(UTC)
    (corpus_folder / "new-refunds.md").write_text(
        "---\nsupersedes: [refunds.md]\nvalid_from: 2026-02-01\n---\n# Refunds\n\nNo refunds.\n"
    )
    command_line.context = replace(first, as_of=date(2026, 3, 10))
    command_line.decide()

    def asked(*options: str) -> tuple[bool, str | None]:
        found = command_line.json("versions", "handbook", *options)["documents"]
        entry = next(one for one in found if one["document_id"] == "handbook/refunds.md")
        return entry["in_force"], entry["superseded_by"]

    moment = between.isoformat()
    later = "handbook/new-refunds.md"
    assert asked("--as-of", "2026-03-10") == (False, later)
    assert asked("--as-of", "2026-01-31")[0], "before the day from which its successor is valid"
    assert not asked("--as-of", "2026-02-15")[0], "the successor's own date reaches back before the night that saw it"
    assert asked("--as-of", "2026-02-15", "--known-at", moment) == (True, None), "nobody knew that then"
    text = command_line.run("versions", "handbook", "--as-of", "2026-02-15").output
    assert "not in force  handbook/refunds.md" in text
    assert "valid until 2026-01-31" in text
    assert "as known now" in text


def test_the_asset_shows_stale_documents_family_sizes_and_what_waits_for_review(
    command_line: CommandLine, corpus_folder: Path
) -> None:
    from corpus_pipeline.orchestration.metadata import versions_metadata

    (corpus_folder / "a|b.md").write_text("---\nsupersedes: [gone.md]\n---\n# A\n\nText of the first one.\n")
    command_line.decide()
    shown = versions_metadata(command_line.context)
    assert shown["stale"] == 2
    assert shown["families of several"] == 2
    assert "| 3 | 1 |" in shown["family sizes"].value
    assert "handbook/a\\|b.md" in shown["for review"].value
    assert "supersedes gone.md" in shown["for review"].value
    assert "dangling\\_reference" in shown["conflicts"].value


@pytest.mark.parametrize(
    ("policy", "passes", "settled"), [("fail", False, False), ("warn", True, False), ("newest", True, True)]
)
def test_the_policy_for_conflicts_decides_what_the_check_says(
    command_line: CommandLine, corpus_folder: Path, tmp_path: Path, policy: str, passes: bool, settled: bool
) -> None:
    head = "---\nsupersedes: [{other}]\nvalid_from: {since}\n---\n# Rules of the {name}\n\nText about the {name}.\n"
    (corpus_folder / "ring-a.md").write_text(head.format(other="ring-b.md", since="2024-01-01", name="quay"))
    (corpus_folder / "ring-b.md").write_text(head.format(other="ring-a.md", since="2025-01-01", name="shed"))
    _configure(command_line, tmp_path, {"conflicts": policy})
    command_line.decide()
    verdict = check_stage(command_line.context, Stage.DOCUMENT_VERSIONS)
    assert verdict.passed is passes
    failures = {failure["expectation"]: failure for failure in verdict.failures}
    assert ("no_conflicts" in failures) is not settled
    if not settled:
        failure = failures["no_conflicts"]
        assert failure["severity"] == ("critical" if policy == "fail" else "warning")
        assert failure["documents"] == ["handbook/ring-a.md", "handbook/ring-b.md"]
    text = _flat(command_line.run("versions", "handbook").output)
    assert f"{'settled' if settled else 'open'} both directions: ring-a.md and ring-b.md" in text
    suggestion = 'versions: {supersedes: {"ring-b.md": ["ring-a.md"]}}'
    assert suggestion in text
    documents = {entry["document_id"]: entry for entry in command_line.json("versions", "handbook")["documents"]}
    assert (documents["handbook/ring-a.md"]["superseded_by"] == "handbook/ring-b.md") is settled
    _configure(command_line, tmp_path, {"conflicts": policy, **yaml.safe_load(suggestion)["versions"]})
    command_line.decide()
    assert check_stage(command_line.context, Stage.DOCUMENT_VERSIONS).passed
    documents = {entry["document_id"]: entry for entry in command_line.json("versions", "handbook")["documents"]}
    assert documents["handbook/ring-a.md"]["superseded_by"] == "handbook/ring-b.md", "the suggested line settles it"


def _configure(command_line: CommandLine, tmp_path: Path, versions: dict[str, object]) -> None:
    path = tmp_path / "corpora.yaml"
    form = yaml.safe_load(path.read_text())
    form["corpora"]["handbook"]["versions"] = versions
    path.write_text(yaml.safe_dump(form))
    registry = load_registry(path)
    command_line.context = replace(command_line.context, registry=registry, spec=registry.corpora["handbook"])
