from __future__ import annotations

from datetime import date

import numpy as np
import pytest

from corpus_pipeline.records import ExclusionReason
from corpus_pipeline.retrieval import KeptOutReason, Question, SearchFilters, SearchRequest
from corpus_pipeline.retrieval.candidate import Candidate
from corpus_pipeline.retrieval.explanation import Asked, explain_candidate, explain_kept_out, filter_mismatch
from corpus_pipeline.retrieval.selection import DropCause, Dropped

AS_OF = date(2026, 11, 1)
PERMITTED = {"acl_groups": ["everyone"], "answer_use": "any"}


def candidate(document: str = "c/a.md", score: float = 0.6, number: int = 1, **metadata: object) -> Candidate:
    return Candidate(
        fragment_id=f"{document}::f{number:04}",
        parent_id=f"{document}::p0001",
        corpus="c",
        document_id=document,
        source_uri=f"/src/{document}",
        title="A",
        score=score,
        text="t",
        text_sha256="t",
        section_path=(),
        page_number=None,
        char_start=0,
        char_end=1,
        space="s",
        vector=np.array([1.0], dtype=np.float32),
        metadata=PERMITTED | metadata,
    )


def explain(one: Candidate, request: SearchRequest | None = None, dropped: dict[str, Dropped] | None = None):
    return explain_candidate(one, dropped=dropped or {}, asked=asked(request or SearchRequest(query="q")))


def asked(request: SearchRequest) -> Asked:
    return Question(request, {}, AS_OF).asked


@pytest.mark.parametrize("cause", list(ExclusionReason))
def test_every_exclusion_of_ingestion_has_a_reason_of_the_same_name(cause: ExclusionReason):
    excluded = candidate()._replace(exclusion_reason=cause.value, exclusion_ref="c/new.md")
    assert explain(excluded).reason == cause.value


def test_superseded_names_its_successor():
    found = explain(candidate()._replace(exclusion_reason="superseded", exclusion_ref="c/new.md"))
    assert (found.detail, found.reference) == ("superseded by c/new.md", "c/new.md")


def test_expiry_between_two_nights_is_told_with_its_day():
    found = explain(candidate(valid_until="2026-10-31"))
    assert found.reason is KeptOutReason.EXPIRED
    assert found.detail == "expired after 2026-10-31; asked for 2026-11-01"


def test_the_last_day_of_validity_is_still_in_force():
    assert explain(candidate(valid_until=AS_OF, valid_from=AS_OF)).reason is KeptOutReason.NOT_RETRIEVED


def test_not_yet_effective_names_the_first_day():
    assert explain(candidate(valid_from=date(2027, 1, 1))).detail == "in force from 2027-01-01; asked for 2026-11-01"


def test_not_permitted_names_the_groups():
    found = explain(candidate(acl_groups=["legal", "finance"]))
    assert (found.reason, found.detail) == (KeptOutReason.NOT_PERMITTED, "only for finance, legal; asked as everyone")


def test_a_reader_without_groups_is_nobody():
    found = explain(candidate(), SearchRequest(query="q", groups=()))
    assert found.detail == "only for everyone; asked as nobody"


def test_below_score_shows_both_numbers():
    found = explain(candidate(score=0.21))
    assert (found.reason, found.detail) == (KeptOutReason.BELOW_SCORE, "score 0.210 below 0.300")


def test_crowded_out_names_the_fragment_that_took_its_place():
    one = candidate()
    found = explain(one, dropped={one.fragment_id: Dropped(one, DropCause.NEAR_COPY, 2, "c/b.md::f0001", 0.93)})
    assert (found.reason, found.reference) == (KeptOutReason.CROWDED_OUT, "c/b.md::f0001")
    assert found.detail == "cosine 0.93 to c/b.md::f0001, limit 0.85"


def test_outranked_names_its_place():
    one = candidate()
    found = explain(one, dropped={one.fragment_id: Dropped(one, DropCause.OUTRANKED, 7)})
    assert (found.reason, found.detail) == (KeptOutReason.OUTRANKED, "place 7 by rank; 5 are accepted")


def test_what_a_second_look_or_the_budget_removed_is_told():
    one = candidate()._replace(rerank_score=0.01)
    removed = explain(
        one, SearchRequest(query="q", rerank_min_score=0.2), {one.fragment_id: Dropped(one, DropCause.RERANKED_OUT, 0)}
    )
    assert (removed.reason, removed.detail) == (KeptOutReason.RERANKED_OUT, "probability 0.010 below 0.200")
    over = explain(
        one, SearchRequest(query="q", evidence_tokens=64), {one.fragment_id: Dropped(one, DropCause.OVER_BUDGET, 0)}
    )
    assert (over.reason, over.detail) == (KeptOutReason.OVER_BUDGET, "does not fit into 64 tokens of evidence")


def test_a_document_that_meets_one_of_the_alternatives_is_not_filtered():
    either = Question(
        SearchRequest(query="q"), {}, AS_OF, alternatives=(SearchFilters(product="A"), SearchFilters(product="B"))
    )
    assert (
        explain_candidate(candidate(product="B"), dropped={}, asked=either.asked).reason is KeptOutReason.NOT_RETRIEVED
    )
    assert (
        explain_candidate(candidate(product="C"), dropped={}, asked=either.asked).detail == "product: wanted A, has C"
    )


def test_the_reason_of_ingestion_comes_before_all_others():
    one = candidate(acl_groups=["x"], score=0.1)._replace(exclusion_reason="draft")
    assert explain(one).reason is KeptOutReason.DRAFT


@pytest.mark.parametrize(
    ("filters", "metadata", "expected"),
    [
        ({"product": "Atlas"}, {"product": "atlas"}, None),
        ({"product": "atlas"}, {}, "product: wanted atlas, has nothing"),
        ({"region": "eu"}, {}, None),
        ({"region": "eu"}, {"region": "us"}, "region: wanted eu, has us"),
        ({"plan_tier": "free"}, {"plan_tiers": ["free", "pro"]}, None),
        ({"plan_tier": "free"}, {"plan_tiers": ["pro", "enterprise"]}, "plan_tier: wanted free, has pro, enterprise"),
        ({"customer_facing": True}, {"answer_use": "internal"}, "answer_use: wanted any, has internal"),
        ({"customer_facing": False}, {"answer_use": "internal"}, None),
        ({"attributes": {"tier": 2}}, {"attributes": {"tier": "2"}}, None),
        ({"attributes": {"beta": True}}, {"attributes": {"beta": True}}, None),
        ({"attributes": {"beta": "true"}}, {"attributes": {}}, "attributes.beta: wanted true, has nothing"),
    ],
)
def test_filters(filters: dict, metadata: dict, expected: str | None):
    assert filter_mismatch(SearchFilters(**filters), metadata) == expected


def kept_out(candidates: list[Candidate], **request: object) -> list[tuple[str, str]]:
    entries = explain_kept_out(
        candidates,
        accepted=frozenset({"c/accepted.md"}),
        dropped={},
        asked=asked(SearchRequest(query="q", **request)),
    )
    return [(entry.document_id, entry.fragment_id[-5:]) for entry in entries]


def test_one_entry_a_document_with_its_best_fragment_and_none_for_accepted_documents():
    found = kept_out(
        [candidate("c/a.md", 0.5, 1), candidate("c/a.md", 0.7, 2), candidate("c/accepted.md", 0.9), candidate("c/b.md")]
    )
    assert found == [("c/a.md", "f0002"), ("c/b.md", "f0001")]


def test_of_those_below_the_score_only_the_three_nearest_are_listed():
    found = kept_out([candidate(f"c/{i}.md", 0.1 + i / 100) for i in range(6)])
    assert [document for document, _ in found] == ["c/5.md", "c/4.md", "c/3.md"]


def test_the_limit_holds():
    assert len(kept_out([candidate(f"c/{i}.md") for i in range(6)], kept_out_limit=2)) == 2
