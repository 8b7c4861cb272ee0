"""The asset ``fragment_embeddings``."""

from __future__ import annotations

import time
from collections.abc import Sequence

from corpus_pipeline.embedding.fingerprint import embedding_fingerprint
from corpus_pipeline.embedding.loading import exports_folder, load_model
from corpus_pipeline.embedding.model import EmbeddingModel, faulty_rows
from corpus_pipeline.embedding.repository import (
    MissingText,
    embedded_sha256s,
    missing_texts,
    model_dimensions,
    register_model,
    store_vectors,
    texts,
)
from corpus_pipeline.errors import StageError
from corpus_pipeline.records import Stage, canonical_json, sha256_hex
from corpus_pipeline.store import StageContext, StageResult, open_stage

__all__ = ["COMMIT_TEXTS", "embed_corpus"]

COMMIT_TEXTS = 256
"""Texts embedded between two commits: what a killed process loses at most."""

NOTE_SECONDS = 30.0
_SHOWN_IDS = 5


def embed_corpus(context: StageContext) -> StageResult:
    """Embeds every distinct text of the corpus that has no vector for its model yet.

    Vectors are committed every :data:`COMMIT_TEXTS` texts and stay when the run dies; on a night
    without new texts the model is not even loaded. Nothing is ever deleted here.

    Raises:
        UpstreamMissingError: The fragments have not been made yet.
        CorpusBusyError: Another run works on this corpus.
        ModelUnavailableError: Weights or the backend's package are missing.
        StageError: A text is longer than the model reads, or a vector is no unit vector; the
            message names the fragments.
    """
    corpus, spec = context.spec.slug, context.spec.embedding
    with open_stage(context, Stage.FRAGMENT_EMBEDDINGS) as run:
        fingerprint = embedding_fingerprint(spec)
        with context.database.connection() as connection:
            wanted = embedded_sha256s(connection, corpus)
            missing = missing_texts(connection, corpus, fingerprint)
        context.progress.start(Stage.FRAGMENT_EMBEDDINGS, len(missing), "texts")
        started = time.monotonic()
        dimensions = _embed(context, missing) if missing else _known_dimensions(context, fingerprint)
        seconds = time.monotonic() - started
        counts = {
            "texts": len(wanted),
            "embedded": len(missing),
            "reused": len(wanted) - len(missing),
            "texts_per_second": round(len(missing) / seconds, 1) if missing else 0.0,
            "dimensions": dimensions,
        }
        output = sha256_hex(canonical_json([run.input_sha256, fingerprint, wanted]))
        with run.commit(output_sha256=output, counts=counts) as connection:
            # The vectors are in the shared cache already; that none was lost since is checked once more.
            _demand_complete(missing_texts(connection, corpus, fingerprint))
    return run.result


def _embed(context: StageContext, missing: list[MissingText]) -> int:
    """Embeds texts shortest first, so that a batch holds texts of like length; returns the dimensions."""
    corpus = context.spec.slug
    model = load_model(context.spec.embedding, export_folder=exports_folder(context.settings.state_folder))
    _demand_short(missing, model.max_tokens)
    with context.database.connection() as connection:
        register_model(connection, model)
    started = noted = time.monotonic()
    done = 0
    for start in range(0, len(missing), COMMIT_TEXTS):
        batch = missing[start : start + COMMIT_TEXTS]
        with context.database.connection() as connection:
            by_hash = texts(connection, corpus, [text.embedded_sha256 for text in batch])
        _embed_batch(context, model, batch, by_hash)
        done += len(batch)
        context.progress.advance(len(batch))
        if time.monotonic() - noted >= NOTE_SECONDS:
            noted = time.monotonic()
            context.progress.note(f"{done} of {len(missing)} texts, {done / (noted - started):.1f} texts/s")
    return model.dimensions


def _embed_batch(
    context: StageContext, model: EmbeddingModel, batch: list[MissingText], by_hash: dict[str, str]
) -> None:
    hashes = [text.embedded_sha256 for text in batch]
    rows = model.encode_passages([by_hash[sha256] for sha256 in hashes])
    faulty = faulty_rows(rows, model.dimensions)
    if faulty:
        raise StageError(
            f"the embedding model gave no unit vector of {model.dimensions} dimensions for {len(faulty)} texts, "
            f"among them {_ids([batch[row] for row in faulty])}",
            remedy="Check the model's files, backend and precision; float32 with backend torch is the safest.",
        )
    with context.database.connection() as connection:
        store_vectors(connection, model.fingerprint, hashes, rows)


def _demand_short(missing: Sequence[MissingText], max_tokens: int) -> None:
    """Refuses texts that the model would cut off in silence."""
    long = [text for text in missing if text.token_count > max_tokens]
    if long:
        raise StageError(
            f"{len(long)} texts have more than the {max_tokens} tokens the model reads, among them {_ids(long)}",
            remedy="Make the fragments again with the present model: run the asset fragments of this corpus.",
        )


def _demand_complete(missing: Sequence[MissingText]) -> None:
    if missing:
        raise StageError(
            f"{len(missing)} vectors disappeared while the stage ran, among them those of {_ids(missing)}",
            remedy="Run this again, and let nothing purge embeddings during a run.",
        )


def _ids(found: Sequence[MissingText]) -> str:
    return ", ".join(text.fragment_id for text in found[:_SHOWN_IDS])


def _known_dimensions(context: StageContext, fingerprint: str) -> int:
    with context.database.connection() as connection:
        return model_dimensions(connection, fingerprint)
