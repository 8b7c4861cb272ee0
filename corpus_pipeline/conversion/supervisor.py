"""The process between a run and its workers: forks them, watches them, kills them, survives them.

One process loads the converter libraries once and forks every worker from there, so that a new
worker costs milliseconds. It has a single thread, which is what makes forking safe, and is the
workers' parent, so that no process id is ever mistaken for another. It ends, with all its workers,
when the run that started it ends in whatever way.

Run as ``python -m corpus_pipeline.conversion.supervisor FOLDER WORKERS RECYCLE MODULE…``.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import select
import selectors
import shutil
import signal
import socket
import sys
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from corpus_pipeline.compute import FrameBuffer, block_network, die_with_parent, pack_frame
from corpus_pipeline.conversion.job import ConversionOutcome
from corpus_pipeline.conversion.slicing import Job, SlicedFiles, shown_pages
from corpus_pipeline.conversion.worker import OUT_OF_MEMORY_EXIT, out_of_memory, run_worker
from corpus_pipeline.records import QuarantineReason

__all__ = ["main"]

READ_BYTES = 1 << 20
NOISE_BYTES = 4096
STOPPED = frozenset({QuarantineReason.OUT_OF_MEMORY.value})
"""What a worker says of a slice when a limit stopped it; all else is a fault of the file."""
ATTEMPTS = 2
"""A file whose worker dies without a word is tried once more in a fresh worker."""


@dataclass
class _Worker:
    process_id: int
    channel: socket.socket
    folder: Path
    buffer: FrameBuffer = field(default_factory=FrameBuffer)
    job: Job | None = None
    attempt: int = 0
    deadline: float = 0.0
    served: int = 0


class _Supervisor:
    def __init__(self, folder: Path, workers: int, recycle_after: int, signals: int) -> None:
        self.folder = folder
        self.signals = signals
        self.most = workers
        self.recycle_after = recycle_after
        self.waiting: deque[tuple[Job, int]] = deque()
        self.sliced = SlicedFiles(folder)
        self.workers: dict[int, _Worker] = {}
        self.selector = selectors.DefaultSelector()
        self.incoming = FrameBuffer()
        self.made = 0
        self.open = True

    def serve(self) -> None:
        """Until the run closes its end."""
        self.selector.register(0, selectors.EVENT_READ, self.take_jobs)
        self.selector.register(self.signals, selectors.EVENT_READ, self.end)
        while self.open:
            self.assign()
            self.spare_memory()
            for key, _ in self.selector.select(self.patience()):
                if isinstance(key.data, _Worker):
                    if key.data.process_id in self.workers:
                        self.hear(key.data)
                else:
                    key.data()
            self.kill_late()

    def end(self) -> None:
        self.open = False

    def patience(self) -> float | None:
        deadlines = [worker.deadline for worker in self.workers.values() if worker.job is not None]
        return max(0.0, min(deadlines) - time.monotonic()) if deadlines else None

    def take_jobs(self) -> None:
        data = os.read(0, READ_BYTES)
        self.open = bool(data)
        self.incoming.feed(data)
        self.waiting.extend((self.sliced.admit(head), 1) for head, _ in self.incoming.frames())

    def assign(self) -> None:
        while self.waiting:
            idle = next((worker for worker in self.workers.values() if worker.job is None), None)
            if idle is None and len(self.workers) >= self.most:
                return
            worker = idle or self.fork()
            job, attempt = self.waiting.popleft()
            worker.job, worker.attempt = job, attempt
            worker.deadline = time.monotonic() + float(job["limits"]["timeout_seconds"])
            try:
                worker.channel.sendall(pack_frame(job))
            except OSError:  # it died while it was idle; its end is heard in the next round
                continue

    def spare_memory(self) -> None:
        """Ends workers with nothing to do while a large file is put together, which takes the most memory of all."""
        busy = [worker for worker in self.workers.values() if worker.job is not None]
        if not self.waiting and any(worker.job["assembles"] for worker in busy if worker.job):
            for worker in [worker for worker in self.workers.values() if worker.job is None]:
                self.stop(worker)

    def fork(self) -> _Worker:
        self.made += 1
        folder = self.folder / f"worker-{self.made}"
        folder.mkdir()
        ours, theirs = socket.socketpair()
        parent = os.getpid()
        process_id = os.fork()
        if process_id == 0:
            self.become_worker(ours, theirs, folder, parent)
        theirs.close()
        worker = _Worker(process_id, ours, folder)
        self.workers[process_id] = worker
        self.selector.register(ours, selectors.EVENT_READ, worker)
        return worker

    def become_worker(self, ours: socket.socket, theirs: socket.socket, folder: Path, parent: int) -> None:
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            die_with_parent()
            if os.getppid() != parent:
                os._exit(1)
            os.setsid()
            self.selector.close()
            ours.close()
            for other in self.workers.values():
                other.channel.close()
            run_worker(theirs, folder)
        except MemoryError:
            os._exit(OUT_OF_MEMORY_EXIT)
        except BaseException:  # noqa: BLE001 - a forked child must never return into the supervisor's loop
            os._exit(1)
        os._exit(0)

    def hear(self, worker: _Worker) -> None:
        try:
            data = worker.channel.recv(READ_BYTES)
        except OSError:
            data = b""
        if not data:
            self.bury(worker)
            return
        worker.buffer.feed(data)
        exhausted = False
        for head, content in worker.buffer.frames():
            job, worker.job = worker.job or {}, None
            worker.served += 1
            exhausted = head["reason"] == QuarantineReason.OUT_OF_MEMORY.value
            self.answer(job, head, content)
        if worker.job is None and (exhausted or worker.served >= self.recycle_after):
            self.stop(worker)

    def answer(self, job: Job, head: dict[str, Any], content: bytes) -> None:
        """Passes an outcome on, or what follows from it: slices come before the files that wait."""
        if head["slices"]:
            self.waiting.extendleft((part, 1) for part in reversed(self.sliced.cut(job, head)))
        elif not job.get("slice_pages"):
            seconds = head["elapsed_seconds"] + self.sliced.end(job)
            send({**head, "elapsed_seconds": seconds}, content)
        elif head["reason"] in STOPPED:
            self.give_up(job, head)
        elif last := self.sliced.captured(job, head):
            self.waiting.appendleft((last, 1))

    def give_up(self, job: Job, head: dict[str, Any]) -> None:
        """Ends a file whose job was stopped, with all its slices, and sends its outcome."""
        key = job["key"]
        self.waiting = deque(entry for entry in self.waiting if entry[0]["key"] != key)
        for other in [each for each in self.workers.values() if each.job is not None and each.job["key"] == key]:
            self.stop(other)
        self.sliced.end(job)
        send(head)

    def bury(self, worker: _Worker) -> None:
        """A worker ended by itself or by another's hand."""
        noise = last_noise(worker.folder)
        status = self.stop(worker)
        job = worker.job
        if job is None:
            return
        if status == OUT_OF_MEMORY_EXIT or "bad_alloc" in noise or "Cannot allocate memory" in noise:
            self.give_up(job, out_of_memory(job["key"], int(job["limits"]["memory_mb"]), shown_pages(job)).to_head())
        elif worker.attempt < ATTEMPTS:
            self.waiting.appendleft((job, worker.attempt + 1))
        else:
            how = f"signal {-status}" if status < 0 else f"exit status {status}"
            self.give_up(job, crashed(job, how).to_head())

    def kill_late(self) -> None:
        now = time.monotonic()
        for worker in [worker for worker in self.workers.values() if worker.job is not None and worker.deadline <= now]:
            if select.select([worker.channel], [], [], 0)[0]:
                continue  # it finished, or died, while we waited for the run to take an outcome
            if worker.process_id not in self.workers:
                continue  # it went with another slice of its file
            job = worker.job or {}
            self.stop(worker)
            self.give_up(job, late(job).to_head())

    def stop(self, worker: _Worker) -> int:
        """Kills a worker and everything it started, removes its files; its exit status, negative for a signal."""
        del self.workers[worker.process_id]
        self.selector.unregister(worker.channel)
        worker.channel.close()
        ended, status = os.waitpid(worker.process_id, os.WNOHANG)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(worker.process_id, signal.SIGKILL)
        if not ended:
            with contextlib.suppress(ProcessLookupError):
                os.kill(worker.process_id, signal.SIGKILL)
            _, status = os.waitpid(worker.process_id, 0)
        shutil.rmtree(worker.folder, ignore_errors=True)
        return os.waitstatus_to_exitcode(status)

    def close(self) -> None:
        for worker in list(self.workers.values()):
            self.stop(worker)
        shutil.rmtree(self.folder, ignore_errors=True)


def termination_descriptor() -> int:
    """A descriptor that becomes readable on SIGTERM, so that the end never falls into the middle of cleaning up."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    signal.signal(signal.SIGTERM, lambda *_: None)
    return reading


def crashed(job: Job, how: str) -> ConversionOutcome:
    """The outcome of a file whose worker died."""
    message = (
        f"the converter process crashed on {shown_pages(job)} ({how})\n"
        "Open and save the file in its own program, or ask for another converter with conversion.overrides."
    )
    return ConversionOutcome(key=job["key"], reason=QuarantineReason.CONVERTER_ERROR.value, message=message)


def late(job: Job) -> ConversionOutcome:
    """The outcome of a file that took too long."""
    message = (
        f"converting {shown_pages(job)} took more than {float(job['limits']['timeout_seconds']):g} seconds\n"
        "Raise conversion.limits.timeout_seconds, or split the file."
    )
    return ConversionOutcome(key=job["key"], reason=QuarantineReason.TIMEOUT.value, message=message)


def send(head: dict[str, Any], content: bytes = b"") -> None:
    """One message to the run, on the descriptor that was standard output."""
    data = memoryview(pack_frame(head, content))
    while data:
        data = data[os.write(_OUTPUT, data) :]


def last_noise(folder: Path) -> str:
    """The end of what the libraries of a worker printed."""
    try:
        with (folder / "noise").open("rb") as stream:
            stream.seek(max(0, stream.seek(0, os.SEEK_END) - NOISE_BYTES))
            return stream.read().decode("utf-8", "replace")
    except OSError:
        return ""


_OUTPUT = -1


def main(arguments: list[str]) -> int:
    """Serves until standard input closes; see the module's docstring for the arguments."""
    global _OUTPUT  # noqa: PLW0603 - libraries print to descriptor 1, so messages get one of their own
    folder, workers, recycle, *modules = arguments
    parent = os.getppid()
    die_with_parent(signal.SIGTERM)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the run decides; a terminal sends the signal to all
    signals = termination_descriptor()
    _OUTPUT = os.dup(1)
    os.dup2(2, 1)
    supervisor = _Supervisor(Path(folder), int(workers), int(recycle), signals)
    try:
        if os.getppid() != parent:
            return 1
        block_network()
        with _left_out("transformers"):
            for name in modules:
                with contextlib.suppress(ImportError):  # the converter itself says what is missing
                    importlib.import_module(name)
        gc.collect()
        gc.freeze()  # a collection in a worker would copy every page of what it shares with the others
        supervisor.serve()
    except BrokenPipeError:
        return 1
    finally:
        supervisor.close()
    return 0


@contextlib.contextmanager
def _left_out(module: str) -> Iterator[None]:
    """Makes an import of that module fail meanwhile, as if it were not installed; a worker may import it later.

    docling imports transformers for the annotation of one optional field, which takes a third of the start.
    """
    if module in sys.modules:
        yield
        return
    sys.modules[module] = None  # type: ignore[assignment]  # what the import system looks for
    try:
        yield
    finally:
        del sys.modules[module]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
