"""corpora.yaml: what the corpora are. Models, loading with line numbers, JSON Schema.

Not here: environment settings (``settings``) and per-document metadata (``inventory``).
"""

from corpus_pipeline.registry.models import (
    ChunkingSpec,
    ConversionLimits,
    ConversionSpec,
    CorpusSpec,
    DeduplicationSpec,
    EmbeddingSpec,
    GateThresholds,
    Registry,
    ScheduleSpec,
    SourceSpec,
    VersionsSpec,
)

__all__ = [
    "ChunkingSpec",
    "ConversionLimits",
    "ConversionSpec",
    "CorpusSpec",
    "DeduplicationSpec",
    "EmbeddingSpec",
    "GateThresholds",
    "Registry",
    "ScheduleSpec",
    "SourceSpec",
    "VersionsSpec",
]
