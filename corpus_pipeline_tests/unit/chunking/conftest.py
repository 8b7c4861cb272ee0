"""Small documents to cut."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from corpus_pipeline.chunking import ChunkedDocument, TokenCounter, budget_for, chunk_document, strategy_named
from corpus_pipeline.chunking.tokens import token_counter
from corpus_pipeline.records import Block, ConvertedDocument, Document
from corpus_pipeline.registry import ChunkingSpec, EmbeddingSpec

Chunk = Callable[..., ChunkedDocument]


@pytest.fixture(scope="session")
def counter() -> TokenCounter:
    """Counts with the tokenizer of the packaged model."""
    return token_counter(EmbeddingSpec())


def document_for(converted: ConvertedDocument, title: str | None) -> Document:
    """The record that conversion would keep beside ``converted``."""
    return Document(
        corpus="handbook",
        document_id="handbook/a.md",
        relative_path="a.md",
        source_uri="/docs/a.md",
        source_sha256="0" * 64,
        source_extension="md",
        size_bytes=1,
        requested_converter="auto",
        effective_converter="plain",
        processor_version="1",
        converter_fingerprint="0" * 64,
        document_sha256=converted.document_sha256,
        text_sha256="0" * 64,
        char_count=len(converted.text),
        title=title,
    )


@pytest.fixture(scope="session")
def chunk(counter: TokenCounter) -> Chunk:
    """Cuts blocks or a converted document; keyword arguments are those of the chunking spec."""

    def cut(
        source: list[Block] | ConvertedDocument, *, title: str | None = "Handbook", **options: object
    ) -> ChunkedDocument:
        converted = source if isinstance(source, ConvertedDocument) else ConvertedDocument.from_blocks(source)
        spec = ChunkingSpec(**options)
        return chunk_document(
            document_for(converted, title),
            converted,
            counter=counter,
            budget=budget_for(spec, counter),
            strategy=strategy_named(spec.strategy),
        )

    return cut
