"""The members of ZIP and tar files, as streams; nothing is written and no link is followed out.

Runs in a process that may be killed: these files come from anywhere.
"""

from __future__ import annotations

import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from corpus_pipeline.errors import ConversionError
from corpus_pipeline.inventory.aes_zip import AES_METHOD, open_encrypted
from corpus_pipeline.records import QuarantineReason

__all__ = ["RawMember", "tar_members", "zip_members"]

_NO_DATE = (1980, 1, 1, 0, 0, 0)
_ENCRYPTED_FLAG = 0x1
_LOCAL_HEADER_BYTES = 30


@dataclass(frozen=True)
class RawMember:
    """One file in a container.

    Attributes:
        name: As the container has it.
        open: Opens its content; fails with an error of the container's library when that is damaged.
        modified_at: As the container says; a ZIP file knows no time zone and is taken as UTC.
        refusal: Why it is not read at all.
        encrypted: Wants the password; every error then means that the password is wrong.
    """

    name: str
    open: Callable[[], IO[bytes]]
    modified_at: datetime | None = None
    refusal: ConversionError | None = None
    encrypted: bool = False


def zip_members(path: Path, password: str | None) -> Iterator[RawMember]:
    """The files of a ZIP archive in the order of its directory.

    Raises:
        ConversionError: ``corrupt``, or ``bomb`` when members share their bytes.
    """
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError, EOFError) as error:
        raise damaged("its directory", error) from error
    with archive:
        entries = archive.infolist()
        _check_overlap(entries)
        for entry in entries:
            if not entry.is_dir():
                yield _zip_member(archive, entry, password)


def _zip_member(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, password: str | None) -> RawMember:
    encrypted = bool(entry.flag_bits & _ENCRYPTED_FLAG)
    mode = entry.external_attr >> 16
    refusal = None
    if stat.S_IFMT(mode) not in {0, stat.S_IFREG}:
        refusal = _special("a link" if stat.S_ISLNK(mode) else "no regular file")
    elif encrypted and not password:
        refusal = ConversionError(
            "it is encrypted",
            reason=QuarantineReason.ENCRYPTED,
            remedy="Set conversion.password of the corpus to its password, or pack it again without one.",
        )
    return RawMember(
        entry.filename, lambda: _open_entry(archive, entry, password), _zip_time(entry), refusal, encrypted=encrypted
    )


def _open_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, password: str | None) -> IO[bytes]:
    if entry.compress_type == AES_METHOD:
        return open_encrypted(archive, entry, password or "")
    return archive.open(entry, pwd=password.encode() if password and entry.flag_bits & _ENCRYPTED_FLAG else None)


def _zip_time(entry: zipfile.ZipInfo) -> datetime | None:
    if entry.date_time == _NO_DATE:
        return None
    try:
        return datetime(*entry.date_time, tzinfo=UTC)
    except ValueError:
        return None


def _check_overlap(entries: list[zipfile.ZipInfo]) -> None:
    """Members that share bytes make much of little: the trick of bombs that need no nesting."""
    end = 0
    for entry in sorted(entries, key=lambda one: one.header_offset):
        if entry.header_offset < end:
            raise ConversionError(
                "members of the archive share the same bytes, as only bombs do",
                reason=QuarantineReason.BOMB,
                remedy="Leave the file out with source.exclude; no packing program writes such a file.",
            )
        end = entry.header_offset + _LOCAL_HEADER_BYTES + entry.compress_size


def tar_members(path: Path) -> Iterator[RawMember]:
    """The files of a tar archive that is not compressed, in its order.

    A hard link is read as the member it names; other links, devices and pipes are refused.

    Raises:
        ConversionError: ``corrupt``, also when the archive ends too early.
    """
    try:
        with tarfile.open(path, "r:", encoding="utf-8", errors="surrogateescape") as archive:
            for entry in archive:
                if not entry.isdir():
                    yield _tar_member(archive, entry)
            end = archive.offset
    except tarfile.TarError as error:
        raise damaged("its headers", error) from error
    with path.open("rb") as stream:
        stream.seek(end)
        rest = stream.read(tarfile.BLOCKSIZE)
        size = stream.seek(0, 2)
    if rest.strip(b"\x00") or end > size:
        raise damaged("a header after the first ones, or its end is missing", None)


def _tar_member(archive: tarfile.TarFile, entry: tarfile.TarInfo) -> RawMember:
    refusal = None
    if entry.issym():
        refusal = _special("a link")
    elif not (entry.isreg() or entry.islnk()):
        refusal = _special("no regular file but a device or a pipe")
    try:
        modified = datetime.fromtimestamp(int(entry.mtime), UTC) if entry.mtime else None
    except (OverflowError, ValueError, OSError):
        modified = None
    return RawMember(entry.name, lambda: _extracted(archive, entry), modified, refusal)


def _extracted(archive: tarfile.TarFile, entry: tarfile.TarInfo) -> IO[bytes]:
    try:
        stream = archive.extractfile(entry)
    except (KeyError, RecursionError) as error:
        raise _special("a link to a file that the archive does not hold") from error
    if stream is None:
        raise _special("a link to something that is no file")
    return stream


def _special(what: str) -> ConversionError:
    return ConversionError(
        f"it is {what} and is not followed",
        reason=QuarantineReason.UNSUPPORTED,
        remedy="Pack the file itself, or leave it out with source.exclude.",
    )


def damaged(where: str, error: Exception | None) -> ConversionError:
    """The archive cannot be read as a whole."""
    cause = f" ({type(error).__name__})" if error is not None else ""
    return ConversionError(
        f"the archive is damaged: {where}{cause}",
        reason=QuarantineReason.CORRUPT,
        remedy="It was probably cut off while it was copied; restore it from its source.",
    )
