"""Members of containers at local paths: each container is unpacked once for all that is wanted of it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from corpus_pipeline.compute import ScratchFolder
from corpus_pipeline.errors import ConversionError
from corpus_pipeline.inventory.containers import ContainerOpener
from corpus_pipeline.inventory.file_passwords import FilePasswords
from corpus_pipeline.inventory.local_listing import open_regular_file, real_path
from corpus_pipeline.inventory.member_names import MEMBER_SEPARATOR
from corpus_pipeline.inventory.reading import extension_of, plain_suffix
from corpus_pipeline.inventory.remote_listing import open_file_system, remote_path
from corpus_pipeline.records import SourceFile
from corpus_pipeline.registry import CorpusSpec, is_local

__all__ = ["MemberCopies"]


@dataclass
class _Unpacked:
    """A container that is unpacked.

    Attributes:
        files: Local path of each wanted member, by its path in the container.
        waiting: How many of the wanted members have not been given back.
    """

    folder: Path
    files: dict[str, Path]
    waiting: int


class MemberCopies:
    """Unpacks containers as their first member is asked for, and removes them after their last.

    Args:
        spec: The corpus, for its source and limits.
        parent: A scratch folder is made in it.
        wanted: All files that will be asked for, once each; those of no container are passed over.
    """

    def __init__(self, spec: CorpusSpec, parent: Path, wanted: Iterable[SourceFile]) -> None:
        self._spec = spec
        self._scratch = ScratchFolder(parent, "members")
        self._opener = ContainerOpener(spec.conversion.limits)
        self._wanted: dict[str, set[str]] = {}
        self._unpacked: dict[str, _Unpacked] = {}
        for file in wanted:
            if file.container:
                self._wanted.setdefault(file.container, set()).add(_inner_path(file))

    def __enter__(self) -> Self:
        if self._wanted:
            self._scratch.open()
            self._opener.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._opener.__exit__(kind, error, trace)
        self._scratch.close()

    @contextmanager
    def member(self, file: SourceFile) -> Iterator[Path]:
        """The local path of one member while the block runs.

        Raises:
            OSError: The container is gone, or it has no such member any more.
            ConversionError: The container cannot be opened any more.
        """
        unpacked = self._unpacked.get(file.container) or self._unpack(file)
        try:
            yield unpacked.files[_inner_path(file)]
        except KeyError:
            raise FileNotFoundError(file.relative_path) from None
        finally:
            unpacked.waiting -= 1
            if unpacked.waiting <= 0:
                self._unpacked.pop(file.container, None)
                shutil.rmtree(unpacked.folder, ignore_errors=True)

    def _unpack(self, file: SourceFile) -> _Unpacked:
        wanted = self._wanted[file.container]
        folder = Path(tempfile.mkdtemp(dir=self._scratch.path))
        unpacked = _Unpacked(folder, {}, len(wanted))
        self._unpacked[file.container] = unpacked
        container, members = folder / "container", folder / "members"
        members.mkdir()
        with self._source(file) as source, container.open("wb") as copy:
            shutil.copyfileobj(source, copy, 1 << 20)
        password = FilePasswords(self._spec).of_path(file.container)
        name = file.container.rpartition("/")[2]
        opened = self._opener.open(container, name, members, password=password, wanted=wanted)
        container.unlink()
        if opened.reason is not None:
            raise ConversionError(opened.message, reason=opened.reason)
        for member in opened.members:
            if member.file and member.path in wanted:
                unpacked.files[member.path] = _named(members / member.file, member.path)
        return unpacked

    def _source(self, file: SourceFile) -> BinaryIO:
        if not is_local(self._spec.source.url):
            file_system, root = open_file_system(self._spec)
            remote: BinaryIO = file_system.open(remote_path(root, file.container), "rb")
            return remote
        inner = MEMBER_SEPARATOR + _inner_path(file)
        path = real_path(self._spec, file.source_uri[: -len(inner)])
        if path is None:
            raise FileNotFoundError(file.container)
        return open_regular_file(path)


def _named(file: Path, member_path: str) -> Path:
    """The file with the extension of its member, which is all that converters look at in a name."""
    return file.rename(file.with_name(f"{file.name}{plain_suffix(extension_of(member_path))}"))


def _inner_path(file: SourceFile) -> str:
    return file.relative_path[len(file.container) + len(MEMBER_SEPARATOR) :]
