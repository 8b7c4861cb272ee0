"""A small corpus written in the test: texts and metadata by path, resolved without a database."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from corpus_pipeline.records import (
    Document,
    DocumentMetadata,
    DuplicateCluster,
    DuplicateEdge,
    DuplicateKind,
    VersionDecision,
    VersionRelation,
    sha256_hex,
)
from corpus_pipeline.registry import CorpusSpec, SourceSpec, VersionsSpec
from corpus_pipeline.versions import Resolution, extract_evidence, resolve
from corpus_pipeline.versions.neighbours import Neighbour

AS_OF = date(2026, 11, 1)
DEFAULTS = {"acl_groups": ("everyone",), "source_class": "documentation"}


@dataclass
class Corpus:
    """Documents, edges and clusters under construction."""

    documents: list[Document] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    edges: list[DuplicateEdge] = field(default_factory=list)
    clusters: list[DuplicateCluster] = field(default_factory=list)

    def add(
        self, path: str, text: str = "", *, declared_in: str = "front_matter", title: str | None = None, **metadata: Any
    ) -> str:
        text = text or f"Text of {path}."
        sha = sha256_hex(path + text)
        document_id = f"handbook/{path}"
        self.texts[sha] = text
        self.documents.append(
            Document(
                corpus="handbook",
                document_id=document_id,
                relative_path=path,
                source_uri=path,
                source_sha256=sha,
                source_extension=path.rsplit(".", 1)[-1],
                size_bytes=len(text),
                requested_converter="plain",
                effective_converter="plain",
                processor_version="1",
                converter_fingerprint="1",
                document_sha256=sha,
                text_sha256=sha256_hex(text),
                char_count=len(text),
                title=title,
                metadata=DocumentMetadata.model_validate(DEFAULTS | metadata),
                metadata_provenance=dict.fromkeys(metadata, declared_in),
            )
        )
        return document_id

    def alike(self, left: str, right: str, jaccard: float = 0.9, **more: Any) -> None:
        """A verified edge, and a cluster of the two."""
        left, right = sorted((f"handbook/{left}", f"handbook/{right}"))
        kind = more.pop("kind", DuplicateKind.NEAR)
        containment = more.pop("containment", jaccard)
        self.edges.append(
            DuplicateEdge(left_id=left, right_id=right, kind=kind, jaccard=jaccard, containment=containment, **more)
        )
        self.clusters.append(
            DuplicateCluster(
                corpus="handbook",
                cluster_id=left,
                members=(left, right),
                similarity={left: 1.0, right: jaccard},
                kind=kind,
            )
        )

    def resolve(
        self,
        *,
        as_of: date = AS_OF,
        order: Callable[[Sequence[Any]], list[Any]] = list,
        neighbours: Sequence[Neighbour] = (),
        **versions: Any,
    ) -> Outcome:
        spec = CorpusSpec(
            slug="handbook",
            base_folder=Path(),
            owner="docs",
            source=SourceSpec(url="."),
            versions=VersionsSpec.model_validate(versions),
        )
        evidence = {
            one.document_sha256: extract_evidence(
                self.texts[one.document_sha256], title=one.title, normalised_sha256=one.text_sha256
            )
            for one in self.documents
        }
        return Outcome(
            resolve(
                order(self.documents),
                evidence,
                order(self.clusters),
                order(self.edges),
                spec,
                as_of,
                neighbours=neighbours,
            )
        )


@dataclass
class Outcome:
    """A resolution, asked by path."""

    resolution: Resolution

    def __getitem__(self, path: str) -> VersionDecision:
        return next(one for one in self.resolution.decisions if one.document_id == f"handbook/{path}")

    def relation(self, source: str, target: str) -> VersionRelation:
        return next(
            one
            for one in self.resolution.relations
            if one.source_id == f"handbook/{source}" and one.target_id == f"handbook/{target}"
        )

    def kinds(self) -> list[str]:
        return [one.kind.value for one in self.resolution.conflicts]


@pytest.fixture
def corpus() -> Corpus:
    return Corpus()
