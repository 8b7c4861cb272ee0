"""Dates as documents and file names write them. Ambiguous forms such as 03/04/2024 give no date."""

from __future__ import annotations

import re
from datetime import date

__all__ = ["DATE_PATTERN", "first_date", "parse_date"]

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
_MONTH += r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"

DATE_PATTERN = (
    r"\d{4}-\d{2}-\d{2}"
    r"|\d{4}/\d{2}/\d{2}"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?[ -]{_MONTH},?[ -]\d{{4}}"
    rf"|{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}"
    r"|\d{1,2}\.\d{1,2}\.\d{4}"
    rf"|{_MONTH},? \d{{4}}"
)
"""Matches the date forms that :func:`parse_date` reads (use with ``re.IGNORECASE``)."""

_FIND = re.compile(rf"(?<![\w.])(?:{DATE_PATTERN})(?!\w)", re.IGNORECASE)
_NUMERIC = re.compile(r"(\d{4})[-/](\d{2})[-/](\d{2})$")
_POINTED = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})$")
_DAY_FIRST = re.compile(rf"(\d{{1,2}})(?:st|nd|rd|th)?[ -]({_MONTH}),?[ -](\d{{4}})$", re.IGNORECASE)
_MONTH_FIRST = re.compile(rf"({_MONTH}) (\d{{1,2}})(?:st|nd|rd|th)?,? (\d{{4}})$", re.IGNORECASE)
_MONTH_ONLY = re.compile(rf"({_MONTH}),? (\d{{4}})$", re.IGNORECASE)


def parse_date(text: str) -> date | None:
    """The date a text is, or ``None``. A month without a day is its first day.

    >>> parse_date("1 March 2024"), parse_date("Sept. 3rd, 2019"), parse_date("March 2024")
    (datetime.date(2024, 3, 1), datetime.date(2019, 9, 3), datetime.date(2024, 3, 1))
    >>> parse_date("03/04/2024") is None
    True
    """
    text = " ".join(text.split())
    if match := _NUMERIC.match(text):
        return _date(match[1], match[2], match[3])
    if match := _POINTED.match(text):
        return _date(match[3], match[2], match[1])
    if match := _DAY_FIRST.match(text):
        return _date(match[3], _month(match[2]), match[1])
    if match := _MONTH_FIRST.match(text):
        return _date(match[3], _month(match[1]), match[2])
    if match := _MONTH_ONLY.match(text):
        return _date(match[2], _month(match[1]), 1)
    return None


def first_date(text: str) -> date | None:
    """The first readable date in a text.

    >>> first_date("the Refund Policy of 1 March 2024, as amended")
    datetime.date(2024, 3, 1)
    """
    for match in _FIND.finditer(" ".join(text.split())):
        if found := parse_date(match[0]):
            return found
    return None


def _month(word: str) -> int:
    return _MONTHS.index(word.lower()[:3]) + 1


def _date(year: str | int, month: str | int, day: str | int) -> date | None:
    try:
        found = date(int(year), int(month), int(day))
    except ValueError:
        return None
    return found if 1900 <= found.year <= 2200 else None  # noqa: PLR2004 - outside it is a number, not a year
