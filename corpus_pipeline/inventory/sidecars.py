"""Sidecars: ``NAME.meta.yaml`` beside a document holds its metadata.

``refund.pdf.meta.yaml`` belongs to ``refund.pdf``; ``refund.meta.yaml`` to every ``refund.*``
of its folder that has no sidecar of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from corpus_pipeline.inventory.front_matter import DeclaredBlock, read_block
from corpus_pipeline.registry import PASSWORD_KEY, parse_yaml

__all__ = ["MAX_SIDECAR_BYTES", "match_sidecars", "password_of", "read_sidecar", "sidecar_names"]

MAX_SIDECAR_BYTES = 64_000


def read_sidecar(content: bytes, file: str) -> DeclaredBlock:
    """Reads a sidecar. One that cannot be read at all closes its document: nobody sees it."""
    if len(content) > MAX_SIDECAR_BYTES:
        return _unusable(file, f"is larger than {MAX_SIDECAR_BYTES} bytes; a sidecar holds metadata only")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return _unusable(file, "is not UTF-8 text; save it as UTF-8")
    block = read_block(text, file, first_line=1, keep_unknown=False)
    if not password_of(text):
        return block
    return DeclaredBlock({**block.declared, PASSWORD_KEY: True}, block.problems)


def password_of(text: str) -> str | None:
    """The password that a sidecar holds; what is kept of a sidecar only says that there is one."""
    value = parse_yaml(text, "").value
    secret = value.get(PASSWORD_KEY) if isinstance(value, dict) else None
    return None if secret is None or not str(secret) else str(secret)


def sidecar_names(relative_path: str) -> list[str]:
    """Paths where the sidecar of a document may be, the one that counts first."""
    folder, slash, name = relative_path.rpartition("/")
    stem = name.rpartition(".")[0] or name
    bases = dict.fromkeys((relative_path, f"{folder}{slash}{stem}"))
    return [f"{base}.meta.{ending}" for base in bases for ending in ("yaml", "yml")]


def match_sidecars(documents: Iterable[str], sidecars: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    """Finds the sidecar of each document.

    Returns:
        Sidecar path by document path, and the sidecars that belong to no document, sorted.

    >>> match_sidecars(["a/x.pdf", "a/x.docx"], ["a/x.pdf.meta.yaml", "a/x.meta.yaml", "b.md.meta.yaml"])
    ({'a/x.pdf': 'a/x.pdf.meta.yaml', 'a/x.docx': 'a/x.meta.yaml'}, ['b.md.meta.yaml'])
    """
    by_name = _by_name(sidecars)
    matched: dict[str, str] = {}
    for path in documents:
        folder, slash, name = path.rpartition("/")
        stem = name.rpartition(".")[0] or name
        sidecar = by_name.get(path) or by_name.get(f"{folder}{slash}{stem}")
        if sidecar is not None:
            matched[path] = sidecar
    return matched, sorted(set(by_name.values()) - set(matched.values()))


def _by_name(sidecars: Iterable[str]) -> Mapping[str, str]:
    # Of NAME.meta.yml and NAME.meta.yaml the latter wins, since it sorts first and is set last.
    return {path[: path.lower().rindex(".meta.y")]: path for path in sorted(sidecars, reverse=True)}


def _unusable(file: str, message: str) -> DeclaredBlock:
    return DeclaredBlock({"acl_groups": []}, (f"{file}:0 (file): {message}; until then nobody sees the document",))
