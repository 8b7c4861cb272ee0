"""What `status` shows: per corpus what is served, what the last run found, and what holds it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from corpus_pipeline import index
from corpus_pipeline.records import Stage
from corpus_pipeline.registry import CorpusSpec, Registry
from corpus_pipeline.store import Connection, Database, Refusal, Verdict, chain_refusals, latest_verdict, load_queries

__all__ = ["CorpusOverview", "overview"]

COUNTS = {
    "documents": (Stage.CONVERTED_DOCUMENTS, "documents"),
    "quarantined": (Stage.CONVERTED_DOCUMENTS, "quarantined"),
    "duplicate_clusters": (Stage.NEAR_DUPLICATE_CLUSTERS, "clusters"),
    "superseded": (Stage.DOCUMENT_VERSIONS, "superseded"),
    "fragments": (Stage.FRAGMENTS, "fragments"),
}


@dataclass(frozen=True)
class CorpusOverview:
    """State of one corpus.

    Attributes:
        counts: Figures of the last finished stages, ``None`` for those that have never run.
        generation: The published generation, ``None`` before the first publication.
        blocked: Why the present chain would not be published; empty when it is or may be.
        verdicts: The newest verdict on the present output of each stage, for stages that have one.
    """

    corpus: str
    owner: str
    counts: dict[str, Any]
    last_run_at: datetime | None
    generation: int | None = None
    root_sha256: str | None = None
    published_at: datetime | None = None
    held: bool = False
    held_by: str | None = None
    held_at: datetime | None = None
    held_reason: str | None = None
    blocked: list[Refusal] = field(default_factory=list)
    verdicts: dict[Stage, Verdict] = field(default_factory=dict)


def overview(database: Database, registry: Registry) -> list[CorpusOverview]:
    """The state of every corpus of the registry, by slug."""
    with database.connection() as connection:
        return [_corpus(connection, registry.corpora[slug]) for slug in sorted(registry.corpora)]


def _corpus(connection: Connection, spec: CorpusSpec) -> CorpusOverview:
    states = {row["stage"]: row for row in load_queries("store").stage_states(connection, corpus=spec.slug)}
    counts = {
        name: states[stage.value]["counts"].get(count, 0) if stage.value in states else None
        for name, (stage, count) in COUNTS.items()
    }
    published = index.publication(connection, spec.slug)
    return CorpusOverview(
        corpus=spec.slug,
        owner=spec.owner,
        counts=counts,
        last_run_at=max((row["finished_at"] for row in states.values()), default=None),
        generation=published.generation if published else None,
        root_sha256=published.root_sha256 if published else None,
        published_at=published.published_at if published else None,
        held=bool(published and published.held),
        held_by=published.held_by if published else None,
        held_at=published.held_at if published else None,
        held_reason=published.held_reason if published else None,
        blocked=chain_refusals(connection, spec) if states else [],
        verdicts=_verdicts(connection, spec.slug, states),
    )


def _verdicts(connection: Connection, corpus: str, states: dict[str, Any]) -> dict[Stage, Verdict]:
    found = {
        stage: latest_verdict(connection, corpus, stage, states[stage.value]["output_sha256"])
        for stage in Stage
        if stage.value in states
    }
    return {stage: verdict for stage, verdict in found.items() if verdict is not None}
