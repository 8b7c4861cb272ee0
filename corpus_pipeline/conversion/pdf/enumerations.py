"""Letters that count items, told from initials of names: ``B. Scope`` follows ``A. Purpose``, ``B. Ruiz`` nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["is_initial", "letters_of"]

LETTER = re.compile(r"^\s*([A-Z]|[IVX]{2,4})\.\s+\S")
ROMAN_NEIGHBOURS = {"V": {"IV", "VI"}, "X": {"IX", "XI"}}
FIRST = frozenset("AI")


def letters_of(texts: Iterable[str]) -> frozenset[str]:
    """Capital letters and Roman numbers with a period that texts of a page start with."""
    return frozenset(match.group(1) for text in texts if (match := LETTER.match(text)))


def is_initial(text: str, letters: frozenset[str]) -> bool:
    """Whether a text starts with the initial of a name: its neighbours in the alphabet start no text of the page.

    >>> is_initial("B. Scope", frozenset("AB")), is_initial("G. Rubio, and others", frozenset("GN"))
    (False, True)
    """
    match = LETTER.match(text)
    if not match or len(letter := match.group(1)) > 1 or letter in FIRST:
        return False
    near = {chr(ord(letter) - 1), chr(ord(letter) + 1)} | ROMAN_NEIGHBOURS.get(letter, set())
    return not near & letters
