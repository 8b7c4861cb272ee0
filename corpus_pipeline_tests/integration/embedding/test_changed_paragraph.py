"""After one changed paragraph: exactly the fragments whose text changed are embedded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.embedding.changed_paragraph import corpus_spec, measure
from benchmarks.embedding.tiny_model import make_tiny_model
from corpus_pipeline.store import StageContext


@pytest.mark.slow
def test_only_the_fragments_whose_text_changed_are_embedded(context: StageContext, tmp_path: Path) -> None:
    spec = corpus_spec(tmp_path, make_tiny_model(tmp_path / "model"))
    figures = measure(replace(context, spec=spec), tmp_path / "docs", 200)
    first, second = figures["first"], figures["second"]
    assert first["fragment_embeddings"]["embedded"] == first["fragment_embeddings"]["texts"] > 200
    assert second["converted_documents"]["converted"] == second["fragments"]["chunked"] == 1
    assert second["fragment_embeddings"]["embedded"] == figures["changed_texts"] == 1
    assert second["fragment_embeddings"]["reused"] == first["fragment_embeddings"]["texts"] - 1
