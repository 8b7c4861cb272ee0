"""Text of several lines as one: words broken over a line end, ligatures, control characters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

__all__ = ["Hyphenation", "clean_text", "runs_right_to_left"]

LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
LIGATURE = re.compile(f"[{''.join(LIGATURES)}]")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\uf0a0\ufeff]")
SOFT_HYPHENS = ("\u00ad", "\x02")
BROKEN_END = re.compile(r"([^\W\d_]+)[-\u2010]$")
NEXT_START = re.compile(r"^[^\W\d_]+")
WORD = re.compile(r"[^\W\d_]+(?:[-\u2010][^\W\d_]+)*")


def clean_text(text: str) -> str:
    """Text with ligatures spelt out and characters that print nothing removed."""
    if LIGATURE.search(text):
        text = LIGATURE.sub(lambda match: LIGATURES[match.group()], text)
    return CONTROL.sub("", text)


def runs_right_to_left(text: str) -> bool:
    """Whether most letters are of scripts written from right to left.

    >>> runs_right_to_left("abc"), runs_right_to_left("שלום a")
    (False, True)
    """
    directions = [unicodedata.bidirectional(character) for character in text]
    return sum(direction in {"R", "AL"} for direction in directions) > directions.count("L")


class Hyphenation:
    """Decides whether a hyphen at a line end belongs to the word, by how the document writes it elsewhere."""

    def __init__(self) -> None:
        self._words: set[str] = set()

    def learn(self, lines: Iterable[str]) -> None:
        """Adds the words of printed lines; a word cut off at the line's end is left out."""
        for line in lines:
            words = WORD.findall(line)
            broken = bool(BROKEN_END.search(line))
            self._words.update(word.lower() for word in (words[:-1] if broken else words))

    def join(self, lines: Sequence[str]) -> str:
        """One text from the lines of a block.

        A hyphen before a small letter goes, unless the document writes the compound with it
        and never without.
        """
        text = ""
        for line in lines:
            part = line.strip()
            if not text:
                text = part
            elif text.endswith(SOFT_HYPHENS):
                text = text[:-1] + part
            else:
                text = self._joined(text, part)
        return clean_text(text.replace("\u00ad", ""))

    def _joined(self, text: str, part: str) -> str:
        end, start = BROKEN_END.search(text), NEXT_START.match(part)
        if not end or not start:
            return f"{text} {part}"
        if not start.group()[0].islower():
            return text + part if end.group(1).isupper() or end.group(1)[0].isupper() else f"{text} {part}"
        whole = (end.group(1) + start.group()).lower()
        compound = f"{end.group(1)}-{start.group()}".lower()
        keeps_hyphen = whole not in self._words and compound in self._words
        return text + part if keeps_hyphen else text[:-1] + part
