"""Which copy is canonical, which version is current, and what stays out of answers, with the evidence.

Here: reading what documents say about each other, families and their order, conflicts, the
canonical member of a cluster, validity, and the history of all that.

Not here: finding copies (deduplication), whether conflicts block publication (quality), and
showing what was kept out (retrieval, cli).
"""

from corpus_pipeline.versions.canonical import SOURCE_CLASS_AUTHORITY, class_authority
from corpus_pipeline.versions.claims import EXTRACTOR_VERSION, Claim, ClaimKind, DocumentEvidence
from corpus_pipeline.versions.conflicts import ConflictKind, VersionConflict
from corpus_pipeline.versions.extraction import extract_evidence
from corpus_pipeline.versions.history import DayState, HeldDecision, states_on
from corpus_pipeline.versions.repository import (
    current_version,
    held_decisions,
    version_conflicts,
    version_decisions,
    version_decisions_on,
    version_relations,
)
from corpus_pipeline.versions.resolution import resolve_corpus
from corpus_pipeline.versions.resolver import Resolution, resolve
from corpus_pipeline.versions.state import EXCLUSION_PRIORITY

__all__ = [
    "EXCLUSION_PRIORITY",
    "EXTRACTOR_VERSION",
    "SOURCE_CLASS_AUTHORITY",
    "Claim",
    "ClaimKind",
    "ConflictKind",
    "DayState",
    "DocumentEvidence",
    "HeldDecision",
    "Resolution",
    "VersionConflict",
    "class_authority",
    "current_version",
    "extract_evidence",
    "held_decisions",
    "resolve",
    "resolve_corpus",
    "states_on",
    "version_conflicts",
    "version_decisions",
    "version_decisions_on",
    "version_relations",
]
