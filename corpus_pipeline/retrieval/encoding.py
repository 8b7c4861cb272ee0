"""The question's vectors, made beside the work that needs none: encoding takes as long as a search for its words."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache

from corpus_pipeline.embedding import EmbeddingModel
from corpus_pipeline.retrieval.rows import Vector
from corpus_pipeline.retrieval.trace import Trace

__all__ = ["Encoding", "encoding"]

_Encoded = tuple[dict[str, Vector], float, float]
"""Vectors by space, and when making them began and ended."""

MOST_AT_ONCE = 200
"""As many as a process may have connections, and so searches; a thread is started when all others are busy."""


@lru_cache(maxsize=1)
def _threads() -> ThreadPoolExecutor:
    """Kept for all questions: starting a thread takes as long as sending a statement."""
    return ThreadPoolExecutor(MOST_AT_ONCE, thread_name_prefix="encode")


# A process that was forked off has none of its parent's threads, and starts its own.
os.register_at_fork(after_in_child=_threads.cache_clear)


@contextmanager
def encoding(models: Mapping[str, EmbeddingModel], query: str, trace: Trace) -> Iterator[Encoding]:
    """Encodes a question in another thread, from when it is told to.

    Args:
        models: By vector space.
        query: The question in words.
        trace: Is told of the stage ``encode`` when a vector is first asked for, with the time that encoding took.
    """
    vectors = Encoding(models, query, trace)
    try:
        yield vectors
    finally:
        # A search that failed does not wait for a vector that nobody asks for any more.
        vectors.cancel()


class Encoding(Mapping[str, Vector]):
    """A question's vector by vector space, float32, shape (dimensions,), L2-normalised.

    Asking for one waits until all are made, and raises what encoding has raised.
    """

    def __init__(self, models: Mapping[str, EmbeddingModel], query: str, trace: Trace) -> None:
        self._models = models
        self._query = query
        self._trace = trace
        self._future: Future[_Encoded] | None = None
        self._made: dict[str, Vector] | None = None

    def begin(self) -> None:
        """Begins in a thread. What else is to run at once is better sent before: both are Python at first."""
        self._begun()

    def _begun(self) -> Future[_Encoded]:
        if self._future is None:
            self._future = _threads().submit(_encoded, self._models, self._query)
        return self._future

    def cancel(self) -> None:
        """Gives up what has not begun yet."""
        if self._future is not None:
            self._future.cancel()

    def __getitem__(self, space: str) -> Vector:
        if self._made is None:
            self._made, began, ended = self._begun().result()
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
