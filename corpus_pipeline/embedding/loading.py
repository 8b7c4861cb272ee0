"""Loading a model with a backend, once a process, in silence and without network."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpus_pipeline.embedding.fingerprint import fingerprint_parts
from corpus_pipeline.embedding.model import EmbeddingModel
from corpus_pipeline.errors import ModelUnavailableError
from corpus_pipeline.model_files import model_folder
from corpus_pipeline.records import canonical_json, sha256_hex
from corpus_pipeline.registry import EmbeddingSpec

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

__all__ = ["load_model"]

_EXTRAS = {
    "openvino": "pip install 'corpus-pipeline[openvino]'",
    "onnx": "pip install 'sentence-transformers[onnx]'",
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
        ConfigurationError: The backend cannot compute in that precision.
    """
    parts = fingerprint_parts(spec)
    return _load(spec, sha256_hex(canonical_json(parts)), canonical_json(parts), export_folder)


@lru_cache(maxsize=4)
def _load(spec: EmbeddingSpec, fingerprint: str, _parts: str, export_folder: Path | None) -> EmbeddingModel:
    folder = model_folder(spec.model, spec.revision)
    exported = export_folder / fingerprint[:16] if export_folder and spec.backend != "torch" else None
    with _translated(spec), _quiet():
        if exported is not None and (exported / "modules.json").is_file():
            model = _sentence_transformer(exported, spec)
        else:
            model = _sentence_transformer(folder, spec, export=exported is not None or None)
            if exported is not None:
                _keep_export(model, exported)
    parts = fingerprint_parts(spec)
    model.max_seq_length = parts["max_tokens"]
    return EmbeddingModel(model, fingerprint=fingerprint, parts=parts, batch_size=spec.batch_size)


def _sentence_transformer(folder: Path, spec: EmbeddingSpec, *, export: bool | None = None) -> SentenceTransformer:
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(
        str(folder),
        backend=spec.backend,
        device="cpu" if spec.backend != "torch" else None,
        local_files_only=True,
        trust_remote_code=False,
        model_kwargs=_backend_options(spec, export=export),
    )


def _backend_options(spec: EmbeddingSpec, *, export: bool | None) -> dict[str, Any]:
    """Options that pin the precision: left alone, OpenVINO takes bfloat16 wherever the processor has it."""
    if spec.backend == "torch":
        import torch

        return {"dtype": torch.bfloat16 if spec.precision == "bfloat16" else torch.float32}
    options: dict[str, Any] = {} if export is None else {"export": export}
    if spec.backend == "openvino":
        hint = "bf16" if spec.precision == "bfloat16" else "f32"
        return {**options, "ov_config": {"INFERENCE_PRECISION_HINT": hint}}
    return {**options, "provider": "CPUExecutionProvider"}


def _keep_export(model: SentenceTransformer, target: Path) -> None:
    """Saves an export under its final name in one step; another process that was first keeps its own."""
    target.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=".export-", dir=target.parent))
    try:
        model.save_pretrained(str(made), create_model_card=False)
        made.rename(target)
    except OSError:
        if not target.is_dir():
            raise
    finally:
        shutil.rmtree(made, ignore_errors=True)


@contextmanager
def _translated(spec: EmbeddingSpec) -> Iterator[None]:
    """Maps whatever three model libraries raise while loading to one error."""
    try:
        yield
    except Exception as error:  # sentence-transformers raises bare Exception for a missing backend
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
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
