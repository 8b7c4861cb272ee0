"""Which documents hold, and why others do not."""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from typing import Literal

from corpus_pipeline.records.base import Record
from corpus_pipeline.records.sources import Lifecycle

__all__ = ["ExclusionReason", "ServingState", "VersionDecision", "VersionRelation"]


class ServingState(StrEnum):
    """Second partition level of the serving tables."""

    CURRENT = "current"
    ARCHIVED = "archived"


class ExclusionReason(StrEnum):
    """Why a document's fragments are kept out of answers (``archived``)."""

    SUPERSEDED = "superseded"
    DUPLICATE = "duplicate"
    COPY_OF_SUPERSEDED = "copy_of_superseded"
    EXPIRED = "expired"
    NOT_YET_EFFECTIVE = "not_yet_effective"
    DRAFT = "draft"
    WITHDRAWN = "withdrawn"
    ARCHIVED = "archived"
    NEVER_ANSWER = "never_answer"


class VersionRelation(Record):
    """A relation found between two documents, and what it rests on.

    Attributes:
        source_id: The document that supersedes (or amends).
        target_id: The document superseded; ``None`` when ``target_reference`` is not in the corpus.
        applied: False when the confidence is too low or the successor is not in force.
    """

    corpus: str
    source_id: str | None
    target_id: str | None
    source_reference: str = ""
    target_reference: str = ""
    relation: Literal["supersedes", "amends", "series"]
    rule: str
    evidence: str
    confidence: float
    applied: bool
    note: str = ""


class VersionDecision(Record):
    """What the versions room decided about one document.

    Attributes:
        series_key: Series of periodic editions that it belongs to, such as ``quarterly/AAPL``;
            ``None`` outside of one. Editions stay true for their period.
        period_label: Period as metadata or the name declare it, such as ``2023-Q1``.
        period_end: Last day of that period, as the text states it.
        is_latest: The newest edition of its series; ``None`` outside of a series and where the
            evidence leaves the order open.
        organisation: Who issued it, as metadata or its text state it.
    """

    corpus: str
    document_id: str
    family: str
    version: str | None = None
    lifecycle: Lifecycle
    valid_from: date | None = None
    valid_until: date | None = None
    superseded_by: str | None = None
    duplicate_of: str | None = None
    is_canonical: bool = True
    is_current: bool = True
    serving_state: ServingState = ServingState.CURRENT
    exclusion_reason: ExclusionReason | None = None
    exclusion_ref: str | None = None
    evidence: str = ""
    needs_review: bool = False
    series_key: str | None = None
    period_label: str | None = None
    period_end: date | None = None
    is_latest: bool | None = None
    organisation: str | None = None

    @property
    def facts(self) -> dict[str, str | bool]:
        """The facts of a periodic edition as attributes that filters can use; dates in ISO form."""
        named = {
            "series_key": self.series_key,
            "period_label": self.period_label,
            "period_end": self.period_end.isoformat() if self.period_end else None,
            "is_latest": self.is_latest,
            "organisation": self.organisation,
        }
        return {name: value for name, value in named.items() if value is not None}
