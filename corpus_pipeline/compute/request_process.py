"""One killable process that answers requests, one at a time, within limits of time and memory."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self, cast

from corpus_pipeline.compute.frames import FrameBuffer, pack_frame, read_frame
from corpus_pipeline.compute.isolation import block_network, die_with_parent, limit_memory, quiet_environment

__all__ = ["RequestProcess", "RequestProcessError", "serve_requests"]

READ_BYTES = 1 << 20
OUT_OF_MEMORY_EXIT = 97


class RequestProcessError(Exception):
    """The process gave no answer.

    Attributes:
        cause: ``timeout``, ``out_of_memory`` or ``crashed``.
    """

    def __init__(self, cause: str) -> None:
        super().__init__(cause)
        self.cause = cause


class RequestProcess:
    """The asking side. The process starts with the first request and again after it was killed.

    Args:
        module: Runs as ``python -m``; its main function calls :func:`serve_requests`.
        memory_mb: Address space that the process may take beyond what its libraries hold.
    """

    def __init__(self, module: str, *, memory_mb: int) -> None:
        self._command = [sys.executable, "-m", module, str(memory_mb)]
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def ask(self, request: dict[str, Any], *, folder: Path, timeout_seconds: float) -> dict[str, Any]:
        """The answer to one request.

        Args:
            request: A JSON value.
            folder: Becomes the working folder of a process that has to be started.
            timeout_seconds: Wall time; then the process is killed.

        Raises:
            RequestProcessError: There is none.
        """
        deadline = time.monotonic() + timeout_seconds
        process = self._process or self._start(folder)
        try:
            cast("BinaryIO", process.stdin).write(pack_frame(request))
            cast("BinaryIO", process.stdin).flush()
        except OSError:
            pass  # it died; reading says so
        try:
            answer = _read(cast("BinaryIO", process.stdout), deadline)
        except TimeoutError:
            self.kill()
            raise RequestProcessError("timeout") from None
        if answer is None:
            status = self.kill()
            raise RequestProcessError("out_of_memory" if status == OUT_OF_MEMORY_EXIT else "crashed")
        return answer

    def _start(self, folder: Path) -> subprocess.Popen[bytes]:
        self._process = subprocess.Popen(  # noqa: S603 - this interpreter and a module of ours
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=quiet_environment(),
            cwd=folder,
            start_new_session=True,
        )
        return self._process

    def kill(self) -> int:
        """Ends the process and whatever it started; its exit status, 0 when there was none."""
        process, self._process = self._process, None
        if process is None:
            return 0
        for stream in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                cast("BinaryIO", stream).close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=0.2)  # one that is ending by itself says with which status
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        return process.wait()


def _read(stream: BinaryIO, deadline: float) -> dict[str, Any] | None:
    buffer = FrameBuffer()
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        while True:
            if not selector.select(max(0.0, deadline - time.monotonic())):
                raise TimeoutError
            data = os.read(stream.fileno(), READ_BYTES)
            if not data:
                return None
            buffer.feed(data)
            for head, _ in buffer.frames():
                return head


def serve_requests(answer: Callable[[dict[str, Any]], dict[str, Any]], arguments: list[str]) -> int:
    """The answering side: until standard input closes or the parent dies.

    Args:
        answer: A request's answer. :class:`MemoryError` ends the process.
        arguments: The memory limit in megabytes.

    Returns:
        The exit status.
    """
    parent = os.getppid()
    die_with_parent()
    if os.getppid() != parent:
        return 1
    block_network()
    output = os.dup(1)
    os.dup2(2, 1)  # what libraries print does not fall among the answers
    limit_memory(int(arguments[0]))
    requests = os.fdopen(os.dup(0), "rb")
    try:
        while (frame := read_frame(requests)) is not None:
            message = memoryview(pack_frame(answer(frame[0])))
            while message:
                message = message[os.write(output, message) :]
    except MemoryError:
        os._exit(OUT_OF_MEMORY_EXIT)
    return 0
