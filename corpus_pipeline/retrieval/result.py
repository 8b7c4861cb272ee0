"""What a search gives back: accepted fragments, the verdict on them, what was kept out, a trace."""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from typing import Any

from pydantic import Field

from corpus_pipeline.records import Record

__all__ = [
    "AcceptedFragment",
    "KeptOut",
    "KeptOutReason",
    "SearchResult",
    "SearchScope",
    "SkippedCorpus",
    "StageTrace",
]


class KeptOutReason(StrEnum):
    """Why a matching document is not among the accepted.

    The first nine are decided at ingestion (``records.ExclusionReason``), the others by the
    question. Listed in the order in which the first that applies is reported.
    """

    SUPERSEDED = "superseded"
    DUPLICATE = "duplicate"
    COPY_OF_SUPERSEDED = "copy_of_superseded"
    EXPIRED = "expired"
    NOT_YET_EFFECTIVE = "not_yet_effective"
    DRAFT = "draft"
    WITHDRAWN = "withdrawn"
    ARCHIVED = "archived"
    NEVER_ANSWER = "never_answer"
    NOT_PERMITTED = "not_permitted"
    FILTERED = "filtered"
    BELOW_SCORE = "below_score"
    RERANKED_OUT = "reranked_out"
    CROWDED_OUT = "crowded_out"
    OVER_BUDGET = "over_budget"
    OUTRANKED = "outranked"
    NOT_RETRIEVED = "not_retrieved"


class AcceptedFragment(Record):
    """A fragment that answers, with what is needed to cite it.

    Attributes:
        score: Cosine to the query, rounded to six places.
        lexical_score: BM25, where it was found by words.
        rerank_score: Probability that it answers, where a cross-encoder read it.
        also_in: Other documents of the same scope with exactly this text, each with its place.
        char_start: Start of the fragment in the converted text, half-open with ``char_end``.
        metadata: Metadata of its document, as published.
    """

    fragment_id: str
    corpus: str
    document_id: str
    source_uri: str
    title: str | None
    score: float
    lexical_score: float | None = None
    rerank_score: float | None = None
    char_start: int
    char_end: int
    page_number: int | None
    section_path: tuple[str, ...]
    text: str
    parent_id: str
    parent_text: str
    also_in: tuple[dict[str, Any], ...] = ()
    metadata: dict[str, Any]


class KeptOut(Record):
    """The best matching fragment of a document that is not among the accepted, and why.

    Attributes:
        reference: The document (or fragment) the reason points at, where there is one.
        detail: The reason in words, with what was wanted and what was found.
    """

    document_id: str
    corpus: str
    source_uri: str
    title: str | None
    fragment_id: str
    score: float
    char_start: int
    char_end: int
    reason: KeptOutReason
    reference: str | None = None
    detail: str


class StageTrace(Record):
    """One stage of a search: what it counted and how long it took.

    Attributes:
        begins_at: Milliseconds since the search began; stages that wait for different things run side by side.
        notes: What it decided by, in words: the model that read the candidates, or the like.
    """

    stage: str
    counts: dict[str, int]
    begins_at: float = 0.0
    milliseconds: float
    notes: tuple[str, ...] = ()


class SkippedCorpus(Record):
    """A corpus that was not searched, and why."""

    corpus: str
    reason: str


class SearchScope(Record):
    """What was searched and why.

    Attributes:
        corpora: Those searched.
        reason: What chose them.
        filters: Alternatives read from the question and given with it, each as given filters.
        read: What in the question was read as a scope, in words.
    """

    corpora: tuple[str, ...]
    reason: str
    filters: tuple[dict[str, Any], ...] = ()
    read: tuple[str, ...] = ()


class SearchResult(Record):
    """The answer to a request.

    Attributes:
        sufficient: There is evidence to answer from; otherwise ``verdict`` says what to do instead.
        verdict: ``answer``; ``abstain``: nobody here knows; ``clarify``: ask which of ``options``
            is meant; ``route``: ask the corpora in ``options``.
        reason: Why it is or is not sufficient.
        options: Meanings to choose from, or corpora to ask.
        scope: What was searched and why.
        generations: Published generation searched, by corpus.
        kept_out: Empty unless the request asked to explain.
    """

    query: str
    as_of: date
    groups: tuple[str, ...]
    generations: dict[str, int]
    sufficient: bool
    verdict: str
    reason: str
    options: tuple[str, ...] = ()
    scope: SearchScope
    accepted: tuple[AcceptedFragment, ...]
    kept_out: tuple[KeptOut, ...] = ()
    skipped: tuple[SkippedCorpus, ...] = ()
    trace: tuple[StageTrace, ...] = Field(default=())
