"""Evidence packs: the sources of an answer word for word, under one hash, with policy and quality score.

Not here: finding and ranking what is cited (retrieval) and judging whole corpora by golden queries (evaluation).
"""

from corpus_pipeline.evidence.assembly import build_pack, gather_evidence
from corpus_pipeline.evidence.pack import EvidenceLocator, EvidencePack, EvidenceSource, evidence_hash
from corpus_pipeline.evidence.policy import EvidenceScore, Finding, check_policy, score_pack
from corpus_pipeline.evidence.repository import StoredPack, packs, stored
from corpus_pipeline.evidence.review import (
    PackReport,
    SourceState,
    SourceStatus,
    keep_pack,
    propose_pack,
    review_pack,
    review_packs,
    score_corpus,
)
from corpus_pipeline.evidence.validation import IntegrityFault, validate_pack

__all__ = [
    "EvidenceLocator",
    "EvidencePack",
    "EvidenceScore",
    "EvidenceSource",
    "Finding",
    "IntegrityFault",
    "PackReport",
    "SourceState",
    "SourceStatus",
    "StoredPack",
    "build_pack",
    "check_policy",
    "evidence_hash",
    "gather_evidence",
    "keep_pack",
    "packs",
    "propose_pack",
    "review_pack",
    "review_packs",
    "score_corpus",
    "score_pack",
    "stored",
    "validate_pack",
]
