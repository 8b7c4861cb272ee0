"""Walks a local folder: no hidden names, no links that lead outside, nothing that is no regular file.

A file's change token is its size, modification time and inode change time, as in the index of a
version control system: the last one cannot be set back by a program that restores the second.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote_to_bytes, urlsplit

from corpus_pipeline.errors import SourceUnavailableError
from corpus_pipeline.inventory.listing import FoundFile, is_hidden, storable_name
from corpus_pipeline.registry import CorpusSpec, GlobSet, local_folder

__all__ = ["local_files", "open_regular_file", "real_path"]

_TICK_NANOSECONDS = 50_000_000
_COARSE_TICK_NANOSECONDS = 2_000_000_000  # file systems that keep whole seconds only


def local_files(root: Path, exclude: GlobSet, skipped_folder: Path | None = None) -> Iterator[FoundFile]:
    """All files below a folder, in no stated order.

    Args:
        root: The source folder.
        exclude: A folder that cannot be read is passed over only if these globs leave it out.
        skipped_folder: The state folder, which may lie inside the source.

    Raises:
        SourceUnavailableError: The folder or one below it cannot be listed.
    """
    real_root = _real_root(root)
    now_ns = time.time_ns()
    folders: list[tuple[str, str]] = [(str(real_root), "")]
    while folders:
        folder, prefix = folders.pop()
        for entry in _entries(folder, prefix, exclude):
            relative = prefix + entry.name
            if is_hidden(entry.name) or (skipped_folder is not None and Path(entry.path) == skipped_folder):
                continue
            if entry.is_dir(follow_symlinks=False):
                folders.append((entry.path, relative + "/"))
            else:
                file = _file(entry, relative, real_root, now_ns)
                if file is not None:
                    yield file


def open_regular_file(path: str) -> BinaryIO:
    """Opens a file without waiting on a pipe and without following a link.

    Raises:
        OSError: It cannot be opened, or is no regular file any more.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(0, "is no regular file")
    return os.fdopen(descriptor, "rb")


def real_path(spec: CorpusSpec, source_uri: str) -> str | None:
    """Where a listed file really lies now; ``None`` when that is outside its source folder."""
    root = local_folder(spec.source.url, spec.base_folder).resolve()
    listed = source_uri
    if source_uri.startswith("file://"):
        listed = os.fsdecode(unquote_to_bytes(urlsplit(source_uri).path))
    path = os.path.realpath(listed)
    return path if Path(path).is_relative_to(root) else None


def _real_root(root: Path) -> Path:
    if root.is_dir():
        return root.resolve()
    found = "is a file, not a folder" if root.exists() else "does not exist"
    raise SourceUnavailableError(
        f"the source folder {root} {found}",
        remedy="Mount or make the folder, or correct source.url in corpora.yaml. Nothing was removed from the corpus.",
    )


def _entries(folder: str, prefix: str, exclude: GlobSet) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError as error:
        # A folder gone since its parent was listed: the delete guard counts what it held.
        if prefix and (isinstance(error, FileNotFoundError) or exclude.matches(f"{prefix}any")):
            return []
        raise SourceUnavailableError(
            f"the folder {storable_name(folder)} cannot be listed: {error.strerror or type(error).__name__}",
            remedy="Let this user read it, or leave it out with source.exclude. Nothing was removed from the corpus.",
        ) from error


def _file(entry: os.DirEntry[str], relative: str, real_root: Path, now_ns: int) -> FoundFile | None:
    path, doubt, is_folder = entry.path, "", False
    if entry.is_symlink():
        path, doubt, is_folder = _link_target(entry, real_root)
        if is_folder and not doubt:
            return None  # its files are listed where they really are
    status = None if doubt else _status(path)
    if not doubt:
        doubt = _status_doubt(status)
    shown = storable_name(relative)
    return FoundFile(
        relative_path=shown,
        source_uri=entry.path if shown == relative else Path(entry.path).as_uri(),
        size_bytes=status.st_size if status else 0,
        modified_at=_modified_at(status),
        change_token=_change_token(status, now_ns) if status else "",
        open=_opener(path),
        doubt=doubt,
        is_folder=is_folder,
    )


def _opener(path: str) -> Callable[[], BinaryIO]:
    return lambda: open_regular_file(path)


def _link_target(entry: os.DirEntry[str], real_root: Path) -> tuple[str, str, bool]:
    """Where a link leads: the real path, a doubt, and whether it is a folder."""
    real = os.path.realpath(entry.path)
    is_folder = os.path.isdir(real)  # noqa: PTH112 - a name may be no UTF-8
    if not os.path.lexists(real):
        return real, "is a link to a file that does not exist; remove the link or restore the file", False
    if os.path.commonpath([real, real_root]) != str(real_root):
        return real, "is a link that leads outside the source folder and is not followed; copy the file here", is_folder
    hidden = any(is_hidden(part) for part in Path(real).relative_to(real_root).parts)
    return real, "is a link to a hidden file and is not followed; copy the file here" if hidden else "", is_folder


def _status(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except OSError:
        return None


def _status_doubt(status: os.stat_result | None) -> str:
    if status is None:
        return "vanished while the folder was listed"
    return "" if stat.S_ISREG(status.st_mode) else "is no regular file (a pipe, socket or device) and is not read"


def _modified_at(status: os.stat_result | None) -> datetime | None:
    if status is None:
        return None
    try:
        return datetime.fromtimestamp(status.st_mtime_ns // 1000 / 1_000_000, UTC)
    except (OverflowError, ValueError, OSError):
        return None  # a date beyond what a calendar holds


def _change_token(status: os.stat_result, now_ns: int) -> str:
    # A file changed within the last tick of the clock could change again and keep its times.
    coarse = status.st_ctime_ns % 1_000_000_000 == 0
    tick = _COARSE_TICK_NANOSECONDS if coarse else _TICK_NANOSECONDS
    if max(status.st_mtime_ns, status.st_ctime_ns) > now_ns - tick:
        return ""
    return f"{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}"
