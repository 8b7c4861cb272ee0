"""What conversion makes of a file: blocks and text, or a reason for quarantine."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from itertools import accumulate

from pydantic import Field

from corpus_pipeline.records.base import Record, canonical_json, sha256_hex
from corpus_pipeline.records.sources import DocumentMetadata

__all__ = [
    "Block",
    "BlockKind",
    "ConvertedDocument",
    "Document",
    "EmbeddedImage",
    "QuarantineReason",
    "QuarantinedFile",
    "TableData",
]


class BlockKind(StrEnum):
    """Kinds of block in a converted document."""

    TITLE = "title"
    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST_ITEM = "list_item"
    TABLE = "table"
    CODE = "code"
    FORMULA = "formula"
    CAPTION = "caption"
    FOOTNOTE = "footnote"
    PICTURE = "picture"


class TableData(Record):
    """Cells of a table, spans repeated into every cell they cover.

    Attributes:
        rows: All rows, header rows first, each of equal length.
        header_rows: How many leading rows are header.
        caption: Caption text, empty when there is none.
        spans: ``(row, column, row count, column count)`` of each cell that covers several
            places, where the converter knows it; its text is in all of them.
    """

    rows: tuple[tuple[str, ...], ...]
    header_rows: int = 0
    caption: str = ""
    spans: tuple[tuple[int, int, int, int], ...] = ()


class Block(Record):
    """One block of a converted document, in reading order.

    Attributes:
        level: Heading level 1-6 (title is 1) or list nesting depth from 1; 0 elsewhere.
        page: 1-based page, ``None`` where the format has none.
        bbox: ``(left, top, right, bottom)`` in points from the page's top left, where known.
        char_start: Start of ``text`` in the document's text.
    """

    kind: BlockKind
    text: str
    level: int = 0
    page: int | None = None
    bbox: tuple[float, float, float, float] | None = None
    char_start: int = 0
    char_end: int = 0
    table: TableData | None = None
    code_language: str | None = None
    links: tuple[str, ...] = ()


class EmbeddedImage(Record):
    """A picture that a document holds, kept beside its text.

    Attributes:
        sha256: Of the picture's bytes.
        media_type: Such as ``image/png``.
        data: The bytes, base64.
        blocks: Where it stands: before, or as, the block of that number; the number of blocks
            stands for the end of the document.
    """

    sha256: str
    media_type: str
    data: str
    blocks: tuple[int, ...]

    @property
    def uri(self) -> str:
        """The picture as a ``data:`` address."""
        return f"data:{self.media_type};base64,{self.data}"


BLOCK_SEPARATOR = "\n\n"


class ConvertedDocument(Record):
    """One structured document: blocks and the text they make up.

    ``text`` is the texts of all blocks joined by :data:`BLOCK_SEPARATOR`; it is plain text
    (headings without ``#``), a list item starts with ``- `` or its own number, a table is one
    line a row with `` | `` between cells. Use :meth:`from_blocks`, which sets the spans.
    ``images`` are there where the corpus keeps them; without any, the JSON form has no such key.
    """

    blocks: tuple[Block, ...]
    text: str
    title: str | None = None
    language: str | None = None
    page_count: int | None = None
    properties: dict[str, str] = Field(default_factory=dict)
    images: tuple[EmbeddedImage, ...] = Field((), exclude_if=lambda images: not images)

    @classmethod
    def from_blocks(
        cls,
        blocks: tuple[Block, ...] | list[Block],
        *,
        title: str | None = None,
        language: str | None = None,
        page_count: int | None = None,
        properties: dict[str, str] | None = None,
        images: tuple[EmbeddedImage, ...] = (),
    ) -> ConvertedDocument:
        r"""Joins blocks in order, drops blocks without text and sets spans; images follow their blocks.

        >>> doc = ConvertedDocument.from_blocks([Block(kind=BlockKind.HEADING, text="A", level=1),
        ...                                      Block(kind=BlockKind.PARAGRAPH, text="b")])
        >>> doc.text, doc.blocks[1].char_start
        ('A\n\nb', 3)
        """
        kept = [block for block in blocks if block.text.strip()]
        spanned = []
        position = 0
        for block in kept:
            end = position + len(block.text)
            spanned.append(block.model_copy(update={"char_start": position, "char_end": end}))
            position = end + len(BLOCK_SEPARATOR)
        before = list(accumulate((bool(block.text.strip()) for block in blocks), initial=0))
        placed = [
            image.model_copy(update={"blocks": tuple(before[block] for block in image.blocks)}) for image in images
        ]
        return cls(
            blocks=tuple(spanned),
            text=BLOCK_SEPARATOR.join(block.text for block in kept),
            title=title,
            language=language,
            page_count=page_count,
            properties=properties or {},
            images=tuple(placed),
        )

    @property
    def document_sha256(self) -> str:
        """Hash of the whole structured document; what chunking depends on."""
        return sha256_hex(canonical_json(self))


class QuarantineReason(StrEnum):
    """Why a file has no converted document."""

    ENCRYPTED = "encrypted"
    CORRUPT = "corrupt"
    EMPTY = "empty"
    UNSUPPORTED = "unsupported"
    NO_TEXT = "no_text"
    TOO_LARGE = "too_large"
    BOMB = "bomb"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out_of_memory"
    CONVERTER_ERROR = "converter_error"
    UNREADABLE = "unreadable"


class QuarantinedFile(Record):
    """A file that could not be converted, and what to do about it."""

    corpus: str
    document_id: str
    source_uri: str
    source_sha256: str
    reason: QuarantineReason
    message: str
    requested_converter: str
    attempts: int = 1
    first_failed_at: datetime | None = None
    last_failed_at: datetime | None = None


class Document(Record):
    """A converted document of a corpus with its metadata (text is fetched apart).

    Attributes:
        requested_converter: The policy asked for, may be ``auto``.
        effective_converter: The concrete converter, never ``auto``.
        processor_version: Version of the effective converter's library and its options' digest.
        metadata: All metadata merged, corpus defaults included.
    """

    corpus: str
    document_id: str
    relative_path: str
    source_uri: str
    source_sha256: str
    source_extension: str
    size_bytes: int
    modified_at: datetime | None = None
    requested_converter: str
    effective_converter: str
    processor_version: str
    converter_fingerprint: str
    document_sha256: str
    text_sha256: str
    char_count: int
    page_count: int | None = None
    title: str | None = None
    language: str | None = None
    metadata: DocumentMetadata = Field(default_factory=DocumentMetadata)
    metadata_provenance: dict[str, str] = Field(default_factory=dict)
    properties: dict[str, str] = Field(default_factory=dict)
