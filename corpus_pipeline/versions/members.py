"""One document as the resolver sees it: document, text evidence and name read together."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from corpus_pipeline.records import Document, Lifecycle
from corpus_pipeline.registry import VersionsSpec
from corpus_pipeline.versions.claims import DocumentEvidence
from corpus_pipeline.versions.dates import parse_date
from corpus_pipeline.versions.names import NamedVersion, Readiness, VersionKey, parse_name, version_key
from corpus_pipeline.versions.periods import period_key

__all__ = ["Member", "make_members", "normalised_title"]

NOT_ADOPTED = frozenset(
    [
        "draft",
        "draught",
        "proposed",
        "proposal",
        "pending",
        "rejected",
        "withdrawn",
        "deferred",
        "abandoned",
        "provisional",
    ]
)
REPLACED = frozenset(["superseded", "superceded", "obsolete", "obsoleted", "replaced"])
_TOKENS = re.compile(
    r"\b(?:v|version|rev|revision|edition)\.?\s?\d+(?:\.\d+)*\b|\b(?:19|20)\d\d(?:-\d\d){0,2}\b|\b\d+\.\d+(?:\.\d+)*\b",
    re.IGNORECASE,
)
_DRAFT_WORDS = re.compile(r"\b(?:draft|final|copy|archived|superseded|obsolete)\b", re.IGNORECASE)
_OUTSIDE_THE_FILE = ("sidecar", "manifest", "registry")


def normalised_title(title: str | None) -> str:
    """Words of a title without version, date and readiness tokens, lower case.

    >>> normalised_title("The Refund Policy (Version 2.1, 2024)")
    'refund policy'
    """
    text = _DRAFT_WORDS.sub(" ", _TOKENS.sub(" ", title or ""))
    words = re.sub(r"[\W_]+", " ", text.lower()).split()
    return " ".join(words[1:] if words[:1] == ["the"] else words)


@dataclass(frozen=True)
class Member:
    """A document with everything a decision about it may rest on."""

    document: Document
    evidence: DocumentEvidence
    name: NamedVersion
    independent: bool

    @property
    def id(self) -> str:
        """Document id."""
        return self.document.document_id

    @property
    def path(self) -> str:
        """Path below the corpus root."""
        return self.document.relative_path

    @cached_property
    def title(self) -> str:
        """Normalised title."""
        return normalised_title(self.document.metadata.title or self.evidence.title or self.document.title)

    @cached_property
    def version(self) -> str | None:
        """Version as written: metadata, then a header field, then the name."""
        return self.document.metadata.version or self.evidence.version or self.name.label or None

    @cached_property
    def key(self) -> VersionKey | None:
        """Version to compare by."""
        return version_key(self.document.metadata.version) or version_key(self.evidence.version) or self.name.key

    @cached_property
    def number(self) -> tuple[str, str] | None:
        """Number in a numbered series: stated in the text, else in the name."""
        return self.evidence.number or self.name.number

    @cached_property
    def valid_from(self) -> date | None:
        """Start of validity: metadata, then an effective-date field of the text."""
        return self.document.metadata.valid_from or self.evidence.valid_from

    @cached_property
    def valid_until(self) -> date | None:
        """End of validity, the last day included."""
        return self.document.metadata.valid_until or self.evidence.valid_until

    @cached_property
    def dated(self) -> date | None:
        """The day the document stands for, as far as it says: validity, issue, then name."""
        named = self.name.key.as_date if self.name.key else None
        return self.valid_from or self.evidence.dated or named

    @cached_property
    def edition(self) -> VersionKey | None:
        """Period or release of an edition: declared in metadata, else in the name."""
        declared = self.document.metadata.attributes.get("period") or self.document.metadata.version
        return (period_key(str(declared)) if declared else None) or self.name.key

    @cached_property
    def period_end(self) -> date | None:
        """Last day of the period reported on: declared, else as the text states it."""
        declared = self.document.metadata.attributes.get("period_end")
        return (parse_date(str(declared)) if declared else None) or self.evidence.period_end

    @cached_property
    def is_fiscal(self) -> bool:
        """The period is declared as one of a fiscal year, which need not be the calendar's."""
        attributes = self.document.metadata.attributes
        said = f"{attributes.get('period') or self.document.metadata.version or self.name.label}"
        return attributes.get("fiscal") is True or "fy" in said.lower()

    @cached_property
    def organisation(self) -> str | None:
        """Who issued it: declared in metadata, else as the text states it."""
        attributes = self.document.metadata.attributes
        declared = attributes.get("organisation") or attributes.get("company")
        return str(declared) if declared else self.evidence.organisation

    @cached_property
    def lifecycle_declared_outside(self) -> bool:
        """A sidecar, manifest or registry entry states the lifecycle."""
        return self.document.metadata_provenance.get("lifecycle", "").startswith(_OUTSIDE_THE_FILE)

    @cached_property
    def archived_by_path(self) -> bool:
        """Lies in an archive folder, and nobody outside the file says it is active."""
        declared_active = self.lifecycle_declared_outside and self.document.metadata.lifecycle is Lifecycle.ACTIVE
        return bool(self.name.archived) and not declared_active

    def adoption(self, as_of: date) -> str:
        """Empty when the document has taken force by ``as_of``; else why it has not.

        A document that has been replaced since did take force; a draft, rejected, withdrawn or
        deferred one never did.
        """
        lifecycle = self.document.metadata.lifecycle
        if lifecycle in (Lifecycle.DRAFT, Lifecycle.WITHDRAWN):
            return f"its lifecycle is {lifecycle.value}"
        if self.evidence.status in NOT_ADOPTED:
            return f"its header says Status: {self.evidence.status}"
        if self.name.readiness is Readiness.DRAFT:
            return "its name says draft"
        if self.valid_from is not None and self.valid_from > as_of:
            return f"it takes effect on {self.valid_from.isoformat()}"
        return ""


def make_members(
    documents: Sequence[Document], evidence: Mapping[str, DocumentEvidence], spec: VersionsSpec
) -> dict[str, Member]:
    """Members by document id, in order of id."""
    independent = set(spec.independent)
    return {
        document.document_id: Member(
            document,
            evidence.get(document.document_sha256, DocumentEvidence()),
            parse_name(document.relative_path),
            document.relative_path in independent,
        )
        for document in sorted(documents, key=lambda item: item.document_id)
    }
