"""Files as they were found, and what is known of a document before it is read."""

from __future__ import annotations

from datetime import date, datetime
from enum import StrEnum
from typing import Any, Literal

from pydantic import Field

from corpus_pipeline.records.base import Record

__all__ = ["AnswerUse", "DocumentMetadata", "Lifecycle", "SourceFile", "SourceType", "TrustLevel"]


class TrustLevel(StrEnum):
    """How far a source is trusted, best first."""

    VERIFIED = "VERIFIED"
    HIGH = "HIGH"
    MEDIUM = "MEDIUM"
    LOW = "LOW"
    UNVERIFIED = "UNVERIFIED"


class SourceType(StrEnum):
    """Where the content of a document comes from."""

    COMPETITOR_ANALYSIS = "COMPETITOR_ANALYSIS"
    USER_FEEDBACK = "USER_FEEDBACK"
    MARKET_DATA = "MARKET_DATA"
    TECHNICAL_RESEARCH = "TECHNICAL_RESEARCH"
    INTERNAL_DATA = "INTERNAL_DATA"
    EXPERT_OPINION = "EXPERT_OPINION"
    WEB_SEARCH = "WEB_SEARCH"
    SOURCE_CODE = "SOURCE_CODE"
    ERROR_LOG = "ERROR_LOG"
    GIT_DIFF = "GIT_DIFF"
    DEPENDENCY_INFO = "DEPENDENCY_INFO"
    ARCHITECTURE = "ARCHITECTURE"


class Lifecycle(StrEnum):
    """Life of a document as its owner declares it."""

    DRAFT = "draft"
    ACTIVE = "active"
    DEPRECATED = "deprecated"
    WITHDRAWN = "withdrawn"
    ARCHIVED = "archived"


AnswerUse = Literal["any", "internal", "never"]


class DocumentMetadata(Record):
    """What is declared about a document, merged by the stated precedence (docs/adding-a-corpus.md).

    ``supersedes`` and ``superseded_by`` hold references as written (a relative path, a
    document id, a title, a number); resolving them is the job of the versions room.
    """

    title: str | None = None
    product: str | None = None
    domain: str | None = None
    plan_tiers: tuple[str, ...] = ()
    region: str | None = None
    customer_segment: str | None = None
    environment: str | None = None
    audience: str | None = None
    answer_use: AnswerUse = "any"
    source_class: str | None = None
    source_type: SourceType | None = None
    trust_level: TrustLevel = TrustLevel.UNVERIFIED
    lifecycle: Lifecycle = Lifecycle.ACTIVE
    version: str | None = None
    family: str | None = None
    supersedes: tuple[str, ...] = ()
    superseded_by: str | None = None
    valid_from: date | None = None
    valid_until: date | None = None
    acl_groups: tuple[str, ...] = ()
    owner: str | None = None
    last_reviewed_at: date | None = None
    language: str | None = None
    attributes: dict[str, str | int | float | bool | None] = Field(default_factory=dict)


class SourceFile(Record):
    """One file of a corpus as the inventory found it.

    Attributes:
        document_id: ``<corpus>/<relative path>``, the document's key everywhere.
        relative_path: POSIX path below the corpus root; a member of an archive is ``a.zip!/b.txt``.
        source_uri: Full fsspec URL or absolute path.
        extension: Lower case, without dot.
        declared: Metadata keys that registry overrides, sidecar, manifest or front matter set,
            already merged by precedence, JSON values. Corpus defaults are not in here.
        declared_by: For each key of ``declared``, where it came from, such as ``sidecar``.
        doubt: A fault met while reading the file or its metadata; empty when there was none.
        container: Relative path of the outermost archive or mail that holds this file; empty for
            a file of its own.
        refusal: Value of :class:`QuarantineReason` when the inventory found that the file can never
            be converted, such as a damaged archive; ``doubt`` says why.
    """

    corpus: str
    document_id: str
    relative_path: str
    source_uri: str
    sha256: str
    size_bytes: int
    modified_at: datetime | None = None
    extension: str = ""
    declared: dict[str, Any] = Field(default_factory=dict)
    declared_by: dict[str, str] = Field(default_factory=dict)
    doubt: str = ""
    container: str = ""
    refusal: str = ""
