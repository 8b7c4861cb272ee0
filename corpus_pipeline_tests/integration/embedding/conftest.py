"""Fragments in the database without the chain before them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from psycopg.types.json import Jsonb

from corpus_pipeline.records import Stage, sha256_hex
from corpus_pipeline.store import StageContext, load_queries

Fragments = Callable[[StageContext, Mapping[str, list[str]]], None]


@pytest.fixture
def put_fragments() -> Fragments:
    """Replaces the fragments of the context's corpus: document name to texts; the stage before counts as run."""

    def put(context: StageContext, documents: Mapping[str, list[str]]) -> None:
        corpus = context.spec.slug
        with context.database.connection() as connection:
            connection.execute("DELETE FROM corpus.chunked_documents WHERE corpus = %s", (corpus,))
            for name, texts in documents.items():
                key = f"{corpus}/{name}"
                connection.execute(
                    "INSERT INTO corpus.chunked_documents VALUES (%s, %s, '', '', '', 1, %s, 0, 0)",
                    (key, corpus, len(texts)),
                )
                connection.execute(
                    "INSERT INTO corpus.parents VALUES (%s, %s, %s, 1, '{}', '', '', 0, 0, 1)",
                    (f"{key}::p0001", corpus, key),
                )
                for ordinal, text in enumerate(texts, start=1):
                    tokens = 2 + len(text.split())
                    connection.execute(
                        "INSERT INTO corpus.fragments "
                        "VALUES (%s, %s, %s, %s, %s, %s, '', %s, %s, %s, '{}', NULL, 0, 1)",
                        (
                            f"{key}::f{ordinal:04d}",
                            f"{key}::p0001",
                            corpus,
                            key,
                            ordinal,
                            text,
                            text,
                            sha256_hex(text),
                            tokens,
                        ),
                    )
            load_queries("store").record_stage(
                connection,
                corpus=corpus,
                stage=Stage.FRAGMENTS.value,
                input_sha256="",
                output_sha256=sha256_hex(str(sorted(documents.items()))),
                as_of=context.as_of,
                run_id="test-run",
                counts=Jsonb({}),
                elapsed_seconds=0.0,
            )

    return put
