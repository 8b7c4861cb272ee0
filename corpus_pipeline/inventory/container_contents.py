"""What a container held when it was opened, as it is kept from night to night."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from corpus_pipeline.inventory.containers import OpenedContainer
from corpus_pipeline.inventory.listing import SIDECAR_SUFFIXES, FoundFile
from corpus_pipeline.inventory.member_names import MEMBER_SEPARATOR
from corpus_pipeline.inventory.reading import Reading, read_document, read_sidecar_file
from corpus_pipeline.inventory.unpacking import UnpackedMember

__all__ = ["ContainerContents", "ContainerMember", "read_contents"]


@dataclass(frozen=True)
class ContainerMember:
    """One member with what reading it gave.

    Attributes:
        path: Below the source, the container's path included.
        modified_at: ISO 8601, or empty.
        declared: Front matter of a document, or a sidecar's keys.
        reason: Value of ``QuarantineReason`` when it was refused.
    """

    path: str
    sha256: str
    size_bytes: int
    modified_at: str = ""
    declared: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    reason: str = ""
    message: str = ""

    @property
    def is_sidecar(self) -> bool:
        """Whether it holds metadata of other members."""
        return self.path.lower().endswith(SIDECAR_SUFFIXES)

    def found(self, container: FoundFile) -> FoundFile:
        """The member as a walk would have found it."""
        return FoundFile(
            relative_path=self.path,
            source_uri=container.source_uri + self.path[len(container.relative_path) :],
            size_bytes=self.size_bytes,
            modified_at=datetime.fromisoformat(self.modified_at) if self.modified_at else None,
            change_token="",
            open=container.open,
        )

    def reading(self) -> Reading:
        """The member as reading it gave it."""
        return Reading(self.path, "", self.sha256, self.size_bytes, self.declared, self.problems)


@dataclass(frozen=True)
class ContainerContents:
    """A container that was opened.

    Attributes:
        sha256: Of the container.
        opened_with: Digest of limits and password.
        kind: Value of ``ContainerKind``; empty when it is no container after all.
        reason: Value of ``QuarantineReason`` when it was refused as a whole.
        members: In the order of the container.
    """

    path: str
    sha256: str
    opened_with: str
    kind: str = ""
    reason: str = ""
    message: str = ""
    members: tuple[ContainerMember, ...] = ()

    def holds_for(self, sha256: str, opened_with: str) -> bool:
        """Whether opening it again would give the same."""
        return self.sha256 == sha256 and self.opened_with == opened_with

    def to_row(self) -> dict[str, Any]:
        """Columns and JSON values."""
        members = [asdict(member) for member in self.members]
        return {**{name: getattr(self, name) for name in self.__dataclass_fields__}, "members": members}

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> ContainerContents:
        """The contents of a row."""
        members = tuple(ContainerMember(**{**one, "problems": tuple(one["problems"])}) for one in row["members"])
        return cls(**{**row, "members": members})


def read_contents(reading: Reading, opened_with: str, opened: OpenedContainer, folder: Path) -> ContainerContents:
    """Reads what members declare, from the files of an opened container.

    Args:
        reading: Of the container.
        opened_with: Digest of limits and password.
        opened: Its members lie in ``folder``.
        folder: As above.
    """
    members = tuple(_member(reading.path, member, folder) for member in opened.members)
    return ContainerContents(
        reading.path,
        reading.sha256,
        opened_with,
        opened.kind.value if opened.kind else "",
        opened.reason.value if opened.reason else "",
        opened.message,
        members,
    )


def _member(container: str, member: UnpackedMember, folder: Path) -> ContainerMember:
    path = f"{container}{MEMBER_SEPARATOR}{member.path}"
    declared: Mapping[str, Any] = {}
    problems: tuple[str, ...] = ()
    if member.file and not member.reason:
        file = FoundFile(path, "", member.size_bytes, None, "", lambda: (folder / member.file).open("rb"))
        read = read_sidecar_file if path.lower().endswith(SIDECAR_SUFFIXES) else read_document
        found = read(file)
        declared, problems = found.declared, found.problems
    return ContainerMember(
        path, member.sha256, member.size_bytes, member.modified_at, declared, problems, member.reason, member.message
    )
