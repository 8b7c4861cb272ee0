"""Sentence boundaries, and which sentences must not be parted."""

from __future__ import annotations

import re

__all__ = ["begins_exception", "last_sentence_start", "paragraph_starts", "sentence_starts"]

_BOUNDARY = re.compile(r"""[.!?…]+["'”’)\]]*\s+(?=["'“‘(\[]?[^\W_a-z])|[。！？]+["”’）」』]*|\n[ \t]*\n\s*""")  # noqa: RUF001 - CJK stops
_BOUNDARY_WITHOUT_CAPITALS = re.compile(_BOUNDARY.pattern.replace(r"[^\W_a-z]", r"[^\W_]"))
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|cf|vs|etc|approx|al|[Nn]o|[Nn]os|Fig|Figs|Eq|Eqs|Sec|Art|Ch|[Vv]ol|pp?|Mr|Mrs|Ms|Dr|Prof|St|Inc|Ltd|Co|"
    r"Corp|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|[A-Z])\.|^\s*\(?\w{1,3}[.)])$"
)
_LOOK_BACK_CHARS = 40
_LINE_ENDS = re.compile(r"\n\s*")
_EMPTY_LINES = re.compile(r"\n[ \t]*\n\s*")
LONG_LINE_CHARS = 160
"""Lines that are longer than this on average were not broken to a width: each is a paragraph."""
_EXCEPTION = re.compile(
    r"(?:[-*•]\s+)?(?:However|But|Yet|Except|Exceptions?|The (?:only )?exceptions?|Unless|Otherwise|Nevertheless|"
    r"Nonetheless|Notwithstanding|That said|Only if|If not|In that case|In these cases|Excluded|Not applicable|"
    r"(?:This|That|The same|It|These|They) (?:do(?:es)? not|is not|are not|applies only|apply only))\b"
)


def sentence_starts(text: str) -> list[int]:
    """Where sentences begin, the first at 0; white space belongs to the sentence before it.

    A rule of thumb, not a parser: stops after abbreviations, single letters and list numbers do
    not end a sentence. In a text without any capital letter a small one begins a sentence too.

    >>> sentence_starts("Refunds take 5 days, e.g. Monday. However, gifts are excluded. Ask us.")
    [0, 34, 63]
    >>> sentence_starts("refunds take 5 days, e.g. monday. ask us.")
    [0, 34]
    """
    starts = [0]
    boundary = _BOUNDARY if any(map(str.isupper, text)) else _BOUNDARY_WITHOUT_CAPITALS
    for match in boundary.finditer(text):
        before = text[max(starts[-1], match.start() - _LOOK_BACK_CHARS) : match.start() + 1]
        if "\n" not in match.group() and _ABBREVIATION.search(before):
            continue
        if starts[-1] < match.end() < len(text):
            starts.append(match.end())
    return starts


def paragraph_starts(text: str) -> list[int]:
    r"""Where paragraphs begin in a text that has one on each line, the first at 0.

    Lines of a text that was broken to a width are no paragraphs: there the lines are short, and
    nothing but empty lines ends a paragraph.

    >>> paragraph_starts("a\nb\n\nc"), len(paragraph_starts("word " * 30 + "\n" + "word " * 30))
    ([0, 5], 2)
    """
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < 2:  # noqa: PLR2004 - one line is one paragraph
        return [0]
    is_broken = sum(len(line) for line in lines) < LONG_LINE_CHARS * len(lines)
    return [0, *(match.end() for match in (_EMPTY_LINES if is_broken else _LINE_ENDS).finditer(text.rstrip()))]


def last_sentence_start(text: str) -> int:
    """Where the last sentence begins."""
    return sentence_starts(text)[-1]


def begins_exception(text: str) -> bool:
    """Whether a sentence or paragraph limits what stands before it, and so must stay with it.

    >>> begins_exception("However, gifts are excluded."), begins_exception("Gifts are welcome.")
    (True, False)
    """
    return _EXCEPTION.match(text.lstrip()) is not None
