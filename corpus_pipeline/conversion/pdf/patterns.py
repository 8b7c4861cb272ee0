"""How list items, captions, section numbers and page numbers are written."""

from __future__ import annotations

import re

__all__ = [
    "ends_in_leader",
    "has_bullet_glyph",
    "has_leader",
    "is_bullet",
    "is_caption",
    "is_footnote",
    "is_list_item",
    "is_marker_only",
    "is_numeric_cell",
    "is_page_number",
    "is_section_number",
    "is_year",
    "list_marker",
    "looks_numbered_deep",
]

BULLETS = "•·▪◦■□●○‣⁃∙➢➤►▶✓✔✗✘❖◆◇➔➜➞❑❒❏□▫⬤⬥⦁⦿◉★☐☑☒\ufffd"
SYMBOLS = "\ue000-\uf09f\uf0a1-\uf8ff"
"""The private use area: bullets of symbol fonts have their codes there."""
DASH_BULLETS = "–—−*-"
ENUMERATOR = r"(?:\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})[.)]|\[\d{1,3}\])"
KEYWORDS = r"(?:chapter|section|appendix|part|annex|article|item|note|schedule|exhibit|title|step|phase)"

BULLET = re.compile(rf"^\s*(?:[{re.escape(BULLETS)}{SYMBOLS}]|[{re.escape(DASH_BULLETS)}](?=\s)|o(?=\s))\s*(?=\S)")
BULLET_GLYPH = re.compile(rf"^\s*[{re.escape(BULLETS)}{SYMBOLS}]\s*(?=\S)")
BULLET_ONLY = re.compile(rf"^\s*[{re.escape(BULLETS + DASH_BULLETS)}{SYMBOLS}o]\s*$")
ENUMERATED = re.compile(rf"^\s*({ENUMERATOR})\s+(?=\S)")
ENUMERATOR_ONLY = re.compile(rf"^\s*{ENUMERATOR}\s*$")
SECTION = re.compile(
    rf"^\s*(?:\d{{1,2}}(?:\.\d{{1,3}}){{0,4}}\.?|[A-Z]\.(?:\d+\.?)*|[IVX]{{1,5}}\.|{KEYWORDS}\s+[\dA-Z]+[.:]?)\s+\S",
    re.IGNORECASE,
)
SECTION_ONLY = re.compile(
    rf"^\s*(?:\d{{1,2}}(?:\.\d{{1,3}}){{0,4}}\.?|[A-Z]\.|[IVX]{{1,5}}\.|(?i:{KEYWORDS})\s+[\dA-Z]{{1,4}}[.:])\s*$"
)
SECTION_DEEP = re.compile(r"^\s*\d{1,2}(?:\.\d{1,2}){1,4}\.?\s+[^\W\d_]")
CAPTION = re.compile(
    r"^\s*(?:fig(?:ure)?|tab(?:le)?|chart|exhibit|scheme|listing|algorithm|box|plate|photo|abb(?:ildung)?|tableau)s?"
    r"\.?\s*(?:[A-Z]{0,4}-?\d+|[IVX]+\b)",
    re.IGNORECASE,
)
PAGE_NUMBER = re.compile(
    r"^\W*(?:(?:page|p\.|seite)\s*)?\d{1,4}(?:\s*(?:of|/|\|)\s*\d{1,4})?\W*$|^\W*[ivxlc]{1,6}\W*$|^[A-Z]{1,2}-\d{1,3}$",
    re.IGNORECASE,
)
NUMERIC = re.compile(
    r"^[\s$€£¥(~<>±+]*[-–—−]?\s*\d[\d,.\s]*\s*[%)xX]?\)?\s*$|^\s*[-–—−*]+\s*$|^[$€£¥]$|^n/?a\*?$", re.IGNORECASE
)
YEAR = re.compile(r"^\s*(?:19|20)\d\d\s*$")
LEADER_END = re.compile(r"(?:(?:\.\s?){4,}|(?:…\s?){2,}|(?:·\s?){4,})$")
LEADER = re.compile(r"(?:\.\s?){4,}|(?:…\s?){2,}|(?:·\s?){4,}")
FOOTNOTE = re.compile(r"^\s*(?:\(?\d{1,2}\)?(?![\d.,:/–-])|[*†‡§¶]+|[a-z]\))\s?\S")


def is_bullet(text: str) -> bool:
    """Whether the text starts with a bullet and something after it."""
    return bool(BULLET.match(text))


def has_bullet_glyph(text: str) -> bool:
    """Whether the text starts with a bullet that is nothing else, as a dash or an asterisk may be."""
    return bool(BULLET_GLYPH.match(text))


def is_list_item(text: str) -> bool:
    """Whether the text starts with a bullet or an enumerator.

    >>> is_list_item("(a) first"), is_list_item("• one"), is_list_item("1.2 Scope")
    (True, True, False)
    """
    return bool(BULLET.match(text) or ENUMERATED.match(text))


def is_marker_only(text: str) -> bool:
    """Whether the text is a bullet, an enumerator or a section number and nothing else."""
    return bool(BULLET_ONLY.match(text) or ENUMERATOR_ONLY.match(text) or SECTION_ONLY.match(text))


def list_marker(text: str) -> tuple[str, str]:
    """Splits a list item into its own number (empty for a bullet) and the rest.

    >>> list_marker("• one"), list_marker("2) two")
    (('', 'one'), ('2)', 'two'))
    """
    if match := ENUMERATED.match(text):
        return match.group(1), text[match.end() :].strip()
    if match := BULLET.match(text):
        return "", text[match.end() :].strip()
    return "", text.strip()


def is_section_number(text: str) -> bool:
    """Whether the text starts as numbered sections do, such as ``2.1 Scope`` or ``Annex B Forms``."""
    return bool(SECTION.match(text))


def looks_numbered_deep(text: str) -> bool:
    """Whether the text starts with a number of two or more parts and a word, such as ``2.1 Scope``."""
    return bool(SECTION_DEEP.match(text))


def is_caption(text: str) -> bool:
    """Whether the text starts as captions do, such as ``Table 3``."""
    return bool(CAPTION.match(text))


def is_page_number(text: str) -> bool:
    """Whether the text is a page number and nothing else."""
    return bool(PAGE_NUMBER.match(text))


def is_numeric_cell(text: str) -> bool:
    """Whether the text is an amount, a share, a dash or ``N/A``: what number columns hold."""
    return bool(NUMERIC.match(text))


def is_year(text: str) -> bool:
    """Whether the text is a year of this century or the last and nothing else."""
    return bool(YEAR.match(text))


def has_leader(text: str) -> bool:
    """Whether the text has dot leaders, as tables of contents do."""
    return bool(LEADER.search(text))


def ends_in_leader(text: str) -> bool:
    """Whether the text ends in dot leaders, so that what follows on its line belongs to it."""
    return bool(LEADER_END.search(text))


def is_footnote(text: str) -> bool:
    """Whether the text starts with a footnote mark."""
    return bool(FOOTNOTE.match(text))
