"""Nominal heights of words.

docling-parse reports the box of a word from the font's ascent and descent where the PDF
states them, and from the ink of its glyphs where it does not. In fonts of the second kind
"now" measures half of "(Ply)" although both are set in one size, so sizes cannot be compared
and lines cannot be told apart. Those fonts are found by that very sign and their words
get the box that the font's line would have.

A PDF may also state heights that cannot be: browsers write a capital height of a third of the
em for some fonts, which docling-parse believes. Letters as wide as high give them away; all such
fonts of a document get the same factor, so that their sizes stay comparable.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache
from statistics import median

from corpus_pipeline.conversion.pdf.capture import Word
from corpus_pipeline.conversion.pdf.geometry import Box

__all__ = ["FontEvidence", "FontMeasures", "page_evidence"]

ASCENDERS = frozenset("bdfhijklt()[]{}|/\\\"'")
DESCENDERS = frozenset("gjpqy,;()[]{}|/\\@$Qç")
DESCENT_SHARE = 0.22
"""Part of the nominal height that lies below the baseline."""
USUAL_SHARES = {(True, True): 1.0, (True, False): 0.78, (False, True): 0.77, (False, False): 0.55}
"""Ink height over nominal height, by (has an ascender, has a descender)."""
SAME_HEIGHT = 0.03
ENOUGH_VOTES = 500
"""So many pairs of words decide about a font; further pages teach nothing."""
MONOSPACED_ADVANCE = 0.6
"""Width of a glyph over the em in nearly all monospaced fonts."""


USUAL_ADVANCE = 0.52
MOST_ADVANCE = 0.85
"""Width of a letter over the height of its line, in nearly all fonts, and more than in any."""
ENOUGH_ADVANCES = 8
FLAT_DESCENT = 0.2
"""Part of the height below the baseline where the stated height is flat."""


FontEvidence = dict[str, tuple[dict[tuple[bool, bool], list[float]], list[int], list[float]]]
"""By font name: heights of words by reach; how many neighbours of unlike reach differ, or agree, in height; widths of
a letter over the height."""


def page_evidence(words: Iterable[Word]) -> FontEvidence:
    """What the words of one page, in the order the PDF paints them, say about their fonts."""
    found: FontEvidence = {}
    previous: Word | None = None
    for word in words:
        if not any(map(str.isalpha, word.text)):
            continue
        heights, votes, advances = found.setdefault(word.font.name, ({}, [0, 0], []))
        heights.setdefault(_reach(word.text), []).append(word.box.height)
        if len(word.text) >= 4 and word.text.isascii() and word.box.height > 0:
            advances.append(round(word.box.width / len(word.text) / word.box.height, 3))
        if previous is not None and _neighbours(previous, word) and _reach(previous.text) != _reach(word.text):
            votes[abs(previous.box.height - word.box.height) <= SAME_HEIGHT * word.box.height] += 1
        previous = word
    return found


class FontMeasures:
    """What has been learnt about the fonts of one document, page by page."""

    def __init__(self) -> None:
        self._heights: dict[str, dict[tuple[bool, bool], list[float]]] = defaultdict(lambda: defaultdict(list))
        self._votes: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        self._advances: dict[str, list[float]] = defaultdict(list)
        self._tight: dict[str, bool] = {}
        self._flat: dict[str, float] | None = None

    def learn(self, evidence: FontEvidence) -> FontEvidence:
        """Adds the evidence of the next page, font by font as long as the font is in doubt.

        Pages count whole, so that a document teaches the same however it is cut into slices.

        Returns:
            The part that was added; the rest teaches nothing to a document that holds these pages.
        """
        added = {name: each for name, each in evidence.items() if sum(self._votes[name]) < ENOUGH_VOTES}
        for name, (heights, votes, advances) in added.items():
            self._advances[name] += advances
            for reach, measured in heights.items():
                self._heights[name][reach] += measured
            self._votes[name][0] += votes[0]
            self._votes[name][1] += votes[1]
        self._tight = {}
        self._flat = None
        return added

    def correct(self, words: Iterable[Word]) -> None:
        """Sets nominal ``box`` and ``size`` of words in fonts that report ink boxes, in place."""
        flat = self._flat = self._flat if self._flat is not None else self._flat_fonts()
        for word in words:
            if word.font.name in flat:
                _raise(word, flat[word.font.name])
            elif self._is_tight(word.font.name):
                self._stretch(word)
            if word.font.monospaced:
                _stretch_monospaced(word)

    def _flat_fonts(self) -> dict[str, float]:
        """Fonts whose stated height is a fraction of what it must be, and what to multiply it by."""
        medians = {name: median(advances) for name, advances in self._advances.items() if advances}
        sure = [
            advance
            for name, advance in medians.items()
            if advance > MOST_ADVANCE and len(self._advances[name]) >= ENOUGH_ADVANCES
        ]
        if not sure:
            return {}
        factor = median(sure) / USUAL_ADVANCE
        return {name: factor for name, advance in medians.items() if advance > MOST_ADVANCE}

    def _is_tight(self, font: str) -> bool:
        if font not in self._tight:
            unlike, alike = self._votes[font]
            if unlike == alike:
                # Too little text: fonts of one producer behave alike.
                unlike = sum(votes[0] for votes in self._votes.values())
                alike = sum(votes[1] for votes in self._votes.values())
            self._tight[font] = unlike > alike
        return self._tight[font]

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


@lru_cache(maxsize=65_536)
def _reach(text: str) -> tuple[bool, bool]:
    """Whether some glyph rises above, and some falls below, the small letters."""
    rises = any(
        character.isupper() or character.isdigit() or character in ASCENDERS or ord(character) > 0x2E80
        for character in text
    )
    return rises, any(character in DESCENDERS for character in text)


def _raise(word: Word, factor: float) -> None:
    """Gives a word of a flat font its line's height, on its baseline."""
    baseline = word.box.bottom - FLAT_DESCENT * word.box.height
    word.size *= factor
    top = baseline - (1 - FLAT_DESCENT) * word.size
    word.box = Box(word.box.left, top, word.box.right, top + word.size)


def _stretch_monospaced(word: Word) -> None:
    """Repairs fonts that state no height: in a monospaced font the advance tells the size."""
    em = word.box.width / len(word.text) / MONOSPACED_ADVANCE
    if word.size < 0.9 * em:
        word.size = em
        middle = word.box.centre_y
        word.box = Box(word.box.left, middle - em / 2, word.box.right, middle + em / 2)


def _punctuation_baseline(word: Word, size: float) -> float:
    """Where the baseline runs under a word without letters, judged by where its ink must sit."""
    if not word.text.strip("_"):
        return word.box.top - 0.1 * size
    if not word.text.strip(".,…"):
        return word.box.bottom
    return word.box.centre_y + 0.28 * size


def _neighbours(first: Word, second: Word) -> bool:
    """Whether two words painted one after the other stand on one line in one font."""
    return (
        first.font == second.font
        and first.box.overlap_y(second.box) > 0.3 * min(first.box.height, second.box.height)
        and -first.box.overlap_x(second.box) < 2 * max(first.box.height, second.box.height)
    )
