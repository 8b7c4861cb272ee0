"""Which password opens which file; none of them is ever written anywhere."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import BinaryIO

from corpus_pipeline.inventory.local_listing import open_regular_file
from corpus_pipeline.inventory.precedence import SIDECAR
from corpus_pipeline.inventory.remote_listing import open_file_system, remote_path
from corpus_pipeline.inventory.sidecars import MAX_SIDECAR_BYTES, password_of, sidecar_names
from corpus_pipeline.records import SourceFile
from corpus_pipeline.registry import PASSWORD_KEY, CorpusSpec, GlobSet, has_wildcard, is_local, local_folder

__all__ = ["FilePasswords", "password_digest"]

_SALT = b"corpus-pipeline conversion policy"
_COST = 2**14
"""About 50 ms a password: a digest in the database is no quick way to guess it."""


class FilePasswords:
    """The passwords of a corpus.

    The nearest one counts: that of the file's sidecar, of the exact path below ``documents:``, of the
    last glob there that matches, of the corpus.
    """

    def __init__(self, spec: CorpusSpec) -> None:
        self._spec = spec
        self._whole = spec.conversion.password
        self._exact = {path: keys[PASSWORD_KEY] for path, keys in spec.documents.items() if PASSWORD_KEY in keys}
        self._globs = [(GlobSet([pattern]), secret) for pattern, secret in self._exact.items() if has_wildcard(pattern)]

    def of(self, file: SourceFile) -> str | None:
        """The password of a file, if any; no sidecar is opened unless the inventory saw a password in one."""
        return self.of_path(file.relative_path, beside=file.declared_by.get(PASSWORD_KEY) == SIDECAR)

    def of_path(self, relative_path: str, *, beside: bool = True) -> str | None:
        """The password of the file at a path, if any.

        Args:
            relative_path: Below the source.
            beside: Whether a sidecar may hold one.
        """
        found = _sidecar_password(self._spec, relative_path) if beside else None
        if found is not None:
            return found
        secret = self._exact.get(relative_path)
        if secret is None:
            matching = [secret for globs, secret in self._globs if globs.matches(relative_path)]
            secret = matching[-1] if matching else self._whole
        return str(secret.get_secret_value()) if secret else None


@cache
def password_digest(password: str | None) -> str:
    """A slow, salted digest by which a changed password is noticed; empty without one.

    scrypt, RFC 7914.
    """
    if not password:
        return ""
    return hashlib.scrypt(password.encode(), salt=_SALT, n=_COST, r=8, p=1, dklen=16).hex()


def _sidecar_password(spec: CorpusSpec, relative_path: str) -> str | None:
    opener = _opener(spec)
    for name in sidecar_names(relative_path):
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
