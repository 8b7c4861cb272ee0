"""A folder for temporary files that does not outlive its run, however the run ends."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

__all__ = ["ScratchFolder"]


class ScratchFolder:
    """A fresh folder, locked while this process uses it and removed with the block.

    On entry, folders of the same kind whose runs were killed are removed: nobody holds their lock.

    Args:
        parent: Made when it does not exist.
        kind: First part of the folder's name.
    """

    def __init__(self, parent: Path, kind: str) -> None:
        self._parent = parent
        self._kind = kind
        self._lock: BinaryIO | None = None
        self.path = parent

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def open(self) -> None:
        """Makes the folder at :attr:`path`."""
        self.remove_abandoned()
        self.path = Path(tempfile.mkdtemp(prefix=f"{self._kind}-", dir=self._parent))
        self._lock = (self.path / "lock").open("wb")
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def close(self) -> None:
        """Removes it."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None
            shutil.rmtree(self.path, ignore_errors=True)

    def remove_abandoned(self) -> None:
        """Makes the parent where it is missing, and removes folders of this kind whose runs no longer live."""
        self._parent.mkdir(parents=True, exist_ok=True)
        for scratch in self._parent.glob(f"{self._kind}-*"):
            _remove_unlocked(scratch)


def _remove_unlocked(scratch: Path) -> None:
    try:
        descriptor = os.open(scratch / "lock", os.O_RDWR)
    except OSError:
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return
    else:
        shutil.rmtree(scratch, ignore_errors=True)
    finally:
        os.close(descriptor)
