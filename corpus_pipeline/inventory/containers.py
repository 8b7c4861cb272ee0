"""Opens containers in a process that may be killed, so that none of them takes a run down."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from corpus_pipeline.compute import RequestProcess, RequestProcessError
from corpus_pipeline.inventory.container_format import ContainerKind
from corpus_pipeline.inventory.file_passwords import password_digest
from corpus_pipeline.inventory.reading import READER_VERSION
from corpus_pipeline.inventory.unpacking import UNPACKING_VERSION, UnpackedMember
from corpus_pipeline.records import QuarantineReason, canonical_json, sha256_hex
from corpus_pipeline.registry import ConversionLimits

__all__ = ["ContainerOpener", "OpenedContainer", "opened_with"]

_ATTEMPTS = 2
"""A container whose process dies without a word is opened once more."""


@dataclass(frozen=True)
class OpenedContainer:
    """What a container was found to hold.

    Attributes:
        kind: ``None`` when it is no container.
        reason: Why it is refused as a whole; ``None`` when it is not.
        message: For a person.
        members: With files in the folder that was given.
    """

    kind: ContainerKind | None
    reason: QuarantineReason | None = None
    message: str = ""
    members: tuple[UnpackedMember, ...] = ()


def opened_with(limits: ConversionLimits, password: str | None) -> str:
    """Digest of all that decides what opening a container gives, besides its bytes."""
    return sha256_hex(canonical_json([UNPACKING_VERSION, READER_VERSION, limits, password_digest(password)]))


class ContainerOpener:
    """Opens containers one after the other.

    Args:
        limits: For each of them.
    """

    def __init__(self, limits: ConversionLimits) -> None:
        self._limits = limits
        self._process = RequestProcess("corpus_pipeline.inventory.container_worker", memory_mb=limits.memory_mb)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()

    def open(
        self, path: Path, name: str, folder: Path, *, password: str | None, wanted: Collection[str] | None = None
    ) -> OpenedContainer:
        """Unpacks a container.

        Args:
            path: A local copy that nobody changes meanwhile.
            name: Its file name.
            folder: An empty folder for the members.
            password: Opens encrypted ones.
            wanted: Paths of the only members to write; ``None`` means all.
        """
        if path.stat().st_size > self._limits.max_bytes:
            return self._too_large(path.stat().st_size)
        request = {
            "path": str(path),
            "name": name,
            "folder": str(folder),
            "limits": self._limits.model_dump(),
            "password": password,
            "wanted": None if wanted is None else sorted(wanted),
        }
        cause = ""
        for _ in range(_ATTEMPTS):
            try:
                answer = self._process.ask(request, folder=folder, timeout_seconds=self._limits.timeout_seconds)
            except RequestProcessError as error:
                cause = error.cause
                _empty(folder)
                if cause != "crashed":
                    break
            else:
                return OpenedContainer(
                    ContainerKind(answer["kind"]) if answer["kind"] else None,
                    QuarantineReason(answer["reason"]) if answer["reason"] else None,
                    answer["message"],
                    tuple(UnpackedMember(**member) for member in answer["members"]),
                )
        return self._given_up(cause)

    def _too_large(self, size: int) -> OpenedContainer:
        message = (
            f"the archive has {size} bytes; at most {self._limits.max_bytes} are accepted\n"
            "Raise conversion.limits.max_bytes, or split the archive."
        )
        return OpenedContainer(None, QuarantineReason.TOO_LARGE, message)

    def _given_up(self, cause: str) -> OpenedContainer:
        reason, what, remedy = {
            "timeout": (
                QuarantineReason.TIMEOUT,
                f"took more than {self._limits.timeout_seconds:g} seconds",
                "Raise conversion.limits.timeout_seconds, or split the archive.",
            ),
            "out_of_memory": (
                QuarantineReason.OUT_OF_MEMORY,
                f"took more than {self._limits.memory_mb} MB of memory",
                "Raise conversion.limits.memory_mb, or split the archive.",
            ),
            "crashed": (
                QuarantineReason.CONVERTER_ERROR,
                f"ended its process {_ATTEMPTS} times",
                "Unpack it into the source folder, or leave it out with source.exclude.",
            ),
        }[cause]
        return OpenedContainer(None, reason, f"opening the archive {what}\n{remedy}")


def _empty(folder: Path) -> None:
    for entry in folder.iterdir():
        entry.unlink(missing_ok=True)
