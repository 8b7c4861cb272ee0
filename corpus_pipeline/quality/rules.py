"""A rule: one Great Expectations expectation with the words a person needs when it fails."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = ["CORPUS_BATCH", "DOCUMENTS_BATCH", "Batches", "Rule", "Severity"]

Severity = Literal["critical", "warning"]
BatchName = Literal["documents", "corpus"]
DOCUMENTS_BATCH: BatchName = "documents"
CORPUS_BATCH: BatchName = "corpus"


@dataclass(frozen=True)
class Batches:
    """What a suite looks at, read in one transaction.

    Attributes:
        output_sha256: The stage output the rows belong to.
        documents: One row a document (or fragment, edge, query), each with ``document_id``.
        corpus: One row of figures for the corpus as a whole.
        culprits: For a rule over ``corpus``, the document ids that make up the figure, by rule name.
    """

    output_sha256: str
    documents: list[dict[str, Any]]
    corpus: dict[str, Any]
    culprits: dict[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Rule:
    """One expectation of a suite.

    Attributes:
        name: Stable, snake case, unique in its suite.
        batch: ``documents`` (one row a document) or ``corpus`` (one row of figures).
        expectation: Class name in ``great_expectations.expectations``.
        arguments: Keyword arguments of that class.
        expected: Completes "expected …".
        remedy: What to do when it fails, as an instruction.
        detail: Column whose value is shown beside each failing document, if any.
    """

    name: str
    batch: BatchName
    expectation: str
    arguments: dict[str, Any]
    severity: Severity
    expected: str
    remedy: str
    detail: str = ""
