"""Periodic editions: series, declared and stated periods, the latest member, and what is left to a person."""

from __future__ import annotations

from typing import Any

import pytest

from corpus_pipeline.index.rows import document_part
from corpus_pipeline_tests.unit.versions.conftest import Corpus, Outcome


def report(end: str, issuer: str = "Harbour Holding Inc.") -> str:
    return f"FORM 10-Q\n\nFor the quarterly period ended {end}\n\n{issuer}\n\n(Exact name of registrant)\n\nSales rose."


def facts(outcome: Outcome, path: str) -> dict[str, Any]:
    return outcome[path].facts


def test_quarters_carry_their_series_period_and_issuer(corpus: Corpus) -> None:
    corpus.add("2022 Q4 HRBR.pdf", report("December 31, 2022"))
    corpus.add("2023 Q1 HRBR.pdf", report("April 1, 2023"))
    outcome = corpus.resolve()
    assert facts(outcome, "2023 Q1 HRBR.pdf") == {
        "series_key": "hrbr",
        "period_label": "2023-Q1",
        "period_end": "2023-04-01",
        "is_latest": True,
        "organisation": "Harbour Holding Inc.",
    }
    assert outcome["2022 Q4 HRBR.pdf"].is_latest is False
    assert outcome["2022 Q4 HRBR.pdf"].is_current, "earlier editions stay true for their period"
    assert not any(one.needs_review for one in outcome.resolution.decisions)


def test_what_is_served_carries_the_facts_as_attributes(corpus: Corpus) -> None:
    corpus.add("2023 Q1 HRBR.pdf", report("April 1, 2023"), attributes={"desk": "north", "is_latest": False})
    decision = corpus.resolve()["2023 Q1 HRBR.pdf"]
    served = document_part(corpus.documents[0], decision).values["attributes"]
    assert served == {"desk": "north", **decision.facts}
    assert served["is_latest"] is True, "what was decided, not what a sidecar claims"


def test_a_single_quarter_is_the_latest_of_its_series(corpus: Corpus) -> None:
    corpus.add("2023 Q1 HRBR.pdf", report("March 31, 2023"))
    corpus.add("manual.md", "Results for the three months ended March 31, 2023 were good.")
    outcome = corpus.resolve()
    assert outcome["2023 Q1 HRBR.pdf"].is_latest
    assert outcome["manual.md"].facts == {}


@pytest.mark.parametrize("settled", [{"attributes": {"fiscal": True}}, {"attributes": {"period": "FY2023 Q1"}}])
def test_a_fiscal_quarter_is_flagged_until_somebody_says_so(corpus: Corpus, settled: dict[str, Any]) -> None:
    corpus.add("2023 Q1 HRBR.pdf", report("December 31, 2022"))
    decision = corpus.resolve()["2023 Q1 HRBR.pdf"]
    assert decision.needs_review
    assert decision.is_current
    assert "declared as 2023-Q1, but its text says the period ended on 2022-12-31" in decision.evidence
    assert "For the quarterly period ended December 31, 2022" in decision.evidence
    other = Corpus()
    other.add("2023 Q1 HRBR.pdf", report("December 31, 2022"), **settled)
    assert not other.resolve()["2023 Q1 HRBR.pdf"].needs_review


def test_names_and_days_that_tell_different_orders_leave_the_latest_open(corpus: Corpus) -> None:
    corpus.add("2023 Q1 HRBR.pdf", report("June 30, 2023"))
    corpus.add("2023 Q2 HRBR.pdf", report("March 31, 2023"))
    outcome = corpus.resolve()
    assert [one.is_latest for one in outcome.resolution.decisions] == [None, None]
    assert all(one.needs_review for one in outcome.resolution.decisions)
    assert "none is called the latest" in outcome["2023 Q1 HRBR.pdf"].evidence


def test_a_withdrawn_or_draft_edition_is_not_the_latest(corpus: Corpus) -> None:
    corpus.add("2023 Q1 HRBR.pdf", report("March 31, 2023"))
    corpus.add("2023 Q2 HRBR.pdf", report("June 30, 2023"), lifecycle="withdrawn")
    outcome = corpus.resolve()
    assert outcome["2023 Q1 HRBR.pdf"].is_latest
    assert outcome["2023 Q2 HRBR.pdf"].is_latest is False


def test_a_period_declared_in_metadata_makes_an_edition_of_a_declared_family(corpus: Corpus) -> None:
    declared = {"family": "minutes", "declared_in": "sidecar"}
    corpus.add("a.pdf", "Minutes.", attributes={"series": True, "period": "2024-02", "company": "Quay"}, **declared)
    corpus.add("b.pdf", "Minutes.", attributes={"series": True, "period": "2024-03", "company": "Quay"}, **declared)
    outcome = corpus.resolve()
    assert [(one.period_label, one.is_latest) for one in outcome.resolution.decisions] == [
        ("2024-02", False),
        ("2024-03", True),
    ]
    assert outcome["b.pdf"].organisation == "Quay"
    assert outcome.relation("b.pdf", "a.pdf").relation == "series"
