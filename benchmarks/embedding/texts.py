"""Texts of realistic lengths: fragments of real documents as the pipeline cuts them."""

from __future__ import annotations

import random
from pathlib import Path

from corpus_pipeline.chunking import budget_for, chunk_document, strategy_named, token_counter
from corpus_pipeline.conversion import ConversionInput, FileFormat
from corpus_pipeline.conversion.rst_converter import RstConverter
from corpus_pipeline.records import ConvertedDocument, Document
from corpus_pipeline.registry import ChunkingSpec, EmbeddingSpec


def fragment_texts(folder: Path, documents: int) -> list[str]:
    """What would be embedded for some of a folder's reStructuredText files, chosen by a fixed seed."""
    counter, spec = token_counter(EmbeddingSpec()), ChunkingSpec()
    budget, strategy = budget_for(spec, counter), strategy_named(spec.strategy)
    paths = sorted(folder.glob("*.rst"))
    random.Random(1).shuffle(paths)
    texts: list[str] = []
    for path in paths[:documents]:
        converted = RstConverter().convert(ConversionInput(path, FileFormat.RST, "rst"))
        cut = chunk_document(_record(path, converted), converted, counter=counter, budget=budget, strategy=strategy)
        texts.extend(fragment.embedded_text for fragment in cut.fragments)
    return texts


def _record(path: Path, converted: ConvertedDocument) -> Document:
    return Document(
        corpus="benchmark",
        document_id=f"benchmark/{path.name}",
        relative_path=path.name,
        source_uri=path.name,
        source_sha256="",
        source_extension="rst",
        size_bytes=0,
        requested_converter="auto",
        effective_converter="rst",
        processor_version="benchmark",
        converter_fingerprint="benchmark",
        document_sha256="",
        text_sha256="",
        char_count=len(converted.text),
        title=converted.title,
    )
