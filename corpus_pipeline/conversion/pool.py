"""The run's side of the workers: jobs in, outcomes out, in whatever order they finish."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from corpus_pipeline.compute import ScratchFolder, pack_frame, quiet_environment, read_frame
from corpus_pipeline.conversion.job import ConversionJob, ConversionOutcome
from corpus_pipeline.errors import StageError
from corpus_pipeline.records import QuarantineReason

__all__ = ["ConversionPool"]

FILES_PER_WORKER = 100
AHEAD = 16
STOP_SECONDS = 20
PIPE_BYTES = 1 << 20
"""Room for the jobs of several hundred workers, so that neither side ever waits to write while the other does."""
STARTS = 3
"""A supervisor that dies is started again this many times for the same jobs."""


class ConversionPool:
    """Killable worker processes for one run.

    Args:
        folder: Scratch files of the workers go below it; what killed runs left there is removed.
        workers: Processes at a time.
        preload: Modules to import once for all workers.
        files_per_worker: A worker is replaced after so many files.

    Example:
        >>> # with ConversionPool(folder, workers=2) as pool:
        >>> #     for outcome in pool.run(jobs): ...
    """

    def __init__(
        self,
        folder: Path,
        *,
        workers: int,
        preload: Iterable[str] = (),
        files_per_worker: int = FILES_PER_WORKER,
    ) -> None:
        self._workers = workers
        self._preload = list(preload)
        self._files_per_worker = files_per_worker
        self._process: subprocess.Popen[bytes] | None = None
        self._scratch = ScratchFolder(folder, "conversion")

    def __enter__(self) -> Self:
        self._scratch.remove_abandoned()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def run(self, jobs: Iterable[ConversionJob]) -> Iterator[ConversionOutcome]:
        """Outcomes of all jobs, exactly one each, as they finish.

        Jobs are drawn as workers become free, a few ahead.

        Raises:
            StageError: The workers cannot be started.
        """
        source = iter(jobs)
        flying: dict[str, ConversionJob] = {}
        starts: dict[str, int] = {}
        again: deque[ConversionJob] = deque()
        while True:
            while len(flying) < self._workers + min(self._workers, AHEAD):
                job = again.popleft() if again else next(source, None)
                if job is None:
                    break
                flying[job.key] = job
                starts[job.key] = starts.get(job.key, 0) + 1
                self._send(job)
            if not flying:
                return
            outcome = self._receive()
            if outcome is None:
                self._stop()
                yield from _given_up(flying, starts)
                again.extend(flying.values())
                flying.clear()
            elif outcome.key in flying:
                del flying[outcome.key]
                yield outcome

    def _send(self, job: ConversionJob) -> None:
        if self._process is None:
            self._start()
        stream = self._process.stdin if self._process else None
        try:
            if stream is not None:
                stream.write(pack_frame(job.to_head()))
                stream.flush()
        except OSError:
            return  # the supervisor is gone; the next receive finds out

    def _receive(self) -> ConversionOutcome | None:
        stream = self._process.stdout if self._process else None
        frame = read_frame(stream) if stream is not None else None  # type: ignore[arg-type]  # IO[bytes] is one
        return ConversionOutcome.from_frame(*frame) if frame is not None else None

    def _start(self) -> None:
        self._scratch.open()
        scratch = self._scratch.path
        command = [sys.executable, "-m", "corpus_pipeline.conversion.supervisor", str(scratch)]
        command += [str(self._workers), str(self._files_per_worker), *self._preload]
        try:
            with (scratch / "noise").open("wb") as noise:
                self._process = subprocess.Popen(  # noqa: S603 - this interpreter and a module of ours
                    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=noise, env=quiet_environment(),
                    cwd=scratch,
                )  # fmt: skip
            if hasattr(fcntl, "F_SETPIPE_SZ") and self._process.stdin is not None:
                fcntl.fcntl(self._process.stdin, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        except OSError as error:
            raise StageError(
                f"the conversion workers cannot be started: {error.strerror}",
                remedy="Free memory and process slots of this machine, then run this again.",
            ) from error

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    try:
                        stream.close()
                    except OSError:
                        continue  # unsent jobs of a supervisor that is gone
            try:  # a closed input ends it, and it takes its workers along
                process.wait(timeout=STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._scratch.close()


def _given_up(flying: dict[str, ConversionJob], starts: dict[str, int]) -> Iterator[ConversionOutcome]:
    for key in [key for key in flying if starts[key] >= STARTS]:
        del flying[key]
        yield ConversionOutcome(
            key=key,
            reason=QuarantineReason.CONVERTER_ERROR.value,
            message=f"the supervisor of the workers ended {STARTS} times with this file\n"
            "Look for messages of the kernel about memory; lower CORPUS_WORKERS if there are any.",
        )
