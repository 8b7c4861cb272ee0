"""Reads files once, streaming: their SHA-256 and what they or their sidecar declare.

Readings are kept with the file's change token. A file whose token is the same as last time
is not opened; the stage that converts it compares the hash of the bytes it works on
(``local_copy``), so that a change behind an unchanged token is still found there.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, BinaryIO

from corpus_pipeline.inventory.container_format import HEAD_BYTES as CONTAINER_HEAD_BYTES
from corpus_pipeline.inventory.container_format import may_be_container
from corpus_pipeline.inventory.front_matter import FRONT_MATTER_EXTENSIONS, HEAD_BYTES, DeclaredBlock, read_front_matter
from corpus_pipeline.inventory.listing import FoundFile
from corpus_pipeline.inventory.sidecars import MAX_SIDECAR_BYTES, read_sidecar

__all__ = [
    "READER_VERSION",
    "Reading",
    "extension_of",
    "plain_suffix",
    "read_all",
    "read_document",
    "read_sidecar_file",
    "still_holds",
]

READER_VERSION = "2"
"""Raised when the same bytes would be read differently, so that kept readings are dropped."""

CHUNK_BYTES = 1 << 20
BATCH_FILES = 2_000
KEPT_BYTES = max(HEAD_BYTES, CONTAINER_HEAD_BYTES)


@dataclass(frozen=True)
class Reading:
    """What reading one file gave.

    Attributes:
        change_token: Token of the file when it was read; empty when it must be read again.
        sha256: Of all bytes; empty when the file could not be read.
        declared: Metadata by canonical key: front matter of a document, or a sidecar's.
        problems: What is wrong with the metadata, each as ``line N, key: message``.
        unreadable: Why the file could not be read; empty when it could.
        may_be_container: Its bytes begin as those of an archive or of a mail with attachments.
    """

    path: str
    change_token: str
    sha256: str
    size_bytes: int
    declared: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    unreadable: str = ""
    may_be_container: bool = False


def extension_of(relative_path: str) -> str:
    """Extension in lower case without dot; empty when there is none.

    >>> extension_of("a/Report.PDF"), extension_of("README"), extension_of("v1.2/notes")
    ('pdf', '', '')
    """
    name = relative_path.rsplit("/", 1)[-1]
    stem, dot, extension = name.rpartition(".")
    return extension.lower() if dot and stem else ""


def plain_suffix(extension: str) -> str:
    """Suffix of a temporary file; empty for an extension that is no plain word.

    >>> plain_suffix("pdf"), plain_suffix("a b")
    ('.pdf', '')
    """
    return f".{extension}" if re.fullmatch(r"[a-z0-9]{1,16}", extension) else ""


def still_holds(file: FoundFile, kept: Reading | None) -> bool:
    """Whether a kept reading says what reading the file again would say."""
    return kept is not None and bool(file.change_token) and kept.change_token == _token(file)


def read_all(
    files: Iterable[FoundFile], read: Callable[[FoundFile], Reading], *, threads: int
) -> Iterator[list[Reading]]:
    """Reads files in worker threads, in batches that can be kept as they come.

    Args:
        files: What to read.
        read: :func:`read_document` or :func:`read_sidecar_file`.
        threads: At most so many files at once.
    """
    remaining = iter(files)
    with ThreadPoolExecutor(max_workers=threads, thread_name_prefix="inventory") as pool:
        while batch := list(islice(remaining, BATCH_FILES)):
            yield list(pool.map(read, batch))


def read_document(file: FoundFile) -> Reading:
    """Hashes a document and reads its front matter."""
    digest, head, size = hashlib.sha256(), b"", 0
    extension = extension_of(file.relative_path)
    try:
        with file.open() as stream:
            for chunk in _chunks(stream):
                digest.update(chunk)
                size += len(chunk)
                if len(head) < KEPT_BYTES:
                    head += chunk[: KEPT_BYTES - len(head)]
    except Exception as error:  # noqa: BLE001 - each fsspec file system raises its own; one file never fails a run
        return _unreadable(file, error)
    matter = (
        read_front_matter(head[:HEAD_BYTES], file.relative_path)
        if extension in FRONT_MATTER_EXTENSIONS
        else DeclaredBlock()
    )
    return Reading(
        file.relative_path,
        _token(file),
        digest.hexdigest(),
        size,
        matter.declared,
        matter.problems,
        may_be_container=may_be_container(head[:CONTAINER_HEAD_BYTES], extension),
    )


def read_sidecar_file(file: FoundFile) -> Reading:
    """Reads a sidecar whole."""
    try:
        with file.open() as stream:
            content = stream.read(MAX_SIDECAR_BYTES + 1)
    except Exception as error:  # noqa: BLE001 - as in read_document
        return _unreadable(file, error)
    sidecar = read_sidecar(content, file.relative_path)
    digest = hashlib.sha256(content).hexdigest()
    return Reading(file.relative_path, _token(file), digest, len(content), sidecar.declared, sidecar.problems)


def _token(file: FoundFile) -> str:
    return f"{READER_VERSION}|{file.change_token}" if file.change_token else ""


def _chunks(stream: BinaryIO) -> Iterator[bytes]:
    while chunk := stream.read(CHUNK_BYTES):
        yield chunk


def _unreadable(file: FoundFile, error: Exception) -> Reading:
    cause = (error.strerror if isinstance(error, OSError) else "") or type(error).__name__
    return Reading(file.relative_path, "", "", 0, unreadable=f"cannot be read: {cause}")
