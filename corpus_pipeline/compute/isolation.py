"""What makes a worker process harmless: it dies with its parent, has a memory limit, and no network."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import socket
import sys
from typing import Any

__all__ = ["block_network", "die_with_parent", "limit_memory", "quiet_environment"]

_PR_SET_PDEATHSIG = 1
_CLONE_NEWNET = 0x40000000


def die_with_parent(signal_number: int = signal.SIGKILL) -> None:
    """Asks the kernel for a signal when the parent dies; elsewhere than on Linux does nothing."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal_number, 0, 0, 0)


def limit_memory(memory_mb: int) -> None:
    """Lets the address space of this process grow by at most ``memory_mb`` from now on.

    Counted from the present size, because imported libraries map a few hundred megabytes
    of address space that they share with the other workers.
    """
    limit = _address_space_bytes() + memory_mb * 1024 * 1024
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _address_space_bytes() -> int:
    try:
        with open("/proc/self/statm") as stream:  # noqa: PTH123 - called in a fresh fork, before anything else
            return int(stream.read().split()[0]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        return 0


def block_network() -> None:
    """Lets no socket of this process reach another machine.

    Where the kernel allows it the process gets a network of its own without interfaces, which
    holds for libraries in C as well; Python's sockets refuse in any case.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).unshare(_CLONE_NEWNET)
    socket.socket.connect = _refuse_connect  # type: ignore[method-assign, assignment]  # the point of it
    socket.socket.connect_ex = _refuse_connect  # type: ignore[method-assign, assignment]  # same
    socket.socket.sendto = _refuse_connect  # type: ignore[method-assign, assignment]  # same
    socket.getaddrinfo = _refuse_lookup


def _refuse_connect(self: socket.socket, *arguments: Any) -> None:  # noqa: ARG001 - the signature of socket.connect
    raise PermissionError("conversion has no network access")


def _refuse_lookup(*arguments: Any, **keywords: Any) -> Any:  # noqa: ARG001 - the signature of getaddrinfo
    raise PermissionError("conversion has no network access")


def quiet_environment() -> dict[str, str]:
    """Environment variables of the workers: no hubs, no telemetry, one thread a library, fixed hashing."""
    return {
        **os.environ,
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "DO_NOT_TRACK": "true",
        "SCARF_NO_ANALYTICS": "true",
        "UNSTRUCTURED_DISABLE_NOTICE": "1",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "NUMBA_NUM_THREADS": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": os.pathsep.join(entry or os.getcwd() for entry in sys.path),  # noqa: PTH109 - a plain string
    }
