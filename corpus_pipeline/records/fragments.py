"""Sections that can be read alone, and the fragments of them that are found."""

from __future__ import annotations

from corpus_pipeline.records.base import Record

__all__ = ["Fragment", "Parent"]


class Parent(Record):
    """A section that can be read alone. Ids end in ``::p0001``."""

    parent_id: str
    corpus: str
    document_id: str
    section_path: tuple[str, ...]
    text: str
    text_sha256: str
    token_count: int
    char_start: int
    char_end: int
    page_number: int | None = None


class Fragment(Record):
    """A child chunk: what is matched. Ids end in ``::f0001``.

    Attributes:
        text: The fragment's own text, a slice of the converted text (a continued table
            part has its header rows before it).
        embedded_text: Context path plus text: exactly what is embedded and counted.
        token_count: Tokens of ``embedded_text`` by the embedding model's own tokenizer,
            special tokens included.
    """

    fragment_id: str
    parent_id: str
    corpus: str
    document_id: str
    ordinal: int
    text: str
    text_sha256: str
    embedded_text: str
    embedded_sha256: str
    token_count: int
    section_path: tuple[str, ...]
    page_number: int | None = None
    char_start: int
    char_end: int
