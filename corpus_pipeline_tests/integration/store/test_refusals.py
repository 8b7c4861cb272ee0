"""What keeps a chain from being published: one test a reason, on the real tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from corpus_pipeline.records import Stage
from corpus_pipeline.registry import CorpusSpec, GateThresholds
from corpus_pipeline.store import (
    PublishedDocument,
    StageContext,
    Verdict,
    chain_refusals,
    latest_verdict,
    open_stage,
    published_superseded,
    record_published_documents,
    record_verdict,
    thresholds_sha256,
)

STAGES = list(Stage)[:-1]
CRITICAL = {"expectation": "enough_files", "severity": "critical"}
WARNING = {"expectation": "readable_metadata", "severity": "warning"}


def _run(context: StageContext, stage: Stage, output: str) -> None:
    with open_stage(context, stage) as run, run.commit(output_sha256=output, counts={}):
        pass


def _judge(context: StageContext, stage: Stage, output: str, *failures: dict[str, Any], **changes: Any) -> None:
    spec: CorpusSpec = changes.get("spec", context.spec)
    passed = not any(failure["severity"] == "critical" for failure in failures)
    verdict = Verdict(spec.slug, stage, output, thresholds_sha256(spec), passed, failures, 3, run_id=context.run_id)
    with context.database.connection() as connection:
        record_verdict(connection, verdict)


def _refusals(context: StageContext, spec: CorpusSpec | None = None) -> list[tuple[Stage, str]]:
    with context.database.connection() as connection:
        return [(one.stage, one.reason) for one in chain_refusals(connection, spec or context.spec)]


@pytest.fixture
def chain(context: StageContext) -> StageContext:
    """A chain that has run and passed, stage by stage, with the stage's name as its output."""
    for stage in STAGES:
        _run(context, stage, stage.value)
        _judge(context, stage, stage.value, WARNING)
    return context


def test_a_chain_that_ran_and_passed_may_be_published_warnings_or_not(chain: StageContext) -> None:
    assert _refusals(chain) == []


def test_publication_itself_is_no_condition_of_publication(chain: StageContext) -> None:
    _run(chain, Stage.PUBLISHED_CORPUS, "published")
    assert _refusals(chain) == []


def test_a_corpus_that_never_ran_is_refused_for_every_stage(context: StageContext) -> None:
    assert _refusals(context) == [(stage, "has not run") for stage in STAGES]


def test_a_stage_that_has_not_run(context: StageContext) -> None:
    for stage in STAGES[:-1]:
        _run(context, stage, stage.value)
        _judge(context, stage, stage.value)
    assert _refusals(context) == [(Stage.RETRIEVAL_EVALUATION, "has not run")]


@pytest.mark.parametrize("stage", STAGES[:-1], ids=str)
def test_a_stage_made_from_an_older_output_of_the_one_before(chain: StageContext, stage: Stage) -> None:
    _run(chain, stage, "newer")
    _judge(chain, stage, "newer")
    following = STAGES[STAGES.index(stage) + 1]
    assert _refusals(chain) == [(following, f"was made from an older {stage}; run it again")]


def test_an_output_that_no_check_has_seen(chain: StageContext) -> None:
    _run(chain, Stage.RETRIEVAL_EVALUATION, "unseen")
    assert _refusals(chain) == [(Stage.RETRIEVAL_EVALUATION, "its check has not run on this output")]


def test_a_check_under_other_thresholds(chain: StageContext) -> None:
    stricter = chain.spec.model_copy(update={"gates": GateThresholds(min_documents=100)})
    reason = "its check ran under other thresholds; run it again"
    assert _refusals(chain, stricter) == [(stage, reason) for stage in STAGES]


def test_a_check_before_the_model_or_the_chunking_was_changed(chain: StageContext) -> None:
    shorter = chain.spec.chunking.model_copy(update={"child_tokens": chain.spec.chunking.child_tokens - 1})
    assert len(_refusals(chain, chain.spec.model_copy(update={"chunking": shorter}))) == len(STAGES)


@pytest.mark.parametrize("stage", STAGES, ids=str)
def test_a_failed_check_names_the_critical_expectations_only(chain: StageContext, stage: Stage) -> None:
    _judge(chain, stage, stage.value, CRITICAL, WARNING)
    assert _refusals(chain) == [(stage, "its check failed: enough_files")]


def test_the_newest_verdict_on_an_output_counts(chain: StageContext) -> None:
    stage = Stage.FRAGMENTS
    _judge(chain, stage, stage.value, CRITICAL)
    assert len(_refusals(chain)) == 1
    _judge(chain, stage, stage.value)
    assert _refusals(chain) == []


def test_a_verdict_on_an_earlier_output_does_not_count(chain: StageContext) -> None:
    _run(chain, Stage.RETRIEVAL_EVALUATION, "changed")
    _judge(chain, Stage.RETRIEVAL_EVALUATION, "changed", CRITICAL)
    _judge(chain, Stage.RETRIEVAL_EVALUATION, Stage.RETRIEVAL_EVALUATION.value)
    assert _refusals(chain) == [(Stage.RETRIEVAL_EVALUATION, "its check failed: enough_files")]


def test_another_corpus_changes_nothing(chain: StageContext) -> None:
    legal = chain.spec.model_copy(update={"slug": "legal"})
    _judge(chain, Stage.FRAGMENTS, Stage.FRAGMENTS.value, CRITICAL, spec=legal)
    assert _refusals(chain) == []
    assert len(_refusals(chain, legal)) == len(STAGES)


def test_a_verdict_comes_back_as_it_was_stored(chain: StageContext) -> None:
    _judge(chain, Stage.FRAGMENTS, Stage.FRAGMENTS.value, CRITICAL, WARNING)
    with chain.database.connection() as connection:
        found = latest_verdict(connection, "handbook", Stage.FRAGMENTS, Stage.FRAGMENTS.value)
        assert latest_verdict(connection, "handbook", Stage.FRAGMENTS, "unknown") is None
    assert found is not None
    assert (found.passed, found.failures, found.evaluated_expectations) == (False, (CRITICAL, WARNING), 3)
    assert found.run_id == "test-run"
    assert found.evaluated_at is not None


@pytest.fixture
def published() -> Callable[..., PublishedDocument]:
    def make(corpus: str, name: str, reason: str | None = None) -> PublishedDocument:
        return PublishedDocument(corpus, f"{corpus}/{name}", f"sha-{name}", reason, None, 1, "root")

    return make


def test_other_corpora_know_superseded_documents_of_the_last_publication(
    context: StageContext, published: Callable[..., PublishedDocument]
) -> None:
    with context.database.connection() as connection:
        record_published_documents(connection, "legal", [published("legal", "gone.md", "superseded")])
        record_published_documents(
            connection,
            "legal",
            [
                published("legal", "b.md", "copy_of_superseded"),
                published("legal", "a.md", "superseded"),
                published("legal", "served.md"),
                published("legal", "draft.md", "draft"),
            ],
        )
        record_published_documents(connection, "handbook", [published("handbook", "own.md", "superseded")])
        assert [one.document_id for one in published_superseded(connection, except_corpus="handbook")] == [
            "legal/a.md",
            "legal/b.md",
        ]
        record_published_documents(connection, "legal", [])
        assert published_superseded(connection, except_corpus="handbook") == []
