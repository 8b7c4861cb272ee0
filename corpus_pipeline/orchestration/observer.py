"""Who watches a run: progress inside a stage, plus what each stage and check ended with."""

from __future__ import annotations

import logging
import time
from typing import Protocol

from corpus_pipeline.records import Stage
from corpus_pipeline.store import Progress, StageResult, Verdict

__all__ = ["LogObserver", "RunObserver"]

SECONDS_BETWEEN_LINES = 10.0


class RunObserver(Progress, Protocol):
    """Progress plus the end of stages and checks."""

    def stage_finished(self, result: StageResult) -> None:
        """A stage has committed."""

    def check_finished(self, verdict: Verdict) -> None:
        """A suite has been evaluated and its verdict stored."""


class LogObserver:
    """Reports to a logger, such as Dagster's ``context.log``, at most a line every ten seconds."""

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger
        self._what = ""
        self._total: int | None = None
        self._done = 0
        self._last = 0.0

    def start(self, stage: Stage, total: int | None, what: str) -> None:
        """Logs what begins."""
        self._what, self._total, self._done, self._last = what, total, 0, time.monotonic()
        self._logger.info("%s: %s%s", stage.value, what, f" ({total})" if total is not None else "")

    def advance(self, items: int = 1) -> None:
        """Counts, and logs now and then."""
        self._done += items
        if time.monotonic() - self._last >= SECONDS_BETWEEN_LINES:
            self._last = time.monotonic()
            self._logger.info("%s: %s of %s", self._what, self._done, self._total if self._total is not None else "?")

    def note(self, message: str) -> None:
        """Logs a line."""
        self._logger.warning("%s", message)

    def stage_finished(self, result: StageResult) -> None:
        """Logs the counts."""
        self._logger.info("%s finished in %.1f s: %s", result.stage.value, result.seconds, dict(result.counts))

    def check_finished(self, verdict: Verdict) -> None:
        """Logs what failed and what to do."""
        for failure in verdict.failures:
            log = self._logger.error if failure["severity"] == "critical" else self._logger.warning
            log(
                "%s: expected %s; found %s. %s",
                failure["expectation"],
                failure["expected"],
                failure["found"],
                failure["remedy"],
            )
