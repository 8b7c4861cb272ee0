"""A failed check in a few lines: what was expected and found, on which documents, and what to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from corpus_pipeline.cli.output import safe

__all__ = ["failure_lines"]

MAX_DOCUMENTS_SHOWN = 5


def failure_lines(failures: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Lines of rich markup for the failures of a verdict, indented; the first documents of each are named."""
    for failure in failures:
        mark = "[bold red]✘ check failed[/]" if failure["severity"] == "critical" else "[yellow]! warning[/]"
        yield (
            f"    {mark} {safe(failure['expectation'])}: expected {safe(failure['expected'])}; "
            f"found {safe(failure['found'])}"
        )
        documents = failure["documents"]
        for document in documents[:MAX_DOCUMENTS_SHOWN]:
            detail = failure["details"].get(document, "")
            yield f"        {safe(document)}{f' — {safe(detail)}' if detail else ''}"
        if len(documents) > MAX_DOCUMENTS_SHOWN:
            yield f"        … and {len(documents) - MAX_DOCUMENTS_SHOWN} more"
        yield f"        to do: {safe(failure['remedy'])}"
