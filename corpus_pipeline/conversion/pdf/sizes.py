"""Nominal heights of words.

docling-parse reports the box of a word from the font's ascent and descent where the PDF
states them, and from the ink of its glyphs where it does not. In fonts of the second kind
"now" measures half of "(Ply)" although both are set in one size, so sizes cannot be compared
and lines cannot be told apart. Those fonts are found by that very sign and their words
get the box that the font's line would have.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from statistics import median

from corpus_pipeline.conversion.pdf.capture import Word
from corpus_pipeline.conversion.pdf.geometry import Box

__all__ = ["FontMeasures"]

ASCENDERS = frozenset("bdfhklt()[]{}|/\\\"'")
DESCENDERS = frozenset("gjpqy,;()[]{}|/\\@$Qç")
DESCENT_SHARE = 0.22
"""Part of the nominal height that lies below the baseline."""
USUAL_SHARES = {(True, True): 1.0, (True, False): 0.78, (False, True): 0.77, (False, False): 0.55}
"""Ink height over nominal height, by (has an ascender, has a descender)."""
TIGHT_MATCHES = 0.4
SAME_HEIGHT = 0.03


class FontMeasures:
    """What has been learnt about the fonts of one document, page by page."""

    def __init__(self) -> None:
        self._heights: dict[str, dict[tuple[bool, bool], list[float]]] = defaultdict(lambda: defaultdict(list))
        self._tight: dict[str, bool] = {}

    def learn(self, words: Iterable[Word]) -> None:
        """Adds the words of some pages to the evidence."""
        for word in words:
            if any(character.isalpha() for character in word.text):
                self._heights[word.font.name][_reach(word.text)].append(word.box.height)
        self._tight = {}

    def correct(self, words: Iterable[Word]) -> None:
        """Sets nominal ``box`` and ``size`` of words in fonts that report ink boxes, in place."""
        for word in words:
            if self._is_tight(word.font.name):
                self._stretch(word)

    def _is_tight(self, font: str) -> bool:
        if font not in self._tight:
            verdict = _reports_ink(self._heights.get(font, {}))
            self._tight[font] = self._usual_verdict() if verdict is None else verdict
        return self._tight[font]

    def _usual_verdict(self) -> bool:
        """What holds for most text of the document: fonts of one producer behave alike."""
        balance = 0
        for reaches in self._heights.values():
            verdict = _reports_ink(reaches)
            if verdict is not None:
                balance += sum(map(len, reaches.values())) * (1 if verdict else -1)
        return balance > 0

    def _stretch(self, word: Word) -> None:
        reach = _reach(word.text)
        if any(character.isalnum() for character in word.text):
            size = word.box.height / self._share(word.font.name, reach)
            baseline = word.box.bottom - (DESCENT_SHARE * size if reach[1] else 0.0)
        else:
            size = self._usual_size(word.font.name) or word.box.height
            baseline = _punctuation_baseline(word, size)
        word.size = size
        top = baseline - (1 - DESCENT_SHARE) * size
        word.box = Box(word.box.left, top, word.box.right, top + size)

    def _share(self, font: str, reach: tuple[bool, bool]) -> float:
        reaches = self._heights.get(font, {})
        full, own = reaches.get((True, True), []), reaches.get(reach, [])
        usual = USUAL_SHARES[reach]
        if reach == (True, True) or len(full) < 5 or len(own) < 5:
            return usual
        measured = median(own) / median(full)
        return measured if abs(measured - usual) < 0.12 else usual

    def _usual_size(self, font: str) -> float | None:
        full = self._heights.get(font, {}).get((True, True), [])
        return median(full) if full else None


def _reach(text: str) -> tuple[bool, bool]:
    """Whether some glyph rises above, and some falls below, the small letters."""
    rises = any(
        character.isupper() or character.isdigit() or character in ASCENDERS or ord(character) > 0x2E80
        for character in text
    )
    return rises, any(character in DESCENDERS for character in text)


def _punctuation_baseline(word: Word, size: float) -> float:
    """Where the baseline runs under a word without letters, judged by where its ink must sit."""
    if not word.text.strip("_"):
        return word.box.top - 0.1 * size
    if not word.text.strip(".,…"):
        return word.box.bottom
    return word.box.centre_y + 0.28 * size


def _reports_ink(reaches: dict[tuple[bool, bool], list[float]]) -> bool | None:
    """Whether heights depend on which glyphs a word has; ``None`` without evidence."""
    full = reaches.get((True, True), [])
    others = [height for reach, heights in reaches.items() if reach != (True, True) for height in heights]
    if not full or not others:
        return None
    counts: dict[float, int] = defaultdict(int)
    for height in full:
        counts[round(height, 1)] += 1
    usual = [height for height, count in counts.items() if count >= 0.05 * len(full)]
    matching = sum(any(abs(height - known) <= SAME_HEIGHT * known for known in usual) for height in others)
    return matching < TIGHT_MATCHES * len(others)
