"""The real model: what it gives, and what its fingerprint covers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from corpus_pipeline.embedding import (
    EmbeddingModel,
    embedding_fingerprint,
    exports,
    fingerprint_parts,
    load_model,
    load_model_of,
)
from corpus_pipeline.embedding.batches import token_batches
from corpus_pipeline.embedding.exports import graph_file
from corpus_pipeline.embedding.loading import exports_folder
from corpus_pipeline.embedding.model import faulty_rows
from corpus_pipeline.embedding.pooling import pooled, pooling_of
from corpus_pipeline.errors import ConfigurationError, ModelUnavailableError
from corpus_pipeline.model_files import file_sha256, model_folder
from corpus_pipeline.registry import EmbeddingSpec

TEXTS = ["short", "Refunds are paid within thirty days. " * 12, "gift cards", "The limit is five requests. " * 5]
TOLERANCE = 1e-5


@pytest.fixture(scope="module")
def model() -> EmbeddingModel:
    return load_model(EmbeddingSpec())


def test_vectors_are_float32_of_unit_length_in_the_order_given(model: EmbeddingModel) -> None:
    rows = model.encode_passages(TEXTS)
    assert (rows.shape, rows.dtype) == ((4, 384), np.float32)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-6)
    assert np.allclose(model.encode_passages(TEXTS[::-1]), rows[::-1], atol=TOLERANCE)
    assert model.encode_passages([]).shape == (0, 384)


def test_the_batch_changes_a_vector_by_rounding_only(model: EmbeddingModel) -> None:
    together = model.encode_passages(TEXTS)
    alone = np.stack([model.encode_passages([text])[0] for text in TEXTS])
    assert np.abs(together - alone).max() < TOLERANCE


def test_vectors_are_those_of_the_plain_library(model: EmbeddingModel) -> None:
    from sentence_transformers import SentenceTransformer

    plain = SentenceTransformer(str(model_folder("all-MiniLM-L6-v2")), local_files_only=True, device="cpu")
    assert (model.encode_passages(TEXTS) * plain.encode(TEXTS)).sum(axis=1).min() > 0.99999


def test_prompts_are_put_before_passages_and_queries(model: EmbeddingModel) -> None:
    prompted = load_model(EmbeddingSpec(query_prompt="query: ", passage_prompt="passage: "))
    assert np.allclose(prompted.encode_queries(["a"]), model.encode_queries(["query: a"]), atol=TOLERANCE)
    assert np.allclose(prompted.encode_passages(["a"]), model.encode_queries(["passage: a"]), atol=TOLERANCE)
    assert prompted.fingerprint != model.fingerprint


def test_a_model_is_loaded_once_a_process(model: EmbeddingModel) -> None:
    assert load_model(EmbeddingSpec()) is model
    assert model.fingerprint == embedding_fingerprint(EmbeddingSpec())
    assert model.max_tokens == 256


def test_the_fingerprint_covers_what_changes_vectors_and_nothing_else() -> None:
    base = embedding_fingerprint(EmbeddingSpec())
    assert embedding_fingerprint(EmbeddingSpec(batch_size=7)) == base
    assert embedding_fingerprint(EmbeddingSpec(model="sentence-transformers/all-MiniLM-L6-v2")) == base
    others = [{"backend": "openvino"}, {"precision": "bfloat16"}, {"query_prompt": "q"}, {"passage_prompt": "p"}]
    assert len({base, *(embedding_fingerprint(EmbeddingSpec(**change)) for change in others)}) == 5
    assert fingerprint_parts(EmbeddingSpec())["weights_sha256"].startswith("53aa5117")


@pytest.mark.parametrize(
    ("backend", "precision", "instead"),
    [
        ("onnx", "bfloat16", "Write float32 or int8; bfloat16 is for backend torch, openvino."),
        ("torch", "int8", "Write float32 or bfloat16; int8 is for backend onnx."),
        ("openvino", "int8", "Write float32 or bfloat16; int8 is for backend onnx."),
    ],
)
def test_a_precision_that_a_backend_has_not_is_refused(backend: str, precision: str, instead: str) -> None:
    with pytest.raises(ConfigurationError, match=f"not available with backend '{backend}'") as caught:
        embedding_fingerprint(EmbeddingSpec(backend=backend, precision=precision))
    assert caught.value.remedy == instead


def test_a_missing_backend_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ModelUnavailableError) as caught:
        load_model(EmbeddingSpec(backend="onnx"))
    assert "corpus-pipeline[onnx]" in caught.value.remedy


def test_faulty_rows_are_those_that_are_no_unit_vectors() -> None:
    rows = np.eye(4, dtype=np.float32)
    rows[1] *= 1.01
    rows[2, 0] = np.nan
    rows[3] = 0
    assert faulty_rows(rows, 4) == [1, 2, 3]
    assert faulty_rows(rows, 3) == [0, 1, 2, 3]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("backend", "file"), [("onnx", "onnx/model.onnx"), ("openvino", "openvino/openvino_model.bin")]
)
def test_an_exported_model_agrees_with_torch_and_its_export_is_kept_and_checked(
    model: EmbeddingModel, tmp_path: Path, backend: str, file: str
) -> None:
    pytest.importorskip(backend)
    spec = EmbeddingSpec(backend=backend)
    folder = exports_folder(tmp_path)
    exported = load_model(spec, export_folder=folder)
    assert load_model_of(spec, exported.fingerprint, tmp_path) is exported, "questions are encoded with what was kept"
    # More than one batch, which are computed side by side.
    texts = [*TEXTS, TEXTS[0], "", "naïve 日本語 " * 200, *(f"number {n} " * (10 * n + 1) for n in range(20))]
    rows = exported.encode_passages(texts)
    assert (rows * model.encode_passages(texts)).sum(axis=1).min() > 0.99999
    assert np.array_equal(rows[4], rows[0])
    assert [path.name for path in folder.iterdir()] == [exported.fingerprint[:16]]

    kept = folder / exported.fingerprint[:16] / file
    before = file_sha256(kept)
    with graph_file(model_folder(spec.model), backend, "float32", kept.parents[1]):
        assert file_sha256(kept) == before
    with kept.open("ab") as damaged:
        damaged.write(b"damage")
    with graph_file(model_folder(spec.model), backend, "float32", kept.parents[1]):
        assert not kept.read_bytes().endswith(b"damage")


@pytest.mark.slow
def test_eight_bits_are_near_float32_and_a_text_is_not_rounded_by_its_neighbours(
    model: EmbeddingModel, tmp_path: Path
) -> None:
    onnx = pytest.importorskip("onnx")
    spec = EmbeddingSpec(backend="onnx", precision="int8")
    quantised = load_model(spec, export_folder=exports_folder(tmp_path))
    texts = [*TEXTS, "naïve 日本語 " * 200, *(f"number {n} " * (10 * n + 1) for n in range(20))]
    rows = quantised.encode_passages(texts)
    cosines = (rows * model.encode_passages(texts)).sum(axis=1)
    assert 0.985 < cosines.min() < cosines.max() < 0.9999
    alone = np.stack([quantised.encode_passages([text])[0] for text in texts])
    assert np.array_equal(rows, alone)

    graph = exports_folder(tmp_path) / quantised.fingerprint[:16] / "onnx" / "model.onnx"
    operators = [node.op_type for node in onnx.load(graph).graph.node]
    assert operators.count("MatMulInteger") == 6 * 5, (
        "of six layers: query, key, value, their output, and the expansion"
    )
    assert fingerprint_parts(spec)["quantisation"].startswith("dynamic")
    assert embedding_fingerprint(spec) != embedding_fingerprint(EmbeddingSpec(backend="onnx"))


@pytest.mark.slow
def test_a_models_own_graph_is_quantised_and_left_as_it_is(tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    own = tmp_path / "model" / "onnx" / "model.onnx"
    own.parent.mkdir(parents=True)
    with graph_file(model_folder("all-MiniLM-L6-v2"), "onnx", "float32", None) as exported:
        own.write_bytes(exported.read_bytes())
    before, touched = file_sha256(own), own.parent.stat().st_mtime_ns
    with graph_file(tmp_path / "model", "onnx", "float32", tmp_path / "kept") as path:
        assert path == own
    with graph_file(tmp_path / "model", "onnx", "int8", tmp_path / "kept") as path:
        assert path.is_relative_to(tmp_path / "kept")
        assert path.stat().st_size < 0.85 * own.stat().st_size
    assert file_sha256(own) == before
    assert own.parent.stat().st_mtime_ns == touched, "nothing is written beside it, for that may be forbidden"


def test_batches_hold_every_text_once_within_both_limits() -> None:
    lengths = [3, 200, 40, 3, 41, 256, 1, 39]
    batches = token_batches(lengths, max_texts=3, max_tokens=210)
    assert sorted(at for batch in batches for at in batch) == list(range(8))
    for batch in batches:
        assert len(batch) <= 3
        assert len(batch) == 1 or max(lengths[at] for at in batch) * len(batch) <= 210


def test_pooling_is_what_the_models_own_files_say(tmp_path: Path) -> None:
    source = model_folder("all-MiniLM-L6-v2")
    assert pooling_of(source) == "mean"
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "modules.json").write_text((source / "modules.json").read_text())
    config = {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
    (tmp_path / "1_Pooling/config.json").write_text(json.dumps(config))
    assert pooling_of(tmp_path) == "cls"
    (tmp_path / "1_Pooling/config.json").write_text(json.dumps({**config, "pooling_mode_mean_tokens": True}))
    assert pooling_of(tmp_path) is None
    (tmp_path / "modules.json").unlink()
    assert pooling_of(tmp_path) is None


def test_padding_does_not_reach_a_vector() -> None:
    states = np.arange(12, dtype=np.float32).reshape(1, 4, 3)
    mask = np.array([[1, 1, 0, 0]])
    assert pooled(states, mask, "mean").tolist() == [[1.5, 2.5, 3.5]]
    assert pooled(states, mask, "cls").tolist() == [[0.0, 1.0, 2.0]]


@pytest.mark.slow
def test_loading_is_silent_and_opens_no_connection() -> None:
    code = (
        "import os, socket\n"
        "for key in ('HF_HUB_OFFLINE', 'TRANSFORMERS_OFFLINE'): os.environ.pop(key, None)\n"
        "def refuse(*a, **k): raise OSError('network')\n"
        "socket.socket.connect = refuse\n"
        "from corpus_pipeline.embedding import load_model\n"
        "from corpus_pipeline.registry import EmbeddingSpec\n"
        "load_model(EmbeddingSpec()).encode_passages(['text'])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_folder_that_cannot_be_written_keeps_no_export_and_costs_no_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def export(_folder: Path, target: Path) -> None:
        (target / "onnx").mkdir()
        (target / "onnx" / "model.onnx").write_bytes(b"graph")

    monkeypatch.setitem(exports._EXPORTERS, "onnx", export)
    (tmp_path / "models").write_text("a file where the folder should be")
    source = tmp_path / "source"
    source.mkdir()
    with graph_file(source, "onnx", "float32", tmp_path / "models" / "abc") as path:
        assert path.read_bytes() == b"graph"
    assert not path.exists()
    with graph_file(source, "onnx", "float32", tmp_path / "kept" / "abc") as path:
        assert path == tmp_path / "kept" / "abc" / "onnx" / "model.onnx"
    assert path.exists()
