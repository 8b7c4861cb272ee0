"""The records that cross rooms.

Only data and what follows from it alone. Not here: I/O, SQL, a library of a single room, and records
that one room alone uses.
All records are frozen. Offsets are half-open ``[char_start, char_end)`` counts of
Unicode code points in :attr:`ConvertedDocument.text`.
"""

from __future__ import annotations

from corpus_pipeline.records.base import Record, as_json, canonical_json, sha256_hex
from corpus_pipeline.records.documents import (
    Block,
    BlockKind,
    ConvertedDocument,
    Document,
    EmbeddedImage,
    QuarantinedFile,
    QuarantineReason,
    TableData,
)
from corpus_pipeline.records.duplicates import DuplicateCluster, DuplicateEdge, DuplicateKind
from corpus_pipeline.records.fragments import Fragment, Parent
from corpus_pipeline.records.sources import AnswerUse, DocumentMetadata, Lifecycle, SourceFile, SourceType, TrustLevel
from corpus_pipeline.records.stages import Stage
from corpus_pipeline.records.versions import ExclusionReason, ServingState, VersionDecision, VersionRelation

__all__ = [
    "AnswerUse",
    "Block",
    "BlockKind",
    "ConvertedDocument",
    "Document",
    "DocumentMetadata",
    "DuplicateCluster",
    "DuplicateEdge",
    "DuplicateKind",
    "EmbeddedImage",
    "ExclusionReason",
    "Fragment",
    "Lifecycle",
    "Parent",
    "QuarantineReason",
    "QuarantinedFile",
    "Record",
    "ServingState",
    "SourceFile",
    "SourceType",
    "Stage",
    "TableData",
    "TrustLevel",
    "VersionDecision",
    "VersionRelation",
    "as_json",
    "canonical_json",
    "sha256_hex",
]
