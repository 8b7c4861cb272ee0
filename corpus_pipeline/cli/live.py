"""Live progress of an ingestion: a bar for the work at hand, a line for each finished stage."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from corpus_pipeline.cli.failures import failure_lines
from corpus_pipeline.cli.output import err, safe
from corpus_pipeline.records import Stage
from corpus_pipeline.store import StageResult, Verdict

__all__ = ["LiveObserver"]

STAGE_WIDTH = max(len(stage.value) for stage in Stage)
HIGHLIGHTS: dict[Stage, tuple[str, ...]] = {
    Stage.SOURCE_INVENTORY: ("files", "added", "changed", "removed", "held_removals"),
    Stage.CONVERTED_DOCUMENTS: ("documents", "converted", "quarantined"),
    Stage.NEAR_DUPLICATE_CLUSTERS: ("clusters", "exact_duplicates", "near_duplicates", "contained"),
    Stage.DOCUMENT_VERSIONS: ("current", "superseded", "copies_of_superseded", "conflicts"),
    Stage.FRAGMENTS: ("fragments", "chunked"),
    Stage.FRAGMENT_EMBEDDINGS: ("texts", "embedded"),
    Stage.INDEX_GENERATION: ("generation", "rows_added", "rows_retired"),
    Stage.RETRIEVAL_EVALUATION: ("queries", "recall_at_5", "forbidden_hits", "stale_hits"),
    Stage.PUBLISHED_CORPUS: ("generation",),
}
AFTER = {"generation", "recall_at_5"}
ALWAYS_SHOWN = {"converted", "chunked", "embedded", "generation", "recall_at_5"}


class LiveObserver:
    """Draws on standard error, so that standard output stays clean for ``--json``."""

    def __init__(self) -> None:
        self._corpus = ""
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=err,
            transient=True,
        )
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def start(self, stage: Stage, total: int | None, what: str) -> None:
        """Shows a new bar in place of the last."""
        self._drop_bar()
        self._task = self._progress.add_task(f"{stage.value}: {safe(what)}", total=total)

    def advance(self, items: int = 1) -> None:
        """Moves the bar."""
        if self._task is not None:
            self._progress.advance(self._task, items)

    def note(self, message: str) -> None:
        """Prints a line above the bar."""
        self._progress.console.print(f"    [dim]{safe(message)}[/]")

    def stage_finished(self, result: StageResult) -> None:
        """Prints the stage's counts, below the name of its corpus."""
        self._drop_bar()
        if result.corpus != self._corpus:
            self._corpus = result.corpus
            self._progress.console.print(f"[bold]{safe(result.corpus)}[/]")
        counts = ", ".join(
            f"{result.counts[name]} {name.replace('_', ' ')}"
            if name not in AFTER
            else f"{name.replace('_', ' ')} {result.counts[name]}"
            for name in HIGHLIGHTS[result.stage]
            if name in result.counts and (result.counts[name] or name in ALWAYS_SHOWN)
        )
        self._progress.console.print(
            f"  [green]✔[/] {result.stage.value:<{STAGE_WIDTH}} {result.seconds:6.1f} s  {safe(counts)}"
            + ("  [dim](unchanged)[/]" if result.unchanged else "")
        )

    def check_finished(self, verdict: Verdict) -> None:
        """Prints failed expectations with the first documents and what to do."""
        for line in failure_lines(verdict.failures):
            self._progress.console.print(line)

    def _drop_bar(self) -> None:
        if self._task is not None:
            self._progress.remove_task(self._task)
            self._task = None
