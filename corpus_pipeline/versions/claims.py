"""What one document says about itself and others: the evidence that is cached per document.

Nothing here looks at a second document; resolving references is in ``references``.
"""

from __future__ import annotations

from datetime import date
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

__all__ = ["EXTRACTOR_VERSION", "Claim", "ClaimKind", "DocumentEvidence"]

EXTRACTOR_VERSION = "3"
"""Raise it when extraction changes: all evidence is then read anew."""


class ClaimKind(StrEnum):
    """What a document claims."""

    SUPERSEDES = "supersedes"
    SUPERSEDED_BY = "superseded_by"
    AMENDS = "amends"
    AMENDED_BY = "amended_by"
    NOT_IN_FORCE = "not_in_force"


class Claim(BaseModel):
    """One claim of a document's text.

    Attributes:
        reference: The other document as written; empty for ``NOT_IN_FORCE``.
        rule: ``header`` or ``sentence``.
        quote: The words it rests on, one line, at most 240 characters.
        confidence: Before the reference is resolved.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: ClaimKind
    reference: str
    rule: str
    quote: str
    confidence: float


class DocumentEvidence(BaseModel):
    """Everything the versions room takes from the text of one document.

    Attributes:
        number: Number the document gives itself, as (prefix, number), such as ``("pep", "345")``.
        status: Status field in lower case, such as ``superseded``; empty when there is none.
        version: Version field as written.
        valid_from: From a field such as ``Effective date``.
        dated: Date of issue or last change, from a field or a line such as ``Last updated``.
        title: Title field, else the converted document's title.
        normalised_sha256: Hash of the normalised text: equal for exact copies across formats.
        period_end: Last day of the period that a report says it is for; ``period_quote`` holds the words.
        organisation: Who issued it, where a field or the cover of a filing says so.
        kind: Kind of document, such as ``privacy``; empty when the text shows none.
        profile: Names and addresses the text uses most, with their shares: who it speaks for.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    claims: tuple[Claim, ...] = ()
    number: tuple[str, str] | None = None
    status: str = ""
    version: str | None = None
    valid_from: date | None = None
    valid_until: date | None = None
    dated: date | None = None
    title: str | None = None
    normalised_sha256: str = ""
    period_end: date | None = None
    period_quote: str = ""
    organisation: str | None = None
    kind: str = ""
    profile: tuple[tuple[str, float], ...] = ()
