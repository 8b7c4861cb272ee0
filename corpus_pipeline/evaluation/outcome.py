"""What became of one golden query, and, where it missed, whose fault that is."""

from __future__ import annotations

from enum import StrEnum

from corpus_pipeline.records import Record

__all__ = ["Hit", "Miss", "MissClass", "QueryOutcome"]


class MissClass(StrEnum):
    """Where an expected document was lost, in chain order."""

    NEVER_INGESTED = "never_ingested"
    QUARANTINED = "quarantined"
    NOT_CONVERTED = "not_converted"
    EXCLUDED = "excluded"
    NOT_INDEXED = "not_indexed"
    NOT_PERMITTED = "not_permitted"
    FILTERED = "filtered"
    NOT_IN_FORCE = "not_in_force"
    BELOW_SCORE = "below_score"
    NOT_RETRIEVED = "not_retrieved"
    RERANKED_OUT = "reranked_out"
    CROWDED_OUT = "crowded_out"
    OVER_BUDGET = "over_budget"
    RANKED_TOO_LOW = "ranked_too_low"


class Hit(Record):
    """One accepted fragment; ``position`` is 1-based."""

    position: int
    document_id: str
    fragment_id: str
    score: float


class Miss(Record):
    """An expected document that was not accepted."""

    document_id: str
    miss_class: MissClass
    detail: str


class QueryOutcome(Record):
    """One golden query against one generation.

    Attributes:
        expected: Document ids that should be among the accepted.
        forbidden_hits: Accepted documents that the query forbids.
        stale_hits: Accepted documents that are not current by the decisions of the chain.
        passed: Answerable: every expected document accepted. Unanswerable: nothing accepted.
            In both cases without a forbidden or stale hit.
    """

    query_id: str
    query: str
    domain: str
    category: str
    should_match: bool
    expected: tuple[str, ...]
    accepted: tuple[Hit, ...]
    forbidden_hits: tuple[str, ...]
    stale_hits: tuple[str, ...]
    misses: tuple[Miss, ...]
    best_score: float | None
    reason: str

    @property
    def passed(self) -> bool:
        """Whether the query went as it should."""
        if self.forbidden_hits or self.stale_hits:
            return False
        return not self.misses if self.should_match else not self.accepted

    @property
    def ranked_documents(self) -> tuple[str, ...]:
        """Accepted documents, each once, in order of their best fragment."""
        return tuple(dict.fromkeys(hit.document_id for hit in self.accepted))
