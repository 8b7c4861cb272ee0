"""Evidence packs: what was cited, word for word, under one hash. Pure records and functions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Annotated, Any

from pydantic import Field

from corpus_pipeline.records import Record, SourceType, TrustLevel, canonical_json, sha256_hex
from corpus_pipeline.retrieval import SearchRequest

__all__ = ["MAX_SOURCES", "EvidenceLocator", "EvidencePack", "EvidenceSource", "evidence_hash", "pack_id", "source_id"]

MAX_SOURCES = 999
"""Ids have three digits."""

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class EvidenceLocator(Record):
    """Where in a document an excerpt stands.

    Attributes:
        fragment_id: The published fragment that was accepted.
        section: Headings above the excerpt, outermost first, joined by `` > ``.
        line_start: 1-based first line in the converted text; ``None`` when that text is no longer kept.
        line_end: Last line, inclusive.
        char_start: Start in the converted text, half-open with ``char_end``.
        excerpt_hash: SHA-256 of ``excerpt`` in UTF-8.
    """

    fragment_id: str
    section: str
    page_number: int | None = None
    line_start: Annotated[int, Field(ge=1)] | None = None
    line_end: Annotated[int, Field(ge=1)] | None = None
    char_start: int
    char_end: int
    excerpt: str
    excerpt_hash: Sha256
    score: float


class EvidenceSource(Record):
    """One cited document and its excerpts, with the hashes that lead back to the file.

    Attributes:
        source_sha256: Hash of the file.
        text_sha256: Hash of its converted text.
        embedding_fingerprint: Model whose vectors found it.
        generation_root: Root of the published generation it was found in.
        dated: The day it was last reviewed, or else the day it came into force.
    """

    source_id: Annotated[str, Field(pattern=r"^src_[0-9]{3}$")]
    corpus: str
    document_id: str
    source_uri: str
    title: str | None = None
    version: str | None = None
    source_type: SourceType
    trust_level: TrustLevel
    dated: date | None = None
    source_sha256: Sha256
    text_sha256: Sha256
    embedding_fingerprint: str
    generation: int
    generation_root: Sha256
    locators: tuple[EvidenceLocator, ...]


class EvidencePack(Record):
    """The sources of one answer. Immutable: another state of the sources is another pack.

    Attributes:
        request: The question as it was asked, so that it can be asked again.
        as_of: The day on which the sources had to be in force.
        reason: Why they suffice, or what is missing.
        evidence_hash: ``sha256:`` and 64 hexadecimal digits, see :func:`evidence_hash`.
        replaces: The pack that this one was proposed in place of.
    """

    request: SearchRequest
    as_of: date
    sufficient: bool
    reason: str
    sources: Annotated[tuple[EvidenceSource, ...], Field(max_length=MAX_SOURCES)]
    evidence_hash: Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]
    replaces: str | None = None

    @property
    def pack_id(self) -> str:
        """Name of the pack: equal for the same question, day and evidence."""
        return pack_id(self.request, self.as_of, self.evidence_hash)

    @property
    def documents(self) -> tuple[str, ...]:
        """Ids of the cited documents, in order of source id."""
        return tuple(source.document_id for source in self.sources)


def source_id(position: int) -> str:
    """Id of the source at a 1-based position.

    >>> source_id(14)
    'src_014'
    """
    return f"src_{position:03d}"


def evidence_hash(sources: Sequence[EvidenceSource]) -> str:
    """Composite hash: sources sorted by id, as JSON with sorted keys, SHA-256 of its UTF-8.

    >>> evidence_hash([])
    'sha256:4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945'
    """
    ordered = sorted(sources, key=lambda source: source.source_id)
    return f"sha256:{sha256_hex(canonical_json(ordered))}"


def pack_id(request: SearchRequest, as_of: date, hashed: str) -> str:
    """``ep_`` and 16 hexadecimal digits of the hash over question, day and evidence."""
    content: dict[str, Any] = {"request": request, "as_of": as_of, "evidence_hash": hashed}
    return f"ep_{sha256_hex(canonical_json(content))[:16]}"
