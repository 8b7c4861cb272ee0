"""The stage with the real model on a real database."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from corpus_pipeline.embedding import embed_corpus, embedding_fingerprint, load_model, vectors
from corpus_pipeline.embedding import stage as stage_module
from corpus_pipeline.embedding.model import EmbeddingModel
from corpus_pipeline.errors import StageError, UpstreamMissingError
from corpus_pipeline.records import sha256_hex
from corpus_pipeline.registry import EmbeddingSpec
from corpus_pipeline.store import StageContext

TEXTS = ["refunds are paid within thirty days", "gift cards are excluded", "the limit is five requests a minute"]
Put = Callable[[StageContext, dict[str, list[str]]], None]


def stored(context: StageContext, texts: list[str]) -> dict[str, Any]:
    fingerprint = embedding_fingerprint(context.spec.embedding)
    with context.database.connection() as connection:
        found = vectors(connection, fingerprint, [sha256_hex(text) for text in texts])
    return {text: found.get(sha256_hex(text)) for text in texts}


def test_the_fragments_must_have_been_made(context: StageContext) -> None:
    with pytest.raises(UpstreamMissingError):
        embed_corpus(context)


def test_each_distinct_text_is_embedded_once_and_exactly_as_the_model_says(
    context: StageContext, put_fragments: Put
) -> None:
    put_fragments(context, {"a.md": TEXTS, "b.md": TEXTS[:2]})
    result = embed_corpus(context)
    assert (result.counts["texts"], result.counts["embedded"], result.counts["dimensions"]) == (3, 3, 384)
    expected = load_model(context.spec.embedding).encode_passages(TEXTS)
    for text, row in zip(TEXTS, expected, strict=True):
        assert np.allclose(stored(context, TEXTS)[text], row, atol=1e-6)


def test_nothing_is_embedded_twice_and_the_model_is_not_even_loaded(
    context: StageContext, put_fragments: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_fragments(context, {"a.md": TEXTS})
    first = embed_corpus(context)

    def refuse(*_args: object, **_options: object) -> EmbeddingModel:
        raise AssertionError

    monkeypatch.setattr(stage_module, "load_model", refuse)
    again = embed_corpus(context)
    assert (again.unchanged, again.counts["embedded"], again.counts["reused"]) == (True, 0, 3)
    assert again.counts["dimensions"] == 384

    put_fragments(context, {"renamed.md": TEXTS[::-1]})
    renamed = embed_corpus(context)
    assert renamed.counts["embedded"] == 0
    assert renamed.output_sha256 != first.output_sha256, (
        "other fragments: what was staged from the first is out of date"
    )


def test_vectors_are_shared_across_corpora(context: StageContext, put_fragments: Put) -> None:
    put_fragments(context, {"a.md": TEXTS})
    embed_corpus(context)
    other = replace(context, spec=context.spec.model_copy(update={"slug": "policies"}))
    put_fragments(other, {"x.md": [*TEXTS, "one new sentence"]})
    counts = embed_corpus(other).counts
    assert (counts["embedded"], counts["reused"]) == (1, 3)


def test_another_precision_is_another_model(context: StageContext, put_fragments: Put) -> None:
    put_fragments(context, {"a.md": TEXTS[:1]})
    first = embed_corpus(context)
    spec = context.spec.model_copy(update={"embedding": EmbeddingSpec(precision="bfloat16")})
    other = embed_corpus(replace(context, spec=spec))
    assert other.counts["embedded"] == 1
    assert other.output_sha256 != first.output_sha256
    with context.database.connection() as connection:
        rows = connection.execute("SELECT parts->>'precision' AS p, dimensions FROM corpus.embedding_models").fetchall()
    assert sorted((row["p"], row["dimensions"]) for row in rows) == [("bfloat16", 384), ("float32", 384)]


def test_a_text_longer_than_the_model_reads_is_refused_by_name(context: StageContext, put_fragments: Put) -> None:
    put_fragments(context, {"a.md": ["word " * 300]})
    with pytest.raises(StageError, match=r"more than the 256 tokens .* handbook/a\.md::f0001"):
        embed_corpus(context)


@pytest.mark.parametrize("bad", [np.nan, 0.0, 2.0])
def test_a_vector_that_is_no_unit_vector_stops_the_run_and_names_the_fragment(
    context: StageContext, put_fragments: Put, monkeypatch: pytest.MonkeyPatch, bad: float
) -> None:
    put_fragments(context, {"a.md": TEXTS})
    encode = EmbeddingModel.encode_passages

    def damaged(self: EmbeddingModel, texts: list[str]) -> Any:
        rows = encode(self, texts)
        rows[texts.index(TEXTS[1])] *= bad
        return rows

    monkeypatch.setattr(EmbeddingModel, "encode_passages", damaged)
    with pytest.raises(StageError, match=r"no unit vector .* handbook/a\.md::f0002"):
        embed_corpus(context)
    assert stored(context, TEXTS)[TEXTS[0]] is None


def test_the_next_run_goes_on_where_a_failed_one_stopped(
    context: StageContext, put_fragments: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"sentence number {number}" for number in range(10)]
    put_fragments(context, {"a.md": texts})
    monkeypatch.setattr(stage_module, "COMMIT_TEXTS", 4)
    encode = EmbeddingModel.encode_passages
    calls = []

    def third_fails(self: EmbeddingModel, batch: list[str]) -> Any:
        calls.append(len(batch))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return encode(self, batch)

    monkeypatch.setattr(EmbeddingModel, "encode_passages", third_fails)
    with pytest.raises(KeyboardInterrupt):
        embed_corpus(context)
    counts = embed_corpus(context).counts
    assert (counts["embedded"], counts["reused"]) == (2, 8)


KILLED = """
import sys, pathlib
from corpus_pipeline.embedding import embed_corpus
from corpus_pipeline.embedding import stage
from corpus_pipeline.registry import CorpusSpec, EmbeddingSpec, Registry, SourceSpec
from corpus_pipeline.settings import Settings
from corpus_pipeline.store import Database, StageContext
from datetime import date
stage.COMMIT_TEXTS = 2
home = pathlib.Path(sys.argv[2])
spec = CorpusSpec(slug="handbook", base_folder=home, owner="o", source=SourceSpec(url="docs"))
with Database.connect(sys.argv[1]) as database:
    embed_corpus(StageContext(database, Settings(home=home), Registry(path=home, corpora={"handbook": spec}), spec,
                              date(2026, 11, 1), "killed"))
"""


@pytest.mark.slow
def test_a_killed_process_keeps_what_it_committed(
    context: StageContext, put_fragments: Put, database_url: str, tmp_path: Any
) -> None:
    texts = [f"sentence number {number} " + "and more words " * 20 for number in range(400)]
    put_fragments(context, {"a.md": texts})
    child = subprocess.Popen([sys.executable, "-c", KILLED, database_url, str(tmp_path)])
    try:
        deadline = time.monotonic() + 200
        while time.monotonic() < deadline and not any(row is not None for row in stored(context, texts).values()):
            time.sleep(0.2)
    finally:
        child.kill()  # SIGKILL
        child.wait(30)
    kept = sum(row is not None for row in stored(context, texts).values())
    assert 0 < kept < 400
    result = embed_corpus(context)
    assert (result.counts["reused"], result.counts["embedded"]) == (kept, 400 - kept)
