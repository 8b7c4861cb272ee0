"""What lies in a source: documents to read, sidecars, and how much was left out.

The walk itself is in ``local_listing`` and ``remote_listing``; this module sorts what they find.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import BinaryIO

from corpus_pipeline.registry import CorpusSpec, GlobSet

__all__ = ["FoundFile", "Listing", "sort_files", "storable_name"]

SIDECAR_SUFFIXES = (".meta.yaml", ".meta.yml")


@dataclass(frozen=True)
class FoundFile:
    """One file as the walk found it.

    Attributes:
        relative_path: POSIX path below the source, storable as UTF-8.
        source_uri: Absolute path or full URL.
        size_bytes: As listed.
        modified_at: As listed, where the file system knows.
        change_token: Differs when the content may have changed; empty when nothing vouches for it.
        open: Opens the bytes; called in a worker thread.
        doubt: Why the file cannot be read at all, such as a link that leads outside.
        is_folder: A link to a folder, listed only for its doubt.
    """

    relative_path: str
    source_uri: str
    size_bytes: int
    modified_at: datetime | None
    change_token: str
    open: Callable[[], BinaryIO] = field(compare=False, repr=False)
    doubt: str = ""
    is_folder: bool = False


@dataclass
class Listing:
    """The files of a source, sorted by what they are for.

    Attributes:
        documents: By relative path, in code point order.
        sidecars: By relative path.
        manifest: The manifest, when the spec names one and it exists.
        excluded: Files that the globs leave out.
    """

    documents: dict[str, FoundFile] = field(default_factory=dict)
    sidecars: dict[str, FoundFile] = field(default_factory=dict)
    manifest: FoundFile | None = None
    excluded: int = 0


def sort_files(spec: CorpusSpec, found: Iterable[FoundFile], never: frozenset[str]) -> Listing:
    """Divides the files of a source.

    Args:
        spec: Its globs and manifest count.
        found: All files but hidden ones.
        never: Relative paths that are no documents, such as corpora.yaml itself.
    """
    include, exclude = GlobSet(spec.source.include), GlobSet(spec.source.exclude)
    listing = Listing()
    documents = []
    for file in _distinct(found):
        path = file.relative_path
        if path == spec.source.manifest:
            listing.manifest = file
        elif path.lower().endswith(SIDECAR_SUFFIXES) and not file.is_folder:
            listing.sidecars[path] = file
        elif path in never:
            continue
        elif exclude.matches(path) or not (file.is_folder or include.matches(path)):
            listing.excluded += 1
        else:
            documents.append(file)
    listing.documents = {file.relative_path: file for file in sorted(documents, key=lambda one: one.relative_path)}
    return listing


def is_hidden(name: str) -> bool:
    """Whether a file or folder of that name is never looked at."""
    return name.startswith(".")


def storable_name(name: str) -> str:
    r"""A name that UTF-8 and PostgreSQL can store; bytes that are no UTF-8 become ``%XX``.

    >>> storable_name("re\udce9sum.txt"), storable_name("100%.txt")
    ('re%E9sum.txt', '100%.txt')
    """
    return re.sub(
        "[\x00\ud800-\udfff]",
        lambda match: "".join(f"%{byte:02X}" for byte in match.group().encode("utf-8", _errors_for(match.group()))),
        name,
    )


def _errors_for(character: str) -> str:
    return "surrogateescape" if "\udc80" <= character <= "\udcff" else "surrogatepass"


def _distinct(found: Iterable[FoundFile]) -> Iterator[FoundFile]:
    """Two foreign names can come out the same; the later one gets a mark, so that none is lost."""
    from dataclasses import replace

    taken: set[str] = set()
    for file in sorted(found, key=lambda one: (one.relative_path, one.source_uri)):
        path = file.relative_path
        while path in taken:
            path += "%"
        taken.add(path)
        yield file if path == file.relative_path else replace(file, relative_path=path)
