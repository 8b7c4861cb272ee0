"""corpora.yaml: what the corpora are. Models, loading with line numbers, JSON Schema, a first file.

Also what a person may write elsewhere in the same words: globs, source URLs and the metadata
keys of a document. Not here: environment settings (``settings``) and reading sidecars,
manifests and front matter (``inventory``).
"""

from corpus_pipeline.registry.declared import (
    KEY_ALIASES,
    METADATA_KEYS,
    RESTRICTING_KEYS,
    DeclaredValues,
    read_declared,
)
from corpus_pipeline.registry.globs import GlobSet, has_wildcard, matches_glob
from corpus_pipeline.registry.loading import load_registry
from corpus_pipeline.registry.located import LocatedYaml, parse_yaml
from corpus_pipeline.registry.models import (
    PASSWORD_KEY,
    PRIMARY_CATEGORIES,
    SUPPORTING_CATEGORIES,
    ChunkingSpec,
    ConversionLimits,
    ConversionSpec,
    CorpusSpec,
    DeduplicationSpec,
    EmbeddingSpec,
    EndpointSpec,
    EvidenceSpec,
    GateThresholds,
    LexicalSpec,
    Registry,
    RetrievalSpec,
    RoutingSpec,
    ScheduleSpec,
    SearchMode,
    SourceSpec,
    VersionsSpec,
)
from corpus_pipeline.registry.schema import json_schema, write_json_schema
from corpus_pipeline.registry.sources import is_local, local_folder, shown_url
from corpus_pipeline.registry.starter import write_starter

__all__ = [
    "KEY_ALIASES",
    "METADATA_KEYS",
    "PASSWORD_KEY",
    "PRIMARY_CATEGORIES",
    "RESTRICTING_KEYS",
    "SUPPORTING_CATEGORIES",
    "ChunkingSpec",
    "ConversionLimits",
    "ConversionSpec",
    "CorpusSpec",
    "DeclaredValues",
    "DeduplicationSpec",
    "EmbeddingSpec",
    "EndpointSpec",
    "EvidenceSpec",
    "GateThresholds",
    "GlobSet",
    "LexicalSpec",
    "LocatedYaml",
    "Registry",
    "RetrievalSpec",
    "RoutingSpec",
    "ScheduleSpec",
    "SearchMode",
    "SourceSpec",
    "VersionsSpec",
    "has_wildcard",
    "is_local",
    "json_schema",
    "load_registry",
    "local_folder",
    "matches_glob",
    "parse_yaml",
    "read_declared",
    "shown_url",
    "write_json_schema",
    "write_starter",
]
