"""What is known of generations and publications: records, no I/O."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import Any

from corpus_pipeline.registry import EmbeddingSpec

__all__ = ["Generation", "GenerationStatus", "LogEntry", "Publication"]


class GenerationStatus(StrEnum):
    """Life of a generation. ``superseded`` and ``rolled_back`` were once published."""

    STAGED = "staged"
    PUBLISHED = "published"
    SUPERSEDED = "superseded"
    ROLLED_BACK = "rolled_back"
    ABANDONED = "abandoned"


@dataclass(frozen=True)
class Generation:
    """One generation of a corpus.

    Attributes:
        base_generation: The published generation it was compared with, 0 before the first.
        model: Values of the :class:`EmbeddingSpec` whose vectors it has.
        analyser: Parts of the analyser that made its terms; ``None`` when it has no lexical ranking.
        counts: As in the result of staging.
        inputs: What it was made from, such as published roots of other corpora that decisions refer to.
        rows_removed_at: Set when its rows are gone, so that it cannot be served again.
    """

    corpus: str
    generation: int
    base_generation: int
    status: GenerationStatus
    root_sha256: str
    serving_table: str
    embedding_fingerprint: str
    chunker_fingerprint: str
    model: dict[str, Any]
    analyser: dict[str, Any] | None
    counts: dict[str, Any]
    as_of: date
    inputs: dict[str, Any]
    run_id: str
    staged_at: datetime
    published_at: datetime | None
    ended_at: datetime | None
    rows_removed_at: datetime | None

    @property
    def embedding(self) -> EmbeddingSpec:
        """The model that queries to this generation must be embedded with."""
        return EmbeddingSpec.model_validate(self.model)


@dataclass(frozen=True)
class Publication:
    """The pointer of a corpus: what readers see.

    Attributes:
        analyser: Parts of the analyser that queries must be analysed with; ``None`` while it is served without
            lexical ranking.
        held: Publication waits for ``resume``; who, when and why follow. A session of a reader
            is not told of holds and always finds ``False``.
    """

    corpus: str
    generation: int
    root_sha256: str
    serving_table: str
    embedding_fingerprint: str
    model: dict[str, Any] = field(repr=False)
    analyser: dict[str, Any] | None = field(repr=False)
    published_at: datetime
    held: bool = False
    held_by: str | None = None
    held_at: datetime | None = None
    held_reason: str | None = None

    @property
    def embedding(self) -> EmbeddingSpec:
        """The model that queries to this corpus must be embedded with."""
        return EmbeddingSpec.model_validate(self.model)


@dataclass(frozen=True)
class LogEntry:
    """One move of the pointer, or a lifted hold."""

    action: str
    from_generation: int | None
    to_generation: int
    who: str
    reason: str
    logged_at: datetime
