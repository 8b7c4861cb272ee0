"""The password that a file's sidecar holds, read when it is needed and kept nowhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from corpus_pipeline.inventory.local_listing import open_regular_file
from corpus_pipeline.inventory.precedence import SIDECAR
from corpus_pipeline.inventory.remote_listing import open_file_system, remote_path
from corpus_pipeline.inventory.sidecars import MAX_SIDECAR_BYTES, password_of, sidecar_names
from corpus_pipeline.records import SourceFile
from corpus_pipeline.registry import PASSWORD_KEY, CorpusSpec, is_local, local_folder

__all__ = ["sidecar_password"]


def sidecar_password(spec: CorpusSpec, file: SourceFile) -> str | None:
    """The password beside a file.

    Args:
        spec: The corpus, for its source.
        file: As inventoried; no sidecar is opened unless the inventory saw a password in one.
    """
    if file.declared_by.get(PASSWORD_KEY) != SIDECAR:
        return None
    opener = _opener(spec)
    for name in sidecar_names(file.relative_path):
        try:
            with opener(name) as stream:
                content = stream.read(MAX_SIDECAR_BYTES)
        except Exception:  # noqa: BLE001, S112 - each file system raises its own for a file that is not there
            continue
        return password_of(content.decode("utf-8-sig", errors="replace"))
    return None


def _opener(spec: CorpusSpec) -> Callable[[str], BinaryIO]:
    if is_local(spec.source.url):
        root = local_folder(spec.source.url, spec.base_folder).resolve()
        return lambda name: open_regular_file(str(Path(root, name)))
    file_system, base = open_file_system(spec)
    return lambda name: file_system.open(remote_path(base, name), "rb")
