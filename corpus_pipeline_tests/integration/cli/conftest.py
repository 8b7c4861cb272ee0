"""The command line in this process, on the test's own database and a corpus of versions and copies."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import Result
from typer.testing import CliRunner

import corpus_pipeline.cli
from corpus_pipeline.conversion import convert_corpus
from corpus_pipeline.deduplication import cluster_corpus
from corpus_pipeline.inventory import take_inventory
from corpus_pipeline.quality import check_stage
from corpus_pipeline.records import Stage
from corpus_pipeline.registry import load_registry
from corpus_pipeline.store import StageContext
from corpus_pipeline.versions import resolve_corpus

BODY = """Customers may ask for a refund within {days} days of the purchase. The request must state a reason, and the
reason is checked by the account manager before the refund is approved. Annual plans are refunded at half of the
remaining value, and monthly plans are not refunded once the month has begun. Refunds are paid to the card that was
charged, within five working days of the approval, and the customer receives a letter that confirms the amount."""
OLD, NEW = BODY.format(days=14), BODY.format(days=60).replace("letter", "message") + " Vouchers are no longer offered."
CONDUCT = "Be kind to each other, and say so when somebody is not. Nobody is laughed at for a question."
HOSTILE_NAME = "notes \x1b[31m[bold]urgent.md"
DOCUMENTS = {
    "refund-policy.md": f"---\nsupersedes: [archive/refund-policy-2023.md]\n---\n# Refund policy\n\n{NEW}\n",
    "archive/refund-policy-2023.md": f"# Refund policy\n\n{OLD}\n",
    "macro.md": f"# Refund macro\n\n{OLD}\n",
    "conduct.md": f"# Code of conduct\n\n{CONDUCT}\n",
    "training/conduct.md": f"# Code of conduct\n\n{CONDUCT}\n",
    "tariff.md": "---\nvalid_from: 2027-01-01\n---\n# Tariff\n\nThe new tariff has three steps and no surcharge.\n",
    "idea.md": "---\nlifecycle: draft\n---\n# An idea\n\nWe could move the shed to the other side of the yard.\n",
    "parking.md": "# Parking\n\nBicycles stand behind the house, cars in front of it.\n",
    "empty.md": "",
}


@dataclass
class CommandLine:
    """Runs commands as a user would, and the stages that make what they show."""

    context: StageContext

    def run(self, *arguments: str, expect: int = 0) -> Result:
        done = CliRunner().invoke(corpus_pipeline.cli.app, list(arguments))
        assert done.exit_code == expect, f"{done.output}\n{done.exception!r}"
        return done

    def json(self, *arguments: str, expect: int = 0) -> Any:
        return json.loads(self.run(*arguments, "--json", expect=expect).stdout)

    def decide(self) -> None:
        """The chain from files to decisions about versions, with its checks."""
        stages: dict[Stage, Callable[[StageContext], object]] = {
            Stage.SOURCE_INVENTORY: take_inventory,
            Stage.CONVERTED_DOCUMENTS: convert_corpus,
            Stage.NEAR_DUPLICATE_CLUSTERS: cluster_corpus,
            Stage.DOCUMENT_VERSIONS: resolve_corpus,
        }
        for stage, run in stages.items():
            run(self.context)
            check_stage(self.context, stage)


@pytest.fixture
def command_line(
    context: StageContext, corpus_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> CommandLine:
    for name, text in DOCUMENTS.items():
        path = corpus_folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    corpora = {
        "handbook": {
            "owner": "docs@example.com",
            "source": {"url": "docs"},
            "conversion": {"converter": "plain"},
            "gates": {"max_quarantined_ratio": 0.2},
            "golden_queries": "golden.jsonl",
        }
    }
    (tmp_path / "corpora.yaml").write_text(yaml.safe_dump({"version": 1, "corpora": corpora}))
    query = {
        "query_id": "parking",
        "query": "Where do bicycles stand?",
        "expected_sources": ["parking.md"],
        "forbidden_sources": [],
        "should_match": True,
        "category": "single_hop_factual",
        "review_status": "reviewed",
        "reviewer": "docs",
    }
    (tmp_path / "golden.jsonl").write_text(json.dumps(query) + "\n")
    monkeypatch.setenv("CORPUS_DATABASE_URL", context.database.url)
    monkeypatch.setenv("CORPUS_CONFIG", str(tmp_path / "corpora.yaml"))
    monkeypatch.setenv("CORPUS_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("CORPUS_WORKERS", "1")
    monkeypatch.setenv("CORPUS_AS_OF", context.as_of.isoformat())
    monkeypatch.setenv("DAGSTER_HOME", "placeholder")  # restored at the end, whatever the code sets
    monkeypatch.delenv("DAGSTER_HOME")
    monkeypatch.setenv("DAGSTER_DISABLE_TELEMETRY", "yes")
    registry = load_registry(tmp_path / "corpora.yaml")
    return CommandLine(dataclasses.replace(context, registry=registry, spec=registry.corpora["handbook"]))


@pytest.fixture
def hostile_name(corpus_folder: Path) -> str:
    """A document whose name holds a terminal's escape sequence and rich markup."""
    (corpus_folder / HOSTILE_NAME).write_text("# Notes\n\nNothing urgent is in these notes about the harbour.\n")
    return HOSTILE_NAME
