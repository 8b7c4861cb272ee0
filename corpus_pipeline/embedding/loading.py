"""Loading a model with a backend, once a process, in silence and without network."""

from __future__ import annotations

import errno
import json
import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from corpus_pipeline.embedding.encoders import Encoder, GraphEncoder, LibraryEncoder
from corpus_pipeline.embedding.endpoint import EndpointEncoder
from corpus_pipeline.embedding.exports import graph_file
from corpus_pipeline.embedding.fingerprint import fingerprint_parts
from corpus_pipeline.embedding.graphs import Graph, OnnxGraph, OpenVinoGraph
from corpus_pipeline.embedding.model import EmbeddingModel
from corpus_pipeline.embedding.pooling import pooling_of
from corpus_pipeline.errors import ConfigurationError, DiskFullError, ModelUnavailableError
from corpus_pipeline.model_files import model_folder, model_max_tokens, tokenizer_file
from corpus_pipeline.records import canonical_json, sha256_hex
from corpus_pipeline.registry import EmbeddingSpec

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["exports_folder", "load_model", "load_model_of"]

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_EXTRAS = {
    "openvino": "pip install 'corpus-pipeline[openvino]'",
    "onnx": "pip install 'corpus-pipeline[onnx]'",
    "torch": "pip install sentence-transformers",
}


def load_model(spec: EmbeddingSpec, *, export_folder: Path | None = None) -> EmbeddingModel:
    """The model of a spec, kept for the life of the process.

    Args:
        spec: Model, backend, precision, prompts.
        export_folder: Where an export to OpenVINO or ONNX is kept between processes; ``None``
            exports again in each. The export is made from the fingerprinted weights, so it
            changes no fingerprint.

    Raises:
        ModelUnavailableError: Weights or the backend's package are missing.
        DiskFullError: There is no room to export the model.
        ConfigurationError: The backend cannot compute in that precision.
    """
    parts = fingerprint_parts(spec)
    return _load(spec, sha256_hex(canonical_json(parts)), canonical_json(parts), export_folder)


def exports_folder(state_folder: Path) -> Path:
    """Where an installation keeps models that it has exported."""
    return state_folder / "models"


@lru_cache(maxsize=4)
def load_model_of(spec: EmbeddingSpec, fingerprint: str, state_folder: Path | None = None) -> EmbeddingModel:
    """The model that made the vectors of a fingerprint, for questions that are compared with them.

    Its files are compared once a process: what is loaded stays what it was, whatever becomes of them.

    Args:
        spec: Of the generation that has the vectors.
        fingerprint: Of its vectors.
        state_folder: Of the installation, where the export that was embedded with is kept.

    Raises:
        ModelUnavailableError: As :func:`load_model`; or the files here are not those that made the vectors.
    """
    model = load_model(spec, export_folder=exports_folder(state_folder) if state_folder else None)
    if model.fingerprint != fingerprint:
        raise ModelUnavailableError(
            f"the vectors were made with other files of {spec.model} than those here: fingerprint {fingerprint[:12]}…, "
            f"here {model.fingerprint[:12]}…",
            remedy="Put back the files of that model (weights, tokenizer, modules.json), or run "
            "`corpus-pipeline ingest CORPUS`, which embeds it with these.",
        )
    return model


@lru_cache(maxsize=4)
def _load(spec: EmbeddingSpec, fingerprint: str, _parts: str, export_folder: Path | None) -> EmbeddingModel:
    if spec.endpoint:
        endpoint = EndpointEncoder(spec.endpoint, model=spec.model, batch_size=spec.batch_size)
        return EmbeddingModel(endpoint, fingerprint=fingerprint, parts=fingerprint_parts(spec))
    folder = model_folder(spec.model, spec.revision)
    kept = export_folder / fingerprint[:16] if export_folder and spec.backend != "torch" else None
    with _translated(spec), _quiet():
        encoder = _library_encoder(folder, spec) if spec.backend == "torch" else _graph_encoder(folder, spec, kept)
    return EmbeddingModel(encoder, fingerprint=fingerprint, parts=fingerprint_parts(spec))


def _library_encoder(folder: Path, spec: EmbeddingSpec) -> Encoder:
    import torch
    from sentence_transformers import SentenceTransformer

    dtype = torch.bfloat16 if spec.precision == "bfloat16" else torch.float32
    model = SentenceTransformer(
        str(folder), local_files_only=True, trust_remote_code=False, model_kwargs={"dtype": dtype}
    )
    model.max_seq_length = model_max_tokens(folder)
    return LibraryEncoder(model, batch_size=spec.batch_size)


def _graph_encoder(folder: Path, spec: EmbeddingSpec, kept: Path | None) -> Encoder:
    pooling = pooling_of(folder)
    if pooling is None:
        raise ConfigurationError(
            f"the model {spec.model} does more than mean or first-token pooling after its transformer",
            remedy="Write `backend: torch` in corpora.yaml; it runs every model of sentence-transformers.",
        )
    with graph_file(folder, spec.backend, spec.precision, kept) as path:
        graph: Graph = OpenVinoGraph(path, spec.precision) if spec.backend == "openvino" else OnnxGraph(path)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    return GraphEncoder(
        graph,
        _tokenizer(folder),
        pooling,
        dimensions=int(config["hidden_size"]),
        pad_id=int(config.get("pad_token_id") or 0),
        # Eight-bit activations have one scale a run: in company a text would be rounded by its neighbours.
        batch_size=1 if spec.precision == "int8" else spec.batch_size,
    )


def _tokenizer(folder: Path) -> Tokenizer:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(tokenizer_file(folder)))
    tokenizer.no_padding()
    tokenizer.enable_truncation(model_max_tokens(folder))
    return tokenizer


@contextmanager
def _translated(spec: EmbeddingSpec) -> Iterator[None]:
    """Maps whatever three model libraries raise while loading to one error."""
    try:
        yield
    except ConfigurationError:
        raise
    except Exception as error:  # sentence-transformers raises bare Exception for a missing backend
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            raise DiskFullError(
                f"there is no room to export the model {spec.model} for backend {spec.backend!r}: {reason}",
                remedy="Free disk space in the state folder and in the folder of temporary files (TMPDIR); nothing was "
                "published.",
            ) from error
        raise ModelUnavailableError(
            f"the model {spec.model} cannot be loaded with backend {spec.backend!r}: {reason}",
            remedy=f"Install the backend: {_EXTRAS[spec.backend]}; or write `backend: torch` in corpora.yaml.",
        ) from error


@contextmanager
def _quiet() -> Iterator[None]:
    """No progress bars, warnings or log lines while a model is loaded; all is as before afterwards."""
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    disabled = logging.root.manager.disable
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # By level of logger would not do: optimum sets its own level when it is imported.
        logging.disable(logging.CRITICAL)
        try:
            from transformers.utils import logging as transformers_logging

            transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # as the library has it
            yield
        finally:
            logging.disable(disabled)
