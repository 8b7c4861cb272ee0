"""Every rule, exclusion and conflict kind, on corpora of a few documents."""

from __future__ import annotations

import random
from datetime import date
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corpus_pipeline.records import DuplicateKind, ExclusionReason, Lifecycle, ServingState
from corpus_pipeline.versions.neighbours import Neighbour, PublishedVersion

if TYPE_CHECKING:
    from corpus_pipeline_tests.unit.versions.conftest import Corpus

STALE = (ExclusionReason.SUPERSEDED, ExclusionReason.COPY_OF_SUPERSEDED)


def assert_superseded(outcome: Any, old: str, new: str) -> None:
    decision = outcome[old]
    assert decision.superseded_by == f"handbook/{new}", decision
    assert (decision.exclusion_reason, decision.exclusion_ref) == (ExclusionReason.SUPERSEDED, f"handbook/{new}")
    assert (decision.is_current, decision.is_canonical, decision.serving_state) == (False, False, ServingState.ARCHIVED)
    assert outcome[new].is_current


class TestEvidence:
    def test_registry_override_beats_every_other_evidence(self, corpus: Corpus) -> None:
        corpus.add("a.md", "Supersedes: b.md\n\nText", supersedes=("b.md",))
        corpus.add("b.md")
        outcome = corpus.resolve(supersedes={"b.md": ("a.md",)})
        assert_superseded(outcome, "a.md", "b.md")
        assert outcome["b.md"].superseded_by is None
        assert "corpora.yaml" in outcome["a.md"].evidence
        assert "contradiction" in outcome.kinds()

    def test_front_matter_with_a_relative_path(self, corpus: Corpus) -> None:
        corpus.add("policies/refund.md", supersedes=("../archive/refund-2023.md",))
        corpus.add("archive/refund-2023.md")
        outcome = corpus.resolve()
        assert_superseded(outcome, "archive/refund-2023.md", "policies/refund.md")
        assert outcome["archive/refund-2023.md"].evidence.startswith(
            "front matter of policies/refund.md: supersedes ../archive/refund-2023.md"
        )

    def test_superseded_by_in_metadata(self, corpus: Corpus) -> None:
        corpus.add("old.md", superseded_by="new.md", declared_in="sidecar")
        corpus.add("new.md")
        outcome = corpus.resolve()
        assert_superseded(outcome, "old.md", "new.md")
        assert outcome.relation("new.md", "old.md").rule == "metadata"

    def test_numbers_of_a_series(self, corpus: Corpus) -> None:
        corpus.add("pep-0314.rst", "PEP: 314\nStatus: Final\n")
        corpus.add("pep-0345.rst", "PEP: 345\nStatus: Final\nReplaces: 314\n")
        assert_superseded(corpus.resolve(), "pep-0314.rst", "pep-0345.rst")

    def test_a_sentence_with_title_and_date_picks_the_right_version(self, corpus: Corpus) -> None:
        corpus.add("a.md", "Effective date: 1 March 2023\n", title="Refund Policy")
        corpus.add("b.md", "Effective date: 1 March 2024\n", title="Refund Policy")
        corpus.add("c.md", "Refunds\n\nThis policy supersedes the Refund Policy of 1 March 2023.", title="Returns")
        outcome = corpus.resolve()
        assert_superseded(outcome, "a.md", "c.md")
        assert outcome["b.md"].superseded_by is None

    def test_an_ambiguous_title_is_left_for_review(self, corpus: Corpus) -> None:
        corpus.add("x/a.md", title="Refund Policy")
        corpus.add("y/b.md", title="Refund Policy")
        corpus.add("c.md", "Returns\n\nThis policy supersedes the Refund Policy.", title="Returns")
        outcome = corpus.resolve()
        for path in ("x/a.md", "y/b.md"):
            assert outcome[path].is_current
            assert outcome[path].needs_review
            assert "review: may be superseded by handbook/c.md" in outcome[path].evidence

    def test_a_version_of_the_same_family(self, corpus: Corpus) -> None:
        corpus.add("travel-2.md", "Version: 2.1\n", title="Travel Policy")
        corpus.add(
            "travel-3.md",
            "Version: 3.0\n\nThis document replaces version 2.1 of the Travel Policy.",
            title="Travel Policy",
        )
        outcome = corpus.resolve()
        assert_superseded(outcome, "travel-2.md", "travel-3.md")

    def test_all_earlier_versions(self, corpus: Corpus) -> None:
        corpus.add("a.md", title="Privacy Notice", valid_from=date(2020, 1, 1))
        corpus.add("b.md", title="Privacy Notice", valid_from=date(2021, 1, 1))
        corpus.add(
            "c.md",
            "x\n\nThis notice replaces all previous versions.",
            title="Privacy Notice",
            valid_from=date(2022, 1, 1),
        )
        outcome = corpus.resolve()
        assert_superseded(outcome, "a.md", "c.md")
        assert_superseded(outcome, "b.md", "c.md")

    def test_amending_is_not_superseding(self, corpus: Corpus) -> None:
        corpus.add("rfc100.txt", "Request for Comments: 100\n")
        corpus.add("rfc200.txt", "Request for Comments: 200\nUpdates: 100\n")
        outcome = corpus.resolve()
        assert outcome.relation("rfc200.txt", "rfc100.txt").relation == "amends"
        assert outcome["rfc100.txt"].is_current
        assert outcome["rfc100.txt"].family != outcome["rfc200.txt"].family

    def test_declared_family_and_version(self, corpus: Corpus) -> None:
        corpus.add("x.md", family="leave", version="1.9")
        corpus.add("y.md", family="leave", version="1.10")
        outcome = corpus.resolve()
        assert_superseded(outcome, "x.md", "y.md")
        assert outcome["x.md"].family == outcome["y.md"].family == "leave"

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("policy-v1.docx", "policy-v2.odt"),
            ("security-incident-policy-v1.docx", "security-incident-policy-v2.odt"),
            ("spec-rev-A.pdf", "spec-rev-B.pdf"),
            ("travel-policy-2023-04.md", "travel-policy-2024-01.md"),
            ("docs/v1.9/install.md", "docs/v1.10/install.md"),
            ("docs/v1.9/install.md", "docs/latest/install.md"),
            ("terms.2021-01-01.md", "terms.current.md"),
        ],
    )
    def test_tokens_in_names_and_paths(self, corpus: Corpus, old: str, new: str) -> None:
        corpus.add(new)
        corpus.add(old)
        outcome = corpus.resolve()
        assert_superseded(outcome, old, new)
        assert outcome[old].family == outcome[new].family
        assert outcome.relation(new, old).rule == "name_tokens"

    def test_an_archived_name_joins_the_family_elsewhere_by_title(self, corpus: Corpus) -> None:
        corpus.add("policies/refund-policy.md", title="Refund policy")
        corpus.add("archive/refund-policy-2023.md", title="Refund policy (2023)")
        assert_superseded(corpus.resolve(), "archive/refund-policy-2023.md", "policies/refund-policy.md")

    @pytest.mark.parametrize(
        ("old", "new"),
        [("api/v1/users.md", "api/v2/users.md"), ("plan.md", "plan-v2.md"), ("log-2024-01.md", "log-2024-02.md")],
    )
    def test_weak_tokens_are_flagged_not_applied(self, corpus: Corpus, old: str, new: str) -> None:
        corpus.add(old)
        corpus.add(new)
        outcome = corpus.resolve()
        assert outcome[old].is_current
        assert outcome[new].is_current
        assert outcome[old].needs_review or outcome[new].needs_review
        assert not any(one.applied for one in outcome.resolution.relations)

    def test_likeness_strengthens_a_weak_token(self, corpus: Corpus) -> None:
        corpus.add("api/v1/users.md")
        corpus.add("api/v2/users.md")
        corpus.alike("api/v1/users.md", "api/v2/users.md", 0.85)
        assert_superseded(corpus.resolve(), "api/v1/users.md", "api/v2/users.md")

    def test_similar_texts_with_one_telling_title_and_dates(self, corpus: Corpus) -> None:
        corpus.add("f3a91c0d22.md", "Last updated: 1 May 2022", title="Brightwater Refunds")
        corpus.add("0be1772fa9.md", "Last updated: 1 May 2024", title="Brightwater Refunds")
        corpus.alike("f3a91c0d22.md", "0be1772fa9.md")
        outcome = corpus.resolve()
        assert_superseded(outcome, "f3a91c0d22.md", "0be1772fa9.md")
        assert outcome.relation("0be1772fa9.md", "f3a91c0d22.md").rule == "similar_and_dated"

    def test_similar_terms_of_two_services_are_not_versions(self, corpus: Corpus) -> None:
        corpus.add("admob-terms.md", "Last updated: 1 May 2022", title="Terms of Service")
        corpus.add("adsense-terms.md", "Last updated: 1 May 2024", title="Terms of Service")
        corpus.alike("admob-terms.md", "adsense-terms.md")
        outcome = corpus.resolve()
        assert outcome["admob-terms.md"].superseded_by is None
        assert outcome["admob-terms.md"].family != outcome["adsense-terms.md"].family
        assert outcome["admob-terms.md"].exclusion_reason is outcome["adsense-terms.md"].exclusion_reason is None

    def test_a_lower_threshold_applies_what_was_flagged(self, corpus: Corpus) -> None:
        corpus.add("plan.md")
        corpus.add("plan-v2.md")
        assert not corpus.resolve(min_confidence=0.5)["plan-v2.md"].needs_review

    def test_independent_documents_are_versions_of_nothing(self, corpus: Corpus) -> None:
        corpus.add("policy-v1.md")
        corpus.add("policy-v2.md", "Supersedes: policy-v1.md\n")
        outcome = corpus.resolve(independent=("policy-v1.md",))
        assert outcome["policy-v1.md"].is_current
        assert outcome.resolution.relations == ()


class TestSeries:
    def test_quarters_stay_true_for_their_period(self, corpus: Corpus) -> None:
        quarters = ("2022 Q3 AAPL.pdf", "2023 Q1 AAPL.pdf", "2023 Q2 AAPL.pdf")
        for path in quarters:
            corpus.add(path)
        corpus.alike(*quarters[:2])
        outcome = corpus.resolve()
        assert all(outcome[path].is_current and outcome[path].exclusion_reason is None for path in quarters)
        assert len({outcome[path].family for path in quarters}) == 1
        assert outcome.relation(quarters[1], quarters[0]).relation == "series"
        assert outcome.relation(quarters[2], quarters[1]).applied

    def test_minutes(self, corpus: Corpus) -> None:
        corpus.add("minutes-2024-01-05.md")
        corpus.add("minutes-2024-02-02.md")
        assert corpus.resolve().relation("minutes-2024-02-02.md", "minutes-2024-01-05.md").relation == "series"

    def test_metadata_decides_whether_a_family_is_a_series(self, corpus: Corpus) -> None:
        corpus.add("terms-2023.md", attributes={"series": True})
        corpus.add("terms-2024.md", attributes={"series": True})
        assert corpus.resolve()["terms-2023.md"].is_current


class TestEffect:
    @pytest.mark.parametrize("status", ["Draft", "Rejected", "Withdrawn", "Deferred"])
    def test_a_successor_not_in_force_makes_nothing_stale(self, corpus: Corpus, status: str) -> None:
        corpus.add("pep-0001.rst", "PEP: 1\nStatus: Active\nSuperseded-By: 2\n")
        corpus.add("pep-0002.rst", f"PEP: 2\nStatus: {status}\nReplaces: 1\n")
        outcome = corpus.resolve()
        assert outcome["pep-0001.rst"].is_current
        assert outcome["pep-0001.rst"].superseded_by is None
        relation = outcome.relation("pep-0002.rst", "pep-0001.rst")
        assert (relation.applied, "without effect" in relation.note) == (False, True)

    def test_a_future_successor_waits_for_its_day(self, corpus: Corpus) -> None:
        corpus.add("old.md")
        corpus.add("new.md", supersedes=("old.md",), valid_from=date(2027, 1, 1))
        before = corpus.resolve(as_of=date(2026, 12, 31))
        assert before["old.md"].is_current
        assert before["new.md"].exclusion_reason is ExclusionReason.NOT_YET_EFFECTIVE
        after = corpus.resolve(as_of=date(2027, 1, 1))
        assert_superseded(after, "old.md", "new.md")
        assert after["old.md"].valid_until == date(2026, 12, 31)

    def test_a_successor_that_was_replaced_itself_did_take_force(self, corpus: Corpus) -> None:
        corpus.add("pep-0001.rst", "PEP: 1\nStatus: Superseded\nSuperseded-By: 2\n")
        corpus.add("pep-0002.rst", "PEP: 2\nStatus: Superseded\nSuperseded-By: 3\n")
        corpus.add("pep-0003.rst", "PEP: 3\nStatus: Final\nReplaces: 1, 2\n")
        outcome = corpus.resolve()
        assert outcome["pep-0001.rst"].superseded_by == "handbook/pep-0002.rst"
        assert outcome["pep-0002.rst"].superseded_by == "handbook/pep-0003.rst"
        assert outcome.resolution.current_of("handbook/pep-0001.rst") == "handbook/pep-0003.rst"

    def test_a_text_that_calls_itself_superseded_without_naming_a_successor(self, corpus: Corpus) -> None:
        corpus.add("pep-0006.rst", "PEP: 6\nStatus: Superseded\nType: Process\n")
        decision = corpus.resolve()["pep-0006.rst"]
        assert (decision.exclusion_reason, decision.superseded_by) == (ExclusionReason.SUPERSEDED, None)

    def test_a_status_in_a_text_decides_the_lifecycle_only_where_the_corpus_wants_it(self, corpus: Corpus) -> None:
        corpus.add("pep-0002.rst", "PEP: 2\nStatus: Rejected\nType: Process\n")
        assert corpus.resolve()["pep-0002.rst"].is_current
        assert corpus.resolve(text_status="lifecycle")["pep-0002.rst"].exclusion_reason is ExclusionReason.WITHDRAWN


class TestCopies:
    @pytest.fixture
    def family(self, corpus: Corpus) -> Corpus:
        corpus.add("policies/refund.md", "new text", source_class="policy", supersedes=("../archive/refund.md",))
        corpus.add("archive/refund.md", "old text", source_class="wiki")
        return corpus

    @pytest.mark.parametrize("kind", [DuplicateKind.NEAR, DuplicateKind.EXACT])
    def test_a_copy_of_a_superseded_text_is_superseded_too(self, family: Corpus, kind: DuplicateKind) -> None:
        family.add(
            "training/refunds.pdf",
            "old text in a course",
            lifecycle="active",
            trust_level="VERIFIED",
            source_class="policy",
        )
        family.alike(
            "training/refunds.pdf", "archive/refund.md", 1.0 if kind is DuplicateKind.EXACT else 0.9, kind=kind
        )
        family.alike("policies/refund.md", "archive/refund.md", 0.85)
        family.alike("policies/refund.md", "training/refunds.pdf", 0.82)
        decision = family.resolve()["training/refunds.pdf"]
        assert (decision.exclusion_reason, decision.exclusion_ref) == (
            ExclusionReason.COPY_OF_SUPERSEDED,
            "handbook/archive/refund.md",
        )
        assert decision.superseded_by == "handbook/policies/refund.md"
        assert not decision.is_current
        assert decision.family == family.resolve()["archive/refund.md"].family

    def test_a_copy_closer_to_the_current_text_is_a_duplicate_of_it(self, family: Corpus) -> None:
        family.add("wiki/refund-page.md", "new text in a wiki", source_class="wiki")
        family.alike("wiki/refund-page.md", "archive/refund.md", 0.82)
        family.alike("wiki/refund-page.md", "policies/refund.md", 0.95)
        decision = family.resolve()["wiki/refund-page.md"]
        assert (decision.exclusion_reason, decision.duplicate_of) == (
            ExclusionReason.DUPLICATE,
            "handbook/policies/refund.md",
        )
        assert decision.is_current
        assert "authority of its source class" in decision.evidence

    def test_a_large_work_that_contains_a_superseded_text_is_for_review(self, family: Corpus) -> None:
        family.add("handbook.md", "old text " * 50)
        family.alike(
            "handbook.md",
            "archive/refund.md",
            0.1,
            kind=DuplicateKind.CONTAINED,
            containment=0.95,
            contained_id="handbook/archive/refund.md",
        )
        decision = family.resolve()["handbook.md"]
        assert decision.exclusion_reason is None
        assert decision.needs_review

    def test_an_excerpt_of_a_superseded_text_is_a_copy(self, family: Corpus) -> None:
        family.add("macro.txt", "old")
        family.alike(
            "macro.txt",
            "archive/refund.md",
            0.2,
            kind=DuplicateKind.CONTAINED,
            containment=0.95,
            contained_id="handbook/macro.txt",
        )
        assert family.resolve()["macro.txt"].exclusion_reason is ExclusionReason.COPY_OF_SUPERSEDED

    def test_a_text_superseded_in_another_published_corpus(self, corpus: Corpus) -> None:
        corpus.add("macro.txt", "old text")
        corpus.add("other.md")
        old = PublishedVersion("policies", "policies/archive/refund.md", "1", True, "policies/refund.md")
        new = PublishedVersion("policies", "policies/refund.md", "2", False, None)
        stale = corpus.resolve(
            neighbours=[Neighbour("handbook/macro.txt", old, 0.9), Neighbour("handbook/macro.txt", new, 0.8)]
        )
        assert stale["macro.txt"].exclusion_reason is ExclusionReason.COPY_OF_SUPERSEDED
        assert stale["macro.txt"].exclusion_ref == "policies/archive/refund.md"
        assert "published corpus policies holds superseded by policies/refund.md" in stale["macro.txt"].evidence
        assert stale["other.md"].is_current
        closer = corpus.resolve(
            neighbours=[Neighbour("handbook/macro.txt", old, 0.8), Neighbour("handbook/macro.txt", new, 0.9)]
        )
        assert closer["macro.txt"].is_current

    def test_a_copy_is_free_again_when_its_original_is_not_superseded(self, corpus: Corpus) -> None:
        corpus.add("new.md", "new", supersedes=("old.md",), lifecycle="draft")
        corpus.add("old.md", "old", source_class="policy")
        corpus.add("page.md", "old copy", source_class="wiki")
        corpus.alike("old.md", "page.md")
        assert corpus.resolve()["page.md"].duplicate_of == "handbook/old.md"


class TestCanonical:
    @pytest.mark.parametrize(
        ("better", "worse", "aspect"),
        [
            ({"source_class": "policy"}, {"source_class": "wiki"}, "authority"),
            ({"trust_level": "HIGH"}, {"trust_level": "LOW"}, "trust level"),
            ({"last_reviewed_at": date(2025, 1, 1)}, {"last_reviewed_at": date(2024, 1, 1)}, "newest date"),
        ],
    )
    def test_the_declared_order(
        self, corpus: Corpus, better: dict[str, Any], worse: dict[str, Any], aspect: str
    ) -> None:
        corpus.add("z.md", "same", **better)
        corpus.add("a.md", "same", **worse)
        outcome = corpus.resolve()
        # Exact copies are known by their hash; the cluster comes from the deduplication room.
        corpus.alike("a.md", "z.md", 1.0, kind=DuplicateKind.EXACT)
        outcome = corpus.resolve()
        assert outcome["a.md"].duplicate_of == "handbook/z.md"
        assert outcome["z.md"].is_canonical
        assert aspect in outcome["a.md"].evidence

    def test_ties_are_broken_by_path_and_id(self, corpus: Corpus) -> None:
        for path in ("b.md", "a.md", "long/name.md"):
            corpus.add(path, "same")
        corpus.alike("a.md", "b.md", 1.0, kind=DuplicateKind.EXACT)
        corpus.alike("a.md", "long/name.md", 1.0, kind=DuplicateKind.EXACT)
        outcome = corpus.resolve()
        assert outcome["a.md"].is_canonical
        assert outcome["b.md"].duplicate_of == outcome["long/name.md"].duplicate_of == "handbook/a.md"

    @pytest.mark.parametrize(
        ("canonical", "copy", "suppressed"),
        [
            ({"acl_groups": ("everyone", "legal")}, {"acl_groups": ("legal",)}, True),
            ({"acl_groups": ("legal",)}, {"acl_groups": ("everyone", "legal")}, False),
            ({"acl_groups": ("legal",)}, {"acl_groups": ("support",)}, False),
            ({"answer_use": "internal"}, {"answer_use": "any"}, False),
            ({"answer_use": "any"}, {"answer_use": "internal"}, True),
            ({"plan_tiers": ("free",)}, {"plan_tiers": ("enterprise",)}, False),
            ({"region": "EU"}, {"region": "US"}, False),
        ],
    )
    def test_nobody_loses_the_only_copy_they_may_find(
        self, corpus: Corpus, canonical: dict[str, Any], copy: dict[str, Any], suppressed: bool
    ) -> None:
        corpus.add("policy.md", "same", source_class="policy", **canonical)
        corpus.add("page.md", "same", source_class="wiki", **copy)
        corpus.alike("policy.md", "page.md", 1.0, kind=DuplicateKind.EXACT)
        assert (corpus.resolve()["page.md"].exclusion_reason is ExclusionReason.DUPLICATE) is suppressed

    def test_a_document_kept_out_is_never_canonical(self, corpus: Corpus) -> None:
        corpus.add("policy.md", "same", source_class="policy", answer_use="never")
        corpus.add("page.md", "same", source_class="wiki")
        corpus.alike("policy.md", "page.md", 1.0, kind=DuplicateKind.EXACT)
        assert corpus.resolve()["page.md"].exclusion_reason is None

    def test_a_longer_work_is_not_suppressed_for_the_text_it_contains(self, corpus: Corpus) -> None:
        corpus.add("policy.md", "short", source_class="policy")
        corpus.add("guide.md", "short and much more", source_class="wiki")
        corpus.alike(
            "policy.md",
            "guide.md",
            0.3,
            kind=DuplicateKind.CONTAINED,
            containment=1.0,
            contained_id="handbook/policy.md",
        )
        outcome = corpus.resolve()
        assert outcome["guide.md"].exclusion_reason is None

    def test_formats_of_one_numbered_document_are_one(self, corpus: Corpus) -> None:
        for extension in ("txt", "html", "pdf"):
            corpus.add(f"rfc8651.{extension}", f"Request for Comments: 8651\n\n{extension}")
        outcome = corpus.resolve()
        assert sum(outcome[f"rfc8651.{one}"].exclusion_reason is None for one in ("txt", "html", "pdf")) == 1

    def test_near_duplicates_with_different_numbers_are_different_works(self, corpus: Corpus) -> None:
        corpus.add("pep-0571.rst", "PEP: 571\n")
        corpus.add("pep-0599.rst", "PEP: 599\n")
        corpus.alike("pep-0571.rst", "pep-0599.rst")
        assert all(one.exclusion_reason is None for one in corpus.resolve().resolution.decisions)


class TestState:
    @pytest.mark.parametrize(
        ("metadata", "reason"),
        [
            ({"lifecycle": "draft"}, ExclusionReason.DRAFT),
            ({"lifecycle": "withdrawn"}, ExclusionReason.WITHDRAWN),
            ({"lifecycle": "archived"}, ExclusionReason.ARCHIVED),
            ({"lifecycle": "deprecated"}, ExclusionReason.ARCHIVED),
            ({"valid_until": date(2026, 10, 31)}, ExclusionReason.EXPIRED),
            ({"valid_from": date(2026, 11, 2)}, ExclusionReason.NOT_YET_EFFECTIVE),
            ({"answer_use": "never"}, ExclusionReason.NEVER_ANSWER),
        ],
    )
    def test_each_reason(self, corpus: Corpus, metadata: dict[str, Any], reason: ExclusionReason) -> None:
        corpus.add("a.md", **metadata)
        decision = corpus.resolve()["a.md"]
        assert decision.exclusion_reason is reason
        assert decision.serving_state is ServingState.ARCHIVED
        assert "a.md" in decision.evidence

    def test_the_last_day_of_validity_is_still_valid(self, corpus: Corpus) -> None:
        corpus.add("a.md", valid_from=date(2026, 11, 1), valid_until=date(2026, 11, 1))
        assert corpus.resolve()["a.md"].is_current

    def test_an_archive_folder_unless_somebody_outside_the_file_says_active(self, corpus: Corpus) -> None:
        corpus.add("archive/a.md", lifecycle="active", declared_in="front_matter")
        corpus.add("archive/b.md", lifecycle="active", declared_in="sidecar")
        outcome = corpus.resolve()
        assert (outcome["archive/a.md"].exclusion_reason, outcome["archive/a.md"].lifecycle) == (
            ExclusionReason.ARCHIVED,
            Lifecycle.ARCHIVED,
        )
        assert outcome["archive/b.md"].exclusion_reason is None

    def test_a_draft_by_name_beside_its_final(self, corpus: Corpus) -> None:
        corpus.add("offer-draft.md")
        corpus.add("offer.md")
        corpus.add("alone-draft.md")
        outcome = corpus.resolve()
        assert outcome["offer-draft.md"].exclusion_reason is ExclusionReason.DRAFT
        assert outcome["offer.md"].is_current
        assert outcome["alone-draft.md"].is_current

    def test_development_docs_beside_released_ones(self, corpus: Corpus) -> None:
        corpus.add("docs/main/a.md")
        corpus.add("docs/latest/a.md")
        corpus.add("docs/v1.0/a.md")
        outcome = corpus.resolve()
        assert outcome["docs/main/a.md"].exclusion_reason is ExclusionReason.DRAFT
        assert_superseded(outcome, "docs/v1.0/a.md", "docs/latest/a.md")

    def test_a_text_that_says_it_is_no_longer_in_force(self, corpus: Corpus) -> None:
        corpus.add("a.md", "Policy\n\nThis policy is no longer in force.")
        assert corpus.resolve()["a.md"].exclusion_reason is ExclusionReason.WITHDRAWN

    def test_superseded_comes_before_every_other_reason(self, corpus: Corpus) -> None:
        corpus.add("archive/old.md", lifecycle="archived", answer_use="never", valid_until=date(2020, 1, 1))
        corpus.add("new.md", supersedes=("archive/old.md",))
        assert_superseded(corpus.resolve(), "archive/old.md", "new.md")


class TestConflicts:
    def test_a_ring_applies_nothing_and_is_reported_once(self, corpus: Corpus) -> None:
        for one, other in (("a", "b"), ("b", "c"), ("c", "a")):
            corpus.add(f"{one}.md", supersedes=(f"{other}.md",))
        outcome = corpus.resolve()
        assert outcome.kinds() == ["cycle"]
        assert all(one.is_current and one.needs_review for one in outcome.resolution.decisions)
        assert "supersedes" in outcome.resolution.conflicts[0].suggestion

    def test_the_policy_newest_follows_the_dates(self, corpus: Corpus) -> None:
        for day, (one, other) in enumerate((("a", "b"), ("b", "c"), ("c", "a")), 1):
            corpus.add(f"{one}.md", supersedes=(f"{other}.md",), valid_from=date(2024, 1, day))
        outcome = corpus.resolve(conflicts="newest")
        assert outcome.resolution.conflicts[0].resolved
        assert_superseded(outcome, "a.md", "c.md")

    def test_both_directions(self, corpus: Corpus) -> None:
        corpus.add("a.md", supersedes=("b.md",), valid_from=date(2024, 1, 1))
        corpus.add("b.md", supersedes=("a.md",), valid_from=date(2025, 1, 1))
        outcome = corpus.resolve()
        assert outcome.kinds() == ["both_directions"]
        assert outcome["a.md"].is_current
        assert '"b.md": ["a.md"]' in outcome.resolution.conflicts[0].suggestion
        assert_superseded(corpus.resolve(conflicts="newest"), "a.md", "b.md")

    def test_weaker_evidence_against_stronger(self, corpus: Corpus) -> None:
        corpus.add("policy-v1.md", supersedes=("policy-v2.md",))
        corpus.add("policy-v2.md")
        outcome = corpus.resolve()
        assert_superseded(outcome, "policy-v2.md", "policy-v1.md")
        assert outcome.kinds() == ["contradiction"]

    def test_two_current_members_of_one_version(self, corpus: Corpus) -> None:
        corpus.add("x/leave.md", family="leave", version="2")
        corpus.add("y/holidays.md", family="leave", version="2.0")
        outcome = corpus.resolve()
        assert outcome.kinds() == ["same_version"]
        assert outcome["x/leave.md"].needs_review

    def test_two_members_of_a_declared_family_valid_at_once(self, corpus: Corpus) -> None:
        corpus.add("a.md", family="leave", version="B", valid_from=date(2024, 1, 1))
        corpus.add("b.md", family="leave", version="2", valid_from=date(2024, 1, 1))
        assert corpus.resolve().kinds() == ["overlapping_validity"]

    def test_a_reference_that_leads_nowhere(self, corpus: Corpus) -> None:
        corpus.add("a.md", supersedes=("missing.md",))
        outcome = corpus.resolve()
        assert outcome.kinds() == ["dangling_reference"]
        assert outcome["a.md"].needs_review

    def test_a_text_that_obsoletes_something_outside_the_corpus_is_no_conflict(self, corpus: Corpus) -> None:
        corpus.add("rfc2822.txt", "Request for Comments: 2822\nObsoletes: 822\n")
        outcome = corpus.resolve()
        assert outcome.kinds() == []
        assert [(one.target_id, one.target_reference) for one in outcome.resolution.relations] == [(None, "822")]

    def test_an_override_for_an_unknown_path(self, corpus: Corpus) -> None:
        corpus.add("a.md")
        outcome = corpus.resolve(supersedes={"a.md": ("gone.md",)}, independent=("lost.md",))
        assert outcome.kinds() == ["unknown_override"] * 2
        assert [one.documents for one in outcome.resolution.conflicts] == [(), ("handbook/a.md",)], (
            "the check lists the document that the override names beside the unknown one"
        )
        assert outcome["a.md"].needs_review


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10_000), as_of=st.dates(date(2023, 1, 1), date(2028, 1, 1)))
def test_the_order_of_the_input_changes_nothing_and_chains_end(seed: int, as_of: date) -> None:
    from corpus_pipeline_tests.unit.versions.conftest import Corpus

    corpus = Corpus()
    random_numbers = random.Random(seed)
    paths = [
        f"{folder}/{stem}{token}.md"
        for folder in ("a", "archive", "v1.2", "latest")
        for stem in ("terms", "minutes")
        for token in ("", "-v1", "-v2", "-2024-01", "-draft")
    ]
    chosen = random_numbers.sample(paths, 10)
    for path in chosen:
        corpus.add(
            path,
            random_numbers.choice(["one text", "another text", ""]),
            title=random_numbers.choice([None, "Terms", "Brightwater Terms"]),
            supersedes=tuple(random_numbers.sample(chosen, random_numbers.choice([0, 0, 1]))),
            valid_from=random_numbers.choice([None, date(2024, 1, 1), date(2027, 1, 1)]),
            lifecycle=random_numbers.choice(["active", "active", "draft"]),
        )
    for left, right in [random_numbers.sample(chosen, 2) for _ in range(6)]:
        corpus.alike(left, right, random_numbers.choice([0.8, 0.9, 1.0]))
    first = corpus.resolve(as_of=as_of, supersedes={chosen[0]: (chosen[1],)}).resolution

    def shuffled(items: Any) -> list[Any]:
        return random_numbers.sample(list(items), len(items))

    assert corpus.resolve(as_of=as_of, order=shuffled, supersedes={chosen[0]: (chosen[1],)}).resolution == first
    by_id = {one.document_id: one for one in first.decisions}
    assert len(by_id) == len(chosen)
    for one in first.decisions:
        assert (one.exclusion_reason is None) == one.is_canonical == (one.serving_state is ServingState.CURRENT)
        assert one.superseded_by != one.document_id
        assert by_id[first.current_of(one.document_id)].superseded_by is None
        if one.exclusion_reason in STALE:
            assert not one.is_current
        if one.exclusion_reason is ExclusionReason.DUPLICATE:
            assert by_id[one.duplicate_of or ""].exclusion_reason is None
