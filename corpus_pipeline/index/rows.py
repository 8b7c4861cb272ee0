"""Serving rows: their columns, their digests, and the root over them. Pure functions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from psycopg.types.json import Jsonb

from corpus_pipeline.errors import UpstreamMissingError
from corpus_pipeline.records import (
    Document,
    Fragment,
    Parent,
    ServingState,
    VersionDecision,
    canonical_json,
    sha256_hex,
)

__all__ = [
    "DOCUMENT_COLUMNS",
    "FRAGMENT_COLUMNS",
    "PARENT_COLUMNS",
    "SHARED_BY_PARENTS",
    "Column",
    "DocumentPart",
    "document_part",
    "document_row",
    "fragment_digest",
    "generation_root",
    "neighbour_corpora",
    "parent_digest",
    "part_of_values",
]

ROOT_FORMAT = "corpus_pipeline generation 2"
ROOT_FORMAT_WITHOUT_TERMS = "corpus_pipeline generation 1"
LOCATION_COLUMN = "source_uri"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a serving table: its name, PostgreSQL type and whether it may be NULL."""

    name: str
    type: str
    nullable: bool = False


FRAGMENT_COLUMNS = (
    Column("fragment_id", "text"),
    Column("parent_id", "text"),
    Column("ordinal", "int4"),
    Column("section_path", "text[]"),
    Column("page_number", "int4", nullable=True),
    Column("char_start", "int4"),
    Column("char_end", "int4"),
    Column("token_count", "int4"),
    Column("text", "text"),
    Column("text_sha256", "text"),
    Column("embedded_sha256", "text"),
)
"""What a fragment has of its own."""

DOCUMENT_COLUMNS = (
    Column("corpus", "text"),
    Column("document_id", "text"),
    Column("serving_state", "text"),
    Column("exclusion_reason", "text", nullable=True),
    Column("exclusion_ref", "text", nullable=True),
    Column("source_uri", "text"),
    Column("source_extension", "text"),
    Column("source_sha256", "text"),
    Column("document_text_sha256", "text"),
    Column("requested_converter", "text"),
    Column("effective_converter", "text"),
    Column("processor_version", "text"),
    Column("title", "text", nullable=True),
    Column("language", "text", nullable=True),
    Column("product", "text", nullable=True),
    Column("domain", "text", nullable=True),
    Column("plan_tiers", "text[]"),
    Column("region", "text", nullable=True),
    Column("customer_segment", "text", nullable=True),
    Column("environment", "text", nullable=True),
    Column("audience", "text", nullable=True),
    Column("answer_use", "text"),
    Column("source_class", "text", nullable=True),
    Column("source_type", "text", nullable=True),
    Column("trust_level", "text"),
    Column("lifecycle", "text"),
    Column("version", "text", nullable=True),
    Column("family", "text", nullable=True),
    Column("superseded_by", "text", nullable=True),
    Column("duplicate_of", "text", nullable=True),
    Column("valid_from", "date", nullable=True),
    Column("valid_until", "date", nullable=True),
    Column("is_current", "bool"),
    Column("acl_groups", "text[]"),
    Column("owner", "text", nullable=True),
    Column("last_reviewed_at", "date", nullable=True),
    Column("attributes", "jsonb"),
)
"""What all fragments of a document share."""

PARENT_COLUMNS = (
    Column("corpus", "text"),
    Column("document_id", "text"),
    Column("serving_state", "text"),
    Column("acl_groups", "text[]"),
    Column("valid_from", "date", nullable=True),
    Column("valid_until", "date", nullable=True),
    Column("parent_id", "text"),
    Column("section_path", "text[]"),
    Column("page_number", "int4", nullable=True),
    Column("char_start", "int4"),
    Column("char_end", "int4"),
    Column("token_count", "int4"),
    Column("text", "text"),
    Column("text_sha256", "text"),
)
"""All columns of serving.parents but the digest and the generations."""

SHARED_BY_PARENTS = tuple(column.name for column in PARENT_COLUMNS[:6])
"""What a parent's row has of its document, in the order of its digest."""


@dataclass(frozen=True)
class DocumentPart:
    """The values of :data:`DOCUMENT_COLUMNS` of one document, and their digest."""

    values: dict[str, Any]
    sha256: str

    @property
    def fragment_head(self) -> str:
        """Beginning of the JSON array that the digest of a fragment covers."""
        return _head([self.sha256])

    @property
    def parent_head(self) -> str:
        """Beginning of the JSON array that the digest of a parent covers."""
        return _head([self.values[name] for name in SHARED_BY_PARENTS])

    @property
    def is_current(self) -> bool:
        """Its fragments are in the leaf that answers."""
        return bool(self.values["serving_state"] == ServingState.CURRENT.value)


def document_part(document: Document, decision: VersionDecision | None) -> DocumentPart:
    """The serving columns of a document: its metadata, with what was decided about it on top.

    Raises:
        UpstreamMissingError: Nothing was decided about it.
    """
    if decision is None:
        raise UpstreamMissingError(
            f"no version decision for {document.document_id}",
            remedy=f"Run the whole chain: corpus-pipeline ingest {document.corpus}.",
        )
    metadata = document.metadata
    values: dict[str, Any] = {
        "corpus": document.corpus,
        "document_id": document.document_id,
        "serving_state": decision.serving_state.value,
        "exclusion_reason": decision.exclusion_reason.value if decision.exclusion_reason else None,
        "exclusion_ref": decision.exclusion_ref,
        "source_uri": document.source_uri,
        "source_extension": document.source_extension,
        "source_sha256": document.source_sha256,
        "document_text_sha256": document.text_sha256,
        "requested_converter": document.requested_converter,
        "effective_converter": document.effective_converter,
        "processor_version": document.processor_version,
        "title": document.title or metadata.title,
        "language": document.language or metadata.language,
        "product": metadata.product,
        "domain": metadata.domain,
        "plan_tiers": sorted(metadata.plan_tiers),
        "region": metadata.region,
        "customer_segment": metadata.customer_segment,
        "environment": metadata.environment,
        "audience": metadata.audience,
        "answer_use": metadata.answer_use,
        "source_class": metadata.source_class,
        "source_type": metadata.source_type,
        "trust_level": metadata.trust_level.value,
        "lifecycle": decision.lifecycle.value,
        "version": decision.version,
        "family": decision.family,
        "superseded_by": decision.superseded_by,
        "duplicate_of": decision.duplicate_of,
        "valid_from": decision.valid_from,
        "valid_until": decision.valid_until,
        "is_current": decision.is_current,
        "acl_groups": sorted(metadata.acl_groups),
        "owner": metadata.owner,
        "last_reviewed_at": metadata.last_reviewed_at,
        "attributes": {**metadata.attributes, **decision.facts},
    }
    return part_of_values(values, document.converter_fingerprint)


def part_of_values(values: dict[str, Any], converter_fingerprint: str) -> DocumentPart:
    """The part with those values of :data:`DOCUMENT_COLUMNS`, such as a served row has them.

    Args:
        values: By name of the column.
        converter_fingerprint: Of the conversion that made the document's text; the digest covers it.
    """
    # Where the files lie is no content: the same corpus in another folder has the same root.
    content = {name: value for name, value in values.items() if name != LOCATION_COLUMN}
    return DocumentPart(values, _digest([content, converter_fingerprint]))


def fragment_digest(part: DocumentPart, fragment: Fragment) -> str:
    """Digest of a fragment's row: content and what is embedded by their hashes, metadata, decisions.

    No times, and no vector, whose last bits differ between machines. The database computes the same
    (``corpus.fragment_digest``).
    """
    return sha256_hex(
        _continued(
            part.fragment_head,
            fragment.fragment_id,
            fragment.parent_id,
            fragment.ordinal,
            fragment.section_path,
            fragment.page_number,
            fragment.char_start,
            fragment.char_end,
            fragment.token_count,
            fragment.text_sha256,
            fragment.embedded_sha256,
        )
    )


def parent_digest(part: DocumentPart, parent: Parent) -> str:
    """Digest of a parent's row, as ``corpus.parent_digest`` computes it."""
    return sha256_hex(
        _continued(
            part.parent_head,
            parent.parent_id,
            parent.section_path,
            parent.page_number,
            parent.char_start,
            parent.char_end,
            parent.token_count,
            parent.text,
            parent.text_sha256,
        )
    )


def document_row(part: DocumentPart) -> tuple[Any, ...]:
    """Values in the order of DOCUMENT_COLUMNS, then the two heads."""
    values = (Jsonb(value) if isinstance(value, dict) else value for value in part.values.values())
    return (*values, part.fragment_head, part.parent_head)


def generation_root(
    *,
    embedding_fingerprint: str,
    chunker_fingerprint: str,
    analyser_fingerprint: str | None,
    fragment_digests: Iterable[str],
    parent_digests: Iterable[str],
) -> str:
    """SHA-256 over the fingerprints and the sorted row digests: equal for equal content and configuration.

    Without an analyser it is the root of a generation staged before there was lexical ranking.

    >>> one = generation_root(embedding_fingerprint="e", chunker_fingerprint="c",
    ...                       analyser_fingerprint="a", fragment_digests=["b", "a"], parent_digests=[])
    >>> one == generation_root(embedding_fingerprint="e", chunker_fingerprint="c",
    ...                        analyser_fingerprint="a", fragment_digests=["a", "b"], parent_digests=[])
    True
    """
    head = [ROOT_FORMAT_WITHOUT_TERMS, embedding_fingerprint, chunker_fingerprint]
    if analyser_fingerprint is not None:
        head = [ROOT_FORMAT, *head[1:], analyser_fingerprint]
    digest = hashlib.sha256("".join(f"{line}\n" for line in head).encode())
    for name, digests in (("fragments", fragment_digests), ("parents", parent_digests)):
        digest.update(f"{name}\n".encode())
        for row_sha256 in sorted(digests):
            digest.update(row_sha256.encode())
    return digest.hexdigest()


def neighbour_corpora(parts: Iterable[DocumentPart], corpus: str) -> list[str]:
    """Other corpora that decisions refer to, sorted; a reference is a document id ``<corpus>/…``."""
    references = (part.values["exclusion_ref"] for part in parts)
    slugs = {reference.split("/", 1)[0] for reference in references if reference and "/" in reference}
    return sorted(slugs - {corpus})


def _head(values: list[Any]) -> str:
    return canonical_json(values)[:-1]


def _continued(head: str, *values: Any) -> str:
    return f"{head},{canonical_json(values)[1:]}"


def _digest(value: Any) -> str:
    return sha256_hex(canonical_json(value))
