"""Files through the project's own worker pool, with what the run cost and what it left behind."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import psutil

from corpus_pipeline.conversion import CATALOGUE, ConversionJob, ConversionOutcome, ConversionPool
from corpus_pipeline.records import ConvertedDocument
from corpus_pipeline.registry import ConversionLimits

__all__ = [
    "MEGABYTE",
    "RESULTS",
    "MemoryWatch",
    "PoolRun",
    "convert_files",
    "load_remark",
    "read_document",
    "write_result",
]

RESULTS = Path(__file__).parent / "results"
MEGABYTE = 1 << 20
SAMPLE_SECONDS = 0.25


@dataclass
class PoolRun:
    """Outcomes of one run by path, and its cost.

    Attributes:
        seconds: Wall time with start and end of the workers.
        peak_worker_mb: Largest resident memory of a single process below this one.
        peak_tree_mb: Largest sum of proportional set sizes (shared pages counted once) of all of them.
        peak_tree_rss_mb: Largest sum of resident memory of all of them; shared pages counted for each.
        processor_seconds: Of all of them together.
        processes_left: Of those seen below this process, how many still live after the pool has closed.
        files_left: Files and folders left in the scratch and temporary folders.
    """

    outcomes: dict[Path, ConversionOutcome] = field(default_factory=dict)
    seconds: float = 0.0
    peak_worker_mb: float = 0.0
    peak_tree_mb: float = 0.0
    peak_tree_rss_mb: float = 0.0
    processor_seconds: float = 0.0
    processes_left: int = 0
    files_left: int = 0

    def costs(self) -> dict[str, float]:
        """All figures but the outcomes, rounded."""
        return {name: round(getattr(self, name), 1) for name in self.__dataclass_fields__ if name != "outcomes"}


class MemoryWatch:
    """Samples the memory of every process below one, until it is stopped."""

    def __init__(self, process: psutil.Process | None = None, *, itself: bool = False) -> None:
        self._root = process or psutil.Process()
        self._itself = itself
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.seen: set[psutil.Process] = set()
        self.peak_process = 0
        self.peak_tree = 0
        self.peak_tree_rss = 0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(SAMPLE_SECONDS):
            self._sample()

    def _sample(self) -> None:
        tree = resident = 0
        with suppress(psutil.Error):
            processes = self._root.children(recursive=True) + ([self._root] if self._itself else [])
            for process in processes:
                with suppress(psutil.Error):
                    memory = process.memory_full_info()
                    self.seen.add(process)
                    self.peak_process = max(self.peak_process, memory.rss)
                    tree += memory.pss
                    resident += memory.rss
        self.peak_tree = max(self.peak_tree, tree)
        self.peak_tree_rss = max(self.peak_tree_rss, resident)


def convert_files(
    paths: Sequence[Path],
    *,
    workers: int,
    limits: ConversionLimits | None = None,
    requested: str = "auto",
    preload: Sequence[str] = ("docling.document_converter",),
) -> PoolRun:
    """Converts files as a run does: routed by content, in killable workers.

    Args:
        paths: Local files.
        workers: Processes at a time.
        limits: For each file; the defaults of the registry if ``None``.
        requested: The policy.
        preload: Modules that the workers share.
    """
    run = PoolRun()
    with _own_temporary_folder() as temporary, MemoryWatch() as watch:
        scratch = temporary / "scratch"
        started, used = time.perf_counter(), _processor_seconds()
        with ConversionPool(scratch, workers=workers, preload=preload) as pool:
            for outcome in pool.run(_jobs(paths, limits or ConversionLimits(), requested)):
                run.outcomes[Path(outcome.key)] = outcome
        run.seconds = time.perf_counter() - started
        run.processor_seconds = _processor_seconds() - used
        run.files_left = sum(1 for entry in temporary.rglob("*") if entry != scratch)
    run.peak_worker_mb = watch.peak_process / MEGABYTE
    run.peak_tree_mb = watch.peak_tree / MEGABYTE
    run.peak_tree_rss_mb = watch.peak_tree_rss / MEGABYTE
    run.processes_left = sum(process.is_running() for process in watch.seen)
    return run


def _processor_seconds() -> float:
    """Of all processes below this one that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _jobs(paths: Sequence[Path], limits: ConversionLimits, requested: str) -> Iterator[ConversionJob]:
    targets = {name: entry.target for name, entry in CATALOGUE.items()}
    for path in paths:
        yield ConversionJob(
            key=str(path),
            path=str(path),
            extension=path.suffix.lstrip(".").lower(),
            requested=requested,
            targets=targets,
            limits=limits.model_dump(),
        )


@contextmanager
def _own_temporary_folder() -> Iterator[Path]:
    """A folder that is the temporary folder of all processes started meanwhile."""
    before = os.environ.get("TMPDIR")
    with tempfile.TemporaryDirectory(prefix="conversion-benchmark-") as folder:
        os.environ["TMPDIR"] = folder
        try:
            yield Path(folder)
        finally:
            if before is None:
                del os.environ["TMPDIR"]
            else:
                os.environ["TMPDIR"] = before


def read_document(outcome: ConversionOutcome) -> ConvertedDocument:
    """The document of an outcome that has one."""
    return ConvertedDocument.model_validate_json(zlib.decompress(outcome.content))


def load_remark() -> dict[str, object]:
    """Cores and load of the machine, and the revision measured, for the stored result."""
    revision = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=RESULTS.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=False,
    ).stdout.strip()
    return {
        "cores": os.cpu_count(),
        "load_1_minute": round(os.getloadavg()[0], 2),
        "python": sys.version.split()[0],
        "revision": revision,
    }


def write_result(name: str, report: dict[str, object], output: Path | None = None) -> None:
    """Stores a report as JSON and says where."""
    path = output or RESULTS / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"machine": load_remark(), **report}, indent=1, ensure_ascii=False) + "\n", "utf-8")
    sys.stdout.write(f"written: {path}\n")
