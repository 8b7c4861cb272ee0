"""Cron expressions of five fields, and time zones: checked here, run by the scheduler."""

from __future__ import annotations

import re
from zoneinfo import ZoneInfo

__all__ = ["cron_fault", "timezone_fault"]

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_FIELDS: tuple[tuple[str, int, int, tuple[str, ...]], ...] = (
    ("minute", 0, 59, ()),
    ("hour", 0, 23, ()),
    ("day of the month", 1, 31, ()),
    ("month", 1, 12, _MONTHS),
    ("day of the week", 0, 7, _DAYS),
)
_LONGEST_MONTH = {1: 31, 2: 29, 3: 31, 4: 30, 5: 31, 6: 30, 7: 31, 8: 31, 9: 30, 10: 31, 11: 30, 12: 31}
_EXAMPLE = "write five fields such as '0 2 * * *' (02:00 every night)"


def cron_fault(expression: str) -> str:
    """What is wrong with a cron expression; empty when it is valid.

    >>> cron_fault("0 2 * * mon-fri"), cron_fault("0 25 * * *")
    ('', "hour is 0-23, found '25'")
    """
    fields = expression.split()
    if len(fields) != len(_FIELDS):
        return f"expected five fields, found {len(fields)}; {_EXAMPLE}"
    values: list[set[int]] = []
    for text, (name, lowest, highest, names) in zip(fields, _FIELDS, strict=True):
        found = _field_values(text.lower(), lowest, highest, names)
        if found is None:
            return f"{name} is {lowest}-{highest}, found {text!r}"
        values.append(found)
    _, _, days, months, _ = values
    if fields[4] == "*" and min(days) > max(_LONGEST_MONTH[month] for month in months):
        return "names a day that its months do not have, so it would never run"
    return ""


def _field_values(text: str, lowest: int, highest: int, names: tuple[str, ...]) -> set[int] | None:
    found: set[int] = set()
    for item in text.split(","):
        match = re.fullmatch(r"(\*|[a-z0-9]+(?:-[a-z0-9]+)?)(?:/(\d{1,4}))?", item)
        if match is None:
            return None
        span, step = match.group(1), int(match.group(2) or 1)
        if span == "*":
            first, last = lowest, highest
        else:
            ends = [_number(part, lowest, names) for part in span.split("-")]
            first = ends[0]
            last = highest if match.group(2) and len(ends) == 1 else ends[-1]
        if step < 1 or not lowest <= first <= last <= highest:
            return None
        found.update(range(first, last + 1, step))
    return found


def _number(text: str, lowest: int, names: tuple[str, ...]) -> int:
    if text in names:
        return names.index(text) + lowest
    return int(text) if text.isdigit() else -1


def timezone_fault(name: str) -> str:
    """What is wrong with a time zone name; empty when it is known.

    >>> timezone_fault("Europe/Zurich")
    ''
    """
    try:
        ZoneInfo(name)
    except (OSError, ValueError, KeyError):
        return "is no time zone of the IANA list; write one such as Europe/Zurich or UTC"
    return ""
