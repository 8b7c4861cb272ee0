"""YAML front matter at the head of a text document.

A block counts as front matter when the file begins with ``---``, a later line is ``---`` or
``...``, and what is between is a YAML map. A document that merely begins with a rule has none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from corpus_pipeline.registry import KEY_ALIASES, PASSWORD_KEY, RESTRICTING_KEYS, parse_yaml, read_declared

__all__ = [
    "FRONT_MATTER_EXTENSIONS",
    "HEAD_BYTES",
    "DeclaredBlock",
    "read_block",
    "read_front_matter",
    "split_front_matter",
]

FRONT_MATTER_EXTENSIONS = frozenset({"md", "markdown", "mdx", "txt", "text", "rst", "adoc", "html", "htm", "org"})
HEAD_BYTES = 64 * 1024

_HEADS = (b"---", b"\xef\xbb\xbf---", b"\xff\xfe-", b"\xfe\xff\x00-")
_OPENING = re.compile(r"\A---[ \t]*\r?\n")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
_RESTRICTING_NAMES = {*RESTRICTING_KEYS, *(alias for alias, key in KEY_ALIASES.items() if key in RESTRICTING_KEYS)}
_RESTRICTING_WORDS = re.compile(
    rf"^[ \t\"']*(?:{'|'.join(sorted(_RESTRICTING_NAMES))})\b", re.MULTILINE | re.IGNORECASE
)


@dataclass(frozen=True)
class DeclaredBlock:
    """Metadata of one source with what is wrong with it."""

    declared: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


def split_front_matter(text: str) -> tuple[str, str]:
    r"""Divides a text into front matter and body; the first is empty when there is none.

    >>> split_front_matter("---\ntitle: A\n---\nBody\n")
    ('title: A\n', 'Body\n')
    >>> split_front_matter("---\nA rule, no front matter\n---\n")
    ('', '---\nA rule, no front matter\n---\n')
    """
    block, body = _split(text)
    if not block or not isinstance(parse_yaml(block, "").value, dict):
        return "", text
    return block, body


def read_front_matter(head: bytes, file: str) -> DeclaredBlock:
    """Reads the front matter from the first bytes of a document.

    Args:
        head: At most :data:`HEAD_BYTES` of the file.
        file: Its relative path, for problems.
    """
    if not head.startswith(_HEADS):
        return DeclaredBlock()
    block, _ = _split(_decoded(head))
    return read_block(block, file, first_line=2, keep_unknown=True) if block else DeclaredBlock()


def read_block(text: str, file: str, *, first_line: int, keep_unknown: bool) -> DeclaredBlock:
    """Reads metadata in YAML, naming file, line and key of what is wrong.

    A block that cannot be read but speaks of access closes the document: its groups are none.
    """
    document = parse_yaml(text, file, first_line=first_line)
    problems = [str(fault) for fault in document.faults]
    if not isinstance(document.value, dict):
        if not problems and keep_unknown:
            return DeclaredBlock()  # a rule and some text, not metadata
        if not problems and document.value is not None:
            problems = [f"{file}:{first_line} (file): expected a map of metadata keys such as title:"]
        closed = bool(problems) and _RESTRICTING_WORDS.search(text) is not None
        return _closed(problems) if closed else DeclaredBlock({}, tuple(problems))
    texts = {str(path[0]): value for path, value in document.texts.items() if len(path) == 1}
    metadata = document.value if keep_unknown else {k: v for k, v in document.value.items() if k != PASSWORD_KEY}
    found = read_declared(metadata, texts=texts, keep_unknown=keep_unknown)
    problems += [f"{file}:{document.line((key,))} {key}: {message}" for key, message in found.problems]
    return DeclaredBlock(found.values, tuple(problems))


def _closed(problems: list[str]) -> DeclaredBlock:
    return DeclaredBlock(
        {"acl_groups": []}, (*problems, "it speaks of access, so nobody sees the document until it can be read")
    )


def _split(text: str) -> tuple[str, str]:
    opening = _OPENING.match(text)
    closing = _CLOSING.search(text, opening.end()) if opening else None
    if opening is None or closing is None:
        return "", text
    return text[opening.end() : closing.start()], text[closing.end() :]


def _decoded(head: bytes) -> str:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return head.decode("utf-16", errors="replace")
    return head.decode("utf-8-sig", errors="replace")
