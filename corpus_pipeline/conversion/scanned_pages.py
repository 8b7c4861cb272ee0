"""Which pages of a PDF are pictures of text: found by looking, before anything is converted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["scanned_pages"]

TEXT_CHARACTERS = 50
"""A page with more characters than this is read as text, whatever lies behind it."""
PICTURE_SHARE = 0.4
"""Part of the page that pictures must cover where there is some text, such as a stamp or a page number."""
DRAWN_SHARE = 0.02
DRAWN_PATHS = 60
"""A page without any text that holds so many paths is drawn text or a drawing; recognition tells which."""
MAX_OBJECTS = 5000


def scanned_pages(path: Path, password: str | None, *, max_pages: int) -> tuple[int, ...]:
    """Numbers of the pages, from 1, whose text lies in pictures or paths.

    A file that pdfium cannot open has none here: the converter says what is wrong with it.
    """
    import pypdfium2

    try:
        pdf = pypdfium2.PdfDocument(path, password=password)
    except pypdfium2.PdfiumError:
        return ()
    with pdf:
        pages = min(len(pdf), max_pages + 1)
        return tuple(number + 1 for number in range(pages) if _is_scanned(pdf, number))


def _is_scanned(pdf: Any, number: int) -> bool:
    import pypdfium2

    try:
        page = pdf[number]
        text_page = page.get_textpage()
        try:
            count = text_page.count_chars()
            if count > 2 * TEXT_CHARACTERS:
                return False
            characters = len("".join(text_page.get_text_range().split())) if count else 0
        finally:
            text_page.close()
        return characters <= TEXT_CHARACTERS and _is_picture(page, empty=characters == 0)
    except pypdfium2.PdfiumError:
        return False  # a damaged page; the converter lists it


def _is_picture(page: Any, *, empty: bool) -> bool:
    import pypdfium2.raw as pdfium

    width, height = page.get_size()
    covered, paths = 0.0, 0
    for position, item in enumerate(page.get_objects(max_depth=3)):
        if position > MAX_OBJECTS:
            break
        if item.type == pdfium.FPDF_PAGEOBJ_PATH:
            paths += 1
        elif item.type == pdfium.FPDF_PAGEOBJ_IMAGE:
            left, bottom, right, top = item.get_bounds()
            covered += max(0.0, min(right, width) - max(left, 0.0)) * max(0.0, min(top, height) - max(bottom, 0.0))
    share = covered / max(1.0, width * height)
    return share >= PICTURE_SHARE or (empty and (share >= DRAWN_SHARE or paths >= DRAWN_PATHS))
