"""The report as one HTML page that loads nothing and runs only its own script.

All text of documents passes through jinja's escaping; the content security policy allows the style
and the script of this package by their hashes, and images that are part of the page.
"""

from __future__ import annotations

import base64
import hashlib
from importlib import resources
from typing import Any

from corpus_pipeline.conversion.audit.report import AuditReport

__all__ = ["render_page"]

DOCUMENT_COLOURS = ("title", "heading", "paragraph", "list_item", "table", "code", "formula", "caption", "footnote")


def render_page(report: AuditReport, *, owner: str) -> str:
    """The page of a report.

    Args:
        report: What was compared.
        owner: Of the corpus.
    """
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    style, script = _asset("audit.css"), _asset("audit.js")
    return environment.from_string(_asset("audit.html.jinja")).render(
        report=report,
        owner=owner,
        style=style,
        script=script,
        policy=_policy(style, script),
        result=_result_frame(report),
        kinds=DOCUMENT_COLOURS,
    )


def _asset(name: str) -> str:
    return resources.files("corpus_pipeline.conversion.audit").joinpath(name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    return (
        "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"style-src {_hash(style)}; script-src {_hash(script)}"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _result_frame(report: AuditReport) -> dict[str, Any]:
    """The signed result before a person has filled it in."""
    return {
        "kind": "corpus-pipeline conversion audit",
        "version": 1,
        "corpus": report.corpus,
        "report_id": report.report_id,
        "files": [{"document_id": file.document_id, "sha256": file.sha256} for file in report.files],
    }
