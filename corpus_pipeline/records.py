"""The records that cross rooms.

Only data and what follows from it alone: no I/O, no SQL, no library of a single room.
All records are frozen. Offsets are half-open ``[char_start, char_end)`` counts of
Unicode code points in :attr:`ConvertedDocument.text`.
"""

from __future__ import annotations

import hashlib
import json
from datetime import date, datetime
from enum import StrEnum
from itertools import accumulate
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = [
    "Block",
    "BlockKind",
    "ConvertedDocument",
    "Document",
    "DocumentMetadata",
    "DuplicateCluster",
    "DuplicateEdge",
    "DuplicateKind",
    "EmbeddedImage",
    "ExclusionReason",
    "Fragment",
    "Lifecycle",
    "Parent",
    "QuarantineReason",
    "QuarantinedFile",
    "ServingState",
    "SourceFile",
    "SourceType",
    "Stage",
    "TableData",
    "TrustLevel",
    "VersionDecision",
    "VersionRelation",
    "as_json",
    "canonical_json",
    "sha256_hex",
]


def sha256_hex(data: bytes | str) -> str:
    """Lower-case hexadecimal SHA-256; text is hashed as UTF-8.

    >>> sha256_hex("")[:12]
    'e3b0c44298fc'
    """
    return hashlib.sha256(data.encode("utf-8") if isinstance(data, str) else data).hexdigest()


def canonical_json(value: Any) -> str:
    """JSON with sorted keys and no spaces, so that equal values have equal hashes.

    >>> canonical_json({"b": 1, "a": [2]})
    '{"a":[2],"b":1}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=as_json)


def as_json(value: object) -> object:
    """The JSON form of a record, a date or a set, for ``json.dumps(default=…)``."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, (date, datetime)):
        return value.isoformat()
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    raise TypeError(f"no JSON form for {type(value).__name__}")


class Record(BaseModel):
    """Base of the records: frozen, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Stage(StrEnum):
    """The nine assets, in chain order. ``Stage.X.upstream`` is the one before."""

    SOURCE_INVENTORY = "source_inventory"
    CONVERTED_DOCUMENTS = "converted_documents"
    NEAR_DUPLICATE_CLUSTERS = "near_duplicate_clusters"
    DOCUMENT_VERSIONS = "document_versions"
    FRAGMENTS = "fragments"
    FRAGMENT_EMBEDDINGS = "fragment_embeddings"
    INDEX_GENERATION = "index_generation"
    RETRIEVAL_EVALUATION = "retrieval_evaluation"
    PUBLISHED_CORPUS = "published_corpus"

    @property
    def upstream(self) -> Stage | None:
        """The stage whose output this one reads, or ``None`` for the first."""
        stages = list(Stage)
        position = stages.index(self)
        return stages[position - 1] if position else None


class TrustLevel(StrEnum):
    """How far a source is trusted, best first."""

    VERIFIED = "VERIFIED"
    HIGH = "HIGH"
    MEDIUM = "MEDIUM"
    LOW = "LOW"
    UNVERIFIED = "UNVERIFIED"


class SourceType(StrEnum):
    """Where the content of a document comes from."""

    COMPETITOR_ANALYSIS = "COMPETITOR_ANALYSIS"
    USER_FEEDBACK = "USER_FEEDBACK"
    MARKET_DATA = "MARKET_DATA"
    TECHNICAL_RESEARCH = "TECHNICAL_RESEARCH"
    INTERNAL_DATA = "INTERNAL_DATA"
    EXPERT_OPINION = "EXPERT_OPINION"
    WEB_SEARCH = "WEB_SEARCH"
    SOURCE_CODE = "SOURCE_CODE"
    ERROR_LOG = "ERROR_LOG"
    GIT_DIFF = "GIT_DIFF"
    DEPENDENCY_INFO = "DEPENDENCY_INFO"
    ARCHITECTURE = "ARCHITECTURE"


class Lifecycle(StrEnum):
    """Life of a document as its owner declares it."""

    DRAFT = "draft"
    ACTIVE = "active"
    DEPRECATED = "deprecated"
    WITHDRAWN = "withdrawn"
    ARCHIVED = "archived"


AnswerUse = Literal["any", "internal", "never"]


class DocumentMetadata(Record):
    """What is declared about a document, merged by the stated precedence (docs/adding-a-corpus.md).

    ``supersedes`` and ``superseded_by`` hold references as written (a relative path, a
    document id, a title, a number); resolving them is the job of the versions room.
    """

    title: str | None = None
    product: str | None = None
    domain: str | None = None
    plan_tiers: tuple[str, ...] = ()
    region: str | None = None
    customer_segment: str | None = None
    environment: str | None = None
    audience: str | None = None
    answer_use: AnswerUse = "any"
    source_class: str | None = None
    source_type: SourceType | None = None
    trust_level: TrustLevel = TrustLevel.UNVERIFIED
    lifecycle: Lifecycle = Lifecycle.ACTIVE
    version: str | None = None
    family: str | None = None
    supersedes: tuple[str, ...] = ()
    superseded_by: str | None = None
    valid_from: date | None = None
    valid_until: date | None = None
    acl_groups: tuple[str, ...] = ()
    owner: str | None = None
    last_reviewed_at: date | None = None
    language: str | None = None
    attributes: dict[str, str | int | float | bool | None] = Field(default_factory=dict)


class SourceFile(Record):
    """One file of a corpus as the inventory found it.

    Attributes:
        document_id: ``<corpus>/<relative path>``, the document's key everywhere.
        relative_path: POSIX path below the corpus root; a member of an archive is ``a.zip!/b.txt``.
        source_uri: Full fsspec URL or absolute path.
        extension: Lower case, without dot.
        declared: Metadata keys that registry overrides, sidecar, manifest or front matter set,
            already merged by precedence, JSON values. Corpus defaults are not in here.
        declared_by: For each key of ``declared``, where it came from, such as ``sidecar``.
        doubt: A fault met while reading the file or its metadata; empty when there was none.
        container: Relative path of the outermost archive or mail that holds this file; empty for
            a file of its own.
        refusal: Value of :class:`QuarantineReason` when the inventory found that the file can never
            be converted, such as a damaged archive; ``doubt`` says why.
    """

    corpus: str
    document_id: str
    relative_path: str
    source_uri: str
    sha256: str
    size_bytes: int
    modified_at: datetime | None = None
    extension: str = ""
    declared: dict[str, Any] = Field(default_factory=dict)
    declared_by: dict[str, str] = Field(default_factory=dict)
    doubt: str = ""
    container: str = ""
    refusal: str = ""


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


class DuplicateKind(StrEnum):
    """How two documents are alike."""

    EXACT = "exact"
    NEAR = "near"
    CONTAINED = "contained"


class DuplicateEdge(Record):
    """A verified pair; ``left_id < right_id``. ``jaccard`` is exact, over word shingles.

    Documents with the same words are joined by exact edges to the smallest id among them, which
    stands for all of them in near and contained edges.

    Attributes:
        containment: Share of the smaller document's shingles that the larger has too.
        contained_id: For a contained edge, the smaller document; empty otherwise.
    """

    left_id: str
    right_id: str
    kind: DuplicateKind
    jaccard: float
    containment: float
    contained_id: str = ""


class DuplicateCluster(Record):
    """Documents of one corpus that are copies of each other.

    Attributes:
        cluster_id: Stable: derived from the smallest member id.
        similarity: Exact Jaccard of each member to the cluster's centre, by document id.
        centre_id: The member to which every other has a verified edge.
    """

    corpus: str
    cluster_id: str
    members: tuple[str, ...]
    similarity: dict[str, float]
    kind: DuplicateKind
    centre_id: str = ""


class ServingState(StrEnum):
    """Second partition level of the serving tables."""

    CURRENT = "current"
    ARCHIVED = "archived"


class ExclusionReason(StrEnum):
    """Why a document's fragments are kept out of answers (``archived``)."""

    SUPERSEDED = "superseded"
    DUPLICATE = "duplicate"
    COPY_OF_SUPERSEDED = "copy_of_superseded"
    EXPIRED = "expired"
    NOT_YET_EFFECTIVE = "not_yet_effective"
    DRAFT = "draft"
    WITHDRAWN = "withdrawn"
    ARCHIVED = "archived"
    NEVER_ANSWER = "never_answer"


class VersionRelation(Record):
    """A relation found between two documents, and what it rests on.

    Attributes:
        source_id: The document that supersedes (or amends).
        target_id: The document superseded; ``None`` when ``target_reference`` is not in the corpus.
        applied: False when the confidence is too low or the successor is not in force.
    """

    corpus: str
    source_id: str | None
    target_id: str | None
    source_reference: str = ""
    target_reference: str = ""
    relation: Literal["supersedes", "amends", "series"]
    rule: str
    evidence: str
    confidence: float
    applied: bool
    note: str = ""


class VersionDecision(Record):
    """What the versions room decided about one document.

    Attributes:
        series_key: Series of periodic editions that it belongs to, such as ``quarterly/AAPL``;
            ``None`` outside of one. Editions stay true for their period.
        period_label: Period as metadata or the name declare it, such as ``2023-Q1``.
        period_end: Last day of that period, as the text states it.
        is_latest: The newest edition of its series; ``None`` outside of a series and where the
            evidence leaves the order open.
        organisation: Who issued it, as metadata or its text state it.
    """

    corpus: str
    document_id: str
    family: str
    version: str | None = None
    lifecycle: Lifecycle
    valid_from: date | None = None
    valid_until: date | None = None
    superseded_by: str | None = None
    duplicate_of: str | None = None
    is_canonical: bool = True
    is_current: bool = True
    serving_state: ServingState = ServingState.CURRENT
    exclusion_reason: ExclusionReason | None = None
    exclusion_ref: str | None = None
    evidence: str = ""
    needs_review: bool = False
    series_key: str | None = None
    period_label: str | None = None
    period_end: date | None = None
    is_latest: bool | None = None
    organisation: str | None = None

    @property
    def facts(self) -> dict[str, str | bool]:
        """The facts of a periodic edition as attributes that filters can use; dates in ISO form."""
        named = {
            "series_key": self.series_key,
            "period_label": self.period_label,
            "period_end": self.period_end.isoformat() if self.period_end else None,
            "is_latest": self.is_latest,
            "organisation": self.organisation,
        }
        return {name: value for name, value in named.items() if value is not None}


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
