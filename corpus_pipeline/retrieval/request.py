"""What a caller asks: the query, its scope, its filters and its limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, ClassVar

from pydantic import Field, ValidationError, field_validator

from corpus_pipeline.errors import SearchError
from corpus_pipeline.records import Record
from corpus_pipeline.registry import RetrievalSpec, SearchMode

__all__ = ["NO_RERANKER", "SearchFilters", "SearchLimits", "SearchRequest"]

NO_RERANKER = "none"
"""Asks for no second look, whatever the corpus is configured with."""

FUSION_DEPTH = 50
"""Least length of the lists that are fused: a fragment in the middle of both is worth as much as one at the top of
one, and can only be found where both lists reach it."""

MAX_QUERY_CHARS = 10_000

AttributeValue = str | int | float | bool

_ATTRIBUTE_PREFIX = "attributes."


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

    @classmethod
    def from_pairs(cls, pairs: Mapping[str, Any]) -> SearchFilters:
        """Filters from keys and values as a person writes them; ``attributes.x`` reaches an attribute.

        Raises:
            SearchError: There is no such filter, or its value has another type.

        >>> SearchFilters.from_pairs({"product": "Relay", "attributes.tier": "2"}).attributes
        {'tier': '2'}
        """
        plain = {key: value for key, value in pairs.items() if not key.startswith(_ATTRIBUTE_PREFIX)}
        attributes = {key.removeprefix(_ATTRIBUTE_PREFIX): pairs[key] for key in pairs if key not in plain}
        unknown = sorted(set(plain) - set(cls.model_fields))
        if unknown:
            raise SearchError(
                f"there is no filter {unknown[0]!r}",
                remedy=f"Use one of {', '.join(cls.model_fields)}, or attributes.KEY for a free attribute.",
            )
        given = plain.get("attributes", {})
        if attributes and isinstance(given, Mapping):
            plain["attributes"] = {**given, **attributes}
        try:
            return cls.model_validate(plain)
        except ValidationError as error:
            fault = error.errors(include_url=False, include_input=False)[0]
            key = ".".join(str(part) for part in fault["loc"])
            raise SearchError(f"filter {key}: {fault['msg']}", remedy="Correct the value of this filter.") from error

    def attributes_as_text(self) -> dict[str, str]:
        """The wanted attributes as PostgreSQL writes JSON scalars.

        >>> SearchFilters(attributes={"tier": 2, "beta": True}).attributes_as_text()
        {'tier': '2', 'beta': 'true'}
        """
        return {key: attribute_text(value) for key, value in self.attributes.items()}

    def as_json(self) -> dict[str, Any]:
        """The filters that were given, as the database takes them.

        >>> SearchFilters(product="Relay", attributes={"tier": 2}).as_json()
        {'product': 'Relay', 'attributes': {'tier': '2'}}
        """
        given = self.model_dump(exclude_defaults=True)
        return given | {"attributes": self.attributes_as_text()} if self.attributes else given


def attribute_text(value: AttributeValue) -> str:
    """One attribute value as text: booleans as ``true`` and ``false``.

    >>> attribute_text(False)
    'false'
    """
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """Limits of one search of one corpus, none of them open; see :class:`RetrievalSpec`."""

    ASKED: ClassVar[tuple[str, ...]] = (
        "mode",
        "fetch_multiplier",
        "min_score",
        "max_similarity",
        "reranker",
        "rerank_candidates",
        "rerank_min_score",
        "max_per_source",
        "max_per_section",
        "evidence_tokens",
    )

    top_k: int
    mode: SearchMode
    fetch_multiplier: int
    min_score: float
    max_similarity: float
    reranker: str | None
    rerank_candidates: int
    rerank_min_score: float
    max_per_source: int | None
    max_per_section: int | None
    evidence_tokens: int | None

    @property
    def fetch_limit(self) -> int:
        """Candidates fetched from the corpus, of each kind."""
        wanted = self.top_k * self.fetch_multiplier
        if self.mode == "hybrid":
            wanted = max(wanted, FUSION_DEPTH)
        return max(wanted, self.rerank_candidates) if self.reranker else wanted


class SearchRequest(Record):
    """One question to the published corpora.

    Attributes:
        corpora: Slugs to search; none named means all published ones.
        groups: What the reader belongs to; the database shows nothing else.
        top_k: Most fragments accepted.
        route: Let rules choose among the corpora when none is named.
        read_scope: Read product, company, version, period and the like from the words of the query.
        as_of: The day on which documents must be in force; ``None`` is today in UTC.
        explain: Also say what was kept out and why. For operators: it looks past permissions.
        kept_out_limit: Most documents listed as kept out.

    The others (``mode``, ``fetch_multiplier``, ``min_score``, ``max_similarity``, ``reranker``,
    ``rerank_candidates``, ``rerank_min_score``, ``max_per_source``, ``max_per_section``,
    ``evidence_tokens``) are those of :class:`RetrievalSpec`; ``None`` leaves each corpus its own.
    """

    query: str
    corpora: tuple[str, ...] = ()
    groups: tuple[str, ...] = ("everyone",)
    top_k: Annotated[int, Field(ge=1, le=100)] = 5
    mode: SearchMode | None = None
    fetch_multiplier: Annotated[int, Field(ge=1, le=50)] | None = None
    min_score: Annotated[float, Field(ge=-1.0, le=1.0)] | None = None
    max_similarity: Annotated[float, Field(gt=0.0, le=1.0)] | None = None
    reranker: str | None = None
    rerank_candidates: Annotated[int, Field(ge=1, le=200)] | None = None
    rerank_min_score: Annotated[float, Field(ge=0.0, le=1.0)] | None = None
    max_per_source: Annotated[int, Field(ge=1)] | None = None
    max_per_section: Annotated[int, Field(ge=1)] | None = None
    evidence_tokens: Annotated[int, Field(ge=64)] | None = None
    route: bool = True
    read_scope: bool = True
    filters: SearchFilters = SearchFilters()
    as_of: date | None = None
    explain: bool = False
    kept_out_limit: Annotated[int, Field(ge=0, le=200)] = 10

    @field_validator("filters", mode="before")
    @classmethod
    def _filters_from_pairs(cls, value: object) -> object:
        return SearchFilters.from_pairs(value) if isinstance(value, Mapping) else value

    def limits(self, spec: RetrievalSpec | None = None) -> SearchLimits:
        """The limits for one corpus: as asked here, else as the corpus is configured.

        >>> SearchRequest(query="q", top_k=4, mode="dense").limits().fetch_limit
        12
        """
        asked = {key: value for key in SearchLimits.ASKED if (value := getattr(self, key)) is not None}
        configured = spec or RetrievalSpec()
        merged = {key: asked.get(key, getattr(configured, key)) for key in SearchLimits.ASKED}
        if merged["reranker"] != configured.reranker and "rerank_min_score" not in asked:
            merged["rerank_min_score"] = 0.0  # the corpus's own is of the scale of its own reranker
        if merged["reranker"] == NO_RERANKER:
            merged["reranker"] = None
        return SearchLimits(top_k=self.top_k, **merged)

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
