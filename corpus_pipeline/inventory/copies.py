"""The bytes of a file as the inventory recorded them, at a local path."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO

from corpus_pipeline.errors import ConversionError, SourceChangedError
from corpus_pipeline.inventory.local_listing import open_regular_file, real_path
from corpus_pipeline.inventory.member_copies import MemberCopies
from corpus_pipeline.inventory.reading import CHUNK_BYTES, plain_suffix
from corpus_pipeline.inventory.remote_listing import open_file_system, remote_path
from corpus_pipeline.records import SourceFile
from corpus_pipeline.registry import CorpusSpec, is_local

__all__ = ["local_copy"]


@contextmanager
def local_copy(spec: CorpusSpec, source_file: SourceFile, members: MemberCopies | None = None) -> Iterator[Path]:
    """A local path whose bytes have the recorded SHA-256.

    A local file is hashed where it lies and looked at again at the end of the block; a remote
    one is downloaded, and a member of a container unpacked, to a temporary file that goes with
    the block.

    Args:
        spec: The corpus, for its source.
        source_file: A file that could be read.
        members: Unpacks each container once for many members; without it, for this one alone.

    Raises:
        SourceChangedError: The file is gone, unreadable or other than recorded, at the beginning
            or while the block ran.
        SourceUnavailableError: The remote source does not answer.
    """
    if not source_file.sha256:
        raise _changed(source_file, "could not be read by the inventory")
    if source_file.container:
        yield from _member(spec, source_file, members)
    elif is_local(spec.source.url):
        yield from _local(spec, source_file)
    else:
        yield from _remote(spec, source_file)


def _member(spec: CorpusSpec, source_file: SourceFile, members: MemberCopies | None) -> Iterator[Path]:
    with ExitStack() as stack:
        if members is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="corpus-pipeline-")))
            members = stack.enter_context(MemberCopies(spec, folder, [source_file]))
        try:
            path = stack.enter_context(members.member(source_file))
        except (OSError, ConversionError) as error:
            cause = error.message if isinstance(error, ConversionError) else type(error).__name__
            raise _changed(source_file, f"cannot be taken out of its container any more ({cause})") from error
        with path.open("rb") as stream:
            _compare(source_file, _sha256(stream))
        yield path


def _local(spec: CorpusSpec, source_file: SourceFile) -> Iterator[Path]:
    path = real_path(spec, source_file.source_uri)
    if path is None:
        raise _changed(source_file, "now lies outside the source folder")
    try:
        with open_regular_file(path) as stream:
            before = os.fstat(stream.fileno())
            found = _sha256(stream)
    except OSError as error:
        raise _changed(source_file, f"cannot be read any more ({error.strerror or type(error).__name__})") from error
    _compare(source_file, found)
    yield Path(path)
    try:
        after = os.lstat(path)
    except OSError:
        raise _changed(source_file, "vanished while it was being worked on") from None
    if (after.st_size, after.st_mtime_ns, after.st_ctime_ns, after.st_ino) != (
        before.st_size, before.st_mtime_ns, before.st_ctime_ns, before.st_ino,
    ):  # fmt: skip
        raise _changed(source_file, "changed while it was being worked on")


def _remote(spec: CorpusSpec, source_file: SourceFile) -> Iterator[Path]:
    file_system, root = open_file_system(spec)
    suffix = plain_suffix(source_file.extension)
    with tempfile.TemporaryDirectory(prefix="corpus-pipeline-") as folder:
        path = Path(folder) / f"document{suffix}"
        try:
            with (
                file_system.open(remote_path(root, source_file.relative_path), "rb") as stream,
                path.open("wb") as copy,
            ):
                found = _sha256(stream, copy)
        except Exception as error:  # each fsspec file system raises its own
            raise _changed(source_file, f"cannot be read any more ({type(error).__name__})") from error
        _compare(source_file, found)
        yield path


def _sha256(stream: BinaryIO, copy: BinaryIO | None = None) -> str:
    digest = hashlib.sha256()
    while chunk := stream.read(CHUNK_BYTES):
        digest.update(chunk)
        if copy is not None:
            copy.write(chunk)
    return digest.hexdigest()


def _compare(source_file: SourceFile, found_sha256: str) -> None:
    if found_sha256 != source_file.sha256:
        raise _changed(
            source_file,
            f"has other content than the inventory recorded (SHA-256 {source_file.sha256[:12]}…, "
            f"now {found_sha256[:12]}…)",
        )


def _changed(source_file: SourceFile, what: str) -> SourceChangedError:
    return SourceChangedError(
        f"{source_file.document_id!r} {what}",
        remedy=f"Run the inventory again: corpus-pipeline ingest {source_file.corpus}.",
    )
