"""Words of a page as they are meant: bullets set as letters, capitals that open a paragraph, fonts of one width."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean, median, pstdev

from corpus_pipeline.conversion.pdf.capture import FontStyle, Word

__all__ = ["attach_drop_caps", "name_bullets", "recognise_monospaced"]

ORNAMENTS = re.compile(r"wingdings|dingbats|webdings|marlett", re.IGNORECASE)
CAP_SIZE = 1.7
"""A capital at least this much larger than the text beside it opens a paragraph."""
CAP_REACH = 1.0
"""Text starts at most this many of its sizes right of such a capital."""
OWN_WORD_GAP = 0.35
"""White space, in sizes of the text, after a capital that is a word of its own, such as "A"."""
ENOUGH_WORDS = 8
SAME_ADVANCE = 0.03
"""Spread of the width of a glyph over its mean, below which all glyphs of a font are of one width."""


def name_bullets(words: Sequence[Word]) -> None:
    """Gives bullets that are letters of a font of ornaments, such as ``l`` in Wingdings, a bullet's text, in place.

    The font's own mapping to characters is what a copy from the page would give.
    """
    for word in words:
        if len(word.text) == 1 and ORNAMENTS.search(word.font.name):
            word.text = "•"


def recognise_monospaced(words: Sequence[Word]) -> None:
    """Marks fonts of a page whose glyphs are all of one width as monospaced, in place.

    Names of fonts do not always tell. Only words of ASCII with letters count: digits are of one
    width in most fonts, and so are the glyphs of East Asian scripts.
    """
    advances: dict[FontStyle, dict[str, float]] = defaultdict(dict)
    for word in words:
        if not word.font.monospaced and _tells_width(word.text):
            advances[word.font][word.text] = word.box.width / len(word.text) / word.size
    found = {
        font: replace(font, monospaced=True)
        for font, widths in advances.items()
        if len(widths) >= ENOUGH_WORDS and pstdev(widths.values()) < SAME_ADVANCE * fmean(widths.values())
    }
    for word in words:
        word.font = found.get(word.font, word.font)


def _tells_width(text: str) -> bool:
    return len(text) >= 4 and text.isascii() and 2 * sum(map(str.isalpha, text)) >= len(text)


def attach_drop_caps(words: Sequence[Word]) -> list[Word]:
    """The words of a page, with each capital that spans several lines put before the first word beside it."""
    kept = list(words)
    for cap in [word for word in words if len(word.text) == 1 and word.text.isupper()]:
        first = _first_beside(cap, words)
        if first is None:
            continue
        own_word = cap.text in "AI" and first.box.left - cap.box.right > OWN_WORD_GAP * first.size
        kept[kept.index(first)] = replace(first, text=f"{cap.text}{' ' if own_word else ''}{first.text}")
        kept.remove(cap)
    return kept


def _first_beside(cap: Word, words: Sequence[Word]) -> Word | None:
    """The word that a capital belongs to: the first of the uppermost of several smaller lines at its right."""
    beside = [
        word
        for word in words
        if word is not cap
        and -1 <= word.box.left - cap.box.right <= CAP_REACH * word.size
        and cap.box.top < word.box.centre_y < cap.box.bottom
    ]
    lines = sorted({round(word.box.centre_y): word for word in beside}.values(), key=lambda word: word.box.centre_y)
    if len(lines) < 2 or cap.size < CAP_SIZE * median(word.size for word in lines):
        return None
    return lines[0] if lines[0].text[:1].isalpha() else None
