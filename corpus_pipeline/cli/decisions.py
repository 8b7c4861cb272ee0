"""In words why a document is kept out."""

from __future__ import annotations

from corpus_pipeline.records import ExclusionReason, VersionDecision

__all__ = ["is_served", "reason_in_words"]

WORDS: dict[ExclusionReason, str] = {
    ExclusionReason.SUPERSEDED: "superseded by {reference}",
    ExclusionReason.DUPLICATE: "duplicate of {reference}",
    ExclusionReason.COPY_OF_SUPERSEDED: "copy of {reference}, which is superseded",
    ExclusionReason.EXPIRED: "expired, valid until {valid_until}",
    ExclusionReason.NOT_YET_EFFECTIVE: "not in force before {valid_from}",
    ExclusionReason.DRAFT: "a draft",
    ExclusionReason.WITHDRAWN: "withdrawn",
    ExclusionReason.ARCHIVED: "archived",
    ExclusionReason.NEVER_ANSWER: "answer_use is never",
}


def is_served(entry: VersionDecision) -> bool:
    """A search can find it: nothing keeps it out."""
    return entry.exclusion_reason is None


def reason_in_words(entry: VersionDecision) -> str:
    """Why a document is kept out and by what; empty when it is served. Not yet safe for a terminal.

    A duplicate says what the served document says: its text is current, it is only not served twice.
    """
    if entry.exclusion_reason is None:
        return ""
    words = WORDS[entry.exclusion_reason].format(
        reference=entry.exclusion_ref or "an unnamed document",
        valid_from=entry.valid_from,
        valid_until=entry.valid_until,
    )
    if entry.exclusion_reason is ExclusionReason.COPY_OF_SUPERSEDED and entry.superseded_by:
        words += f" by {entry.superseded_by}"
    return words
