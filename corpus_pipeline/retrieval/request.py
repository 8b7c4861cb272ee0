"""What a caller asks: the query, its scope, its filters and its limits."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from pydantic import Field

from corpus_pipeline.errors import SearchError
from corpus_pipeline.records import Record

__all__ = ["FETCH_MULTIPLIER", "MAX_SIMILARITY", "SearchFilters", "SearchRequest"]

FETCH_MULTIPLIER = 3
"""Candidates fetched for each fragment wanted, so that near copies can be dropped."""

MAX_SIMILARITY = 0.85
"""A fragment this close (cosine) to one already selected adds nothing."""

MAX_QUERY_CHARS = 10_000

AttributeValue = str | int | float | bool


class SearchFilters(Record):
    """Conditions on the metadata of a document; text is compared without regard to case.

    ``plan_tier``, ``region`` and ``environment`` narrow a scope: a document that declares none
    holds in every one and passes. All others must be declared and equal.

    Attributes:
        customer_facing: True leaves only documents whose ``answer_use`` is ``any``.
        attributes: Keys of the document's free ``attributes``, compared as text.
    """

    product: str | None = None
    plan_tier: str | None = None
    region: str | None = None
    environment: str | None = None
    audience: str | None = None
    domain: str | None = None
    source_class: str | None = None
    customer_facing: bool = False
    attributes: dict[str, AttributeValue] = Field(default_factory=dict)

    def attributes_as_text(self) -> dict[str, str]:
        """The wanted attributes as PostgreSQL writes JSON scalars.

        >>> SearchFilters(attributes={"tier": 2, "beta": True}).attributes_as_text()
        {'tier': '2', 'beta': 'true'}
        """
        return {key: attribute_text(value) for key, value in self.attributes.items()}


def attribute_text(value: AttributeValue) -> str:
    """One attribute value as text: booleans as ``true`` and ``false``.

    >>> attribute_text(False)
    'false'
    """
    return str(value).lower() if isinstance(value, bool) else str(value)


class SearchRequest(Record):
    """One question to the published corpora.

    Attributes:
        corpora: Slugs to search; ``None`` means all published ones.
        groups: What the reader belongs to; the database shows nothing else.
        top_k: Most fragments accepted.
        min_score: Least cosine of an accepted fragment.
        as_of: The day on which documents must be in force; ``None`` is today in UTC.
        explain: Also say what was kept out and why. For operators: it looks past permissions.
        kept_out_limit: Most documents listed as kept out.
    """

    query: str
    corpora: tuple[str, ...] | None = None
    groups: tuple[str, ...] = ("everyone",)
    top_k: Annotated[int, Field(ge=1, le=100)] = 5
    min_score: Annotated[float, Field(ge=-1.0, le=1.0)] = 0.3
    max_similarity: Annotated[float, Field(gt=0.0, le=1.0)] = MAX_SIMILARITY
    filters: SearchFilters = SearchFilters()
    as_of: date | None = None
    explain: bool = False
    kept_out_limit: Annotated[int, Field(ge=0, le=200)] = 10

    @property
    def fetch_limit(self) -> int:
        """Candidates fetched from each corpus."""
        return self.top_k * FETCH_MULTIPLIER

    def demand_query(self) -> None:
        """Refuses a query that cannot be embedded.

        Raises:
            SearchError: It is empty or longer than any question.
        """
        if not self.query.strip():
            raise SearchError("the query is empty", remedy='Write what you look for, such as "refund window".')
        if len(self.query) > MAX_QUERY_CHARS:
            raise SearchError(
                f"the query has {len(self.query)} characters; expected at most {MAX_QUERY_CHARS}",
                remedy="Ask a question instead of pasting a document.",
            )
