"""Globs over paths of a corpus: one meaning for include, exclude, overrides and documents.

``*`` and ``?`` stay within a folder, ``**`` spans any number of folders (also none), ``[abc]``
and ``[!abc]`` are character sets, ``{md,pdf}`` are alternatives. A glob without ``/`` is
compared with the file's name in every folder; one with ``/`` counts from the source folder.
A glob that ends in ``/`` means everything below. Upper and lower case differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

__all__ = ["GlobSet", "glob_fault", "has_wildcard", "matches_glob"]

_MAX_ALTERNATIVES = 64


def has_wildcard(pattern: str) -> bool:
    """Whether the text is a glob rather than one exact path."""
    return any(character in pattern for character in "*?[{") or pattern.endswith("/")


def glob_fault(pattern: str) -> str:
    """What is wrong with a glob and what to write instead; empty when it is valid.

    >>> glob_fault("**/*.md")
    ''
    """
    if not pattern.strip():
        return "is empty; write a glob such as **/*.md"
    if "\\" in pattern:
        return "has a backslash; write folders with /"
    if re.match(r"[A-Za-z]:|/|~", pattern):
        return "is absolute; globs count from the source folder, such as policies/**"
    if ".." in pattern.split("/"):
        return "leaves the source folder with ..; globs count from the source folder"
    try:
        _compiled(pattern)
    except ValueError as error:
        return str(error)
    return ""


def matches_glob(pattern: str, relative_path: str) -> bool:
    """Whether a path below the source folder matches.

    >>> matches_glob("**/*", "a.md"), matches_glob("*.md", "x/a.md"), matches_glob("x/*.md", "x/y/a.md")
    (True, True, False)
    """
    return _compiled(pattern).fullmatch(relative_path) is not None


class GlobSet:
    """Several globs compiled once; a path matches when any of them does."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self.patterns = tuple(patterns)
        self._compiled = [_compiled(pattern) for pattern in self.patterns]

    def matches(self, relative_path: str) -> bool:
        """Whether any of the globs matches."""
        return any(pattern.fullmatch(relative_path) for pattern in self._compiled)


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> re.Pattern[str]:
    alternatives = _expand(pattern)
    return re.compile("|".join(_regex(alternative) for alternative in alternatives), re.DOTALL)


def _expand(pattern: str) -> list[str]:
    opening = pattern.find("{")
    if opening < 0:
        if "}" in pattern:
            raise ValueError("has } without {; write alternatives as *.{md,pdf}")
        return [pattern]
    closing = pattern.find("}", opening)
    inner = pattern[opening + 1 : closing]
    if closing < 0 or "{" in inner or not inner.strip(","):
        raise ValueError("has { without its }, or nested or empty braces; write alternatives as *.{md,pdf}")
    expanded = [
        pattern[:opening] + choice + rest for choice in inner.split(",") for rest in _expand(pattern[closing + 1 :])
    ]
    if len(expanded) > _MAX_ALTERNATIVES:
        raise ValueError(f"stands for more than {_MAX_ALTERNATIVES} globs; write several shorter ones")
    return expanded


def _regex(pattern: str) -> str:
    if pattern.endswith("/"):
        pattern += "**"
    if "/" not in pattern and pattern != "**":
        return "(?:.*/)?" + _component(pattern)
    parts = pattern.split("/")
    regex = ""
    for position, part in enumerate(parts):
        last = position == len(parts) - 1
        if part == "**":
            regex += ".*" if last else "(?:[^/]+/)*"
        else:
            regex += _component(part) + ("" if last else "/")
    return regex


def _component(part: str) -> str:
    regex, position = "", 0
    while position < len(part):
        character = part[position]
        position += 1
        if character == "*":
            regex += "[^/]*"
        elif character == "?":
            regex += "[^/]"
        elif character == "[":
            closing = part.find("]", position + 1)
            if closing < 0:
                raise ValueError("has [ without its ]; write a set as [abc]")
            regex += _character_set(part[position:closing])
            position = closing + 1
        else:
            regex += re.escape(character)
    return regex


def _character_set(inner: str) -> str:
    negated = inner[:1] in {"!", "^"}
    escaped = re.sub(r"([\\\[\]^&~|])", r"\\\1", inner[1:] if negated else inner)
    regex = f"[{'^/' if negated else ''}{escaped}]"
    try:
        re.compile(regex)
    except re.error as error:
        raise ValueError("has a character set that is not valid; write it as [abc] or [a-z]") from error
    return f"(?!/){regex}"
