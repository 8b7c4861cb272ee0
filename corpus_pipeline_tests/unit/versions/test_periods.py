"""Periods as declared and as the text states their last day."""

from __future__ import annotations

from datetime import date

import pytest

from corpus_pipeline.versions.names import VersionKey
from corpus_pipeline.versions.periods import calendar_doubt, period_key, period_label, stated_period


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("For the quarterly period ended June 25, 2022 or", date(2022, 6, 25)),
        ("For the fiscal year ended 31 December 2023", date(2023, 12, 31)),
        ("Results for the three months ended March 31, 2023", date(2023, 3, 31)),
        ("Report of the board for the half-year period ending 30 June 2024.", date(2024, 6, 30)),
        ("Accounts for the 52 weeks ended\n28 January 2023", date(2023, 1, 28)),
        ("- x\n\nOctober 1, 2022\n\nFor the quarterly period ended or\n\nTRANSITION REPORT", date(2022, 10, 1)),
    ],
)
def test_the_last_day_of_a_period_is_read(text: str, end: date) -> None:
    found = stated_period(text)
    assert found is not None
    assert found.end == end
    assert found.quote


@pytest.mark.parametrize(
    "text",
    [
        "The war ended May 8, 1945.",
        "For the transition period from to",
        "October 1, 2022\n\nSome other line.\n\nFor the quarterly period ended or",
        "The period ended badly. March 3, 2020 was a Tuesday.",
    ],
)
def test_other_dates_are_no_period(text: str) -> None:
    assert stated_period(text) is None


def test_declared_labels_come_in_one_form() -> None:
    assert [period_label(key) for label in ("Q1 2023", "2023-Q1", "2024-03") if (key := period_key(label))] == [
        "2023-Q1",
        "2023-Q1",
        "2024-03",
    ]
    assert period_key("second edition") is None
    assert period_key("1.2") is None


@pytest.mark.parametrize(
    ("quarter", "end", "calendar"),
    [
        ((2023, 3), date(2023, 9, 30), None),
        ((2022, 3), date(2022, 10, 1), None),
        ((2023, 4), date(2023, 12, 31), None),
        ((2023, 3), date(2023, 7, 1), "2023-Q2"),
        ((2022, 3), date(2022, 10, 30), "2022-Q4"),
        ((2023, 1), date(2022, 12, 31), "2022-Q4"),
    ],
)
def test_a_quarter_that_is_not_the_calendars_is_doubted(
    quarter: tuple[int, int], end: date, calendar: str | None
) -> None:
    doubt = calendar_doubt(VersionKey("quarter", quarter), end)
    assert doubt.endswith(f"in the calendar {calendar}") if calendar else doubt == ""
