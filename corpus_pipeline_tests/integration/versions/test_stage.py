"""The stage on a real database, from files to decisions, history and relations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from corpus_pipeline.conversion import convert_corpus, documents
from corpus_pipeline.deduplication import cluster_corpus
from corpus_pipeline.inventory import take_inventory
from corpus_pipeline.records import ExclusionReason
from corpus_pipeline.registry import ConversionSpec, SourceSpec, VersionsSpec
from corpus_pipeline.store import PublishedDocument, StageContext, StageResult, record_published_documents
from corpus_pipeline.versions import (
    current_version,
    held_decisions,
    resolve_corpus,
    version_conflicts,
    version_decisions,
    version_decisions_on,
    version_relations,
)

BODY = """Customers may ask for a refund within {days} days of the purchase. The request must state a reason, and the
reason is checked by the account manager before the refund is approved. Annual plans are refunded at half of the
remaining value, and monthly plans are not refunded once the month has begun. Refunds are paid to the card that was
charged, within five working days of the approval, and the customer receives a letter that confirms the amount."""
OLD, NEW = BODY.format(days=14), BODY.format(days=60).replace("letter", "message") + " Vouchers are no longer offered."

Run = Callable[[StageContext], StageResult]


@pytest.fixture
def plain(context: StageContext) -> StageContext:
    """The corpus read by the plain converter, which starts fastest."""
    return replace(context, spec=context.spec.model_copy(update={"conversion": ConversionSpec(converter="plain")}))


@pytest.fixture
def run() -> Run:
    """Runs the chain up to this stage."""

    def chain(context: StageContext) -> StageResult:
        take_inventory(context)
        convert_corpus(context)
        cluster_corpus(context)
        return resolve_corpus(context)

    return chain


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def refund_corpus(folder: Path) -> None:
    write(
        folder,
        {
            "refund-policy.md": f"---\nsupersedes: [archive/refund-policy-2023.md]\n---\n# Refund policy\n\n{NEW}\n",
            "archive/refund-policy-2023.md": f"# Refund policy\n\n{OLD}\n",
            "macro.txt": f"Refund policy\n\n{OLD}\n",
            "code-of-conduct.md": "# Code of conduct\n\nBe kind to each other, and say so when somebody is not.\n",
        },
    )


def decisions(context: StageContext) -> dict[str, Any]:
    with context.database.connection() as connection:
        found = version_decisions(connection, context.spec.slug)
    return {one.document_id.removeprefix(f"{context.spec.slug}/"): one for one in found}


def test_the_old_policy_and_its_copy_are_kept_out(plain: StageContext, corpus_folder: Path, run: Run) -> None:
    refund_corpus(corpus_folder)
    result = run(plain)
    found = decisions(plain)
    assert found["archive/refund-policy-2023.md"].superseded_by == "handbook/refund-policy.md"
    macro = found["macro.txt"]
    assert (macro.exclusion_reason, macro.exclusion_ref) == (
        ExclusionReason.COPY_OF_SUPERSEDED,
        "handbook/archive/refund-policy-2023.md",
    )
    assert "front matter of refund-policy.md: supersedes archive/refund-policy-2023.md" in macro.evidence
    assert found["refund-policy.md"].is_current
    assert {
        key: result.counts[key] for key in ("documents", "superseded", "copies_of_superseded", "current", "extracted")
    } == {
        "documents": 4,
        "superseded": 1,
        "copies_of_superseded": 1,
        "current": 2,
        "extracted": 4,
    }
    with plain.database.connection() as connection:
        assert current_version(connection, "handbook", "handbook/macro.txt") == "handbook/refund-policy.md"
        assert [one.rule for one in version_relations(connection, "handbook")] == ["metadata"]
        assert version_conflicts(connection, "handbook") == []


def test_an_unchanged_night_reads_nothing_and_a_changed_document_only_itself(
    plain: StageContext, corpus_folder: Path, run: Run
) -> None:
    refund_corpus(corpus_folder)
    first = run(plain)
    again = run(plain)
    assert (again.counts["extracted"], again.unchanged, again.output_sha256) == (0, True, first.output_sha256)
    write(corpus_folder, {"code-of-conduct.md": "# Code of conduct\n\nBe kind.\n"})
    assert run(plain).counts["extracted"] == 1


def test_the_output_depends_on_content_not_on_the_way_there(plain: StageContext, corpus_folder: Path, run: Run) -> None:
    refund_corpus(corpus_folder)
    (corpus_folder / "macro.txt").rename(corpus_folder / "later.txt")
    run(plain)
    (corpus_folder / "later.txt").rename(corpus_folder / "macro.txt")
    in_two_steps = run(plain)
    with plain.database.connection() as connection:
        connection.execute("DELETE FROM corpus.document_versions")
        connection.execute("DELETE FROM corpus.version_evidence")
        connection.execute("DELETE FROM corpus.stage_states WHERE stage = 'document_versions'")
    assert resolve_corpus(plain).output_sha256 == in_two_steps.output_sha256
    assert len(decisions(plain)) == 4


def test_a_day_alone_changes_the_output_only_when_a_decision_changes(
    plain: StageContext, corpus_folder: Path, run: Run
) -> None:
    write(corpus_folder, {"plan.md": "---\nvalid_from: 2027-01-01\n---\n# Plan\n\nText of the plan.\n"})
    first = run(plain)
    assert resolve_corpus(replace(plain, as_of=date(2026, 12, 31))).unchanged
    assert resolve_corpus(replace(plain, as_of=date(2027, 1, 1))).output_sha256 != first.output_sha256
    assert decisions(plain)["plan.md"].is_current


def test_history_answers_what_was_known_on_a_day(plain: StageContext, corpus_folder: Path, run: Run) -> None:
    write(corpus_folder, {"archive/refund-policy-2023.md": f"# Refund policy\n\n{OLD}\n"})
    outside = {"versions": VersionsSpec(), "documents": {"archive/**": {"lifecycle": "active"}}}
    nights = replace(plain, spec=plain.spec.model_copy(update=outside))
    run(replace(nights, as_of=date(2026, 1, 1)))
    run(replace(nights, as_of=date(2026, 1, 2)))
    refund_corpus(corpus_folder)
    run(replace(nights, as_of=date(2026, 3, 1)))
    (corpus_folder / "macro.txt").unlink()
    run(replace(nights, as_of=date(2026, 4, 1)))
    with plain.database.connection() as connection:

        def known(day: date) -> dict[str, str | None]:
            return {
                one.document_id.removeprefix("handbook/"): one.superseded_by
                for one in version_decisions_on(connection, "handbook", day)
            }

        assert known(date(2025, 12, 31)) == {}
        assert known(date(2026, 2, 28)) == {"archive/refund-policy-2023.md": None}
        assert known(date(2026, 3, 1))["archive/refund-policy-2023.md"] == "handbook/refund-policy.md"
        assert "macro.txt" in known(date(2026, 3, 31))
        assert "macro.txt" not in known(date(2026, 4, 1))
        assert version_decisions_on(connection, "handbook", date(2026, 4, 1)) == version_decisions(
            connection, "handbook"
        )
        rows = connection.execute(
            "SELECT count(*) AS n FROM corpus.document_version_history WHERE document_id LIKE '%%code-of-conduct%%'"
        ).fetchone()
        assert rows is not None
        assert rows["n"] == 1
    run(replace(nights, as_of=date(2025, 6, 1)))
    with plain.database.connection() as connection:
        assert version_decisions_on(connection, "handbook", date(2025, 6, 1)) == []


def test_two_runs_of_one_day_leave_both_in_the_history_and_an_unchanged_one_writes_nothing(
    plain: StageContext, corpus_folder: Path, run: Run
) -> None:
    refund_corpus(corpus_folder)
    (corpus_folder / "refund-policy.md").unlink()
    run(plain)
    with plain.database.connection() as connection:
        first = [(one.decision, one.known_from) for one in held_decisions(connection, "handbook")]
    known_at = max(moment for _, moment in first)
    refund_corpus(corpus_folder)
    run(plain)
    run(plain)
    with plain.database.connection() as connection:
        then = version_decisions_on(connection, "handbook", plain.as_of, known_at)
        assert then == [decision for decision, _ in first]
        assert version_decisions_on(connection, "handbook", plain.as_of) == version_decisions(connection, "handbook")
        rows = connection.execute(
            "SELECT document_id, decided_until, known_until IS NULL AS known FROM corpus.document_version_history "
            "ORDER BY document_id, known_from"
        ).fetchall()
    of_conduct = [row for row in rows if "conduct" in row["document_id"]]
    assert [row["known"] for row in of_conduct] == [True], "its decision did not change"
    of_macro = [row for row in rows if "macro" in row["document_id"]]
    assert [row["known"] for row in of_macro] == [False, True], "one day, known in two ways one after the other"
    assert all(row["decided_until"] is None for row in rows)


def test_conflicts_are_stored_with_a_suggestion(plain: StageContext, corpus_folder: Path, run: Run) -> None:
    write(
        corpus_folder,
        {
            "a.md": "---\nsupersedes: [b.md]\n---\n# A\n\nText of the first.\n",
            "b.md": "---\nsupersedes: [a.md]\n---\n# B\n\nOther words of the second.\n",
        },
    )
    assert run(plain).counts["conflicts"] == 1
    with plain.database.connection() as connection:
        (conflict,) = version_conflicts(connection, "handbook")
    assert conflict.documents == ("handbook/a.md", "handbook/b.md")
    assert conflict.suggestion.startswith("versions: {supersedes:")


def test_only_what_another_corpus_has_published_counts(
    plain: StageContext, corpus_folder: Path, tmp_path: Path, run: Run
) -> None:
    refund_corpus(corpus_folder)
    (corpus_folder / "macro.txt").unlink()
    run(plain)
    write(tmp_path / "macros", {"refund.txt": f"Refund policy\n\n{OLD}\n"})
    update = {"slug": "support", "source": SourceSpec(url="macros")}
    support = replace(plain, spec=plain.spec.model_copy(update=update))
    run(support)
    assert decisions(support)["refund.txt"].is_current
    publish(plain, "handbook", 1)
    run(support)
    found = decisions(support)["refund.txt"]
    assert (found.exclusion_reason, found.exclusion_ref) == (
        ExclusionReason.COPY_OF_SUPERSEDED,
        "handbook/archive/refund-policy-2023.md",
    )


def publish(context: StageContext, corpus: str, generation: int) -> None:
    """Records the present decisions as published, as publication does."""
    with context.database.connection() as connection:
        text = {one.document_id: one.text_sha256 for one in documents(connection, corpus)}
        record_published_documents(
            connection,
            corpus,
            [
                PublishedDocument(
                    corpus,
                    one.document_id,
                    text[one.document_id],
                    one.exclusion_reason.value if one.exclusion_reason else None,
                    one.superseded_by,
                    generation,
                    "root",
                )
                for one in version_decisions(connection, corpus)
            ],
        )
