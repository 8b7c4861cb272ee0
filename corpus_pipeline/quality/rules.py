"""A rule: one Great Expectations expectation with the words a person needs when it fails."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = [
    "CORPUS_BATCH",
    "DOCUMENTS_BATCH",
    "Batches",
    "Rule",
    "Severity",
    "absent",
    "at_least",
    "at_most",
    "between",
]

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
        notes: What is said beside the figure found, by rule name.
    """

    output_sha256: str
    documents: list[dict[str, Any]]
    corpus: dict[str, Any]
    culprits: dict[str, list[str]] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)


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


def at_least(column: str, value: float) -> dict[str, Any]:
    """Arguments of a lower bound."""
    return {"column": column, "min_value": value}


def at_most(column: str, value: float) -> dict[str, Any]:
    """Arguments of an upper bound."""
    return {"column": column, "max_value": value}


def between(
    name: str,
    arguments: dict[str, Any],
    severity: Severity,
    expected: str,
    remedy: str,
    *,
    per_document: bool = False,
    detail: str = "",
) -> Rule:
    """A rule that values lie between bounds; null passes."""
    batch = DOCUMENTS_BATCH if per_document else CORPUS_BATCH
    return Rule(name, batch, "ExpectColumnValuesToBeBetween", arguments, severity, expected, remedy, detail)


def absent(name: str, column: str, severity: Severity, expected: str, remedy: str) -> Rule:
    """A rule over documents: the column must be null; its value is shown when it is not."""
    return Rule(
        name, DOCUMENTS_BATCH, "ExpectColumnValuesToBeNull", {"column": column}, severity, expected, remedy, column
    )
