from __future__ import annotations

from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from corpus_pipeline.evaluation import GoldenQuery, MissClass
from corpus_pipeline.evaluation.facts import ChainFacts, unknown_sources
from corpus_pipeline.evaluation.judgement import Found, judge, missed_documents
from corpus_pipeline.records import ExclusionReason, Lifecycle, ServingState, VersionDecision
from corpus_pipeline.retrieval import Candidate, KeptOutReason, Ranking, Reason
from corpus_pipeline.retrieval.selection import DropCause, Dropped, Selection
from corpus_pipeline.retrieval.sufficiency import assess

AS_OF = date(2026, 11, 1)


def candidate(path: str, number: int = 1, score: float = 0.6) -> Candidate:
    return Candidate(
        f"c/{path}::f{number:04}", "p", "c", f"c/{path}", path, None, score, "t", "t", (), None, 0, 1, "s",
        np.zeros(2, dtype=np.float32),
    )  # fmt: skip


def ranking(*candidates: Candidate) -> Ranking:
    return Ranking(candidates, Selection(candidates, ()), {}, assess(candidates, candidates, {"c": 0.3}))


def decision(path: str, **changes: object) -> VersionDecision:
    values = {"corpus": "c", "document_id": f"c/{path}", "family": path, "lifecycle": Lifecycle.ACTIVE}
    return VersionDecision(**(values | changes))


def facts(*decisions: VersionDecision, inventory: tuple[str, ...] = (), **quarantined: str) -> ChainFacts:
    known = {one.document_id: one for one in decisions}
    listed = {*known, *(f"c/{path}" for path in inventory), *(f"c/{path}" for path in quarantined)}
    return ChainFacts("c", frozenset(listed), {f"c/{path}": why for path, why in quarantined.items()}, known)


def golden(**changes: object) -> GoldenQuery:
    return GoldenQuery(**({"query_id": "q", "query": "how?", "expected_sources": ["a"]} | changes))


def miss_of(known: ChainFacts, explained: Reason | None = None) -> tuple[MissClass, str]:
    given = {"c/a": explained} if explained else {}
    (miss,) = judge(golden(), Found(ranking(), given), known, AS_OF).misses
    return miss.miss_class, miss.detail


def test_every_expected_document_must_be_accepted_to_pass():
    query = golden(expected_sources=["a", "b"])
    known = facts(decision("a"), decision("b"))
    assert judge(query, Found(ranking(candidate("a"), candidate("b"))), known, AS_OF).passed
    assert missed_documents(query, "c", ranking(candidate("a"))) == ["c/b"]
    assert not judge(query, Found(ranking(candidate("a"))), known, AS_OF).passed


def test_two_fragments_of_a_document_are_one_rank():
    found = judge(
        golden(), Found(ranking(candidate("x"), candidate("x", 2), candidate("a"))), facts(decision("a")), AS_OF
    )
    assert found.ranked_documents == ("c/x", "c/a")


def test_an_unanswerable_query_passes_only_when_nothing_is_accepted():
    query = golden(expected_sources=[], should_match=False)
    assert judge(query, Found(ranking()), facts(), AS_OF).passed
    assert not judge(query, Found(ranking(candidate("a"))), facts(decision("a")), AS_OF).passed


def test_a_forbidden_hit_is_named_once_and_fails_the_query():
    query = golden(forbidden_sources=["old"])
    known = facts(decision("a"), decision("old"))
    found = judge(query, Found(ranking(candidate("a"), candidate("old"), candidate("old", 2))), known, AS_OF)
    assert (found.forbidden_hits, found.passed) == (("c/old",), False)


@pytest.mark.parametrize(
    "stale",
    [
        decision("a", is_current=False),
        decision("a", serving_state=ServingState.ARCHIVED),
        decision("a", valid_until=date(2026, 10, 31)),
        decision("a", valid_from=date(2026, 11, 2)),
    ],
)
def test_an_accepted_document_that_is_not_current_is_a_stale_hit(stale: VersionDecision):
    found = judge(golden(), Found(ranking(candidate("a"))), facts(stale), AS_OF)
    assert (found.stale_hits, found.passed) == (("c/a",), False)


def test_an_accepted_document_that_is_gone_is_a_stale_hit():
    assert judge(golden(), Found(ranking(candidate("a"))), facts(), AS_OF).stale_hits == ("c/a",)
    assert judge(golden(), Found(ranking(candidate("a"))), facts(inventory=("a",)), AS_OF).stale_hits == ("c/a",)


def test_a_document_in_force_on_its_first_and_last_day_is_not_stale():
    current = decision("a", valid_from=AS_OF, valid_until=AS_OF)
    assert judge(golden(), Found(ranking(candidate("a"))), facts(current), AS_OF).stale_hits == ()


def test_a_miss_is_blamed_on_the_first_stage_that_lost_the_document():
    archived = decision(
        "a", serving_state=ServingState.ARCHIVED, exclusion_reason=ExclusionReason.SUPERSEDED, exclusion_ref="c/b"
    )
    assert miss_of(facts())[0] is MissClass.NEVER_INGESTED
    assert miss_of(facts(a="encrypted")) == (MissClass.QUARANTINED, "quarantined: encrypted")
    assert miss_of(facts(inventory=("a",)))[0] is MissClass.NOT_CONVERTED
    assert miss_of(facts(archived)) == (MissClass.EXCLUDED, "kept out as superseded (c/b)")
    assert miss_of(facts(decision("a")))[0] is MissClass.NOT_INDEXED


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        (KeptOutReason.NOT_PERMITTED, MissClass.NOT_PERMITTED),
        (KeptOutReason.FILTERED, MissClass.FILTERED),
        (KeptOutReason.EXPIRED, MissClass.NOT_IN_FORCE),
        (KeptOutReason.NOT_YET_EFFECTIVE, MissClass.NOT_IN_FORCE),
        (KeptOutReason.BELOW_SCORE, MissClass.BELOW_SCORE),
        (KeptOutReason.NOT_RETRIEVED, MissClass.NOT_RETRIEVED),
        (KeptOutReason.CROWDED_OUT, MissClass.CROWDED_OUT),
        (KeptOutReason.OUTRANKED, MissClass.RANKED_TOO_LOW),
    ],
)
def test_a_miss_in_search_is_blamed_on_the_reason_search_gives(reason: KeptOutReason, expected: MissClass):
    assert miss_of(facts(decision("a")), Reason(reason, "why")) == (expected, "why")


def test_sources_that_the_inventory_does_not_have_are_listed():
    queries = (golden(forbidden_sources=["typo"]), golden(query_id="r", expected_sources=["b"]))
    assert unknown_sources(facts(decision("a")), queries) == ["c/b", "c/typo"]


def dropped(one: Candidate, cause: DropCause, position: int = 2, blocked_by: str | None = None) -> Dropped:
    return Dropped(one, cause, position, blocked_by)


def selected(accepted: tuple[Candidate, ...], left_out: tuple[Dropped, ...] = (), **sections: str) -> Ranking:
    candidates = (*accepted, *(one.candidate for one in left_out))
    return Ranking(candidates, Selection(accepted, left_out), sections, assess(candidates, accepted, {"c": 0.3}))


def says(path: str, text: str, number: int = 1) -> Candidate:
    return candidate(path, number)._replace(text=text)


QUOTED = {"expected_sources": [], "expected_passages": [{"source": "a", "anchor": "within 30 days"}]}
KNOWN = facts(decision("a"))


def test_a_passage_is_found_in_the_fragment_or_in_the_section_around_it():
    query = golden(**QUOTED)
    assert judge(query, Found(ranking(says("a", "refund within\n30 days"))), KNOWN, AS_OF).passed
    assert judge(query, Found(selected((says("a", "x"),), p="refund within 30 days")), KNOWN, AS_OF).passed
    assert not judge(query, Found(ranking(says("a", "x"))), KNOWN, AS_OF).passed


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (Found(ranking(says("a", "x")), texts={"c/a": "no more"}), MissClass.TEXT_LOST),
        (Found(ranking(says("a", "x")), texts={"c/a": "within 30 days"}), MissClass.NOT_INDEXED),
        (
            Found(ranking(says("a", "x")), texts={"c/a": "within 30 days"}, fragment_texts={"c/a": ["within 30 days"]}),
            MissClass.NOT_RETRIEVED,
        ),
        (
            Found(
                selected((says("a", "x"),), (dropped(says("a", "within 30 days", 2), DropCause.OUTRANKED),)),
                fragment_texts={"c/a": ["within 30 days"]},
            ),
            MissClass.RANKED_TOO_LOW,
        ),
        (
            Found(
                selected((says("a", "x"),), (dropped(says("a", "within 30 days", 2), DropCause.NEAR_COPY),)),
                fragment_texts={"c/a": ["within 30 days"]},
            ),
            MissClass.CROWDED_OUT,
        ),
    ],
)
def test_a_passage_of_a_found_document_is_blamed_on_what_lost_it(found: Found, expected: MissClass):
    (miss,) = judge(golden(**QUOTED), found, KNOWN, AS_OF).misses
    assert (miss.miss_class, miss.passage) == (expected, "within 30 days")


def test_a_document_whose_passage_no_fragment_says_is_not_indexed_whatever_its_rank():
    outranked = {"c/a": Reason(KeptOutReason.BELOW_SCORE, "score")}
    found = Found(ranking(), outranked, texts={"c/a": "within 30 days"}, fragment_texts={"c/a": ["syad 03"]})
    (miss,) = judge(golden(**QUOTED), found, KNOWN, AS_OF).misses
    assert (miss.miss_class, miss.passage) == (MissClass.NOT_INDEXED, "")


def test_a_document_that_loses_to_a_forbidden_one_is_outranked_by_a_stale_one():
    query = golden(forbidden_sources=["old"])
    explained = {"c/a": Reason(KeptOutReason.OUTRANKED, "place 6")}
    known = facts(decision("a"), decision("old"))
    (miss,) = judge(query, Found(ranking(candidate("old")), explained), known, AS_OF).misses
    assert (miss.miss_class, miss.detail) == (MissClass.STALE_OUTRANKED, "c/old came before it; place 6")
    taken = decision(
        "a", serving_state=ServingState.ARCHIVED, exclusion_reason=ExclusionReason.SUPERSEDED, exclusion_ref="c/old"
    )
    (miss,) = judge(query, Found(ranking()), facts(taken, decision("old")), AS_OF).misses
    assert miss.miss_class is MissClass.STALE_OUTRANKED


def test_a_document_its_reader_may_not_see_is_an_authorisation_hit():
    known = replace(facts(decision("a")), groups={"c/a": ("finance",)})
    found = judge(golden(), Found(ranking(candidate("a")), groups=("everyone",)), known, AS_OF)
    assert (found.authorisation_hits, found.passed) == (("c/a",), False)
    assert judge(golden(), Found(ranking(candidate("a")), groups=("finance",)), known, AS_OF).passed


def test_what_a_query_of_authorisation_forbids_is_an_authorisation_hit():
    query = golden(forbidden_sources=["pay"], category="authorisation")
    known = facts(decision("a"), decision("pay"))
    found = judge(query, Found(ranking(candidate("a"), candidate("pay"))), known, AS_OF)
    assert found.authorisation_hits == ("c/pay",)


def test_a_forbidden_passage_is_a_forbidden_hit_of_its_document():
    query = golden(forbidden_passages=[{"source": "a", "anchor": "14 days"}])
    assert judge(query, Found(ranking(says("a", "in 14 days"))), KNOWN, AS_OF).forbidden_hits == ("c/a",)
    assert judge(query, Found(ranking(says("a", "in 30 days"))), KNOWN, AS_OF).forbidden_hits == ()


def test_a_wiki_page_above_the_policy_of_its_family_is_an_authority_violation():
    known = facts(decision("a", family="f"), decision("wiki", family="f"), decision("x", family="g"))
    wiki = candidate("wiki")._replace(metadata={"source_class": "wiki"})
    policy = candidate("a")._replace(metadata={"source_class": "policy"})
    seen = judge(golden(), Found(ranking(wiki, candidate("x"), policy)), known, AS_OF).observed
    assert seen.authority_violations == (("c/wiki", "c/a"),)
    assert judge(golden(), Found(ranking(policy, wiki)), known, AS_OF).observed.authority_violations == ()


def test_a_conflicting_document_above_every_expected_one_is_an_authority_violation():
    query = golden(conflicting_sources=["x"])
    known = facts(decision("a"), decision("x"))
    above = judge(query, Found(ranking(candidate("x"), candidate("a"))), known, AS_OF)
    below = judge(query, Found(ranking(candidate("a"), candidate("x"))), known, AS_OF)
    assert (above.observed.authority_violations, below.observed.authority_violations) == ((("c/x", "c/a"),), ())


def test_accepted_fragments_must_have_the_required_metadata():
    query = golden(required_metadata={"product": "Relay"})
    other = candidate("a")._replace(metadata={"product": "Pager"})
    found = judge(query, Found(ranking(other)), KNOWN, AS_OF)
    assert (found.observed.metadata_mismatches, found.passed) == (("c/a: product: wanted Relay, has Pager",), False)


def test_copies_are_counted_among_the_best_ten_candidates():
    left_out = tuple(
        dropped(candidate("b", place), DropCause.NEAR_COPY, place, blocked_by="c/a::f0001") for place in range(2, 13)
    )
    seen = judge(golden(), Found(selected((candidate("a"),), left_out)), KNOWN, AS_OF).observed
    assert (seen.copies, seen.looked_at) == (9, 10)
