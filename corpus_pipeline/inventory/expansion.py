"""How far packed files may expand: one rule for archives and for documents that are packed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from corpus_pipeline.errors import ConversionError
from corpus_pipeline.records import QuarantineReason

__all__ = ["MAX_RATIO", "Expansion", "expansion_fault"]

MAX_RATIO = 250
RATIO_MATTERS_FROM_BYTES = 50_000_000


def expansion_fault(*, members: int, max_members: int, expanded: int, max_expanded: int, packed: int) -> str:
    """What is wrong with the size of a container; empty when it is acceptable.

    Args:
        members: How many files it holds.
        max_members: At most accepted.
        expanded: Bytes of all members together.
        max_expanded: At most accepted.
        packed: Bytes of the container itself.
    """
    if members > max_members:
        return f"has {members} members; at most {max_members} are accepted (limits.max_members)"
    if expanded > max_expanded:
        return f"expands to {expanded} bytes; at most {max_expanded} are accepted (limits.max_expanded_bytes)"
    if expanded > RATIO_MATTERS_FROM_BYTES and expanded / max(1, packed) > MAX_RATIO:
        return f"expands {expanded // max(1, packed)}-fold to {expanded} bytes; at most {MAX_RATIO}-fold is accepted"
    return ""


class Expansion:
    """Counts what comes out of a container and of those nested in it.

    Args:
        max_members: Of all containers together.
        max_bytes: Of all members together.
    """

    def __init__(self, max_members: int, max_bytes: int) -> None:
        self._max_members = max_members
        self._max_bytes = max_bytes
        self._members = 0
        self._bytes = 0
        self._opened: list[tuple[int, int]] = []

    @contextmanager
    def container(self, packed_bytes: int) -> Iterator[None]:
        """While a container of that size is open."""
        self._opened.append((packed_bytes, self._bytes))
        try:
            yield
        finally:
            self._opened.pop()

    def count_member(self) -> None:
        """One more file.

        Raises:
            ConversionError: ``bomb``.
        """
        self._members += 1
        self.check(0)

    def add(self, count: int) -> None:
        """That many more bytes.

        Raises:
            ConversionError: ``bomb``.
        """
        self._bytes += count
        self.check(0)

    def check(self, more: int) -> None:
        """Whether that many bytes beyond those counted could be accepted.

        Raises:
            ConversionError: ``bomb``.
        """
        for packed, before in self._opened or [(1, 0)]:
            fault = expansion_fault(
                members=self._members,
                max_members=self._max_members,
                expanded=self._bytes + more - before,
                max_expanded=self._max_bytes - before,
                packed=packed,
            )
            if fault:
                raise bomb(fault)

    def state(self) -> tuple[int, int]:
        """What :meth:`restore` wants."""
        return self._members, self._bytes

    def restore(self, state: tuple[int, int]) -> None:
        """Takes back what a refused container has used."""
        self._members, self._bytes = state


def bomb(fault: str) -> ConversionError:
    """A container that expands without measure."""
    return ConversionError(
        f"the container {fault}",
        reason=QuarantineReason.BOMB,
        remedy="Leave the file out with source.exclude, or make a smaller one if it is genuine.",
    )
