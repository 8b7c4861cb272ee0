"""Unpacks one container with all that is nested in it, within limits.

Members are written under numbers into one folder, never under their names. Runs in a process
that may be killed; see ``container_worker``.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
import struct
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from corpus_pipeline.errors import ConversionError
from corpus_pipeline.inventory.archive_members import RawMember, damaged, tar_members, zip_members
from corpus_pipeline.inventory.container_format import ContainerKind, container_kind, is_tar_file
from corpus_pipeline.inventory.expansion import Expansion
from corpus_pipeline.inventory.mail_members import eml_members, msg_members
from corpus_pipeline.inventory.member_names import MEMBER_SEPARATOR, clean_name, distinct_name
from corpus_pipeline.inventory.reading import extension_of
from corpus_pipeline.records import QuarantineReason

__all__ = ["UNPACKING_VERSION", "UnpackedMember", "Unpacking"]

UNPACKING_VERSION = 2
"""Raised when the same container would give other members."""

CHUNK_BYTES = 1 << 20
_DAMAGE = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError, struct.error, KeyError, IndexError,
)  # fmt: skip
_OPENERS: dict[ContainerKind, Callable[..., Any]] = {
    ContainerKind.GZIP: gzip.open,
    ContainerKind.BZIP2: bz2.open,
    ContainerKind.XZ: lzma.open,
}


@dataclass(frozen=True)
class UnpackedMember:
    """One member.

    Attributes:
        path: Below the container, with the separator for each container between.
        file: Its name in the folder; empty when it was refused or not wanted.
        sha256: Of its bytes; empty with ``file``.
        modified_at: ISO 8601, or empty.
        reason: Value of ``QuarantineReason`` when it was refused.
        message: For a person.
    """

    path: str
    file: str = ""
    sha256: str = ""
    size_bytes: int = 0
    modified_at: str = ""
    reason: str = ""
    message: str = ""

    def to_head(self) -> dict[str, Any]:
        """The member as a JSON value."""
        return asdict(self)


class Unpacking:
    """One container being unpacked.

    Args:
        folder: Files are written here.
        limits: ``ConversionLimits`` as a dictionary.
        password: Opens encrypted ZIP members.
        wanted: Paths of the only members to write; ``None`` means all.
    """

    def __init__(
        self, folder: Path, limits: Mapping[str, Any], password: str | None, wanted: Collection[str] | None = None
    ) -> None:
        self.members: list[UnpackedMember] = []
        self.kind: ContainerKind | None = None
        self._folder = folder
        self._max_nesting = int(limits["max_nesting"])
        self._expansion = Expansion(int(limits["max_members"]), int(limits["max_expanded_bytes"]))
        self._password = password
        self._wanted = None if wanted is None else _with_containers(wanted)
        self._taken: dict[str, int] = {}
        self._files = 0

    def unpack(self, path: Path, name: str) -> None:
        """Fills :attr:`kind`, ``None`` when it is no container, and :attr:`members`.

        Args:
            path: A local copy of the container.
            name: Its file name, for its extension and the name of a single compressed file.

        Raises:
            ConversionError: It cannot be unpacked as a whole.
        """
        self.kind = container_kind(path, extension_of(name))
        if self.kind is not None:
            self._expand(self.kind, path, name, "", 1)

    def _expand(self, kind: ContainerKind, path: Path, name: str, prefix: str, depth: int) -> None:
        first = len(self.members)
        with self._expansion.container(path.stat().st_size):
            for raw in self._raw_members(kind, path, name):
                self._expansion.count_member()
                self._take(raw, prefix, depth)
        if not kind.is_mail and self._wanted is None:
            _check_opened(self.members[first:])

    def _raw_members(self, kind: ContainerKind, path: Path, name: str) -> Iterator[RawMember]:
        if kind is ContainerKind.ZIP:
            yield from zip_members(path, self._password)
        elif kind is ContainerKind.TAR:
            yield from tar_members(path)
        elif kind is ContainerKind.EML:
            yield from eml_members(path)
        elif kind is ContainerKind.MSG:
            yield from msg_members(path)
        else:
            yield from self._compressed_members(kind, path, name)

    def _compressed_members(self, kind: ContainerKind, path: Path, name: str) -> Iterator[RawMember]:
        """A compressed tar archive, or one compressed file."""
        plain = self._new_file()
        try:
            self._decompress(_OPENERS[kind], path, plain)
            if is_tar_file(plain):
                yield from tar_members(plain)
            else:
                stem = name.rpartition(".")[0] or f"{name}.content"
                yield RawMember(stem, lambda: plain.open("rb"))
        finally:
            plain.unlink(missing_ok=True)

    def _decompress(self, opener: Callable[..., IO[bytes]], path: Path, plain: Path) -> None:
        size = 0
        try:
            with opener(path, "rb") as source, plain.open("wb") as target:
                while chunk := source.read(CHUNK_BYTES):
                    size += len(chunk)
                    self._expansion.check(size)
                    target.write(chunk)
        except _DAMAGE as error:
            raise damaged("what is compressed", error) from error

    def _take(self, raw: RawMember, prefix: str, depth: int) -> None:
        name = clean_name(raw.name)
        if name.hidden:
            return
        path = distinct_name(prefix + name.path, self._taken)
        if name.problem:
            self._refuse(path, raw, ConversionError(name.problem, reason=QuarantineReason.UNSUPPORTED))
        elif raw.refusal is not None:
            self._refuse(path, raw, raw.refusal)
        elif self._wanted is None or path in self._wanted:
            self._keep(path, raw, depth)

    def _keep(self, path: str, raw: RawMember, depth: int) -> None:
        file = self._new_file()
        try:
            sha256, size = self._copy(raw, file)
        except ConversionError as error:
            file.unlink(missing_ok=True)
            if error.reason == QuarantineReason.BOMB:
                raise  # the limits are the container's
            self._refuse(path, raw, error)
            return
        modified = raw.modified_at.isoformat() if raw.modified_at else ""
        member = UnpackedMember(path, file.name, sha256, size, modified)
        position = len(self.members)
        self.members.append(member)
        if not self._is_opened(member, file, depth):
            return
        del self.members[position]
        file.unlink(missing_ok=True)

    def _is_opened(self, member: UnpackedMember, file: Path, depth: int) -> bool:
        """Whether a member was an archive, in whose place its own members or its refusal stand now."""
        name = member.path.rpartition("/")[2]
        kind = container_kind(file, extension_of(name))
        if kind is None:
            return False
        mark, state = len(self.members), self._expansion.state()
        try:
            if depth >= self._max_nesting:
                raise _too_deep(self._max_nesting)
            self._expand(kind, file, name, member.path + MEMBER_SEPARATOR, depth + 1)
        except ConversionError as error:
            self._forget(mark)
            self._expansion.restore(state)
            self._refused(f"{member.path}{MEMBER_SEPARATOR}attachments" if kind.is_mail else member.path, member, error)
        return not kind.is_mail

    def _copy(self, raw: RawMember, file: Path) -> tuple[str, int]:
        digest, size = hashlib.sha256(), 0
        try:
            with raw.open() as source, file.open("wb") as target:
                while chunk := source.read(CHUNK_BYTES):
                    size += len(chunk)
                    self._expansion.add(len(chunk))
                    digest.update(chunk)
                    target.write(chunk)
        except NotImplementedError as error:
            raise ConversionError(
                "it is packed with a method that is not known here",
                reason=QuarantineReason.UNSUPPORTED,
                remedy="Pack it again with the usual method (deflate).",
            ) from error
        except (RuntimeError, *_DAMAGE) as error:
            raise _encrypted() if raw.encrypted else damaged("this member", error) from error
        return digest.hexdigest(), size

    def _refuse(self, path: str, raw: RawMember, error: ConversionError) -> None:
        modified = raw.modified_at.isoformat() if raw.modified_at else ""
        self.members.append(UnpackedMember(path, modified_at=modified, reason=str(error.reason), message=str(error)))

    def _refused(self, path: str, member: UnpackedMember, error: ConversionError) -> None:
        self.members.append(
            UnpackedMember(
                path, "", member.sha256, member.size_bytes, member.modified_at, str(error.reason), str(error)
            )
        )

    def _forget(self, mark: int) -> None:
        for member in self.members[mark:]:
            if member.file:
                (self._folder / member.file).unlink(missing_ok=True)
        del self.members[mark:]

    def _new_file(self) -> Path:
        self._files += 1
        return self._folder / f"{self._files:06d}"


def _with_containers(wanted: Collection[str]) -> set[str]:
    paths = set(wanted)
    for path in wanted:
        parts = path.split(MEMBER_SEPARATOR)
        paths.update(MEMBER_SEPARATOR.join(parts[:depth]) for depth in range(1, len(parts)))
    return paths


def _check_opened(members: list[UnpackedMember]) -> None:
    if not members:
        raise ConversionError(
            "the archive holds no files, or only hidden ones",
            reason=QuarantineReason.EMPTY,
            remedy="Restore it from its source, or delete it.",
        )
    if all(member.reason == QuarantineReason.ENCRYPTED for member in members):
        raise _encrypted("all that the archive holds is encrypted")


def _encrypted(what: str = "it is encrypted, and the password that is set does not open it") -> ConversionError:
    return ConversionError(
        what,
        reason=QuarantineReason.ENCRYPTED,
        remedy="Set conversion.password of the corpus to its password, or pack it again without one.",
    )


def _too_deep(most: int) -> ConversionError:
    return ConversionError(
        f"it lies in {most} containers inside each other and is not opened",
        reason=QuarantineReason.TOO_LARGE,
        remedy="Raise conversion.limits.max_nesting, or pack it less deeply.",
    )
