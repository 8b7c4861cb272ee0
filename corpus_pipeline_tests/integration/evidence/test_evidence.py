"""Packs made from what a real chain published, kept, and held against what it publishes later."""

from __future__ import annotations

import dataclasses
from datetime import date
from pathlib import Path

import psycopg
import pytest

from corpus_pipeline import evidence
from corpus_pipeline.errors import EvidenceError
from corpus_pipeline.evidence import EvidencePack, SourceState
from corpus_pipeline.records import SourceType, sha256_hex
from corpus_pipeline.registry import EvidenceSpec
from corpus_pipeline.retrieval import SearchRequest
from corpus_pipeline.store import StageContext
from corpus_pipeline_tests.chain import night

REFUND = "# Refund policy\n\nCustomers may ask for a refund within {days} days of the purchase.\n"
PARKING = "---\nlast_reviewed_at: 2026-10-20\n---\n# Parking\n\nBicycles stand behind the house, cars in front of it.\n"
QUESTION = SearchRequest(query="How many days do customers have to ask for a refund?", top_k=1)


@pytest.fixture
def handbook(context: StageContext, corpus_folder: Path) -> StageContext:
    (corpus_folder / "refund.md").write_text(REFUND.format(days=30))
    (corpus_folder / "parking.md").write_text(PARKING)
    spec = context.spec.model_copy(
        update={"evidence": EvidenceSpec(expected_categories=(SourceType.INTERNAL_DATA,), allow_undated=True)}
    )
    registry = context.registry.model_copy(update={"corpora": {"handbook": spec}})
    made = dataclasses.replace(context, spec=spec, registry=registry)
    night(made)
    return made


def gather(context: StageContext, request: SearchRequest = QUESTION) -> EvidencePack:
    return evidence.gather_evidence(context.database, context.registry, request)


def states(context: StageContext, pack: EvidencePack) -> dict[str, SourceState]:
    report = evidence.review_pack(context.database, context.registry, pack, today=date(2026, 11, 1))
    return {status.document_id: status.state for status in report.sources}


def test_a_pack_leads_back_to_the_bytes_of_the_file(handbook: StageContext, corpus_folder: Path) -> None:
    pack = gather(handbook)
    (source,) = pack.sources
    assert (source.source_id, source.document_id) == ("src_001", "handbook/refund.md")
    assert source.source_sha256 == sha256_hex((corpus_folder / "refund.md").read_bytes())
    (locator,) = source.locators
    assert "within 30 days" in locator.excerpt
    assert locator.excerpt_hash == sha256_hex(locator.excerpt)
    assert locator.line_end == 3  # heading, empty line, sentence: the lines of the file itself
    assert evidence.validate_pack(pack) == []
    assert gather(handbook) == pack


def test_a_kept_pack_is_the_same_later_and_cannot_be_changed(handbook: StageContext) -> None:
    pack = gather(handbook)
    evidence.keep_pack(handbook.database, pack, "tester")
    evidence.keep_pack(handbook.database, pack, "somebody else")
    with handbook.database.connection() as connection:
        kept = evidence.stored(connection, pack.pack_id)
        assert kept is not None
        assert (kept.pack, kept.created_by) == (pack, "tester")
        assert [entry.pack for entry in evidence.packs(connection, "handbook")] == [pack]
        assert evidence.packs(connection, "legal") == []
    with pytest.raises(psycopg.errors.RestrictViolation), handbook.database.connection() as connection:
        connection.execute("UPDATE corpus.evidence_packs SET question = 'another'")


def test_a_pack_whose_hashes_do_not_hold_is_not_kept(handbook: StageContext) -> None:
    pack = gather(handbook)
    forged = pack.model_copy(update={"sources": (pack.sources[0].model_copy(update={"title": "Forged"}),)})
    with pytest.raises(EvidenceError, match="do not hash"):
        evidence.keep_pack(handbook.database, forged, "tester")


def test_sources_that_still_stand_are_current_and_the_report_is_sound(handbook: StageContext) -> None:
    pack = gather(handbook)
    report = evidence.review_pack(handbook.database, handbook.registry, pack, today=date(2026, 11, 1))
    assert states(handbook, pack) == {"handbook/refund.md": SourceState.CURRENT}
    assert report.is_sound
    assert [finding.rule for finding in report.findings] == ["undated"]
    assert report.score.score == 90  # one source only
    assert evidence.propose_pack(handbook.database, handbook.registry, pack) is None


def test_a_pack_on_a_superseded_document_is_stale_and_a_new_one_is_proposed(
    handbook: StageContext, corpus_folder: Path
) -> None:
    pack = gather(handbook)
    (corpus_folder / "refund-2026.md").write_text(
        "---\nsupersedes: [refund.md]\n---\n" + REFUND.format(days=60).replace("Customers", "From today customers")
    )
    night(handbook)
    report = evidence.review_pack(handbook.database, handbook.registry, pack, today=date(2026, 11, 1))
    assert report.is_stale
    assert not report.is_sound
    (status,) = report.sources
    assert (status.state, status.successor) == (SourceState.KEPT_OUT, "handbook/refund-2026.md")
    proposed = evidence.propose_pack(handbook.database, handbook.registry, pack)
    assert proposed is not None
    assert (proposed.replaces, proposed.documents) == (pack.pack_id, ("handbook/refund-2026.md",))
    assert evidence.validate_pack(pack) == []  # stale is not changed


def test_an_edited_a_revised_and_a_removed_document_are_told_apart(handbook: StageContext, corpus_folder: Path) -> None:
    pack = gather(handbook, QUESTION.model_copy(update={"top_k": 2, "min_score": -1.0}))
    assert set(pack.documents) == {"handbook/refund.md", "handbook/parking.md"}
    (corpus_folder / "refund.md").write_text(REFUND.format(days=14))
    (corpus_folder / "parking.md").write_text(PARKING.replace("10-20", "10-21"))
    night(handbook)
    assert states(handbook, pack) == {
        "handbook/refund.md": SourceState.CHANGED,
        "handbook/parking.md": SourceState.REVISED,
    }


def test_many_packs_are_reviewed_with_as_many_statements_as_one(
    handbook: StageContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = [QUESTION.model_copy(update={"top_k": top, "min_score": score}) for top in (1, 2) for score in (-1.0, -0.9)]
    packs = [gather(handbook, request) for request in asked]
    evidence.keep_pack(handbook.database, packs[0], "tester")
    statements = 0
    execute = psycopg.Cursor.execute

    def counted(*given: object, **options: object) -> object:
        nonlocal statements
        statements += 1
        return execute(*given, **options)

    monkeypatch.setattr(psycopg.Cursor, "execute", counted)
    alone = evidence.review_packs(handbook.database, handbook.registry, packs[:1], today=date(2026, 11, 1))
    of_one, statements = statements, 0
    together = evidence.review_packs(handbook.database, handbook.registry, packs, today=date(2026, 11, 1))
    assert 0 < statements == of_one
    assert together[0] == alone[0]
    assert [report.pack_id for report in together] == [pack.pack_id for pack in packs]
    assert [len(report.sources) for report in together] == [1, 1, 2, 2]


def test_not_enough_evidence_gives_a_pack_that_says_so(handbook: StageContext) -> None:
    pack = gather(handbook, SearchRequest(query="Who won the chess game in Reykjavik?", min_score=0.9))
    assert (pack.sources, pack.sufficient) == ((), False)
    report = evidence.review_pack(handbook.database, handbook.registry, pack)
    assert [finding.rule for finding in report.findings] == ["primary_sources", "coverage"]


def test_a_reader_without_the_group_gets_no_evidence(handbook: StageContext) -> None:
    assert gather(handbook, QUESTION.model_copy(update={"groups": ("strangers",)})).sources == ()


def test_a_corpus_is_scored_by_what_it_serves(handbook: StageContext) -> None:
    score, counts = evidence.score_corpus(handbook.database, handbook.registry, "handbook")
    assert counts == {"INTERNAL_DATA": 2}
    assert (score.score, score.deductions) == (100, {})
