"""Corpora for measurements: what the stages before the index would have written, put into their tables in bulk."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from pgvector import Vector
from psycopg import sql
from psycopg.types.json import Jsonb

from corpus_pipeline.embedding import embedding_fingerprint
from corpus_pipeline.index import publish_corpus, stage_generation
from corpus_pipeline.records import DocumentMetadata, Stage, sha256_hex
from corpus_pipeline.registry import CorpusSpec, Registry, SourceSpec
from corpus_pipeline.settings import Settings
from corpus_pipeline.store import (
    Connection,
    Database,
    StageContext,
    StageResult,
    Verdict,
    load_queries,
    record_verdict,
    thresholds_sha256,
)

Vectors = np.ndarray


@dataclass(frozen=True)
class BenchDocument:
    """A document; each text is one fragment, all under one parent."""

    name: str
    texts: Sequence[str]
    metadata: DocumentMetadata = field(default_factory=lambda: DocumentMetadata(acl_groups=("everyone",)))
    archived: bool = False


@contextmanager
def fresh_database(**server: str) -> Iterator[Database]:
    """An embedded server of its own, migrated and empty; ``server`` are settings of PostgreSQL."""
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        Database.open(Settings(home=Path(folder))) as database,
    ):
        with database.session() as connection:
            for name, value in server.items():
                connection.execute(sql.SQL("ALTER SYSTEM SET {} = {}").format(sql.Identifier(name), sql.Literal(value)))
            connection.execute("SELECT pg_reload_conf()")
        yield database


def context_for(database: Database, slug: str, folder: Path) -> StageContext:
    """The context of a corpus that is filled by :func:`fill`."""
    spec = CorpusSpec(slug=slug, base_folder=folder, owner="benchmarks", source=SourceSpec(url="docs"))
    registry = Registry(path=folder / "corpora.yaml", corpora={slug: spec})
    settings = Settings(home=folder, config=folder / "corpora.yaml")
    return StageContext(
        database=database, settings=settings, registry=registry, spec=spec, as_of=date(2026, 11, 1), run_id="benchmark"
    )


def fill(context: StageContext, documents: Iterable[BenchDocument], vectors: dict[str, Vectors] | None = None) -> int:
    """Adds documents with fragments and parents to the tables; returns the number of fragments.

    Args:
        context: From :func:`context_for`.
        documents: With distinct names.
        vectors: By text, float32 of unit length; given separately to :func:`add_vectors` when absent.
    """
    kept = list(documents)
    with context.database.connection() as connection:
        corpus = context.spec.slug
        _copy(connection, "corpus.documents", (_document(corpus, one) for one in kept))
        _copy(connection, "corpus.document_versions", (_version(corpus, one) for one in kept))
        _copy(connection, "corpus.chunked_documents", (_chunked(corpus, one) for one in kept))
        _copy(connection, "corpus.parents", (_parent(corpus, one) for one in kept))
        _copy(connection, "corpus.fragments", (row for one in kept for row in _fragments(corpus, one)))
        if vectors is not None:
            add_vectors(connection, context, ((sha256_hex(text), vector) for text, vector in vectors.items()))
    return sum(len(one.texts) for one in kept)


def add_vectors(connection: Connection, context: StageContext, vectors: Iterable[tuple[str, Vectors]]) -> None:
    """Adds vectors by hash of the text to the cache."""
    fingerprint = embedding_fingerprint(context.spec.embedding)
    connection.execute(
        "INSERT INTO corpus.embedding_models (fingerprint, parts, dimensions, max_tokens)"
        " VALUES (%s, '{}', 384, 256) ON CONFLICT DO NOTHING",
        (fingerprint,),
    )
    statement = "COPY corpus.embeddings (fingerprint, embedded_sha256, vector) FROM STDIN (FORMAT BINARY)"
    with connection.cursor().copy(statement) as copy:
        copy.set_types(["text", "text", "vector"])
        for sha256, vector in vectors:
            copy.write_row((fingerprint, sha256, Vector(vector)))


def stage(context: StageContext) -> StageResult:
    """Marks the stages before the index as run and checked, and stages the next generation."""
    with context.database.connection() as connection:
        output = sha256_hex(os.urandom(16).hex())
        for each in list(Stage)[:6]:
            _finish(connection, context, each, output)
    return stage_generation(context)


def publish(context: StageContext) -> StageResult:
    """Marks what :func:`stage` has staged as checked, and publishes it."""
    with context.database.connection() as connection:
        staged = load_queries("store").stage_state(
            connection, corpus=context.spec.slug, stage=Stage.INDEX_GENERATION.value
        )["output_sha256"]
        _judge(connection, context, Stage.INDEX_GENERATION, staged)
        _finish(connection, context, Stage.RETRIEVAL_EVALUATION, sha256_hex("evaluated" + staged))
    return publish_corpus(context)


def _copy(connection: Connection, table: str, rows: Iterator[dict[str, Any]]) -> None:
    first = next(rows)
    names = sql.SQL(", ").join(map(sql.Identifier, first))
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(*table.split(".")), names)
    with connection.cursor().copy(statement) as copy:
        copy.write_row(list(first.values()))
        for row in rows:
            copy.write_row(list(row.values()))


def _document(corpus: str, one: BenchDocument) -> dict[str, Any]:
    text = "\n\n".join(one.texts)
    return {
        "corpus": corpus,
        "document_id": f"{corpus}/{one.name}",
        "relative_path": one.name,
        "source_uri": f"/docs/{one.name}",
        "source_sha256": sha256_hex(text),
        "source_extension": "md",
        "size_bytes": len(text),
        "requested_converter": "auto",
        "effective_converter": "plain",
        "processor_version": "1",
        "converter_fingerprint": "benchmark",
        "document_sha256": sha256_hex("d" + text),
        "text_sha256": sha256_hex(text),
        "char_count": len(text),
        "title": one.name,
        "metadata": Jsonb(one.metadata.model_dump(mode="json")),
        "metadata_provenance": Jsonb({}),
        "properties": Jsonb({}),
    }


def _version(corpus: str, one: BenchDocument) -> dict[str, Any]:
    return {
        "corpus": corpus,
        "document_id": f"{corpus}/{one.name}",
        "family": one.name,
        "lifecycle": "active",
        "current_document_id": f"{corpus}/{one.name}",
        "is_canonical": True,
        "is_current": not one.archived,
        "serving_state": "archived" if one.archived else "current",
        "exclusion_reason": "superseded" if one.archived else None,
        "evidence": "",
        "needs_review": False,
        "decision_sha256": "",
    }


def _chunked(corpus: str, one: BenchDocument) -> dict[str, Any]:
    return {
        "document_id": f"{corpus}/{one.name}",
        "corpus": corpus,
        "input_sha256": "",
        "content_sha256": sha256_hex("\n\n".join(one.texts)),
        "chunker_fingerprint": "benchmark",
        "parent_count": 1,
        "fragment_count": len(one.texts),
        "token_count": 0,
        "max_token_count": 0,
    }


def _parent(corpus: str, one: BenchDocument) -> dict[str, Any]:
    text = "\n\n".join(one.texts)
    return {
        "parent_id": f"{corpus}/{one.name}::p0001",
        "corpus": corpus,
        "document_id": f"{corpus}/{one.name}",
        "ordinal": 1,
        "section_path": [],
        "text": text,
        "text_sha256": sha256_hex(text),
        "token_count": len(text) // 4,
        "char_start": 0,
        "char_end": len(text),
    }


def _fragments(corpus: str, one: BenchDocument) -> Iterator[dict[str, Any]]:
    start = 0
    for ordinal, text in enumerate(one.texts, start=1):
        sha256 = sha256_hex(text)
        yield {
            "fragment_id": f"{corpus}/{one.name}::f{ordinal:04d}",
            "parent_id": f"{corpus}/{one.name}::p0001",
            "corpus": corpus,
            "document_id": f"{corpus}/{one.name}",
            "ordinal": ordinal,
            "text": text,
            "text_sha256": sha256,
            "embedded_text": text,
            "embedded_sha256": sha256,
            "token_count": len(text) // 4,
            "section_path": [],
            "char_start": start,
            "char_end": start + len(text),
        }
        start += len(text) + 2


def _finish(connection: Connection, context: StageContext, stage: Stage, output: str) -> None:
    queries = load_queries("store")
    corpus = context.spec.slug
    before = queries.stage_state(connection, corpus=corpus, stage=stage.upstream.value) if stage.upstream else None
    queries.record_stage(
        connection,
        corpus=corpus,
        stage=stage.value,
        input_sha256=before["output_sha256"] if before else "",
        output_sha256=output,
        as_of=context.as_of,
        run_id=context.run_id,
        counts=Jsonb({}),
        elapsed_seconds=0.0,
    )
    _judge(connection, context, stage, output)


def _judge(connection: Connection, context: StageContext, stage: Stage, output: str) -> None:
    thresholds = thresholds_sha256(context.spec)
    record_verdict(
        connection,
        Verdict(
            context.spec.slug,
            stage,
            output,
            thresholds,
            passed=True,
            failures=(),
            evaluated_expectations=1,
            run_id=context.run_id,
        ),
    )
