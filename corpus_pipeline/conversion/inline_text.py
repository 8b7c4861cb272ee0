"""Joining the runs of a paragraph that a library hands over one by one."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["collapse", "join_runs", "list_marker"]

_CLOSING = tuple(".,;:!?)]}%\u2019\u201d\u00bb\u2026")
_OPENING = tuple("([{\u2018\u201c\u00ab")
_SPACES = re.compile(r"[ \t\n\r\f\v]+")


def join_runs(runs: Iterable[str]) -> str:
    """Runs with one space between them, none before closing and after opening punctuation.

    >>> join_runs(["See", "the guide", ", then", "(", "act", ")", "."])
    'See the guide, then (act).'
    """
    joined = ""
    for run in runs:
        text = run.strip()
        if not text:
            continue
        tight = not joined or text.startswith(_CLOSING) or joined.endswith(_OPENING)
        joined += text if tight else f" {text}"
    return joined


def collapse(text: str) -> str:
    r"""Text with every run of white space as one space.

    >>> collapse(" a\n  b ")
    'a b'
    """
    return _SPACES.sub(" ", text).strip()


def list_marker(marker: str | None, *, ordered: bool = False) -> str:
    """The marker a list item starts with: its own number, or ``-``.

    >>> list_marker("3.", ordered=True), list_marker("•")
    ('3. ', '- ')
    """
    own = (marker or "").strip()
    if (
        own
        and re.fullmatch(r"[(\[]?(?:\d+(?:\.\d+)*|[A-Za-z]|[ivxlcdmIVXLCDM]+)[.)\]:]?", own)
        and own not in {"o", "-"}
    ):
        return f"{own} "
    return "1. " if ordered and not own else "- "
