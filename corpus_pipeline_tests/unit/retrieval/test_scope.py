from __future__ import annotations

from datetime import date

import pytest

from corpus_pipeline.retrieval import SearchFilters
from corpus_pipeline.retrieval.scope import Facets, collect_facets, merge_facets, read_scope
from corpus_pipeline.retrieval.spoken_period import spoken_date, spoken_periods

FILINGS = Facets(
    {
        "attributes.organisation": (
            "Acme Holdings, Inc.",
            "Bluewater Corporation",
            "Bluewater Logistics",
            "SHOPFRONT.COM, INC.",
        ),
        "attributes.period_label": ("2022-Q3", "2023-Q1", "2023-Q2"),
        "attributes.period_end": ("2022-09-24", "2023-04-01"),
        "attributes.is_latest": ("false", "true"),
    }
)
PLANS = Facets({"plan_tier": ("enterprise", "free"), "product": ("Relay",), "region": ("EU", "US")})


def attributes(question: str, facets: Facets = FILINGS, **given: str) -> list[dict[str, object]]:
    return [one.attributes for one in read_scope(question, facets, SearchFilters(attributes=given)).alternatives]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What did Acme Holdings earn in Q1 2023?", {"organisation": "Acme Holdings, Inc.", "period_label": "2023-Q1"}),
        (
            "Bluewater's debt in the third quarter of 2022",
            {"organisation": "Bluewater Corporation", "period_label": "2022-Q3"},
        ),
        ("Bluewater Logistics: 2023 Q2", {"organisation": "Bluewater Logistics", "period_label": "2023-Q2"}),
        ("Acme Holdings in its most recent 10-Q", {"organisation": "Acme Holdings, Inc.", "is_latest": "true"}),
        ("the latest quarter of Bluewater", {"organisation": "Bluewater Corporation", "is_latest": "true"}),
        ("for the quarter ended April 1, 2023", {"period_end": "2023-04-01"}),
        ("How do acme holdings work?", {}),
        ("Does Shopfront sell abroad?", {"organisation": "SHOPFRONT.COM, INC."}),
        ("a bluewater port", {}),
    ],
)
def test_companies_and_periods(question: str, expected: dict[str, str]):
    assert attributes(question) == [expected]


def test_two_quarters_are_alternatives():
    found = attributes("How did Acme Holdings change between Q3 2022 and Q1 2023?")
    assert [one["period_label"] for one in found] == ["2022-Q3", "2023-Q1"]


def test_what_the_asker_gave_is_not_read_again():
    assert attributes("Q1 2023", period_label="2022-Q3") == [{"period_label": "2022-Q3"}]


def test_each_reading_is_told():
    assert read_scope("Acme Holdings, Q1 2023", FILINGS, SearchFilters()).read == (
        "organisation: Acme Holdings, Inc.",
        "period_label: 2023-Q1",
    )


@pytest.mark.parametrize(
    ("question", "tier"),
    [
        ("Which support does the Free tier get?", "free"),
        ("support of the free plan", "free"),
        ("support for Enterprise customers", "enterprise"),
        ("Is the trial free of charge?", None),
        ("Free of charge?", None),
    ],
)
def test_a_plain_word_counts_as_a_plan_only_when_it_is_used_as_one(question: str, tier: str | None):
    assert read_scope(question, PLANS, SearchFilters()).alternatives[0].plan_tier == tier


def test_a_name_in_capitals_is_not_the_pronoun():
    assert read_scope("Tell us more", PLANS, SearchFilters()).alternatives[0].region is None
    assert read_scope("Is it sold in the US?", PLANS, SearchFilters()).alternatives[0].region == "US"


def test_a_day_is_a_day_where_documents_have_no_periods():
    found = read_scope("What was the refund window as of March 1, 2024?", PLANS, SearchFilters())
    assert found.as_of == date(2024, 3, 1)
    assert read_scope("as of April 1, 2023", FILINGS, SearchFilters()).as_of is None


def test_a_key_with_too_many_values_is_no_scope():
    rows = [{"product": "Relay", "attributes": {"number": f"n{n}", "team": "a"}} for n in range(600)]
    assert collect_facets(rows).values == {"product": ("Relay",), "attributes.team": ("a",)}


def test_vocabularies_of_corpora_are_merged():
    assert merge_facets([Facets({"region": ("EU",)}), Facets({"region": ("EU", "US")})]).of("region") == ("EU", "US")


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Q1 2023", {"2023-Q1"}),
        ("2023 Q1 and FY2023 Q2", {"2023-Q1", "2023-Q2"}),
        ("second quarter of fiscal year 2023", {"2023-Q2"}),
        ("fiscal 2023 second quarter", {"2023-Q2"}),
        ("in 2023", {"2023-Q1", "2023-Q2", "2023-03"}),
        ("minutes of March 2023", {"2023-03"}),
        ("ended April 1, 2023", set()),
        ("version 2023.1", set()),
        ("nothing", set()),
    ],
)
def test_periods_as_people_say_them(question: str, expected: set[str]):
    assert spoken_periods(question, ["2022-Q4", "2023-Q1", "2023-Q2", "2023-03"]) == expected


@pytest.mark.parametrize("said", ["1 July 2023", "July 1, 2023", "Jul. 1st, 2023", "2023-07-01"])
def test_days_as_people_write_them(said: str):
    assert spoken_date(f"the quarter ended {said} was good") == date(2023, 7, 1)


def test_a_day_that_does_not_exist_is_none():
    assert spoken_date("February 31, 2023") is None
