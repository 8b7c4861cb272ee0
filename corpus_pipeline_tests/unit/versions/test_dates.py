from __future__ import annotations

from datetime import date

import pytest

from corpus_pipeline.versions.dates import first_date, parse_date


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-03-01", date(2024, 3, 1)),
        ("2024/03/01", date(2024, 3, 1)),
        ("1 March 2024", date(2024, 3, 1)),
        ("1st of May", None),
        ("28-Apr-2005", date(2005, 4, 28)),
        ("March 1st, 2024", date(2024, 3, 1)),
        ("Sept. 3, 2019", date(2019, 9, 3)),
        ("April 1969", date(1969, 4, 1)),
        ("01.03.2024", date(2024, 3, 1)),
        ("03/04/2024", None),
        ("31 February 2024", None),
        ("2024-13-01", None),
    ],
)
def test_a_date_is_read_or_left_alone(text: str, expected: date | None) -> None:
    assert parse_date(text) == expected


def test_the_first_readable_date_counts() -> None:
    assert first_date("from 03/04/2024, adopted 2 June 2023 and 2024-01-01") == date(2023, 6, 2)
    assert first_date("no date") is None
