"""Documents and evidence from plain texts, so that the resolver can be measured without a database."""

from __future__ import annotations

import os
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from corpus_pipeline.conversion import CATALOGUE, ConversionJob
from corpus_pipeline.conversion.single_file import convert_file
from corpus_pipeline.records import ConvertedDocument, Document, sha256_hex
from corpus_pipeline.registry import ConversionSpec, CorpusSpec, SourceSpec
from corpus_pipeline.versions.claims import DocumentEvidence
from corpus_pipeline.versions.extraction import evidence_of, extract_evidence


def spec_of(slug: str) -> CorpusSpec:
    """A corpus with default settings."""
    return CorpusSpec(slug=slug, base_folder=Path(), owner="benchmark", source=SourceSpec(url="."))


def converted_files(paths: Sequence[Path], *, pdf: tuple[str, ...] = ()) -> dict[str, ConvertedDocument]:
    """Files by name, really converted; ``$CORPUS_CONVERTED`` names a folder that keeps them for the next run.

    Args:
        paths: The files.
        pdf: Converters of PDF files, in place of the ones that the stage would choose.
    """
    cache = Path(os.environ["CORPUS_CONVERTED"]) if "CORPUS_CONVERTED" in os.environ else None
    found = {}
    for path in sorted(paths):
        kept = cache / f"{path.name}.json" if cache else None
        if kept and kept.is_file():
            found[path.name] = ConvertedDocument.model_validate_json(kept.read_text(encoding="utf-8"))
            continue
        found[path.name] = convert(path, pdf if path.suffix == ".pdf" else ())
        if kept:
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(found[path.name].model_dump_json(), encoding="utf-8")
    return found


def convert(path: Path, candidates: tuple[str, ...] = ()) -> ConvertedDocument:
    """A file as the conversion stage would convert it, in this process."""
    job = ConversionJob(
        key=path.name,
        path=str(path),
        extension=path.suffix.lstrip("."),
        requested="auto",
        candidates=candidates,
        targets={name: entry.target for name, entry in CATALOGUE.items()},
        limits=ConversionSpec().limits.model_dump(),
    )
    outcome = convert_file(job)
    if outcome.reason:
        raise SystemExit(f"{path}: {outcome.reason}: {outcome.message}")
    return ConvertedDocument.model_validate_json(zlib.decompress(outcome.content))


def read(
    slug: str, texts: Mapping[str, str], *, converted: Mapping[str, ConvertedDocument] | None = None
) -> tuple[list[Document], dict[str, DocumentEvidence]]:
    """Documents and their evidence by path.

    Args:
        converted: The structured documents, where titles and headings matter.
    """
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
        evidence[sha] = evidence_of(converted[path]) if converted else extract_evidence(text)
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
