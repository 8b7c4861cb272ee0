"""Whether what is served is what was made from the files, and removing documents for good.

Here: recomputing the hash chain, the audit of serving tables against what they must hold and its
repair, and purging. Not here: how rows come to be served (index) and packs of evidence (evidence).
"""

from corpus_pipeline.trust.drift import Drift, DriftedRow, audit_drift, repair_drift
from corpus_pipeline.trust.links import BrokenLink, Link, LinkCount, Verification
from corpus_pipeline.trust.purge import purge_documents
from corpus_pipeline.trust.receipt import ChangedRoot, PurgedDocument, PurgeReceipt
from corpus_pipeline.trust.verification import verify_corpus

__all__ = [
    "BrokenLink",
    "ChangedRoot",
    "Drift",
    "DriftedRow",
    "Link",
    "LinkCount",
    "PurgeReceipt",
    "PurgedDocument",
    "Verification",
    "audit_drift",
    "purge_documents",
    "repair_drift",
    "verify_corpus",
]
