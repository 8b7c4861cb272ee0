"""The state of the chain: which stage has produced what from what.

Each stage writes its rows and its state in one transaction. ``input_sha256`` of a stage is
the ``output_sha256`` of the stage before, so that publication can tell a consistent chain
from one whose middle ran again.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Protocol

import psycopg
from psycopg.types.json import Jsonb

from corpus_pipeline.errors import CorpusBusyError, UpstreamMissingError
from corpus_pipeline.records import Stage
from corpus_pipeline.registry import CorpusSpec, Registry
from corpus_pipeline.settings import Settings
from corpus_pipeline.store.database import Connection, Database
from corpus_pipeline.store.queries import load_queries

__all__ = ["Progress", "SilentProgress", "StageContext", "StageResult", "StageRun", "corpus_lock", "open_stage"]

Count = int | float | str
NO_INPUT = ""
LOCK_WAIT_SECONDS = 3.0
LOCK_POLL_SECONDS = 0.05


class Progress(Protocol):
    """Where long work reports; the command line draws it, Dagster logs it."""

    def start(self, stage: Stage, total: int | None, what: str) -> None:
        """A piece of work begins; ``total`` items, ``None`` when not known."""

    def advance(self, items: int = 1) -> None:
        """That many more items are done."""

    def note(self, message: str) -> None:
        """Something worth a line, such as a quarantined file."""


class SilentProgress:
    """Reports nowhere."""

    def start(self, stage: Stage, total: int | None, what: str) -> None:
        """Ignored."""

    def advance(self, items: int = 1) -> None:
        """Ignored."""

    def note(self, message: str) -> None:
        """Ignored."""


@dataclass(frozen=True)
class StageContext:
    """What every stage gets.

    Attributes:
        spec: The corpus worked on; ``registry`` has all of them.
        as_of: The day decisions are made for.
        run_id: Names the run in states, verdicts and generations.
    """

    database: Database
    settings: Settings
    registry: Registry
    spec: CorpusSpec
    as_of: date
    run_id: str
    progress: Progress = field(default_factory=SilentProgress)


@dataclass(frozen=True)
class StageResult:
    """What a stage did, for metadata and the closing table.

    Attributes:
        counts: Plain numbers by name, such as ``documents`` or ``converted``.
        unchanged: The output is what it was before.
    """

    corpus: str
    stage: Stage
    input_sha256: str
    output_sha256: str
    counts: Mapping[str, Count]
    seconds: float
    unchanged: bool


@dataclass
class StageRun:
    """A stage under way; see :func:`open_stage`."""

    context: StageContext
    stage: Stage
    input_sha256: str
    previous_output_sha256: str | None
    _started: float
    _result: StageResult | None = None

    @contextmanager
    def commit(
        self, *, output_sha256: str, counts: Mapping[str, Count], within: Connection | None = None
    ) -> Iterator[Connection]:
        """The one transaction in which the stage writes its rows; its state is added at the end.

        A stage calls this once, with rows to write in the block. ``output_sha256`` must depend on
        content and configuration only: no times, no run ids. It covers ``input_sha256`` too, or all
        that the input says: publication tells by it that every later stage was made from this chain.
        ``within`` is an open transaction of the caller's to write in, which then ends after the block.
        """
        corpus = self.context.spec.slug
        with nullcontext(within) if within is not None else self.context.database.connection() as connection:
            yield connection
            counts = {name: _plain(value) for name, value in counts.items()}
            seconds = time.monotonic() - self._started
            load_queries("store").record_stage(
                connection,
                corpus=corpus,
                stage=self.stage.value,
                input_sha256=self.input_sha256,
                output_sha256=output_sha256,
                as_of=self.context.as_of,
                run_id=self.context.run_id,
                counts=Jsonb(dict(counts)),
                elapsed_seconds=seconds,
            )
        self._result = StageResult(
            corpus,
            self.stage,
            self.input_sha256,
            output_sha256,
            dict(counts),
            seconds,
            output_sha256 == self.previous_output_sha256,
        )

    @property
    def result(self) -> StageResult:
        """The result, once committed."""
        if self._result is None:
            raise UpstreamMissingError(f"stage {self.stage} of {self.context.spec.slug} has not committed")
        return self._result


def _plain(value: Any) -> Count:
    """A count as a plain number: numpy scalars have no JSON form."""
    plain: Count = value.item() if hasattr(value, "item") else value
    return plain


@contextmanager
def corpus_lock(database: Database, corpus: str) -> Iterator[Connection]:
    """Holds a corpus for this process; the server frees it when the process dies.

    Raises:
        CorpusBusyError: Another process holds it.
    """
    queries = load_queries("store")
    with database.session() as connection:
        # A server frees the lock of a session that has just ended a moment later, so one moment is waited.
        deadline = time.monotonic() + LOCK_WAIT_SECONDS
        while not queries.try_corpus_lock(connection, corpus=corpus):
            if time.monotonic() < deadline:
                time.sleep(LOCK_POLL_SECONDS)
                continue
            raise CorpusBusyError(
                f"another run is working on corpus {corpus!r}",
                remedy="Wait for it to end (see `corpus-pipeline status` or the Runs page), then run this again.",
            )
        try:
            yield connection
        finally:
            # A lost connection has freed the lock already.
            with suppress(psycopg.Error):
                queries.release_corpus_lock(connection, corpus=corpus)


@contextmanager
def open_stage(context: StageContext, stage: Stage) -> Iterator[StageRun]:
    """Takes the corpus lock and reads what the stage before has produced.

    Raises:
        UpstreamMissingError: The stage before has never finished for this corpus.
        CorpusBusyError: Another run works on this corpus.
    """
    started = time.monotonic()
    corpus = context.spec.slug
    queries = load_queries("store")
    with corpus_lock(context.database, corpus):
        with context.database.connection() as connection:
            previous = queries.stage_state(connection, corpus=corpus, stage=stage.value)
            input_sha256 = NO_INPUT
            if stage.upstream is not None:
                upstream: dict[str, Any] | None = queries.stage_state(
                    connection, corpus=corpus, stage=stage.upstream.value
                )
                if upstream is None:
                    raise UpstreamMissingError(
                        f"{stage} of corpus {corpus!r} needs {stage.upstream}, which has not run yet",
                        remedy=f"Run the whole chain: corpus-pipeline ingest {corpus}.",
                    )
                input_sha256 = upstream["output_sha256"]
        yield StageRun(context, stage, input_sha256, previous["output_sha256"] if previous else None, started)
