"""Suites over what the real rooms wrote: what passes, what warns, what blocks, and what is stored."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from corpus_pipeline import conversion
from corpus_pipeline.chunking import fragment_corpus
from corpus_pipeline.conversion import convert_corpus
from corpus_pipeline.deduplication import cluster_corpus
from corpus_pipeline.embedding import embed_corpus
from corpus_pipeline.errors import UpstreamMissingError
from corpus_pipeline.inventory import approve_removals, take_inventory
from corpus_pipeline.quality import check_stage
from corpus_pipeline.records import Stage
from corpus_pipeline.registry import ConversionSpec, GateThresholds
from corpus_pipeline.store import StageContext, Verdict, chain_refusals, stage_output, thresholds_sha256
from corpus_pipeline.versions import resolve_corpus

STAGES = (
    (Stage.SOURCE_INVENTORY, take_inventory),
    (Stage.CONVERTED_DOCUMENTS, convert_corpus),
    (Stage.NEAR_DUPLICATE_CLUSTERS, cluster_corpus),
    (Stage.DOCUMENT_VERSIONS, resolve_corpus),
    (Stage.FRAGMENTS, fragment_corpus),
)
SUBJECTS = (
    "anchors",
    "beacons",
    "compasses",
    "dinghies",
    "engines",
    "fenders",
    "galleys",
    "hulls",
    "inlets",
    "jetties",
)


@pytest.fixture
def plain(context: StageContext, corpus_folder: Path) -> StageContext:
    """Ten short documents, read by the converter that starts fastest."""
    for number, subject in enumerate(SUBJECTS):
        (corpus_folder / f"{subject}.md").write_text(
            f"# All about {subject}\n\nThe harbour office keeps {number + 3} {subject} in shed {number}. "
            f"Whoever borrows {subject} signs the {subject} book.\n\n## Repairs\n\n"
            f"Damaged {subject} are repaired every {number + 2} weeks by the yard.\n"
        )
    return replace(context, spec=context.spec.model_copy(update={"conversion": ConversionSpec(converter="plain")}))


def _failed(verdict: Verdict) -> dict[str, dict[str, Any]]:
    return {failure["expectation"]: failure for failure in verdict.failures}


def _stored(context: StageContext) -> list[dict[str, Any]]:
    with context.database.connection() as connection:
        return connection.execute(
            "SELECT corpus, stage, output_sha256, thresholds_sha256, passed, failures, evaluated_expectations, run_id "
            "FROM corpus.gate_verdicts ORDER BY verdict_id"
        ).fetchall()


def test_a_healthy_corpus_passes_every_stage_and_each_verdict_is_stored_with_its_output(plain: StageContext) -> None:
    outputs = {}
    for stage, run in STAGES:
        outputs[stage.value] = run(plain).output_sha256
        verdict = check_stage(plain, stage)
        assert verdict.passed, verdict.failures
        assert verdict.failures == ()
        assert verdict.output_sha256 == outputs[stage.value]
    rows = _stored(plain)
    assert {row["stage"]: row["output_sha256"] for row in rows} == outputs
    assert {row["thresholds_sha256"] for row in rows} == {thresholds_sha256(plain.spec)}
    assert {(row["corpus"], row["run_id"], row["passed"]) for row in rows} == {("handbook", "test-run", True)}
    assert all(row["evaluated_expectations"] >= 2 and row["failures"] == [] for row in rows)
    with plain.database.connection() as connection:
        blocked = {refusal.stage for refusal in chain_refusals(connection, plain.spec)}
    assert blocked == set(list(Stage)[5:-1]), "only what has not run is in the way"


def test_a_changed_decision_makes_all_that_follows_out_of_date_though_no_fragment_changes(
    plain: StageContext, corpus_folder: Path
) -> None:
    chain = [run for _, run in STAGES] + [embed_corpus]
    (corpus_folder / "kites.md").write_text("# Kites\n\nThe office keeps two kites.\n")
    first = [run(plain).output_sha256 for run in chain]
    assert [run(plain).output_sha256 for run in chain] == first
    (corpus_folder / "kites.md.meta.yaml").write_text("lifecycle: withdrawn\n")
    results = [run(plain) for run in chain]
    assert results[4].counts["chunked"] == 0
    assert results[5].counts["embedded"] == 0
    assert not {result.output_sha256 for result in results} & set(first), "a staged generation of before must not pass"


def test_metadata_that_cannot_be_read_warns_and_names_the_document(plain: StageContext, corpus_folder: Path) -> None:
    (corpus_folder / "anchors.md.meta.yaml").write_text("valid_from: [not, a, day\n")
    take_inventory(plain)
    verdict = check_stage(plain, Stage.SOURCE_INVENTORY)
    assert verdict.passed
    failure = _failed(verdict)["readable_metadata"]
    assert failure["severity"] == "warning"
    assert failure["documents"] == ["handbook/anchors.md"]
    assert "anchors.md.meta.yaml" in failure["details"]["handbook/anchors.md"]
    assert _stored(plain)[0]["failures"] == [failure]


def test_removals_that_the_guard_holds_block_until_they_are_approved(plain: StageContext, corpus_folder: Path) -> None:
    take_inventory(plain)
    gone = sorted(SUBJECTS)[:5]
    for subject in gone:
        (corpus_folder / f"{subject}.md").unlink()
    take_inventory(plain)
    held = check_stage(plain, Stage.SOURCE_INVENTORY)
    assert not held.passed
    failure = _failed(held)["no_sudden_shrinkage"]
    assert failure["severity"] == "critical"
    assert failure["documents"] == [f"handbook/{subject}.md" for subject in gone]
    assert "corpus-pipeline approve-removals handbook" in failure["remedy"]
    assert _refusal(plain, Stage.SOURCE_INVENTORY) == "its check failed: no_sudden_shrinkage"
    with plain.database.connection() as connection:
        approve_removals(connection, "handbook", "owner")
    result = take_inventory(plain)
    assert result.counts["removed"] == len(gone)
    assert check_stage(plain, Stage.SOURCE_INVENTORY).passed
    assert _refusal(plain, Stage.SOURCE_INVENTORY) is None


def _refusal(context: StageContext, stage: Stage) -> str | None:
    with context.database.connection() as connection:
        return next((one.reason for one in chain_refusals(connection, context.spec) if one.stage is stage), None)


@pytest.mark.parametrize(("allowed", "passes"), [(0.1, True), (0.05, False)])
def test_quarantined_files_warn_each_and_block_above_their_share(
    plain: StageContext, corpus_folder: Path, allowed: float, passes: bool
) -> None:
    (corpus_folder / "jetties.md").unlink()
    (corpus_folder / "empty.md").write_text("")
    gates = GateThresholds(max_quarantined_ratio=allowed)
    context = replace(plain, spec=plain.spec.model_copy(update={"gates": gates}))
    take_inventory(context)
    convert_corpus(context)
    verdict = check_stage(context, Stage.CONVERTED_DOCUMENTS)
    failed = _failed(verdict)
    assert verdict.passed is passes
    assert failed["not_quarantined"]["severity"] == "warning"
    assert failed["not_quarantined"]["documents"] == ["handbook/empty.md"]
    assert failed["not_quarantined"]["details"]["handbook/empty.md"].startswith("empty: ")
    assert ("few_quarantined" in failed) is not passes
    if not passes:
        assert failed["few_quarantined"]["documents"] == ["handbook/empty.md"]
        assert verdict.failures[0]["severity"] == "critical", "what blocks comes first"


def test_an_empty_source_blocks(context: StageContext) -> None:
    take_inventory(context)
    verdict = check_stage(context, Stage.SOURCE_INVENTORY)
    assert not verdict.passed
    assert _failed(verdict)["enough_files"]["found"] == "files = 0"


def test_a_stage_that_never_ran_has_no_verdict(context: StageContext) -> None:
    with pytest.raises(UpstreamMissingError, match="no output to check") as caught:
        check_stage(context, Stage.FRAGMENTS)
    assert "corpus-pipeline ingest handbook" in caught.value.remedy
    assert _stored(context) == []


def test_a_verdict_holds_for_its_output_and_its_thresholds_only(plain: StageContext, corpus_folder: Path) -> None:
    take_inventory(plain)
    check_stage(plain, Stage.SOURCE_INVENTORY)
    assert _refusal(plain, Stage.SOURCE_INVENTORY) is None
    stricter = replace(plain, spec=plain.spec.model_copy(update={"gates": GateThresholds(min_documents=11)}))
    assert _refusal(stricter, Stage.SOURCE_INVENTORY) == "its check ran under other thresholds; run it again"
    assert not check_stage(stricter, Stage.SOURCE_INVENTORY).passed
    (corpus_folder / "kites.md").write_text("# Kites\n\nThe office keeps two kites.\n")
    take_inventory(plain)
    with plain.database.connection() as connection:
        assert stage_output(connection, "handbook", Stage.SOURCE_INVENTORY) != _stored(plain)[-1]["output_sha256"]
    assert _refusal(plain, Stage.SOURCE_INVENTORY) == "its check has not run on this output"


GERMAN = (
    "Das Hafenamt führt eine Liste aller Schiffe, die auf einen Liegeplatz warten, und wer zuerst kommt, ist dran. "
)


def test_faults_of_conversion_warn_with_their_documents_and_class_counts(
    plain: StageContext, corpus_folder: Path
) -> None:
    (corpus_folder / "garbled.txt").write_text("CafÃ© donâ€™t naÃ¯ve " * 20)
    (corpus_folder / "wrong.md").write_text(f"---\nlanguage: en\n---\n# Liste\n\n{GERMAN * 4}\n")
    (corpus_folder / "empty.txt").write_bytes(b"")
    for _ in range(2):
        take_inventory(plain)
        convert_corpus(plain)
        with plain.database.connection() as connection:
            conversion.request_replay(connection, "handbook", None)
    verdict = check_stage(plain, Stage.CONVERTED_DOCUMENTS)
    failed = _failed(verdict)
    assert verdict.passed
    assert failed["readable_text"]["documents"] == ["handbook/garbled.txt"]
    assert failed["language_as_declared"]["details"] == {"handbook/wrong.md": "declared en, looks like de"}
    assert failed["not_quarantined"]["found"] == "1 of 13 do not (1 empty)"
    assert failed["not_quarantined"]["details"]["handbook/empty.txt"].startswith("empty, attempt 2: ")
    assert set(failed) == {"readable_text", "language_as_declared", "not_quarantined"}


def test_many_unreadable_documents_block(plain: StageContext, corpus_folder: Path) -> None:
    for number in range(3):
        (corpus_folder / f"garbled{number}.txt").write_text(f"Ã© â€™ Ã¯ {number} " * 20)
    take_inventory(plain)
    convert_corpus(plain)
    failed = _failed(check_stage(plain, Stage.CONVERTED_DOCUMENTS))
    assert failed["few_unreadable"]["severity"] == "critical"
    assert failed["few_unreadable"]["documents"] == [f"handbook/garbled{number}.txt" for number in range(3)]


def test_documents_converted_before_there_were_measures_are_measured_in_the_next_run(plain: StageContext) -> None:
    take_inventory(plain)
    first = convert_corpus(plain)
    with plain.database.connection() as connection:
        connection.execute("UPDATE corpus.conversions SET measures = NULL")
    again = convert_corpus(plain)
    assert again.output_sha256 == first.output_sha256
    assert again.counts["converted"] == 0
    with plain.database.connection() as connection:
        measures = conversion.document_measures(connection, "handbook")
    assert len(measures) == len(SUBJECTS)
    assert all(figures["version"] and figures["garbled_ratio"] == 0.0 for figures in measures.values())
