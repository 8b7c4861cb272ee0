"""What search answers, and what it refuses to, on the shipped example corpora."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from corpus_pipeline.registry import Registry, load_registry
from corpus_pipeline.retrieval import SearchRequest, SearchResult, search
from corpus_pipeline.settings import Settings
from corpus_pipeline.store import Database

EXAMPLES = Path(__file__).parents[2] / "examples" / "corpora.yaml"
STALE_REFUND = ("archive/refund-policy-2023.html", "training/refund-training-2023.pdf", "macros/refund-reply.txt")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]


@dataclass
class Examples:
    """The published examples."""

    database: Database
    registry: Registry

    def ask(self, query: str, **options: object) -> SearchResult:
        return search(self.database, self.registry, SearchRequest(query=query, **options))


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Examples]:
    home = tmp_path_factory.mktemp("examples")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("CORPUS_", "DAGSTER_"))}
    command = [sys.executable, "-m", "corpus_pipeline.cli", "--config", str(EXAMPLES), "--home", str(home)]
    subprocess.run([*command, "ingest", "--all"], check=True, env=environment, capture_output=True)
    with Database.open(Settings(config=EXAMPLES, home=home)) as database:
        yield Examples(database, load_registry(EXAMPLES))


def documents(result: SearchResult) -> list[str]:
    return [hit.document_id for hit in result.accepted]


@pytest.mark.parametrize("mode", ["dense", "sparse", "hybrid"])
@pytest.mark.parametrize(
    "question",
    [
        "How many days do customers have to ask for a refund?",
        "refund within 14 days",
        "Thank you for contacting support. You may ask for a refund",
    ],
)
def test_the_stale_refund_text_is_never_returned(examples: Examples, question: str, mode: str) -> None:
    found = documents(examples.ask(question, mode=mode, top_k=50, min_score=-1.0, max_similarity=1.0))
    assert "policies/refund-policy.md" in found
    assert not [document for document in found if document.endswith(STALE_REFUND)]


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        ("Which support does the Free tier get?", "product_docs/sla-free.md", "product_docs/sla-enterprise.md"),
        (
            "What is the first response time for Enterprise customers?",
            "product_docs/sla-enterprise.md",
            "product_docs/sla-free.md",
        ),
    ],
)
def test_plans_do_not_mix(examples: Examples, question: str, right: str, wrong: str) -> None:
    result = examples.ask(question, top_k=20, min_score=-1.0)
    assert documents(result)[0] == right
    assert wrong not in documents(result)
    assert any(read.startswith("plan_tier") for read in result.scope.read)


def test_a_word_with_several_meanings_asks_back_or_is_routed(examples: Examples) -> None:
    vague = examples.ask("limit")
    assert vague.verdict == "clarify"
    assert len(vague.options) > 1
    assert not vague.sufficient
    exact = examples.ask("What happens when the account spending limit is exceeded?")
    assert (exact.verdict, documents(exact)[0]) == ("answer", "policies/spend-limit.md")


def test_the_answer_to_an_escalation_arrives_with_its_section(examples: Examples) -> None:
    hit = examples.ask("What should I do if nobody answers the escalation?", corpora=("support",)).accepted[0]
    assert hit.document_id == "support/escalation-runbook.md"
    assert " ".join(hit.text.split()) in " ".join(hit.parent_text.split())
    assert len(hit.parent_text) > len(hit.text)


@pytest.mark.parametrize(
    "question",
    ["Which fish live in the Baltic Sea?", "Who won the football world cup in 1998?", "How do I bake sourdough bread?"],
)
def test_what_nobody_here_knows_is_not_answered(examples: Examples, question: str) -> None:
    result = examples.ask(question)
    assert (result.verdict, result.accepted) == ("abstain", ())
    assert result.reason.startswith("not enough evidence")


def test_what_only_a_group_may_see_is_seen_by_that_group_only(examples: Examples) -> None:
    question = "What is the salary band of level E2?"
    assert "policies/hr/salary-bands.xlsx" not in documents(examples.ask(question, top_k=50, min_score=-1.0))
    assert "policies/hr/salary-bands.xlsx" in documents(examples.ask(question, groups=("hr",)))


def test_a_second_look_keeps_the_answer_first(examples: Examples) -> None:
    result = examples.ask("How many days do customers have to ask for a refund?", reranker="ms-marco-MiniLM-L-12-v2")
    assert documents(result)[0] == "policies/refund-policy.md"
    assert result.accepted[0].rerank_score is not None
    assert "rerank" in {stage.stage for stage in result.trace}
