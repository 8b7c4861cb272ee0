"""Golden queries: questions with the documents that must and must not answer them.

One JSON object a line; docs/golden-queries.md describes the keys.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from corpus_pipeline.errors import Fault, GoldenQueriesError
from corpus_pipeline.evaluation.passage import Passage
from corpus_pipeline.records import Record, canonical_json, sha256_hex
from corpus_pipeline.retrieval import SearchFilters

__all__ = ["GoldenQuery", "GoldenSet", "load_golden_queries"]

UNDECLARED_DOMAIN = "undeclared"

Category = Literal[
    "single_hop_factual", "structural", "hard_negative", "expected_empty", "calibration", "authorisation", "other"
]
ReviewStatus = Literal["proposed", "reviewed", "rejected"]
RelativePath = Annotated[str, Field(min_length=1)]


class GoldenQuery(Record):
    """One question and what a good answer rests on.

    Attributes:
        expected_sources: Relative paths of documents, all of which should be among the accepted;
            without any, the query only watches what it forbids.
        forbidden_sources: Relative paths of documents that must never be accepted.
        expected_passages: What a reader must be shown, in an accepted fragment or the section
            around it; their documents are expected too.
        forbidden_passages: What a reader must never be shown.
        conflicting_sources: Documents that say something else about the same: none may rank above
            every expected one.
        required_metadata: Keys of the metadata (``attributes.x`` for a free one) that every accepted
            fragment must have; a list must contain the value.
        groups: Groups of the asking reader; the corpus's own access groups when absent.
        should_match: False for a question the corpus must not answer.
        review_status: ``rejected`` queries are kept in the file but not asked.
        as_of: The day the question is asked for; the run's own day when absent.
    """

    query_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
    query: Annotated[str, Field(min_length=1, max_length=10_000)]
    expected_sources: tuple[RelativePath, ...] = ()
    forbidden_sources: tuple[RelativePath, ...] = ()
    expected_passages: tuple[Passage, ...] = ()
    forbidden_passages: tuple[Passage, ...] = ()
    conflicting_sources: tuple[RelativePath, ...] = ()
    required_metadata: dict[str, str | int | float | bool] = Field(default_factory=dict)
    groups: tuple[str, ...] | None = None
    filters: SearchFilters = SearchFilters()
    should_match: bool = True
    category: Category = "other"
    domain: str | None = None
    review_status: ReviewStatus = "proposed"
    reviewer: str | None = None
    as_of: date | None = None

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        if not self.query.strip():
            raise ValueError("query: expected a question, found blanks")
        forbids = self.forbidden_sources or self.forbidden_passages
        if self.should_match and not self.expected and not forbids:
            raise ValueError(
                "expected_sources: expected at least one path, found none; set should_match to false "
                "if the corpus must not answer this, or name what must not be returned in forbidden_sources"
            )
        if not self.should_match and self.expected:
            raise ValueError("expected_sources: expected none because should_match is false")
        if self.category == "expected_empty" and self.should_match:
            raise ValueError("should_match: expected false because the category is expected_empty")
        for key in ("forbidden_sources", "conflicting_sources"):
            both = sorted(set(self.expected) & set(getattr(self, key)))
            if both:
                raise ValueError(f"{key}: {both[0]!r} is expected and {key.partition('_')[0]} at once")
        if self.review_status == "reviewed" and not self.reviewer:
            raise ValueError("reviewer: expected a name because review_status is reviewed")
        return self

    @property
    def expected(self) -> tuple[str, ...]:
        """Relative paths of all expected documents, those of expected passages included."""
        return tuple(dict.fromkeys((*self.expected_sources, *(passage.source for passage in self.expected_passages))))

    @property
    def passages(self) -> tuple[Passage, ...]:
        """Expected and forbidden passages."""
        return (*self.expected_passages, *self.forbidden_passages)

    @property
    def forbids(self) -> bool:
        """Whether anything must not be returned."""
        return bool(self.forbidden_sources or self.forbidden_passages)

    @property
    def domain_name(self) -> str:
        """The domain its figures count under."""
        return self.domain or UNDECLARED_DOMAIN


@dataclass(frozen=True)
class GoldenSet:
    """The queries of one file that are asked, in order of id.

    Attributes:
        sha256: Of the queries themselves: comments, order and spacing of the file do not count.
    """

    queries: tuple[GoldenQuery, ...]

    @property
    def sha256(self) -> str:
        """Digest of all queries."""
        return sha256_hex(canonical_json([query.model_dump(mode="json") for query in self.queries]))


def load_golden_queries(path: Path) -> GoldenSet:
    """Reads a file of golden queries.

    Raises:
        GoldenQueriesError: The file cannot be read, or has faults; all are reported together.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise GoldenQueriesError(
            [Fault(str(path), 0, "golden_queries", f"cannot be read: {error.strerror}")],
            remedy="Correct `golden_queries` in corpora.yaml; the path counts from that file's folder.",
        ) from error
    except UnicodeDecodeError as error:
        raise GoldenQueriesError(
            [Fault(str(path), 0, "golden_queries", "is not UTF-8")], remedy="Save the file as UTF-8."
        ) from error
    queries, faults = _parse(str(path), text.split("\n"))
    if faults:
        raise GoldenQueriesError(
            faults, remedy="Correct these lines; docs/golden-queries.md lists the keys. Nothing was evaluated."
        )
    asked = (query for query in queries if query.review_status != "rejected")
    return GoldenSet(tuple(sorted(asked, key=lambda query: query.query_id)))


def _parse(file: str, lines: Iterable[str]) -> tuple[list[GoldenQuery], list[Fault]]:
    queries: list[GoldenQuery] = []
    faults: list[Fault] = []
    first_line: dict[str, int] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        found = _parse_line(file, number, line)
        if isinstance(found, list):
            faults.extend(found)
        elif found.query_id in first_line:
            faults.append(Fault(file, number, "query_id", f"repeats that of line {first_line[found.query_id]}"))
        else:
            first_line[found.query_id] = number
            queries.append(found)
    return queries, faults


def _parse_line(file: str, number: int, line: str) -> GoldenQuery | list[Fault]:
    try:
        value = json.loads(line, object_pairs_hook=_without_repeats)
    except json.JSONDecodeError as error:
        return [Fault(file, number, f"column {error.colno}", f"expected one JSON object a line: {error.msg}")]
    except _RepeatedKeyError as error:
        return [Fault(file, number, error.key, "is written twice in one object")]
    if not isinstance(value, dict):
        return [Fault(file, number, "line", f"expected a JSON object, found {type(value).__name__}")]
    try:
        return GoldenQuery.model_validate(value)
    except ValidationError as error:
        return [_as_fault(file, number, found) for found in error.errors(include_url=False, include_input=False)]


_KEYS_BELOW = {
    "filters": SearchFilters.model_fields,
    "expected_passages": Passage.model_fields,
    "forbidden_passages": Passage.model_fields,
}


class _RepeatedKeyError(ValueError):
    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    seen: dict[str, Any] = {}
    for key, value in pairs:
        if key in seen:
            raise _RepeatedKeyError(key)
        seen[key] = value
    return seen


def _as_fault(file: str, number: int, found: Any) -> Fault:
    location = tuple(str(part) for part in found["loc"])
    if found["type"] == "value_error":
        key, _, message = str(found["msg"]).removeprefix("Value error, ").partition(": ")
        return Fault(file, number, key, message)
    key = ".".join(location) or "line"
    if found["type"] == "extra_forbidden":
        known = _KEYS_BELOW.get(location[0], GoldenQuery.model_fields)
        close = get_close_matches(location[-1], known, n=1)
        advice = f"; did you mean {close[0]!r}?" if close else f"; expected one of {', '.join(known)}"
        return Fault(file, number, key, f"unknown key{advice}")
    if found["type"] == "missing":
        return Fault(file, number, key, "is missing")
    return Fault(file, number, key, str(found["msg"]))
