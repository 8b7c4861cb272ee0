"""What a question says about where its answer holds: product, company, plan, period, "latest", "as of".

Rules, not a model: a value counts only if documents that may answer declare it, so that every
corpus brings its own vocabulary, and each reading is told in words. Nothing here narrows what the
asker has already given as a filter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from itertools import product
from typing import Any

from corpus_pipeline.retrieval.request import SearchFilters
from corpus_pipeline.retrieval.spoken_period import spoken_date, spoken_periods

__all__ = ["Facets", "ScopeReading", "collect_facets", "merge_facets", "read_scope"]

MOST_VALUES = 500
"""A key with more values than this tells documents apart; it is no scope."""

MOST_ALTERNATIVES = 8

PERIOD, PERIOD_END, LATEST = "attributes.period_label", "attributes.period_end", "attributes.is_latest"
_COLUMNS = ("product", "region", "environment", "audience")
_UNREAD = frozenset({PERIOD, PERIOD_END, LATEST, "attributes.series_key"})
_CUES = {
    "plan_tier": (
        *("plan", "plans", "tier", "tiers", "edition", "customer", "customers", "user", "users"),
        *("account", "accounts", "subscription", "subscribers"),
    ),
    "region": ("region", "customers", "in"),
    "environment": ("environment", "system", "cluster"),
}
_LEGAL_FORM = re.compile(
    r"(?:,?\s+(?:inc|incorporated|corp|corporation|company|co|ltd|limited|llc|llp|plc|ag|gmbh|se|sa|s\.a|nv|n\.v|bv|oy|ab|asa|kg)\b\.?)+$",
    re.IGNORECASE,
)
_SITE = re.compile(r"\.(?:com|net|org|io)$", re.IGNORECASE)
_NEWEST = re.compile(
    r"\b(?:latest|newest|most\s+recent(?:ly)?|current|last)\b(?:[\w\s'-]{0,24}?)\b(?:10-?[qk]|quarter(?:ly)?|report|filing|period|edition|"
    r"release|version|minutes|year|month|results?|statements?)\b|\b(?:latest|newest|most\s+recent)\b",
    re.IGNORECASE,
)
_AS_OF = re.compile(r"\b(?:as\s+(?:of|at)|on|effective)\s+(?P<rest>.{6,40})", re.IGNORECASE)
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Facets:
    """Values that the documents of a scope declare, by filter key, each as it is written."""

    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def of(self, key: str) -> tuple[str, ...]:
        """The values of one key; empty where none is declared."""
        return self.values.get(key, ())


@dataclass(frozen=True, slots=True)
class ScopeReading:
    """What was read.

    Attributes:
        alternatives: Filters, of which a fragment meets all of one; those given when nothing was read.
        read: Each reading in words.
        as_of: A day the question names, where documents have validity and not periods.
    """

    alternatives: tuple[SearchFilters, ...]
    read: tuple[str, ...] = ()
    as_of: date | None = None


def collect_facets(rows: Iterable[Mapping[str, Any]]) -> Facets:
    """The vocabulary of documents, from their ``product``, ``plan_tiers``, ``region``, … and text attributes."""
    found: dict[str, set[str]] = {}
    for row in rows:
        for key in _COLUMNS:
            if row.get(key):
                found.setdefault(key, set()).add(str(row[key]))
        for tier in row.get("plan_tiers") or ():
            found.setdefault("plan_tier", set()).add(str(tier))
        for key, value in (row.get("attributes") or {}).items():
            if isinstance(value, bool):
                found.setdefault(f"attributes.{key}", set()).add(str(value).lower())
            elif isinstance(value, str) and value.strip():
                found.setdefault(f"attributes.{key}", set()).add(value)
    return Facets({key: tuple(sorted(values)) for key, values in sorted(found.items()) if len(values) <= MOST_VALUES})


def merge_facets(facets: Sequence[Facets]) -> Facets:
    """The vocabulary of several corpora together."""
    keys = sorted({key for one in facets for key in one.values})
    return Facets({key: tuple(sorted({value for one in facets for value in one.of(key)})) for key in keys})


def read_scope(question: str, facets: Facets, given: SearchFilters) -> ScopeReading:
    """Filters from the words of a question.

    Several values of one key are alternatives: a question that names two quarters is about both.

    Args:
        question: As asked.
        facets: Vocabulary of the corpora that are searched.
        given: Filters of the asker; a key that is set there is not read again.

    >>> facets = Facets({"attributes.organisation": ("Apple Inc.", "Intel"), "attributes.period_label": ("2023-Q1",)})
    >>> read_scope("How much did Apple invest in Q1 2023?", facets, SearchFilters()).read
    ('organisation: Apple Inc.', 'period_label: 2023-Q1')
    """
    choices: list[tuple[str, tuple[str, ...]]] = []
    for key in sorted(facets.values.keys() - _UNREAD):
        named = tuple(value for value in facets.of(key) if _mentions(question, key, value))
        if named and not _is_given(given, key):
            choices.append((key, _longest(named)))
    choices += _period_choices(question, facets, given)
    while choices and _count(choices) > MOST_ALTERNATIVES:
        choices.remove(max(choices, key=lambda choice: len(choice[1])))
    alternatives = tuple(
        _with(given, dict(zip([key for key, _ in choices], values, strict=True)))
        for values in product(*[values for _, values in choices])
    )
    read = tuple(f"{key.removeprefix('attributes.')}: {' or '.join(values)}" for key, values in choices)
    day = None if any(key in {PERIOD, PERIOD_END} for key, _ in choices) else _as_of(question)
    return ScopeReading(alternatives or (given,), read + ((f"as of {day}",) if day else ()), day)


def _period_choices(question: str, facets: Facets, given: SearchFilters) -> list[tuple[str, tuple[str, ...]]]:
    """A period that documents are about; or, where none is named, the latest of each series."""
    if any(_is_given(given, key) for key in (PERIOD, PERIOD_END, LATEST)):
        return []
    known = facets.of(PERIOD)
    named = tuple(label for label in known if label in spoken_periods(question, known))
    if named:
        return [(PERIOD, named)]
    ends = facets.of(PERIOD_END)
    day = spoken_date(question)
    if day is not None and day.isoformat() in ends:
        return [(PERIOD_END, (day.isoformat(),))]
    if "true" in facets.of(LATEST) and _NEWEST.search(question):
        return [(LATEST, ("true",))]
    return []


def _as_of(question: str) -> date | None:
    found = _AS_OF.search(question)
    return spoken_date(found["rest"]) if found else None


def _mentions(question: str, key: str, value: str) -> bool:
    """Whether a value is named as such, not just a common word that reads the same.

    A value written with a capital is a name and must be written so; another must begin with a capital
    within the sentence, be more than a plain word, or stand beside a word such as "plan".
    """
    spoken = _spoken(value)
    for found in _phrase(spoken).finditer(question):
        said = found[0]
        if spoken[0].isupper():
            if said[0].isupper() and (len(said) > 1 or spoken == value):
                return True
        elif not spoken.isalpha() or (said[0].isupper() and found.start() > 0) or _has_cue(question, found, key):
            return True
    return False


def _has_cue(question: str, found: re.Match[str], key: str) -> bool:
    cues = _CUES.get(key, (key.removeprefix("attributes."),))
    before, after = _WORD.findall(question[: found.start()])[-1:], _WORD.findall(question[found.end() :])[:1]
    return any(word.lower() in cues for word in (*before, *after))


@lru_cache(maxsize=8192)
def _phrase(value: str) -> re.Pattern[str]:
    parts = r"[\s_-]+".join(re.escape(part) for part in re.split(r"[\s_-]+", value) if part) or re.escape(value)
    return re.compile(rf"(?<![\w-]){parts}(?:'s|\u2019s|s')?(?![\w-])", re.IGNORECASE)


def _longest(values: Sequence[str]) -> tuple[str, ...]:
    """Without values that are only part of another that is named too."""
    return tuple(
        value
        for value in values
        if not any(value != other and _phrase(_spoken(value)).search(_spoken(other)) for other in values)
    )


def _spoken(value: str) -> str:
    """A name without its legal form, as people say it."""
    short = _SITE.sub("", _LEGAL_FORM.sub("", value.removeprefix("The ")).strip())
    return short or value


def _is_given(given: SearchFilters, key: str) -> bool:
    if key.startswith("attributes."):
        return key.removeprefix("attributes.") in given.attributes
    return getattr(given, key, None) is not None


def _with(given: SearchFilters, values: Mapping[str, str]) -> SearchFilters:
    columns = {key: value for key, value in values.items() if not key.startswith("attributes.")}
    attributes = {key.removeprefix("attributes."): values[key] for key in values if key not in columns}
    return given.model_copy(update=columns | {"attributes": {**given.attributes, **attributes}})


def _count(choices: Sequence[tuple[str, tuple[str, ...]]]) -> int:
    total = 1
    for _, values in choices:
        total *= len(values)
    return total
