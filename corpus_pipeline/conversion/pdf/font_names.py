"""Names of fonts that docling-parse knows by their resource key alone.

For a font without a descriptor, as the fourteen standard ones usually are, docling-parse
reports ``/F1`` where the PDF says ``Courier-Bold``. pdfium knows the name of the font of
any glyph, so one glyph of each such font is looked up.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from corpus_pipeline.conversion.pdf.geometry import Box

__all__ = ["FontNames", "is_resource_key"]

RESOURCE_KEY = re.compile(r"^/?(?:[A-Za-z]{1,3}\d+(?:_\d+)*|null)$")
LONGEST_NAME = 256
REACH = 4.0
"""How far from the middle of a word, in points, a glyph of it may be."""


def is_resource_key(name: str) -> bool:
    """Whether a font's name is only the key it has on its page.

    >>> is_resource_key("/F1"), is_resource_key("/TT2_0"), is_resource_key("/Courier")
    (True, True, False)
    """
    return bool(RESOURCE_KEY.match(name))


class FontNames:
    """Looks up fonts in one PDF; opens it when the first is asked for. A context manager."""

    def __init__(self, path: Path, password: str | None) -> None:
        self._path = path
        self._password = password
        self._document: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._document is not None:
            self._document.close()

    def on_page(self, number: int, samples: Mapping[str, Box]) -> dict[str, str]:
        """Names of fonts on a page.

        Args:
            number: 1-based page.
            samples: For each resource key the box of a word set in it, from the page's top left.

        Returns:
            Names by key; keys without an answer are left out, as on a turned page all are.
        """
        import pypdfium2

        if self._document is None:
            self._document = pypdfium2.PdfDocument(self._path, password=self._password)
        page = self._document[number - 1]
        try:
            if page.get_rotation():
                return {}
            left, bottom, _, top = page.get_cropbox()
            text = page.get_textpage()
            try:
                height = top - bottom
                found = {
                    key: _name_at(text, left + box.centre_x, bottom + height - box.centre_y)
                    for key, box in samples.items()
                }
            finally:
                text.close()
        finally:
            page.close()
        return {key: name for key, name in found.items() if name}


def _name_at(text: Any, x: float, y: float) -> str:
    import pypdfium2.raw as pdfium

    index = pdfium.FPDFText_GetCharIndexAtPos(text, x, y, REACH, REACH)
    if index < 0:
        return ""
    buffer = ctypes.create_string_buffer(LONGEST_NAME)
    flags = ctypes.c_int()
    length = pdfium.FPDFText_GetFontInfo(text, index, buffer, LONGEST_NAME, flags)
    return buffer.value.decode("utf-8", "replace") if 0 < length <= LONGEST_NAME else ""
