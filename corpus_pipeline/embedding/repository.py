"""The tables of this room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from psycopg.types.json import Jsonb

from corpus_pipeline.embedding.model import EmbeddingModel, Vectors
from corpus_pipeline.store import Connection, load_queries

__all__ = [
    "MissingText",
    "embedded_sha256s",
    "missing_texts",
    "model_dimensions",
    "register_model",
    "store_vectors",
    "texts",
    "vectors",
]

_FETCH_HASHES = 5000


@dataclass(frozen=True, slots=True)
class MissingText:
    """A text without a vector, and the first fragment that has it."""

    embedded_sha256: str
    token_count: int
    fragment_id: str


def embedded_sha256s(connection: Connection, corpus: str) -> list[str]:
    """Hashes of the distinct texts of a corpus, sorted."""
    return [row["embedded_sha256"] for row in load_queries("embedding").embedded_sha256s(connection, corpus=corpus)]


def missing_texts(connection: Connection, corpus: str, fingerprint: str) -> list[MissingText]:
    """Distinct texts of a corpus without a vector for the fingerprint, shortest first."""
    rows = load_queries("embedding").missing_texts(connection, corpus=corpus, fingerprint=fingerprint)
    return [MissingText(**row) for row in rows]


def texts(connection: Connection, corpus: str, sha256s: Sequence[str]) -> dict[str, str]:
    """Texts by hash."""
    rows = load_queries("embedding").texts(connection, corpus=corpus, embedded_sha256s=list(sha256s))
    return {row["embedded_sha256"]: row["embedded_text"] for row in rows}


def register_model(connection: Connection, model: EmbeddingModel) -> None:
    """Notes what the model's fingerprint stands for."""
    load_queries("embedding").register_model(
        connection,
        fingerprint=model.fingerprint,
        parts=Jsonb(model.parts),
        dimensions=model.dimensions,
        max_tokens=model.max_tokens,
    )


def model_dimensions(connection: Connection, fingerprint: str) -> int:
    """Length of the vectors of a registered model, 0 when it has embedded nothing yet."""
    row = load_queries("embedding").model(connection, fingerprint=fingerprint)
    return row["dimensions"] if row else 0


def store_vectors(connection: Connection, fingerprint: str, sha256s: Sequence[str], rows: Vectors) -> None:
    """Adds vectors to the cache; texts that have one keep it."""
    load_queries("embedding").insert_vectors(
        connection,
        [
            {"fingerprint": fingerprint, "embedded_sha256": sha256, "vector": row}
            for sha256, row in zip(sha256s, rows, strict=True)
        ],
    )


def vectors(connection: Connection, fingerprint: str, embedded_sha256s: Sequence[str]) -> dict[str, Vectors]:
    """Stored vectors by hash of the text, float32 of shape ``(dimensions,)``; absent ones are left out."""
    found: dict[str, Vectors] = {}
    for start in range(0, len(embedded_sha256s), _FETCH_HASHES):
        batch = list(embedded_sha256s[start : start + _FETCH_HASHES])
        rows = load_queries("embedding").vectors(connection, fingerprint=fingerprint, embedded_sha256s=batch)
        for row in rows:
            found[row["embedded_sha256"]] = np.asarray(row["vector"].to_numpy(), dtype=np.float32)
    return found
