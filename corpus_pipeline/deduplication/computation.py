"""Profiles and signatures of many texts, in worker processes when there are enough of them.

Each text is computed by itself, so that the number of workers and the size of batches cannot
change a result.
"""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import islice
from typing import TypeVar

from corpus_pipeline.deduplication.boilerplate import TextProfile, profile, without_lines
from corpus_pipeline.deduplication.kernels import kernels
from corpus_pipeline.deduplication.parameters import ComparisonParameters
from corpus_pipeline.deduplication.signatures import SignedText, signed_texts

__all__ = ["SigningTask", "batches", "in_batches", "profile_batch", "sign_batch"]

Item = TypeVar("Item")
Result = TypeVar("Result")

BATCH_TEXTS = 500
BATCH_CHARS = 4_000_000
POOL_BATCHES = 4
"""Fewer batches than this are not worth starting processes for."""

SigningTask = tuple[bytes, str, bytes, ComparisonParameters]
"""Key of the signature, the whole text, the digests of the lines to remove (8 bytes each), the parameters."""


def profile_batch(batch: Sequence[tuple[str, str]]) -> list[TextProfile]:
    """Profiles of ``(text_sha256, text)`` pairs."""
    return [profile(text_sha256, text) for text_sha256, text in batch]


def sign_batch(batch: Sequence[SigningTask]) -> list[SignedText]:
    """Signatures of texts with one set of parameters."""
    texts = [(key, without_lines(text, removed)) for key, text, removed, _ in batch]
    return signed_texts(texts, batch[0][3])


def batches(items: Iterable[Item], length: Callable[[Item], int]) -> Iterator[list[Item]]:
    """Items in order, in lists of bounded number and total length."""
    batch: list[Item] = []
    size = 0
    for item in items:
        batch.append(item)
        size += length(item)
        if len(batch) >= BATCH_TEXTS or size >= BATCH_CHARS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def in_batches(
    function: Callable[[list[Item]], list[Result]],
    items: Iterable[Item],
    *,
    length: Callable[[Item], int],
    workers: int,
) -> Iterator[list[Result]]:
    """Results batch by batch, in the order of the items; few batches are in memory at a time."""
    remaining = batches(items, length)
    first = list(islice(remaining, POOL_BATCHES)) if workers > 1 else []
    if len(first) < POOL_BATCHES:
        yield from map(function, (*first, *remaining) if workers > 1 else remaining)
        return
    kernels()  # compiled and cached once, before every worker does it
    # A forked copy of a process with threads and database connections may hang: start clean.
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("forkserver")) as pool:
        waiting: deque[Future[list[Result]]] = deque(pool.submit(function, batch) for batch in first)
        for batch in remaining:
            waiting.append(pool.submit(function, batch))
            if len(waiting) > 2 * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
