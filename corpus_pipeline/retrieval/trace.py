"""What each stage of a search counted and how long it took."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from corpus_pipeline.retrieval.result import StageTrace

__all__ = ["Trace"]


class Trace:
    """Collects the stages of one search in the order in which they end.

    >>> trace = Trace()
    >>> with trace.stage("merge") as counts:
    ...     counts["fragments"] = 3
    >>> trace.stages[0].stage, trace.stages[0].counts
    ('merge', {'fragments': 3})
    """

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._stages: list[StageTrace] = []
        self._notes: list[list[str]] = []

    @contextmanager
    def stage(self, name: str) -> Iterator[dict[str, int]]:
        """Times a block; it fills in the counts. A stage that fails leaves no trace."""
        counts: dict[str, int] = {}
        self._notes.append([])
        began = time.perf_counter()
        try:
            yield counts
        finally:
            notes = tuple(self._notes.pop())
        self.add(name, counts, began, time.perf_counter(), notes)

    def begin(self, name: str) -> Callable[[dict[str, int]], None]:
        """Times a stage that others run beside; the answer is called with the counts when it ends."""
        began = time.perf_counter()
        return lambda counts: self.add(name, counts, began, time.perf_counter())

    def add(self, name: str, counts: dict[str, int], began: float, ended: float, notes: tuple[str, ...] = ()) -> None:
        """Takes over a stage that was timed elsewhere, by ``time.perf_counter``."""
        self._stages.append(
            StageTrace(
                stage=name,
                counts=counts,
                begins_at=round((began - self._began) * 1000.0, 3),
                milliseconds=round((ended - began) * 1000.0, 3),
                notes=notes,
            )
        )

    def note(self, words: str) -> None:
        """Says in words what the stage that is running decided by; outside one it is lost."""
        if self._notes:
            self._notes[-1].append(words)

    @property
    def stages(self) -> tuple[StageTrace, ...]:
        """All stages so far."""
        return tuple(self._stages)
