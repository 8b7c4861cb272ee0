"""Documents and evidence from plain texts, so that the resolver can be measured without a database."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from corpus_pipeline.records import Document, sha256_hex
from corpus_pipeline.registry import CorpusSpec, SourceSpec
from corpus_pipeline.versions.claims import DocumentEvidence
from corpus_pipeline.versions.extraction import extract_evidence


def spec_of(slug: str) -> CorpusSpec:
    """A corpus with default settings."""
    return CorpusSpec(slug=slug, base_folder=Path(), owner="benchmark", source=SourceSpec(url="."))


def first_heading(text: str) -> str | None:
    """Title of a Markdown text: its first heading, in either style."""
    found = re.search(r"^(?:#+ +(?P<hashes>.+)|(?P<ruled>\S.*)\n[=-]{3,} *)$", text, re.MULTILINE)
    return (found["hashes"] or found["ruled"]).strip(" #*_") if found else None


def read(
    slug: str, texts: Mapping[str, str], *, titles: Mapping[str, str | None] | None = None
) -> tuple[list[Document], dict[str, DocumentEvidence]]:
    """Documents and their evidence by path."""
    documents, evidence = [], {}
    for path, text in sorted(texts.items()):
        sha = sha256_hex(path + text)
        documents.append(
            Document(
                corpus=slug,
                document_id=f"{slug}/{path}",
                relative_path=path,
                source_uri=path,
                source_sha256=sha,
                source_extension=path.rsplit(".", 1)[-1],
                size_bytes=len(text),
                requested_converter="plain",
                effective_converter="plain",
                processor_version="benchmark",
                converter_fingerprint="benchmark",
                document_sha256=sha,
                text_sha256=sha256_hex(text),
                char_count=len(text),
            )
        )
        evidence[sha] = extract_evidence(text, title=(titles or {}).get(path))
    return documents, evidence


def scores(found: set[tuple[str, str]], truth: set[tuple[str, str]]) -> dict[str, float | int]:
    """Precision, recall and F1 of pairs."""
    hits = len(found & truth)
    precision = hits / len(found) if found else 0.0
    recall = hits / len(truth) if truth else 0.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return {
        "pairs": len(truth),
        "found": len(found),
        "hits": hits,
        "precision": round(precision, 4),
        "recall": round(recall, 4),
        "f1": round(f1, 4),
    }
