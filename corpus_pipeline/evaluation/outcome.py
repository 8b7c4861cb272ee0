"""What became of one golden query, and, where it missed, whose fault that is."""

from __future__ import annotations

from enum import StrEnum

from corpus_pipeline.records import Record

__all__ = ["Hit", "Miss", "MissClass", "Observed", "QueryOutcome"]


class MissClass(StrEnum):
    """Where an expected document was lost, in chain order."""

    NEVER_INGESTED = "never_ingested"
    QUARANTINED = "quarantined"
    NOT_CONVERTED = "not_converted"
    EXCLUDED = "excluded"
    NOT_INDEXED = "not_indexed"
    TEXT_LOST = "text_lost"
    STALE_OUTRANKED = "stale_outranked"
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
    """An expected document that was not accepted, or a passage of one that was.

    Attributes:
        passage: The words of the missed passage; empty when the whole document is missed.
    """

    document_id: str
    miss_class: MissClass
    detail: str
    passage: str = ""


class Observed(Record):
    """What was seen of one query besides hits and misses.

    Attributes:
        forbids: The query names something that must not be returned.
        expected_passages: How many it names.
        found_passages: How many of them a reader is shown.
        relevant_fragments: Accepted fragments of expected documents.
        authority_violations: ``(above, below)``: a document above a more authoritative one of its
            family, or a conflicting one above every expected one.
        metadata_mismatches: ``document: key: wanted X, has Y``, one for each accepted fragment at fault.
        copies: Of the best ten candidates, how many repeat a better one.
        looked_at: How many candidates that was, at most ten.
        top_score: Best cosine of any candidate.
        expected_score: Best cosine of a candidate of an expected document.
    """

    forbids: bool = False
    expected_passages: int = 0
    found_passages: int = 0
    relevant_fragments: int = 0
    authority_violations: tuple[tuple[str, str], ...] = ()
    requires_metadata: bool = False
    metadata_mismatches: tuple[str, ...] = ()
    copies: int = 0
    looked_at: int = 0
    top_score: float | None = None
    expected_score: float | None = None


class QueryOutcome(Record):
    """One golden query against one generation.

    Attributes:
        expected: Document ids that should be among the accepted.
        forbidden_hits: Accepted documents that the query forbids.
        stale_hits: Accepted documents that are not current by the decisions of the chain.
        authorisation_hits: Accepted documents that no group of the asking reader may see.
        ranked: Documents in order of their best candidate, the accepted first, at most 50.
        passed: Answerable: every expected document and passage found. Unanswerable: nothing accepted.
            In both cases without a forbidden, stale or unauthorised hit, or metadata other than required.
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
    authorisation_hits: tuple[str, ...] = ()
    ranked: tuple[str, ...] = ()
    observed: Observed = Observed()

    @property
    def passed(self) -> bool:
        """Whether the query went as it should."""
        if self.forbidden_hits or self.stale_hits or self.authorisation_hits or self.observed.metadata_mismatches:
            return False
        return not self.misses if self.should_match else not self.accepted

    @property
    def ranked_documents(self) -> tuple[str, ...]:
        """Accepted documents, each once, in order of their best fragment."""
        return tuple(dict.fromkeys(hit.document_id for hit in self.accepted))
