"""How well a document was converted, from the structured document alone; what the checks look at.

Measured in the worker right after conversion and kept beside the document, so that a nightly check
reads figures and not texts.
"""

from __future__ import annotations

import re
from typing import Any

from corpus_pipeline.records import BlockKind, ConvertedDocument

__all__ = ["MEASURES_VERSION", "measure_document", "page_list"]

MEASURES_VERSION = 1
"""Raised when a figure is computed in another way; older ones are then measured anew."""

SAMPLE_CHARACTERS = 6000
ENOUGH_LETTERS = 200
"""Shorter prose does not tell its language."""

_MOJIBAKE = re.compile(
    "\ufffd"  # the replacement character itself
    "|[\x80-\x9f]"  # control characters that no text has: Windows-1252 read as Latin-1
    "|\u00c3[\u00a0-\u00bf\u0080-\u009f\u20ac\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u017d]"
    "|\u00c2[\u00a0-\u00bf]"
    "|\u00e2\u20ac[\u2122\u0153\u009d\u201c\u201d\u02dc\u00a6\u00a2\u0152]"  # quotation marks and dashes
    r"|\(cid:\d+\)"  # glyphs of a PDF font without a table of characters
    "|[\ue000-\uefff]"  # private use: glyphs of such a font, shown as boxes
)
_FENCED = frozenset({BlockKind.CODE, BlockKind.FORMULA, BlockKind.TABLE})


def measure_document(document: ConvertedDocument) -> dict[str, Any]:
    """Figures of one document.

    Returns:
        ``version``; ``garbled_ratio``, the share of characters that are U+FFFD, mojibake or glyphs
        without a character; ``tables`` kept and ``tables_dropped``; and where the format has pages
        ``uncovered_pages`` (neither text nor recorded as blank), ``text_pages`` (not blank) and
        ``characters_per_page`` of those; and where the prose is long enough ``language`` and
        ``language_confidence``.
    """
    figures: dict[str, Any] = {
        "version": MEASURES_VERSION,
        "garbled_ratio": _garbled_ratio(document.text),
        "tables": sum(block.kind is BlockKind.TABLE for block in document.blocks),
        "tables_dropped": int(document.properties.get("tables_dropped", "0")),
    }
    return figures | _page_figures(document) | _language(document)


def page_list(text: str) -> set[int]:
    """The pages of a property such as ``pdf_blank_pages``.

    >>> sorted(page_list("3,4")), page_list("")
    ([3, 4], set())
    """
    return {int(number) for number in text.split(",") if number.strip().isdigit()}


def _garbled_ratio(text: str) -> float:
    if not text:
        return 0.0
    return round(sum(len(match.group()) for match in _MOJIBAKE.finditer(text)) / len(text), 6)


def _page_figures(document: ConvertedDocument) -> dict[str, Any]:
    on_pages = {block.page for block in document.blocks if block.page is not None}
    if not document.page_count or not on_pages:
        return {}
    blank = page_list(document.properties.get("pdf_blank_pages", ""))
    continued = page_list(document.properties.get("pdf_continued_pages", ""))
    every = set(range(1, document.page_count + 1))
    text_pages = len(every - blank)
    return {
        "uncovered_pages": sorted(every - on_pages - blank - continued),
        "text_pages": text_pages,
        "characters_per_page": round(len(document.text) / text_pages, 1) if text_pages else None,
    }


def _language(document: ConvertedDocument) -> dict[str, Any]:
    """The language of the prose; the detector's chance is seeded, so that it says the same each time."""
    sample = ""
    for block in document.blocks:
        if block.kind not in _FENCED:
            sample += block.text + "\n"
        if len(sample) >= SAMPLE_CHARACTERS:
            break
    if sum(map(str.isalpha, sample[:SAMPLE_CHARACTERS])) < ENOUGH_LETTERS:
        return {}
    from langdetect import DetectorFactory, detect_langs
    from langdetect.lang_detect_exception import LangDetectException

    DetectorFactory.seed = 0
    try:
        best = detect_langs(sample[:SAMPLE_CHARACTERS])[0]
    except LangDetectException:
        return {}
    return {"language": str(best.lang), "language_confidence": round(float(best.prob), 3)}
