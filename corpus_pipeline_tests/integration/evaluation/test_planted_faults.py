"""Faults planted in a small corpus that is published: each is caught before it is published, and called by its name.

Real rooms, real model. The corpus is published once; every fault starts from it and is taken back.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from corpus_pipeline.evaluation import MissClass
from corpus_pipeline.store import StageContext, Verdict
from corpus_pipeline_tests.faults import QUERIES, Corpus, Fault, faults


def found(verdict: Verdict, expectation: str) -> dict[str, Any]:
    """What a critical failure says."""
    assert not verdict.passed, verdict.failures
    return next(one for one in verdict.failures if one["expectation"] == expectation)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_every_planted_fault_is_caught_and_called_by_its_name(context: StageContext, corpus_folder: Path) -> None:
    corpus = Corpus(context, corpus_folder)
    corpus.publish()
    for fault in faults(corpus):
        check(corpus, fault, fault.plant(corpus))
    assert corpus.judge().passed, "the corpus without a fault is as good as before"


def check(corpus: Corpus, fault: Fault, verdict: Verdict) -> None:
    said = {name: str(found(verdict, name)["found"]) for name in fault.caught_by}
    misses = corpus.misses()
    if fault.classes:
        assert misses.most_common(1)[0][0] in fault.classes, (fault.name, misses)
    if fault.name == "a stale copy":
        assert misses == {MissClass.STALE_OUTRANKED: 1}
    elif fault.name == "a duplicate flood":
        assert "for billing fell from 1.00 to" in said["recall_kept"]
        assert "mirror/" in said["recall_kept"]
    elif fault.name == "wrong metadata":
        steady = [one["severity"] for one in verdict.failures if one["expectation"] == "recall_steady"]
        assert steady == ["warning"]
        assert misses == {MissClass.FILTERED: 2}
    elif fault.name == "a broken chunker":
        assert misses == {MissClass.NOT_INDEXED: len(QUERIES)}
    elif fault.name == "a bad model revision":
        assert "over all queries" in said["recall_kept"] or "for billing" in said["recall_kept"]
    else:
        assert "new documents" in said["new_documents_on_topic"]
        named = found(verdict, "new_documents_on_topic")["documents"]
        assert named
        assert all("imported/" in document_id for document_id in named)
