r"""Words of a text, whatever format it came from.

Two converters give the same words of a page in different spacing, quotation marks, list
signs and line breaks. All comparison therefore looks at words: maximal runs of letters,
digits and underscores (what ``\w+`` finds) after NFKC and case folding; in scripts that
write no spaces (Han, kana) each character is a word.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from corpus_pipeline.records import sha256_hex

__all__ = ["NORMALISATION_VERSION", "UNSPACED_RANGES", "folded", "lines_of_words", "normalised_sha256", "words"]

NORMALISATION_VERSION = "1"
"""Part of every cache key; goes up when the words of some text change."""

UNSPACED_RANGES = ((0x3040, 0x3100), (0x3400, 0x4DC0), (0x4E00, 0xA000), (0xF900, 0xFB00), (0x20000, 0x323B0))
"""Half-open code point ranges in which every character is a word of its own."""

_UNSPACED = "".join(f"{chr(start)}-{chr(end - 1)}" for start, end in UNSPACED_RANGES)
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")
_HYPHENATED = re.compile(r"(?<=[^\W\d_])[-\u00ad\u2010\u2011]\s*(?=[^\W\d_])")
_HYPHENS = ("-", "\u00ad", "\u2010", "\u2011")


def folded(text: str) -> str:
    """NFKC and case folding, in this order.

    >>> folded("ﬁnal Straße")
    'final strasse'
    """
    return (text if text.isascii() else unicodedata.normalize("NFKC", text)).casefold()


def words(text: str) -> list[str]:
    """The words of a text, in order.

    >>> words("| Don't **panic** | 東京 |")
    ['don', 't', 'panic', '東', '京']
    """
    return _WORD.findall(folded(text))


def lines_of_words(text: str) -> Iterator[tuple[str, list[str]]]:
    """Each line of the folded text with its words; lines without words are left out."""
    for line in folded(text).splitlines():
        found = _WORD.findall(line)
        if found:
            yield line, found


def normalised_sha256(text: str, found: Sequence[str] | None = None) -> str:
    r"""Hash of the words of a text: equal for the same words in any format.

    Words broken at a hyphen, by a line end or for good, are joined first, because converters
    differ in undoing them. A text without words is hashed by its characters without spaces.

    Args:
        text: The whole text.
        found: Its :func:`words`, where they are known already.

    >>> normalised_sha256("# The well-known infor-\nmation") == normalised_sha256("the wellknown information.")
    True
    """
    if any(hyphen in text for hyphen in _HYPHENS):
        found = words(_HYPHENATED.sub("", text))
    elif found is None:
        found = words(text)
    if not found:
        return sha256_hex("\0" + "".join(folded(text).split()))
    return sha256_hex(" ".join(found).replace("_", ""))
