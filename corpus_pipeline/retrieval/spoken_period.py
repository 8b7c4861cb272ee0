"""Periods and days as people name them in a question."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date

__all__ = ["spoken_date", "spoken_periods"]

_ORDINALS = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "last": 4}
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_MONTH = "|".join(f"{month}|{month[:3]}" for month in _MONTHS)
_YEAR = r"(?:fy\s?|fiscal\s+(?:year\s+)?|year\s+|of\s+|the\s+|,\s*|'|\u2019)*(?P<year>(?:19|20)\d\d)"
_QUARTERS = (
    re.compile(rf"\bq(?P<quarter>[1-4])[\s/,_-]*{_YEAR}\b", re.IGNORECASE),
    re.compile(r"(?:\b|(?<=fy))(?P<year>(?:19|20)\d\d)[\s/,_-]*q(?P<quarter>[1-4])\b", re.IGNORECASE),
    re.compile(
        rf"\b(?P<ordinal>{'|'.join(_ORDINALS)})[\s-]+(?:fiscal\s+)?quarter\s*(?:report\s*)?(?:of\s+|in\s+|for\s+)?{_YEAR}\b",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b{_YEAR}['\u2019s]*\s+(?P<ordinal>{'|'.join(_ORDINALS)})[\s-]+(?:fiscal\s+)?quarter\b", re.IGNORECASE
    ),
)
_BARE_YEAR = re.compile(r"(?<![\d.-])((?:19|20)\d\d)(?![\d-]|\.\d)")
_MONTH_YEAR = re.compile(rf"\b(?P<month>{_MONTH})\.?,?\s+(?:of\s+)?(?P<year>(?:19|20)\d\d)\b", re.IGNORECASE)
_DATES = (
    re.compile(r"\b(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})\b"),
    re.compile(rf"\b(?P<name>{_MONTH})\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year>\d{{4}})\b", re.IGNORECASE),
    re.compile(
        rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\.?\s+(?P<name>{_MONTH})\.?,?\s+(?P<year>\d{{4}})\b", re.IGNORECASE
    ),
)


def spoken_periods(question: str, known: Iterable[str]) -> frozenset[str]:
    """Those of the known period labels that a question names.

    A year alone names all its periods; a year that is part of a named quarter or month does not.

    Args:
        question: As asked.
        known: Labels such as ``2023-Q1``, ``2024-03`` or ``2024``.

    >>> sorted(spoken_periods("from Q4 2022 to the first quarter of 2023", ["2022-Q4", "2023-Q1", "2023-Q2"]))
    ['2022-Q4', '2023-Q1']
    """
    named: set[str] = set()
    rest = question
    for pattern in _QUARTERS:
        for found in pattern.finditer(rest):
            values = found.groupdict()
            quarter = values.get("quarter") or _ORDINALS[values["ordinal"].lower()]
            named.add(f"{values['year']}-Q{quarter}")
        rest = pattern.sub(" ", rest)
    for pattern in _DATES:  # a day is no period; its year names none
        rest = pattern.sub(" ", rest)
    for found in _MONTH_YEAR.finditer(rest):
        named.add(f"{found['year']}-{_month(found['month']):02d}")
    years = set(_BARE_YEAR.findall(_MONTH_YEAR.sub(" ", rest)))
    return frozenset(label for label in known if label in named or (not named and label[:4] in years))


def spoken_date(question: str) -> date | None:
    """The first day that a question names in full.

    >>> spoken_date("net sales for the quarter ended July 1, 2023")
    datetime.date(2023, 7, 1)
    """
    for pattern in _DATES:
        for found in pattern.finditer(question):
            values = found.groupdict()
            month = _month(values["name"]) if values.get("name") else int(values["month"])
            try:
                return date(int(values["year"]), month, int(values["day"]))
            except ValueError:
                continue
    return None


def _month(name: str) -> int:
    return next(number for number, month in enumerate(_MONTHS, start=1) if month.startswith(name.lower()[:3]))
