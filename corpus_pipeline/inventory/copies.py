"""The bytes of a file as the inventory recorded them, at a local path."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote_to_bytes, urlsplit

from corpus_pipeline.errors import SourceChangedError
from corpus_pipeline.inventory.local_listing import open_regular_file
from corpus_pipeline.inventory.reading import CHUNK_BYTES
from corpus_pipeline.inventory.remote_listing import open_file_system, remote_path
from corpus_pipeline.records import SourceFile
from corpus_pipeline.registry import CorpusSpec, is_local, local_folder

__all__ = ["local_copy"]


@contextmanager
def local_copy(spec: CorpusSpec, source_file: SourceFile) -> Iterator[Path]:
    """A local path whose bytes have the recorded SHA-256.

    A local file is hashed where it lies and looked at again at the end of the block; a remote
    one is downloaded to a temporary file that goes with the block.

    Args:
        spec: The corpus, for its source.
        source_file: A file that could be read.

    Raises:
        SourceChangedError: The file is gone, unreadable or other than recorded, at the beginning
            or while the block ran.
        SourceUnavailableError: The remote source does not answer.
    """
    if not source_file.sha256:
        raise _changed(source_file, "could not be read by the inventory")
    if is_local(spec.source.url):
        yield from _local(spec, source_file)
    else:
        yield from _remote(spec, source_file)


def _local(spec: CorpusSpec, source_file: SourceFile) -> Iterator[Path]:
    root = local_folder(spec.source.url, spec.base_folder).resolve()
    path = os.path.realpath(_file_path(source_file.source_uri))
    if not Path(path).is_relative_to(root):
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
    suffix = f".{source_file.extension}" if re.fullmatch(r"[a-z0-9]{1,16}", source_file.extension) else ""
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


def _file_path(source_uri: str) -> str:
    if source_uri.startswith("file://"):
        return os.fsdecode(unquote_to_bytes(urlsplit(source_uri).path))
    return source_uri


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
