"""What a vector depends on, beside its text.

A vector is named by (hash of the text, fingerprint), and those names, never the floats, enter
output hashes and the generation root: floats differ in the last bit between processors, batch
sizes and thread counts, names do not.
"""

from __future__ import annotations

from typing import Any

from corpus_pipeline.embedding.quantisation import QUANTISATION
from corpus_pipeline.errors import ConfigurationError
from corpus_pipeline.model_files import (
    file_sha256,
    model_folder,
    model_label,
    model_max_tokens,
    modules_sha256,
    tokenizer_file,
    weights_sha256,
)
from corpus_pipeline.records import canonical_json, sha256_hex
from corpus_pipeline.registry import EmbeddingSpec, EndpointSpec

__all__ = ["embedding_fingerprint", "fingerprint_parts"]

_PRECISIONS = {
    "torch": ("float32", "bfloat16"),
    "openvino": ("float32", "bfloat16"),
    "onnx": ("float32", "int8"),
    "endpoint": ("float32",),
}


def fingerprint_parts(spec: EmbeddingSpec) -> dict[str, Any]:
    """The parts by name; loading a model is not needed to know them.

    Raises:
        ModelUnavailableError: The model's files are not there.
        ConfigurationError: The backend cannot compute in that precision.
    """
    if spec.precision not in _PRECISIONS[spec.backend]:
        others = ", ".join(backend for backend, known in _PRECISIONS.items() if spec.precision in known)
        raise ConfigurationError(
            f"embedding.precision {spec.precision!r} is not available with backend {spec.backend!r}",
            remedy=f"Write {' or '.join(_PRECISIONS[spec.backend])}; {spec.precision} is for backend {others}.",
        )
    if spec.endpoint:
        return _endpoint_parts(spec, spec.endpoint)
    folder = model_folder(spec.model, spec.revision)
    return {
        "model": model_label(spec.model),
        "revision": spec.revision,
        "weights_sha256": weights_sha256(folder, spec.backend),
        "tokenizer_sha256": file_sha256(tokenizer_file(folder)),
        "modules_sha256": modules_sha256(folder),
        "backend": spec.backend,
        "precision": spec.precision,
        "max_tokens": model_max_tokens(folder),
        "query_prompt": spec.query_prompt,
        "passage_prompt": spec.passage_prompt,
        "normalisation": "l2",
        **({"quantisation": QUANTISATION} if spec.precision == "int8" else {}),
    }


def _endpoint_parts(spec: EmbeddingSpec, endpoint: EndpointSpec) -> dict[str, Any]:
    """Weights elsewhere cannot be hashed: place, name and revision stand for them, never the key."""
    folder = model_folder(endpoint.tokenizer)
    return {
        "model": spec.model,
        "revision": spec.revision,
        "endpoint": endpoint.url.rstrip("/"),
        "dimensions": endpoint.dimensions,
        "tokenizer_sha256": file_sha256(tokenizer_file(folder)),
        "backend": spec.backend,
        "precision": spec.precision,
        "max_tokens": endpoint.max_tokens,
        "query_prompt": spec.query_prompt,
        "passage_prompt": spec.passage_prompt,
        "normalisation": "l2",
    }


def embedding_fingerprint(spec: EmbeddingSpec) -> str:
    """SHA-256 of the parts: equal fingerprints give equal vectors within rounding.

    The batch size is no part of it: it changes a vector by rounding only.
    """
    return sha256_hex(canonical_json(fingerprint_parts(spec)))
