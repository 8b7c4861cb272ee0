"""Ways to cut one text: those of this project, LangChain's recursive splitter, docling's HybridChunker.

All are given the same limit, in tokens of the same model's tokenizer on the string that is embedded,
special tokens included, and no overlap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from corpus_pipeline.chunking import TokenCounter, budget_for, chunk_document, strategy_named
from corpus_pipeline.conversion import ConversionInput, FileFormat
from corpus_pipeline.conversion.plain_converter import PlainConverter
from corpus_pipeline.records import ConvertedDocument, Document, sha256_hex
from corpus_pipeline.registry import ChunkingSpec

PAPER_SEPARATORS = ("\n\n", "\n", ".", "?", "!", " ", "")
"""Those of the report on chunking_evaluation; LangChain's own have no sentence ends."""


@dataclass(frozen=True)
class Chunk:
    """A half-open range of characters of the source text, and the string that is embedded for it."""

    start: int
    end: int
    embedded: str


Splitter = Callable[[str, str, TokenCounter, int], list[Chunk]]
"""Name of the text, the text, counter, limit in tokens."""


class PlaceNotFoundError(Exception):
    """A chunk's text does not lie in the source in order."""


def converted(text: str) -> ConvertedDocument:
    """The text as the pipeline reads a plain file; the texts of the evaluation have no Markdown in them."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "text.txt"
        path.write_text(text, encoding="utf-8")
        return PlainConverter().convert(ConversionInput(path, FileFormat.TEXT, "txt"))


def ours(strategy: str) -> Splitter:
    """A strategy of this project on the document the pipeline makes of the text."""

    def split(name: str, text: str, counter: TokenCounter, limit: int) -> list[Chunk]:
        document = converted(text)
        spec = ChunkingSpec(strategy=strategy, child_tokens=limit)
        cut = chunk_document(
            _record(name, document),
            document,
            counter=counter,
            budget=budget_for(spec, counter),
            strategy=strategy_named(strategy),
        )
        spans = _spans(text, [document.text[f.char_start : f.char_end] for f in cut.fragments])
        return [Chunk(start, end, f.embedded_text) for (start, end), f in zip(spans, cut.fragments, strict=True)]

    return split


def recursive(separators: tuple[str, ...] | None) -> Splitter:
    """LangChain's RecursiveCharacterTextSplitter, lengths in the model's tokens."""

    def split(_name: str, text: str, counter: TokenCounter, limit: int) -> list[Chunk]:
        from langchain_text_splitters import RecursiveCharacterTextSplitter

        splitter = RecursiveCharacterTextSplitter(
            chunk_size=limit,
            chunk_overlap=0,
            separators=list(separators) if separators else None,
            length_function=lambda part: counter.counts([part])[0],
            add_start_index=True,
        )
        found = splitter.create_documents([text])
        return [
            Chunk(
                part.metadata["start_index"], part.metadata["start_index"] + len(part.page_content), part.page_content
            )
            for part in found
        ]

    return split


def hybrid(_name: str, text: str, counter: TokenCounter, limit: int) -> list[Chunk]:
    """docling-core's HybridChunker on the document docling makes of the text, contextualised as it does."""
    from docling_core.transforms.chunker.hybrid_chunker import HybridChunker
    from docling_core.transforms.chunker.tokenizer.base import BaseTokenizer
    from docling_core.types.doc.document import DoclingDocument
    from docling_core.types.doc.labels import DocItemLabel

    class _Tokens(BaseTokenizer):
        """The counter that all others use; docling counts without special tokens."""

        def count_tokens(self, text: str) -> int:
            return counter.plain_counts([text])[0]

        def get_max_tokens(self) -> int:
            return limit - counter.overhead_tokens

        def get_tokenizer(self) -> Callable[[str], int]:
            return self.count_tokens

    document = DoclingDocument(name="text")
    for block in converted(text).blocks:
        document.add_text(label=DocItemLabel.PARAGRAPH, text=block.text)
    chunker = HybridChunker(tokenizer=_Tokens(), merge_peers=True)
    chunks = list(chunker.chunk(document))
    spans = _spans(text, [chunk.text for chunk in chunks])
    return [Chunk(start, end, chunker.contextualize(chunk)) for (start, end), chunk in zip(spans, chunks, strict=True)]


def _spans(text: str, parts: list[str]) -> Iterator[tuple[int, int]]:
    """Where the parts lie in the text, one after the other, white space apart."""
    places = [place for place, character in enumerate(text) if not character.isspace()]
    solid = "".join(text[place] for place in places)
    at = 0
    for part in parts:
        wanted = "".join(part.split())
        found = solid.find(wanted, at) if wanted else at
        if found < 0:
            raise PlaceNotFoundError(part[:80])
        yield (places[found], places[found + len(wanted) - 1] + 1) if wanted else (0, 0)
        at = found + len(wanted)


def _record(name: str, document: ConvertedDocument) -> Document:
    return Document(
        corpus="evaluation",
        document_id=f"evaluation/{name}",
        relative_path="",
        source_uri=f"{name}.md",
        source_sha256=sha256_hex(document.text),
        source_extension="md",
        size_bytes=len(document.text),
        requested_converter="auto",
        effective_converter="markdown",
        processor_version="benchmark",
        converter_fingerprint="benchmark",
        document_sha256=document.document_sha256,
        text_sha256=sha256_hex(document.text),
        char_count=len(document.text),
        title=document.title,
    )


SPLITTERS: dict[str, Splitter] = {
    "markdown_heading": ours("markdown_heading"),
    "docling_hybrid": ours("docling_hybrid"),
    "token_window": ours("token_window"),
    "recursive (langchain)": recursive(None),
    "recursive (report)": recursive(PAPER_SEPARATORS),
    "HybridChunker (docling)": hybrid,
}
