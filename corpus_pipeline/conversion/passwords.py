"""Which password opens which file; none of them is ever written anywhere."""

from __future__ import annotations

import hashlib
from functools import cache

from corpus_pipeline.inventory import sidecar_password
from corpus_pipeline.records import SourceFile
from corpus_pipeline.registry import PASSWORD_KEY, CorpusSpec, GlobSet, has_wildcard

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
        """The password of a file, if any."""
        beside = sidecar_password(self._spec, file)
        if beside is not None:
            return beside
        secret = self._exact.get(file.relative_path)
        if secret is None:
            matching = [secret for globs, secret in self._globs if globs.matches(file.relative_path)]
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
