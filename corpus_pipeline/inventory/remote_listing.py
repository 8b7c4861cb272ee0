"""Walks any fsspec file system: buckets, SFTP, archives, memory.

A file's change token is what the store itself calls its content's identity (an ETag, a
generation, a checksum). Without one the file is read every night.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, BinaryIO

from corpus_pipeline.errors import SourceUnavailableError
from corpus_pipeline.inventory.listing import FoundFile, is_hidden, storable_name
from corpus_pipeline.registry import CorpusSpec, shown_url

__all__ = ["open_file_system", "remote_files", "remote_path"]

_IDENTITY_KEYS = (
    "ETag",
    "etag",
    "md5Hash",
    "content_md5",
    "crc32c",
    "generation",
    "VersionId",
    "version_id",
    "checksum",
)
_TIME_KEYS = ("LastModified", "last_modified", "mtime", "updated", "modified")


def open_file_system(spec: CorpusSpec) -> tuple[Any, str]:
    """The fsspec file system of a source and the path of its root there.

    Raises:
        SourceUnavailableError: The protocol is unknown, its package is missing, or it refuses.
    """
    import fsspec

    with _mapped(spec):
        file_system, root = fsspec.core.url_to_fs(spec.source.url, **spec.source.options)
    return file_system, str(root).rstrip("/")


def remote_files(spec: CorpusSpec) -> Iterator[FoundFile]:
    """All files below the URL of a source, in no stated order.

    Raises:
        SourceUnavailableError: It cannot be listed completely.
    """
    file_system, root = open_file_system(spec)
    with _mapped(spec):
        file_system.invalidate_cache()
        found = _find(file_system, root)
        if not found and not file_system.exists(root or "/"):
            raise FileNotFoundError
    for name, info in found.items():
        relative = name[len(root) :].lstrip("/") if name.startswith(root) else name
        if not relative or relative.endswith("/") or any(is_hidden(part) for part in relative.split("/")):
            continue
        yield FoundFile(
            relative_path=storable_name(relative),
            source_uri=storable_name(_without_login(str(file_system.unstrip_protocol(name)))),
            size_bytes=int(info.get("size") or 0),
            modified_at=_modified_at(info),
            change_token=_change_token(info),
            open=_opener(file_system, name),
        )


def _without_login(uri: str) -> str:
    # Readers are shown it. HTTP sources keep a login in the names of their files.
    return re.sub(r"^([\w+.-]+://)[^/@]*@", r"\1", uri)


def remote_path(root: str, relative_path: str) -> str:
    """Path of a file on the file system of its source."""
    return f"{root}/{relative_path}"


def _find(file_system: Any, root: str) -> Mapping[str, Mapping[str, Any]]:
    """A complete listing: a store's own flat one, or a walk that stops at the first error."""
    from fsspec.asyn import AsyncFileSystem
    from fsspec.spec import AbstractFileSystem

    kind = type(file_system)
    own_find = kind.find is not AbstractFileSystem.find and not issubclass(kind, AsyncFileSystem)
    own_async_find = issubclass(kind, AsyncFileSystem) and kind._find is not AsyncFileSystem._find  # noqa: SLF001 - fsspec's seam
    options = {} if own_find or own_async_find else {"on_error": "raise"}
    found: Mapping[str, Mapping[str, Any]] = file_system.find(root, detail=True, **options)
    return {name: info for name, info in found.items() if info.get("type", "file") == "file"}


@contextmanager
def _mapped(spec: CorpusSpec) -> Iterator[None]:
    url = shown_url(spec.source.url)
    try:
        yield
    except SourceUnavailableError:
        raise
    except ImportError as error:
        raise SourceUnavailableError(
            f"the source {url} needs a package that is not installed: {error.name or 'see fsspec'}",
            remedy="Install the fsspec package of that protocol, such as s3fs, gcsfs, adlfs or paramiko.",
        ) from error
    except FileNotFoundError as error:
        raise SourceUnavailableError(
            f"the source {url} does not exist",
            remedy="Correct source.url in corpora.yaml. Nothing was removed from the corpus.",
        ) from error
    except Exception as error:  # each file system raises errors of its own library
        raise SourceUnavailableError(
            f"the source {url} cannot be listed: {type(error).__name__}",
            remedy="Check the address, the network and source.options. Nothing was removed from the corpus.",
        ) from error


def _opener(file_system: Any, name: str) -> Callable[[], BinaryIO]:
    return lambda: file_system.open(name, "rb")


def _change_token(info: Mapping[str, Any]) -> str:
    identity = [f"{key}={info[key]}" for key in _IDENTITY_KEYS if info.get(key)]
    return f"{info.get('size')}:{':'.join(identity)}" if identity else ""


def _modified_at(info: Mapping[str, Any]) -> datetime | None:
    for key in _TIME_KEYS:
        value = info.get(key)
        if isinstance(value, datetime):
            return value if value.tzinfo else value.replace(tzinfo=UTC)
        if isinstance(value, int | float):
            return datetime.fromtimestamp(value, UTC)
    return None
