"""The question's vectors, made beside the work that needs none: encoding takes as long as a search for its words."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

from corpus_pipeline.embedding import EmbeddingModel
from corpus_pipeline.retrieval.rows import Vector
from corpus_pipeline.retrieval.trace import Trace

__all__ = ["encoding"]

_Encoded = tuple[dict[str, Vector], float, float]
"""Vectors by space, and when making them began and ended."""


@contextmanager
def encoding(models: Mapping[str, EmbeddingModel], query: str, trace: Trace) -> Iterator[Mapping[str, Vector]]:
    """Encodes a question in a thread of its own.

    Args:
        models: By vector space.
        query: The question in words.
        trace: Is told of the stage ``encode`` when a vector is first asked for, with the time that encoding took.

    Yields:
        Its vector by vector space, float32, shape (dimensions,), L2-normalised. Asking for one waits until all are
        made, and raises what encoding has raised.
    """
    executor = ThreadPoolExecutor(1, thread_name_prefix="encode")
    try:
        yield _Vectors(models, executor.submit(_encoded, models, query), trace)
    finally:
        # A search that failed does not wait for a vector that nobody asks for any more.
        executor.shutdown(wait=False, cancel_futures=True)


class _Vectors(Mapping[str, Vector]):
    def __init__(self, models: Mapping[str, EmbeddingModel], future: Future[_Encoded], trace: Trace) -> None:
        self._models = models
        self._future = future
        self._trace = trace
        self._made: dict[str, Vector] | None = None

    def __getitem__(self, space: str) -> Vector:
        if self._made is None:
            self._made, began, ended = self._future.result()
            self._trace.add("encode", {"vectors": len(self._made)}, began, ended)
        return self._made[space]

    def __iter__(self) -> Iterator[str]:
        return iter(self._models)

    def __len__(self) -> int:
        return len(self._models)


def _encoded(models: Mapping[str, EmbeddingModel], query: str) -> _Encoded:
    began = time.perf_counter()
    made = {space: model.encode_queries([query])[0] for space, model in models.items()}
    return made, began, time.perf_counter()
