"""Periods of reports: as declared in metadata or a name, and as the text states their last day.

A declared quarter may be one of the calendar or of a fiscal year, and nothing in ``2023 Q1`` tells
which. The text tells the day the period ended; where that day is not the end of the calendar's
quarter the two are stored side by side and the document is put up for review.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import NamedTuple

from corpus_pipeline.versions.dates import DATE_PATTERN, parse_date
from corpus_pipeline.versions.names import VersionKey, parse_name

__all__ = ["StatedPeriod", "calendar_doubt", "period_key", "period_label", "stated_period"]

SEARCHED_CHARS = 8_000
WEEK_RULE = timedelta(days=7)
"""Companies that count 52 or 53 weeks end a calendar quarter up to a week beside its last day."""

_PERIOD = re.compile(
    r"\b(?:for|of|covers|covering|during)?\s*(?:the|a)?\s*"
    r"(?P<what>(?:(?:fiscal|calendar|reporting|financial|quarterly|annual|monthly|weekly|interim|half[- ]year(?:ly)?"
    r"|first|second|third|fourth|three|six|nine|twelve|thirteen|\d{1,2})[\s-]+){0,3}"
    r"(?:quarter|period|year|months?|weeks?))\s+(?:ended|ending)(?:\s+(?:on|at))?[\s:]+"
    rf"(?P<date>{DATE_PATTERN})",
    re.IGNORECASE,
)
_WORDS_ALONE = re.compile(r"^for the \S+(?: \S+)? (?:ended|ending)\b", re.IGNORECASE)
_DATE_ALONE = re.compile(rf"^(?:{DATE_PATTERN})$", re.IGNORECASE)


class StatedPeriod(NamedTuple):
    """The period a text says it reports on; ``quote`` holds the words."""

    end: date
    quote: str


def stated_period(text: str) -> StatedPeriod | None:
    """The first period that the beginning of a text says it is for.

    >>> stated_period("FORM 10-Q. For the quarterly period ended April 1, 2023 or")
    StatedPeriod(end=datetime.date(2023, 4, 1), quote='For the quarterly period ended April 1, 2023')
    """
    for match in _PERIOD.finditer(" ".join(text[:SEARCHED_CHARS].split())):
        if found := parse_date(match["date"]):
            return StatedPeriod(found, match[0].strip()[:240])
    return _set_apart(text[:SEARCHED_CHARS])


def _set_apart(text: str) -> StatedPeriod | None:
    """A cover whose date is set apart from its words: a line that is a date alone, next to "period ended"."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for position, line in enumerate(lines):
        if _WORDS_ALONE.search(line):
            for beside in lines[max(position - 1, 0) : position + 2]:
                if _DATE_ALONE.match(beside) and (found := parse_date(beside)):
                    return StatedPeriod(found, f"{line} / {beside}"[:240])
    return None


def period_key(label: str) -> VersionKey | None:
    """The period that a declared label is.

    >>> period_key("Q1 2023"), period_key("the first one")
    (VersionKey(scheme='quarter', parts=(2023, 1)), None)
    """
    found = parse_name(f"{label.strip()} report").key
    return found if found is not None and found.scheme in ("quarter", "date") else None


def period_label(key: VersionKey) -> str:
    """A period in one form, whatever form it was declared in: ``2023-Q1``, ``2024-03``."""
    if key.scheme == "quarter":
        return f"{key.parts[0]}-Q{key.parts[1]}"
    year, *rest = key.parts
    return "-".join([str(year), *(f"{part:02d}" for part in rest)])


def calendar_doubt(key: VersionKey, end: date) -> str:
    """What a declared quarter and the stated last day disagree about; empty when they agree.

    >>> calendar_doubt(VersionKey("quarter", (2023, 1)), date(2023, 4, 1))
    ''
    >>> calendar_doubt(VersionKey("quarter", (2023, 1)), date(2022, 12, 31))
    'declared as 2023-Q1, but its text says the period ended on 2022-12-31, in the calendar 2022-Q4'
    """
    if key.scheme != "quarter" or abs(end - _last_day(key.parts[0], key.parts[1])) <= WEEK_RULE:
        return ""
    near = end - WEEK_RULE  # a day early in a quarter closes the one before
    return (
        f"declared as {period_label(key)}, but its text says the period ended on {end.isoformat()}, in the calendar "
        f"{near.year}-Q{(near.month + 2) // 3}"
    )


def _last_day(year: int, quarter: int) -> date:
    return date(year + quarter // 4, 3 * quarter % 12 + 1, 1) - timedelta(days=1)
