"""Rerankers: a second look at the best candidates, by a cross-encoder or another embedding model."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from corpus_pipeline.model_files import model_folder
from corpus_pipeline.retrieval.candidate import SCORE_PLACES, Candidate, rank
from corpus_pipeline.retrieval.fusion import reciprocal
from corpus_pipeline.retrieval.packaged_rerankers import (
    PACKAGED_CROSS_ENCODER,
    PACKAGED_EMBEDDING,
    CrossEncoderOnnx,
    FeedbackReranker,
    probability,
)

__all__ = ["Reranker", "load_reranker", "passage", "readers_of", "rerank"]

_BATCH = 16


class Reranker(Protocol):
    """Judges how well texts answer a question."""

    @property
    def name(self) -> str:
        """Model and weights, for traces and fingerprints."""
        ...

    def probabilities(self, question: str, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """How well each text answers, from 0 to 1, shape (len(texts),).

        A cross-encoder gives the probability that it does, another embedding model its cosine. ``texts``
        are best first as they were ranked before.
        """
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
        rerankers: By corpus, from :func:`load_reranker`, or any other. Those that different ones read are
            merged by their places, for a cosine and a probability have no common scale.
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
    before = {candidate.fragment_id: place for place, candidate in enumerate(read, start=1)}
    fused: list[Candidate] = []
    for together in by_reranker.values():
        reranker = rerankers[together[0].corpus]
        scores = reranker.probabilities(question, [passage(candidate) for candidate in together])
        judged = [
            one._replace(rerank_score=round(float(score), SCORE_PLACES))
            for one, score in zip(together, scores, strict=True)
        ]
        judged.sort(key=lambda one: (-(one.rerank_score or 0.0), -one.score, one.fragment_id))
        fused += [
            one._replace(fused_score=reciprocal(before[one.fragment_id]) + reciprocal(place))
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
    """The reranker of that name, loaded once a process.

    Args:
        name: ``bge-small-en-v1.5`` or ``ms-marco-MiniLM-L-12-v2`` (packaged, int8 ONNX), or a cross-encoder of
            sentence-transformers in a local folder or by its hub id.

    Raises:
        ModelUnavailableError: It is not installed, not there, or not the expected weights.
    """
    if not Path(name).is_dir():
        known = name.rsplit("/", 1)[-1]
        if known == PACKAGED_EMBEDDING:
            return FeedbackReranker()
        if known == PACKAGED_CROSS_ENCODER:
            return CrossEncoderOnnx()
    return _CrossEncoderReranker(name)


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
        return probability(np.asarray(logits, np.float64).reshape(len(texts)))


def _configuration(folder: Path) -> str:
    return str(json.loads((folder / "config.json").read_text(encoding="utf-8")).get("model_type", "unknown"))
