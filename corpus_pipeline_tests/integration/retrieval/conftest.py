"""Serving tables filled directly, so that search is tested on exactly the rows a test names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from pgvector import HalfVector, SparseVector
from psycopg import sql
from psycopg.types.json import Jsonb

from corpus_pipeline.embedding import embedding_fingerprint, load_model
from corpus_pipeline.index import analyser_for
from corpus_pipeline.index.analyser import LEVELS, TERM_BUCKETS
from corpus_pipeline.index.leaf_indexes import index_leaf
from corpus_pipeline.index.lexicon import count_terms, lexical_size
from corpus_pipeline.index.tables import (
    attach_partitions,
    ensure_serving_table,
    leaves,
    make_partitions,
)
from corpus_pipeline.records import sha256_hex
from corpus_pipeline.registry import EmbeddingSpec
from corpus_pipeline.retrieval import SearchTarget
from corpus_pipeline.store import Connection, Database

MODEL = EmbeddingSpec()
ANALYSER = analyser_for("english")


@dataclass
class Served:
    """A document of one fragment as the index would serve it; ``columns`` overrides serving columns."""

    path: str
    text: str = ""
    vector: np.ndarray | None = None
    columns: dict[str, Any] = field(default_factory=dict)


Serve = Callable[..., SearchTarget]


@pytest.fixture
def served() -> type[Served]:
    """The class of the documents that ``serve`` takes."""
    return Served


@pytest.fixture
def serve(database: Database) -> Serve:
    """Loads and publishes documents as one generation: ``serve(corpus, documents, generation=1, publish=True)``."""

    def load(
        corpus: str, documents: list[Served], *, generation: int = 1, publish: bool = True, space: str | None = None
    ) -> SearchTarget:
        if space is None:
            space = embedding_fingerprint(MODEL)
            vectors = load_model(MODEL).encode_passages([document.text for document in documents])
        else:
            vectors = np.stack([document.vector for document in documents])
        target = SearchTarget(corpus, generation, f"fragments_{space[:12]}", space, ANALYSER.parts)
        with database.connection() as connection:
            ensure_serving_table(connection, target.table, dimensions=vectors.shape[1])
            attach_partitions(connection, make_partitions(connection, target.table, corpus), corpus)
        with database.connection() as connection:
            _insert(connection, target, documents, vectors)
            for leaf in leaves(target.table, corpus):
                index_leaf(connection, leaf, rows=len(documents), changed=len(documents), dimensions=vectors.shape[1])
            current, _ = leaves(target.table, corpus)
            count_terms(connection, current, generation, from_scratch=True)
            _record(connection, target, lexical_size(connection, current, generation), publish=publish)
        return target

    return load


def _insert(connection: Connection, target: SearchTarget, documents: list[Served], vectors: np.ndarray) -> None:
    rows = [
        _fragment(target, document) | {"embedding": HalfVector(vector)} | _terms(document.text)
        for document, vector in zip(documents, vectors, strict=True)
    ]
    parents = [{key: row.get(key) for key in _PARENT_KEYS} | {"text": f"# Section\n\n{row['text']}"} for row in rows]
    for row in rows:
        row["attributes"] = Jsonb(row["attributes"])
    _insert_rows(connection, target.table, rows)
    _insert_rows(connection, "parents", parents)


def _terms(text: str) -> dict[str, Any]:
    (analysed,) = ANALYSER.analyse([text])
    levels = SparseVector(dict.fromkeys(map(int, analysed.levels), 1.0), LEVELS * TERM_BUCKETS)
    return {"term_count": analysed.term_count, "terms": list(map(int, analysed.terms)), "term_levels": levels}


def _insert_rows(connection: Connection, table: str, rows: list[dict[str, Any]]) -> None:
    names = sorted({key for row in rows for key in row})
    statement = sql.SQL("INSERT INTO {} ({}) VALUES ({})").format(
        sql.Identifier("serving", table),
        sql.SQL(", ").join(map(sql.Identifier, names)),
        sql.SQL(", ").join(map(sql.Placeholder, names)),
    )
    with connection.cursor() as cursor:
        cursor.executemany(statement, [dict.fromkeys(names) | row for row in rows])


_PARENT_KEYS = (
    "corpus", "parent_id", "document_id", "serving_state", "section_path", "page_number", "char_start", "char_end",
    "token_count", "text", "text_sha256", "acl_groups", "valid_from", "valid_until", "row_sha256", "generation_from",
    "generation_to",
)  # fmt: skip


def _fragment(target: SearchTarget, document: Served) -> dict[str, Any]:
    document_id = f"{target.corpus}/{document.path}"
    columns = document.columns
    return {
        "fragment_id": f"{document_id}::f0001",
        "parent_id": f"{document_id}::p0001",
        "ordinal": 1,
        "section_path": ["Section"],
        "page_number": None,
        "char_start": 0,
        "char_end": len(document.text),
        "token_count": 5,
        "text": document.text,
        "text_sha256": sha256_hex(document.text or document_id),
        "embedded_sha256": sha256_hex(document.text),
        "corpus": target.corpus,
        "document_id": document_id,
        "serving_state": "archived" if columns.get("exclusion_reason") else "current",
        "exclusion_reason": None,
        "exclusion_ref": None,
        "source_uri": f"/src/{document.path}",
        "source_extension": "md",
        "source_sha256": sha256_hex(document.path),
        "document_text_sha256": sha256_hex(document.text),
        "requested_converter": "auto",
        "effective_converter": "plain",
        "processor_version": "1",
        "title": document.path,
        "plan_tiers": [],
        "answer_use": "any",
        "trust_level": "MEDIUM",
        "lifecycle": "active",
        "valid_from": None,
        "valid_until": None,
        "is_current": not columns.get("exclusion_reason"),
        "acl_groups": ["everyone"],
        "attributes": {},
        "row_sha256": sha256_hex(f"{document_id}{target.generation}"),
        "generation_from": target.generation,
    } | columns


def _record(connection: Connection, target: SearchTarget, size: dict[str, int], *, publish: bool) -> None:
    root = sha256_hex(f"{target.corpus}{target.generation}")
    connection.execute(
        "INSERT INTO corpus.generations (corpus, generation, base_generation, status, root_sha256, serving_table,"
        " embedding_fingerprint, chunker_fingerprint, model, analyser, lexical_fragments, lexical_terms,"
        " lexical_shortest, counts, as_of, inputs, run_id)"
        " VALUES (%s, %s, 0, %s, %s, %s, %s, 'c', %s, %s, %s, %s, %s, '{}', '2026-11-01', '{}', 'r')",
        (
            target.corpus,
            target.generation,
            "published" if publish else "staged",
            root,
            target.table,
            target.space,
            Jsonb(MODEL.model_dump(mode="json")),
            Jsonb(ANALYSER.parts),
            size["lexical_fragments"],
            size["lexical_terms"],
            size["lexical_shortest"],
        ),
    )
    if publish:
        connection.execute(
            "INSERT INTO serving.publications"
            " (corpus, generation, root_sha256, serving_table, embedding_fingerprint, model, analyser)"
            " SELECT corpus, generation, root_sha256, serving_table, embedding_fingerprint, model, analyser"
            " FROM corpus.generations WHERE corpus = %s AND generation = %s"
            " ON CONFLICT (corpus) DO UPDATE SET generation = excluded.generation",
            (target.corpus, target.generation),
        )
