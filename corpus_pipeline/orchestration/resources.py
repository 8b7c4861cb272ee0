"""The one resource: opens the database once a process and makes a stage context per corpus."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from functools import cached_property

from corpus_pipeline.orchestration.observer import RunObserver
from corpus_pipeline.registry import Registry, load_registry
from corpus_pipeline.settings import Settings, load_settings
from corpus_pipeline.store import Database, Progress, StageContext

__all__ = ["PipelineResource"]


@dataclass
class PipelineResource:
    """Registry, settings and database of a run.

    Attributes:
        observer: Who watches; ``None`` means the run's own log.
    """

    settings: Settings = field(default_factory=load_settings)
    observer: RunObserver | None = None

    @cached_property
    def registry(self) -> Registry:
        """corpora.yaml, read once per process.

        Sources are not looked at: an unmounted folder concerns its own corpus alone, whose run says so.
        """
        return load_registry(self.settings.config, check_files=False)

    @cached_property
    def database(self) -> Database:
        """The open pool; the embedded server starts and migrations run at first use."""
        return Database.open(self.settings)

    @cached_property
    def as_of(self) -> date:
        """The day of the run: one that passes midnight decides, evaluates and records for the same day."""
        return self.settings.decision_date

    def stage_context(self, corpus: str, run_id: str, progress: Progress) -> StageContext:
        """What a room function gets.

        Raises:
            UnknownCorpusError: The registry has no such corpus.
            StoreError: The database cannot be used.
        """
        return StageContext(
            database=self.database,
            settings=self.settings,
            registry=self.registry,
            spec=self.registry.corpus(corpus),
            as_of=self.as_of,
            run_id=run_id,
            progress=progress,
        )
