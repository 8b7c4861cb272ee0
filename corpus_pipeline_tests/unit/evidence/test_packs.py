"""Packs, their hashes, their policy and their score."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from pydantic import ValidationError

from corpus_pipeline.evidence import (
    EvidenceLocator,
    EvidencePack,
    EvidenceSource,
    check_policy,
    evidence_hash,
    score_pack,
    validate_pack,
)
from corpus_pipeline.evidence.assembly import line_range
from corpus_pipeline.evidence.policy import score_types, strictest
from corpus_pipeline.records import SourceType, TrustLevel, sha256_hex
from corpus_pipeline.registry import EvidenceSpec
from corpus_pipeline.retrieval import SearchRequest

TODAY = date(2026, 11, 1)
ZERO = "0" * 64


def source(number: int, **changes: Any) -> EvidenceSource:
    excerpt = changes.pop("excerpt", f"Excerpt {number}.")
    locator = EvidenceLocator(
        fragment_id=f"handbook/{number}.md::f0001",
        section="Refunds > Window",
        line_start=1,
        line_end=2,
        char_start=0,
        char_end=len(excerpt),
        excerpt=excerpt,
        excerpt_hash=sha256_hex(excerpt),
        score=0.7,
    )
    values: dict[str, Any] = {
        "source_id": f"src_{number:03d}",
        "corpus": "handbook",
        "document_id": f"handbook/{number}.md",
        "source_uri": f"/docs/{number}.md",
        "source_type": SourceType.INTERNAL_DATA,
        "trust_level": TrustLevel.HIGH,
        "dated": date(2026, 10, 1),
        "source_sha256": sha256_hex(f"file {number}"),
        "text_sha256": sha256_hex(f"text {number}"),
        "embedding_fingerprint": "model",
        "generation": 3,
        "generation_root": ZERO,
        "locators": (locator,),
    }
    return EvidenceSource(**(values | changes))


def pack(*sources: EvidenceSource) -> EvidencePack:
    return EvidencePack(
        request=SearchRequest(query="refund window"),
        as_of=TODAY,
        sufficient=True,
        reason="",
        sources=sources,
        evidence_hash=evidence_hash(sources),
    )


@pytest.mark.parametrize("name", ["src_1", "src_0001", "SRC_001", "src_00a", "doc_001", "src_001\n"])
def test_an_id_that_is_not_three_digits_is_refused(name: str) -> None:
    with pytest.raises(ValidationError):
        source(1, source_id=name)


def test_the_hash_has_its_form_and_ignores_the_order_of_the_sources() -> None:
    one, two = source(1), source(2)
    assert evidence_hash([one, two]) == evidence_hash([two, one])
    assert evidence_hash([one, two]).startswith("sha256:")
    assert len(evidence_hash([one])) == len("sha256:") + 64


def test_any_change_of_any_field_of_a_source_changes_the_hash() -> None:
    original = source(1)
    changes = {
        "title": "Other",
        "source_uri": "/elsewhere",
        "trust_level": TrustLevel.LOW,
        "dated": None,
        "version": "2",
        "generation": 4,
        "text_sha256": ZERO,
        "locators": (),
    }
    hashes = {evidence_hash([original.model_copy(update={key: value})]) for key, value in changes.items()}
    assert len(hashes | {evidence_hash([original])}) == len(changes) + 1


def test_a_pack_as_it_was_made_is_valid_also_after_a_journey_through_json() -> None:
    made = pack(source(1), source(2))
    again = EvidencePack.model_validate_json(made.model_dump_json())
    assert again == made
    assert again.pack_id == made.pack_id
    assert validate_pack(again, known=made) == []


def test_a_changed_excerpt_is_named_with_its_source() -> None:
    made = pack(source(1), source(2))
    locator = made.sources[1].locators[0].model_copy(update={"excerpt": "Something else."})
    forged = made.model_copy(
        update={"sources": (made.sources[0], made.sources[1].model_copy(update={"locators": (locator,)}))}
    )
    faults = validate_pack(forged)
    assert [fault.source_id for fault in faults] == ["src_002", None]


def test_a_source_changed_together_with_all_its_hashes_is_named_by_what_was_stored() -> None:
    made = pack(source(1), source(2))
    forged = pack(source(1), source(2, excerpt="Something else, hashed anew."))
    assert validate_pack(forged) == []
    assert [fault.source_id for fault in validate_pack(forged, known=made)] == ["src_002"]


def test_a_removed_and_an_added_source_are_named() -> None:
    made = pack(source(1), source(2))
    assert [(f.source_id, f.what) for f in validate_pack(pack(source(1)), known=made)] == [("src_002", "was removed")]
    assert [(f.source_id, f.what) for f in validate_pack(made, known=pack(source(1)))] == [("src_002", "was added")]


def test_a_pack_cannot_be_changed_in_place() -> None:
    made = pack(source(1))
    with pytest.raises(ValidationError):
        made.reason = "other"  # type: ignore[misc]


def test_the_id_depends_on_question_day_and_evidence() -> None:
    made = pack(source(1))
    others = [
        pack(source(2)),
        made.model_copy(update={"as_of": date(2026, 11, 2)}),
        made.model_copy(update={"request": SearchRequest(query="other")}),
    ]
    assert len({made.pack_id, *(other.pack_id for other in others)}) == 4


def test_an_old_source_is_found_by_the_freshness_of_the_policy() -> None:
    old = source(2, dated=date(2026, 1, 1))
    findings = check_policy(pack(source(1), old), EvidenceSpec(expected_categories=()), TODAY)
    assert [(finding.rule, finding.sources, finding.blocking) for finding in findings] == [
        ("freshness", ("src_002",), True)
    ]
    assert check_policy(pack(old), EvidenceSpec(expected_categories=(), freshness_days=304), TODAY) == []


@pytest.mark.parametrize("allowed", [True, False])
def test_a_source_without_a_date_blocks_only_where_the_policy_says_so(allowed: bool) -> None:
    policy = EvidenceSpec(expected_categories=(), allow_undated=allowed)
    (finding,) = check_policy(pack(source(1, dated=None)), policy, TODAY)
    assert (finding.rule, finding.blocking) == ("undated", not allowed)


def test_a_pack_without_a_primary_source_is_found() -> None:
    policy = EvidenceSpec(expected_categories=())
    rules = [f.rule for f in check_policy(pack(source(1, source_type=SourceType.WEB_SEARCH)), policy, TODAY)]
    assert rules == ["primary_sources"]


def test_coverage_counts_expected_categories_and_names_the_missing() -> None:
    findings = check_policy(pack(source(1)), EvidenceSpec(), TODAY)
    assert [finding.rule for finding in findings] == ["coverage"]
    assert "0.17" in findings[0].message
    assert "EXPERT_OPINION" in findings[0].message


def test_the_score_takes_off_what_is_stated() -> None:
    # Three primary and two supporting categories are missing: 100 - 3 * 12 - 2 * 6 - 10 for one source.
    assert score_pack(pack(source(1)), EvidenceSpec()).score == 42
    assert score_pack(pack(source(1), source(2)), EvidenceSpec()).score == 52


def test_more_than_three_in_ten_off_topic_sources_cost_points() -> None:
    expected = [SourceType.INTERNAL_DATA]
    at_limit = {str(n): SourceType.GIT_DIFF if n < 3 else SourceType.INTERNAL_DATA for n in range(10)}
    above = at_limit | {"3": SourceType.GIT_DIFF}
    assert score_types(at_limit, expected).score == 100
    assert score_types(above, expected).score == 90


def test_a_pack_over_several_corpora_meets_the_strictest_of_their_policies() -> None:
    one = EvidenceSpec(freshness_days=30, expected_categories=(SourceType.INTERNAL_DATA,))
    two = EvidenceSpec(min_coverage=0.9, allow_undated=False, expected_categories=(SourceType.MARKET_DATA,))
    both = strictest([one, two])
    assert (both.freshness_days, both.min_coverage, both.allow_undated) == (30, 0.9, False)
    assert set(both.expected_categories) == {SourceType.INTERNAL_DATA, SourceType.MARKET_DATA}


@pytest.mark.parametrize(("start", "end", "lines"), [(0, 1, (1, 1)), (0, 2, (1, 1)), (2, 9, (2, 3)), (5, 6, (3, 3))])
def test_lines_of_a_span(start: int, end: int, lines: tuple[int, int]) -> None:
    assert line_range("a\nbc\ndefg", start, end) == lines
