"""Words: how a text or a query becomes terms. Pure functions; the stemmers are those of Snowball."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_pipeline.errors import ModelUnavailableError
from corpus_pipeline.records import canonical_json, sha256_hex

__all__ = [
    "LEVELS",
    "OFTEN",
    "TERM_BUCKETS",
    "AnalysedText",
    "Analyser",
    "analyser_for",
    "analyser_of",
    "parts_fingerprint",
]

LEVELS = 16
"""Occurrences that are told apart; more count as so many."""

TERM_BUCKETS = 62_500_000
"""Numbers of terms: ``LEVELS * TERM_BUCKETS`` is the most dimensions that a sparsevec may have."""

OFTEN = (2, 3, 5, 9)
"""Terms that occur at least so often have a further key each, ``place in OFTEN, from 1, * TERM_BUCKETS + term``."""

NO_STEMMER = "none"

_FORMAT = 2
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_SPACES = {number: " " for number in range(128) if not chr(number).isalnum()}
"""What ends a word of ASCII, an order of magnitude faster than the expression."""
# Scripts without spaces between words: two neighbouring characters are a term.
_UNSPACED = re.compile(
    r"([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff]+)"
)
_MOST_REMEMBERED = 500_000

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class AnalysedText:
    """The terms of one text.

    Attributes:
        term_count: Length of the text in terms, repetitions included.
        terms: Its distinct terms, ascending, then the keys of those that occur often (:data:`OFTEN`).
        levels: ``(LEVELS - occurrences) * TERM_BUCKETS + term`` of each, ascending.
    """

    term_count: int
    terms: Integers
    levels: Integers


@dataclass(frozen=True)
class Analyser:
    """Makes terms of texts and queries in one language, the same way for both.

    Unicode NFKC and case folding, runs of letters and digits, stems of Snowball. No word is left
    out, for BM25 gives common ones next to no weight. A term is known by a number only.

    Attributes:
        language: Of the stemmer, such as ``english``, or ``none``.
    """

    language: str
    _numbers: dict[str, int] = field(default_factory=dict, repr=False, compare=False)

    def words(self, text: str) -> list[str]:
        """The stems of a text, in order and with repetitions.

        >>> Analyser("english").words("Refunds for CAFÉS, ﬁle_names: 東京都 v2")
        ['refund', 'for', 'café', 'file', 'name', '東京', '京都', 'v2']
        """
        return _stems(self.language, _split(text))

    def terms(self, text: str) -> list[int]:
        """The numbers of the stems of a text, in order and with repetitions; what a query is searched by.

        >>> Analyser("english").terms("refunds") == Analyser("english").terms("Refund")
        True
        """
        words = _split(text)
        try:
            return [self._numbers[word] for word in words]
        except KeyError:
            self._learn(words)
        return [self._numbers[word] for word in words]

    def _learn(self, words: list[str]) -> None:
        known = self._numbers
        unknown = [word for word in dict.fromkeys(words) if word not in known]
        if len(known) + len(unknown) > _MOST_REMEMBERED:
            known.clear()
            unknown = list(dict.fromkeys(words))
        known.update(zip(unknown, map(_number, _stems(self.language, unknown)), strict=True))

    def analyse(self, texts: Sequence[str]) -> list[AnalysedText]:
        """The distinct terms of each text with their occurrences."""
        numbers = [self.terms(text) for text in texts]
        lengths = np.array([len(each) for each in numbers], np.int64)
        owners = np.repeat(np.arange(len(texts), dtype=np.int64), lengths)
        flat = np.fromiter(chain.from_iterable(numbers), np.int64, int(lengths.sum()))
        pairs, occurrences = np.unique(owners * TERM_BUCKETS + flat, return_counts=True)
        owners, terms = np.divmod(pairs, TERM_BUCKETS)
        often = np.searchsorted(OFTEN, occurrences, side="right")
        levels = (LEVELS - np.minimum(occurrences, LEVELS)) * TERM_BUCKETS + terms
        levels = levels[np.lexsort((levels, owners))]
        frequent = [(owners[often >= k], terms[often >= k] + k * TERM_BUCKETS) for k in range(1, len(OFTEN) + 1)]
        holders = np.concatenate([owners, *(each for each, _ in frequent)])
        keys = np.concatenate([terms, *(each for _, each in frequent)])
        keys = keys[np.lexsort((keys, holders))]
        bounds = np.arange(1, len(texts))
        return [
            AnalysedText(int(length), of_keys, of_levels)
            for length, of_keys, of_levels in zip(
                lengths,
                np.split(keys, np.searchsorted(np.sort(holders), bounds)),
                np.split(levels, np.searchsorted(owners, bounds)),
                strict=True,
            )
        ]

    @property
    def parts(self) -> dict[str, Any]:
        """What the fingerprint is the hash of."""
        import Stemmer

        stemmer = None if self.language == NO_STEMMER else f"PyStemmer {Stemmer.version()}"
        return {"format": _FORMAT, "language": self.language, "stemmer": stemmer}

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the parts: equal fingerprints make equal terms."""
        return parts_fingerprint(self.parts)


def parts_fingerprint(parts: dict[str, Any]) -> str:
    """Fingerprint of an analyser from its parts, as a generation keeps them."""
    return sha256_hex(canonical_json(parts))


@cache
def analyser_for(language: str) -> Analyser:
    """The analyser of a language, one a process: a name of Snowball's, or ``none``."""
    return Analyser(language)


def analyser_of(parts: Mapping[str, Any]) -> Analyser:
    """The analyser that a generation names.

    Raises:
        ModelUnavailableError: This installation would make other terms.
    """
    analyser = analyser_for(str(parts["language"]))
    if analyser.parts != dict(parts):
        raise ModelUnavailableError(
            f"terms were made with {dict(parts)}, here they would be made with {analyser.parts}",
            remedy="Ingest the corpus again with this installation, or install the version named first.",
        )
    return analyser


def _split(text: str) -> list[str]:
    folded = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'")
    if not folded.isascii():
        return [part for word in _WORD.findall(folded) for part in _parts_of(word)]
    # An apostrophe belongs to a word or not by what is around it; without any, words are what spaces leave.
    return _WORD.findall(folded) if "'" in folded else folded.translate(_SPACES).split()


def _parts_of(word: str) -> list[str]:
    """A word, or the pairs of neighbouring characters of a script that sets no spaces."""
    parts = []
    for part in _UNSPACED.split(word):
        if len(part) > 1 and _UNSPACED.fullmatch(part):
            parts += [part[place : place + 2] for place in range(len(part) - 1)]
        elif part:
            parts.append(part)
    return parts


def _stems(language: str, words: list[str]) -> list[str]:
    if language == NO_STEMMER:
        return words
    stems: list[str] = _stemmer(language).stemWords(words)
    return stems


@cache
def _stemmer(language: str) -> Any:
    import Stemmer

    return Stemmer.Stemmer(language)


def _number(word: str) -> int:
    return int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "big") % TERM_BUCKETS
