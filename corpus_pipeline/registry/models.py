"""The models of corpora.yaml. Reading the file, with line numbers in errors, is in ``loading``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator

from corpus_pipeline.errors import UnknownCorpusError
from corpus_pipeline.records import AnswerUse, Lifecycle, SourceType, TrustLevel, canonical_json, sha256_hex

__all__ = [
    "PASSWORD_KEY",
    "PRIMARY_CATEGORIES",
    "SUPPORTING_CATEGORIES",
    "ChunkingSpec",
    "ConversionLimits",
    "ConversionSpec",
    "CorpusSpec",
    "DeduplicationSpec",
    "EmbeddingSpec",
    "EvidenceSpec",
    "GateThresholds",
    "LexicalSpec",
    "Registry",
    "RetrievalSpec",
    "RoutingSpec",
    "ScheduleSpec",
    "SearchMode",
    "SourceSpec",
    "VersionsSpec",
]

PASSWORD_KEY = "password"  # noqa: S105 - the name of a key
"""Key of ``documents:`` and of sidecars that opens an encrypted file; it is no metadata."""
Slug = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,62}$")]
Ratio = Annotated[float, Field(ge=0.0, le=1.0)]


class Spec(BaseModel):
    """Base of all parts of the registry: frozen, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class SourceSpec(Spec):
    """Where the files of a corpus are."""

    url: str = Field(description="A folder, relative to corpora.yaml, or any fsspec URL such as s3://bucket/docs.")
    include: tuple[str, ...] = Field(("**/*",), description="Globs of files to take, relative to the folder.")
    exclude: tuple[str, ...] = Field((), description="Globs of files to leave out; exclude wins over include.")
    manifest: str | None = Field(None, description="CSV or JSONL below the source with a `path` column and metadata.")
    options: dict[str, Any] = Field(
        default_factory=dict, repr=False, description="Options for the fsspec file system; ${VAR} is filled in."
    )


class ConversionLimits(Spec):
    """Limits for one file."""

    timeout_seconds: Annotated[float, Field(gt=0)] = 120.0
    memory_mb: Annotated[int, Field(ge=256)] = 3072
    max_pages: Annotated[int, Field(ge=1)] = 5000
    max_bytes: Annotated[int, Field(ge=1)] = 200_000_000
    max_expanded_bytes: Annotated[int, Field(ge=1)] = 1_000_000_000
    max_text_chars: Annotated[int, Field(ge=1)] = 20_000_000
    max_members: Annotated[int, Field(ge=1)] = Field(20_000, description="Files in one archive, nested ones included.")
    max_nesting: Annotated[int, Field(ge=1, le=20)] = Field(
        4, description="Containers in containers; a file in an archive in a mail lies two deep."
    )


ConverterName = Literal["auto", "docling", "unstructured", "markitdown", "plain"]


class ConversionSpec(Spec):
    """Which converter makes structured documents, and its limits."""

    converter: ConverterName = "auto"
    overrides: dict[str, ConverterName] = Field(
        default_factory=dict, description="Glob to converter, first match wins."
    )
    pdf_grade: Literal["auto", "models", "geometry", "native"] = Field(
        "auto",
        description="How PDF is read: docling's models, our geometry without models, bare lines; auto takes models "
        "where their weights are found, else geometry.",
    )
    ocr: Literal["auto", "on", "off"] = Field(
        "auto",
        description="Text recognition of images and scanned pages: auto where the extra `ocr` is installed, on "
        "refuses files with scanned pages without it, off never.",
    )
    embedded_images: Literal["cut", "keep"] = Field(
        "cut",
        description="Pictures inside office documents and HTML: cut leaves them out, keep stores them beside the text.",
    )
    limits: ConversionLimits = ConversionLimits()
    password: SecretStr | None = Field(None, description="Opens encrypted files of this corpus.")


class DeduplicationSpec(Spec):
    """Near-duplicate parameters (word shingles, MinHash, LSH)."""

    shingle_words: Annotated[int, Field(ge=1, le=20)] = 5
    threshold: Annotated[float, Field(gt=0.0, le=1.0)] = 0.8
    containment_threshold: Annotated[float, Field(gt=0.0, le=1.0)] = 0.9
    permutations: Annotated[int, Field(ge=16, le=1024)] = 128
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 1
    remove_boilerplate: bool = True
    candidate_recall: Annotated[float, Field(gt=0.0, lt=1.0)] = Field(
        0.995, description="Share of the pairs at the threshold that the computed LSH bands must find."
    )
    bands: Annotated[int, Field(ge=1, le=1024)] | None = Field(
        None, description="LSH bands; unset, computed from threshold, permutations and candidate_recall."
    )


class VersionsSpec(Spec):
    """How supersession is decided."""

    min_confidence: Ratio = 0.7
    conflicts: Literal["fail", "warn", "newest"] = "warn"
    supersedes: dict[str, tuple[str, ...]] = Field(
        default_factory=dict, description="Overrides: relative path of the newer document to those it replaces."
    )
    independent: tuple[str, ...] = Field((), description="Relative paths that are versions of nothing else.")
    text_status: Literal["effect", "lifecycle"] = Field(
        "effect",
        description="What a status field in a text (Draft, Rejected, Withdrawn) decides: whether the document can "
        "replace others (effect), or also its lifecycle.",
    )


class ChunkingSpec(Spec):
    """Parents and children, in tokens of the embedding model's tokenizer."""

    strategy: Literal["markdown_heading", "docling_hybrid", "token_window"] = "markdown_heading"
    parent_tokens: Annotated[int, Field(ge=64, le=8192)] = 1024
    child_tokens: Annotated[int, Field(ge=16, le=2048)] = 200
    target_tokens: Annotated[int, Field(ge=8, le=2048)] = Field(112, description="What fragments aim at: text alone.")
    overlap_tokens: Annotated[int, Field(ge=0, le=512)] = 0
    boilerplate_documents: Annotated[int, Field(ge=2)] = Field(10, description="A text current in so many families.")
    boilerplate_share: Ratio = Field(0.02, description="And in this share of all families that are current.")


class EndpointSpec(Spec):
    """An OpenAI-compatible endpoint that embeds, for ``backend: endpoint``."""

    url: str = Field(pattern=r"^https?://[^@\s]+$", description="Up to the part before /embeddings, without a login.")
    dimensions: Annotated[int, Field(ge=1, le=16000)] = Field(description="Length of its vectors; others are refused.")
    max_tokens: Annotated[int, Field(ge=16, le=32768)] = Field(description="Longest input of the model there.")
    tokenizer: str = Field(
        "all-MiniLM-L6-v2", description="Model folder or hub id whose tokenizer counts; best the model's own."
    )
    api_key_env: str | None = Field("OPENAI_API_KEY", description="Environment variable of the key; null sends none.")
    requests_per_minute: Annotated[int, Field(ge=0)] = Field(0, description="0 is no limit.")
    attempts: Annotated[int, Field(ge=1, le=20)] = 6
    timeout_seconds: Annotated[float, Field(gt=0)] = 60.0


class EmbeddingSpec(Spec):
    """The model whose vectors are searched."""

    model: str = Field(
        "all-MiniLM-L6-v2",
        description="A packaged model's name, a local folder, or a hub id. Hub ids need network at first use.",
    )
    revision: str | None = None
    backend: Literal["torch", "onnx", "openvino", "endpoint"] = "torch"
    precision: Literal["float32", "bfloat16", "int8"] = "float32"
    batch_size: Annotated[int, Field(ge=1, le=1024)] = 32
    query_prompt: str = ""
    passage_prompt: str = ""
    endpoint: EndpointSpec | None = Field(None, description="For backend endpoint alone; `model` is its name there.")

    @model_validator(mode="after")
    def _endpoint_matches_backend(self) -> Self:
        if (self.backend == "endpoint") != (self.endpoint is not None):
            raise ValueError("`endpoint` is for `backend: endpoint` and needed there")
        return self

    @property
    def tokenizer_model(self) -> str:
        """The model whose tokenizer counts."""
        return self.endpoint.tokenizer if self.endpoint else self.model


class LexicalSpec(Spec):
    """How words are compared when fragments are ranked by the words they share with a query."""

    language: Literal[
        "none", "arabic", "armenian", "basque", "catalan", "czech", "danish", "dutch", "english", "esperanto",
        "estonian", "finnish", "french", "german", "greek", "hindi", "hungarian", "indonesian", "irish", "italian",
        "lithuanian", "nepali", "norwegian", "persian", "portuguese", "romanian", "russian", "serbian", "sesotho",
        "spanish", "swedish", "tamil", "turkish", "yiddish",
    ] = Field("english", description="Language of the stemmer (Snowball); none compares whole words.")  # fmt: skip


class GateThresholds(Spec):
    """What the checks between the stages demand. A critical failure blocks publication."""

    min_documents: Annotated[int, Field(ge=0)] = 1
    max_removed_ratio: Ratio = Field(0.3, description="A listing that loses more than this deletes nothing.")
    max_quarantined_ratio: Ratio = 0.1
    min_characters: Annotated[int, Field(ge=0)] = Field(20, description="Shorter documents are warned about.")
    max_replacement_ratio: Ratio = Field(
        0.01, description="Share of U+FFFD, mojibake and undecoded glyphs in a document above which it is unreadable."
    )
    max_unreadable_ratio: Ratio = Field(0.1, description="Blocks above this share of unreadable documents.")
    min_page_coverage: Ratio = Field(
        0.98, description="Blocks below this share of pages with text or known to be blank; each missing page warns."
    )
    min_characters_per_page: Annotated[int, Field(ge=0)] = Field(
        40, description="Warns about documents with less text a page, which are probably scans."
    )
    max_duplicate_ratio: Ratio = Field(0.5, description="Warns above this share of duplicates.")
    max_review_ratio: Ratio = Field(0.2, description="Warns above this share of decisions to review.")
    max_vector_norm_error: Annotated[float, Field(gt=0)] = 0.01
    min_ann_recall: Ratio = 0.95
    min_recall_at_5: Ratio = 0.8
    max_forbidden_hits: Annotated[int, Field(ge=0)] = 0
    max_stale_hits: Annotated[int, Field(ge=0)] = 0
    max_authorisation_hits: Annotated[int, Field(ge=0)] = 0
    max_metadata_mismatches: Annotated[int, Field(ge=0)] = 0
    max_recall_drop: Ratio = Field(
        0.05,
        description="Recall of any domain may fall by this from the published generation; beyond it a drop warns, "
        "and blocks when it is significant.",
    )
    max_off_topic_ratio: Ratio = Field(
        0.3, description="Blocks above this share of new documents unlike anything that is published."
    )


PRIMARY_CATEGORIES = (
    SourceType.MARKET_DATA,
    SourceType.USER_FEEDBACK,
    SourceType.COMPETITOR_ANALYSIS,
    SourceType.INTERNAL_DATA,
)
SUPPORTING_CATEGORIES = (SourceType.TECHNICAL_RESEARCH, SourceType.EXPERT_OPINION)


class EvidenceSpec(Spec):
    """What an evidence pack that cites this corpus must have."""

    freshness_days: Annotated[int, Field(ge=1)] = Field(
        180, description="A source whose last review (or start of validity) is longer ago is too old."
    )
    min_primary_sources: Annotated[int, Field(ge=0)] = 1
    min_coverage: Ratio = Field(0.8, description="Share of the expected categories that must be there.")
    expected_categories: tuple[SourceType, ...] = Field(
        PRIMARY_CATEGORIES + SUPPORTING_CATEGORIES,
        description="Source types an answer should rest on; name those that this corpus can have.",
    )
    allow_undated: bool = Field(True, description="False: a source without any date fails the policy.")


SearchMode = Literal["dense", "sparse", "hybrid"]


class RoutingSpec(Spec):
    """When a question is meant for this corpus. A question that no corpus claims goes to all."""

    keywords: tuple[str, ...] = Field((), description="Words or phrases; one of them in a question claims it.")
    patterns: tuple[str, ...] = Field((), description="Regular expressions, without regard to case.")

    @field_validator("patterns")
    @classmethod
    def _compilable(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in patterns:
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"{pattern!r} is no regular expression: {error}") from error
        return patterns


class RetrievalSpec(Spec):
    """How this corpus is searched where the question does not say otherwise."""

    mode: SearchMode = Field("hybrid", description="Nearest vectors, BM25, or both fused by rank.")
    fetch_multiplier: Annotated[int, Field(ge=1, le=50)] = Field(
        3, description="Candidates fetched for each fragment wanted."
    )
    min_score: Annotated[float, Field(ge=-1.0, le=1.0)] = Field(
        0.3, description="Least cosine of an accepted fragment; `corpus-pipeline golden calibrate` proposes one."
    )
    reranker: str | None = Field(
        None, description="`bge-small-en-v1.5`, `ms-marco-MiniLM-L-12-v2`, or folder or hub id of a cross-encoder."
    )
    rerank_candidates: Annotated[int, Field(ge=1, le=200)] = 50
    rerank_min_score: Ratio = Field(0.0, description="Least probability, or cosine, by the reranker.")
    max_similarity: Annotated[float, Field(gt=0.0, le=1.0)] = Field(
        0.85, description="A fragment this close (cosine) to one already selected is dropped."
    )
    max_per_source: Annotated[int, Field(ge=1)] | None = Field(None, description="Most fragments of one document.")
    max_per_section: Annotated[int, Field(ge=1)] | None = Field(None, description="Most fragments of one section.")
    evidence_tokens: Annotated[int, Field(ge=64)] | None = Field(
        None, description="Most tokens of all accepted sections together."
    )
    routing: RoutingSpec = RoutingSpec()


class ScheduleSpec(Spec):
    """When the nightly run starts."""

    cron: str = Field("0 2 * * *", description="Five fields: minute, hour, day of the month, month, day of the week.")
    timezone: str = Field("UTC", description="Name in the IANA list, such as Europe/Zurich.")


class CorpusSpec(Spec):
    """One corpus of the registry.

    Attributes:
        base_folder: Folder of corpora.yaml; relative paths count from there.
    """

    slug: Slug
    base_folder: Path
    owner: Annotated[str, Field(min_length=1, description="The person or team that answers for the content.")]
    description: str = Field("", description="One line for people.")
    source: SourceSpec = Field(description="Where the files are.")
    source_class: str = Field("documentation", description="Kind of source, such as policy, training or macro.")
    source_type: SourceType = Field(SourceType.INTERNAL_DATA, description="Where the content comes from.")
    domain: str | None = Field(None, description="Subject the words are meant in, such as billing or api.")
    product: str | None = Field(None, description="Product the documents are about.")
    audience: str | None = Field(None, description="Whom the documents are written for.")
    answer_use: AnswerUse = Field("any", description="Answers it may serve: any, internal (not to customers), never.")
    access_groups: Annotated[tuple[str, ...], Field(min_length=1)] = Field(
        ("everyone",), description="Groups that may see the corpus; `everyone` is every reader."
    )
    lifecycle: Lifecycle = Field(Lifecycle.ACTIVE, description="Life of the documents unless they say otherwise.")
    trust_level: TrustLevel = Field(TrustLevel.MEDIUM, description="How far the source is trusted.")
    freshness_days: Annotated[int, Field(ge=1)] | None = Field(
        None, description="Days after its last review at which a document is reported as stale."
    )
    conversion: ConversionSpec = Field(ConversionSpec(), description="Converters and their limits.")
    deduplication: DeduplicationSpec = Field(DeduplicationSpec(), description="How copies are found.")
    versions: VersionsSpec = Field(VersionsSpec(), description="How the current version is found.")
    chunking: ChunkingSpec = Field(ChunkingSpec(), description="How documents are cut into fragments.")
    embedding: EmbeddingSpec = Field(EmbeddingSpec(), description="Embedding model and how it runs.")
    lexical: LexicalSpec = Field(LexicalSpec(), description="How words are compared.")
    retrieval: RetrievalSpec = Field(RetrievalSpec(), description="How it is searched.")
    evidence: EvidenceSpec = Field(EvidenceSpec(), description="What evidence packs must have.")
    gates: GateThresholds = Field(GateThresholds(), description="What must hold before anything is published.")
    schedule: ScheduleSpec = Field(ScheduleSpec(), description="Time of the nightly run.")
    golden_queries: str | None = Field(None, description="JSONL file, relative to corpora.yaml.")
    documents: dict[str, dict[str, Any]] = Field(
        default_factory=dict,
        description="Overrides per document: relative path or glob to metadata keys, and `password` to open it.",
    )

    @field_validator("documents", mode="after")
    @classmethod
    def _hide_passwords(cls, documents: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        """Passwords of single documents as secrets, so that no dump or digest of the registry shows one."""
        return {
            pattern: {
                key: SecretStr(str(value)) if key == PASSWORD_KEY and not isinstance(value, SecretStr) else value
                for key, value in keys.items()
            }
            for pattern, keys in documents.items()
        }

    def digest(self, *parts: str) -> str:
        """SHA-256 of the named parts of this spec, for input hashes; secrets never enter.

        >>> # spec.digest("chunking", "embedding")
        """
        return sha256_hex(canonical_json({part: self.model_dump(mode="json")[part] for part in parts}))

    @property
    def golden_queries_path(self) -> Path | None:
        """Absolute path of the golden queries, if any."""
        return self.base_folder / self.golden_queries if self.golden_queries else None


class Registry(Spec):
    """All corpora, by slug."""

    path: Path
    corpora: dict[str, CorpusSpec]

    def corpus(self, slug: str) -> CorpusSpec:
        """The corpus of that slug.

        Raises:
            UnknownCorpusError: No such corpus; the message lists those that exist.
        """
        if slug in self.corpora:
            return self.corpora[slug]
        known = ", ".join(sorted(self.corpora)) or "none"
        raise UnknownCorpusError(
            f"{self.path} has no corpus {slug!r}; it has: {known}",
            remedy="Correct the name, or add the corpus to the file and run `corpus-pipeline config check`.",
        )
