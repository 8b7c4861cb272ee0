"""Recognised text as PDF pages, so that one engine reads text and scans alike.

A page holds nothing but words in a font without glyphs, at the places where they were seen.
The font is described by a table from its codes to Unicode alone, which every reader of PDF
follows; there is no font that has all scripts.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

__all__ = ["RecognisedLine", "TextPage", "text_layer"]

ADVANCE = 0.5
"""Width of every glyph of the font, in ems; words are stretched to the width they were seen at."""
ASCENT, DESCENT = 0.78, 0.22
CODES_A_BLOCK = 100
"""Most entries of one block of a code table, by the format (Adobe Technical Note 5014)."""


@dataclass(frozen=True)
class RecognisedLine:
    """A line of text as it was seen.

    Attributes:
        box: ``(left, top, right, bottom)`` in points from the top left of the page.
    """

    text: str
    box: tuple[float, float, float, float]


@dataclass(frozen=True)
class TextPage:
    """A page of lines; sizes in points."""

    width: float
    height: float
    lines: Sequence[RecognisedLine]


def text_layer(pages: Sequence[TextPage]) -> bytes:
    """A PDF of the pages, with the text of the lines at their places.

    >>> text_layer([TextPage(200, 100, [])])[:8]
    b'%PDF-1.7'
    """
    codes = {each: code for code, each in enumerate(sorted({c for p in pages for n in p.lines for c in n.text}), 1)}
    kids = " ".join(f"{7 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>".encode(),
        b"<</Type/Font/Subtype/Type0/BaseFont/Recognised/Encoding/Identity-H/DescendantFonts[4 0 R]/ToUnicode 6 0 R>>",
        f"<</Type/Font/Subtype/CIDFontType2/BaseFont/Recognised/CIDToGIDMap/Identity/DW {ADVANCE * 1000:.0f}"
        "/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>/FontDescriptor 5 0 R>>".encode(),
        f"<</Type/FontDescriptor/FontName/Recognised/Flags 32/FontBBox[0 {-DESCENT * 1000:.0f} {ADVANCE * 1000:.0f} "
        f"{ASCENT * 1000:.0f}]/ItalicAngle 0/Ascent {ASCENT * 1000:.0f}/Descent {-DESCENT * 1000:.0f}"
        "/CapHeight 700/StemV 80>>".encode(),
        _stream(_code_table(codes)),
    ]
    for number, page in enumerate(pages):
        objects += [
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 {page.width:.2f} {page.height:.2f}]"
            f"/Resources<</Font<</F 3 0 R>>>>/Contents {8 + 2 * number} 0 R>>".encode(),
            _stream(_content(page, codes)),
        ]
    return _file(objects)


def _content(page: TextPage, codes: dict[str, int]) -> bytes:
    parts = ["BT"]
    for line in page.lines:
        left, top, right, bottom = line.box
        size = bottom - top
        if size <= 0 or right <= left or not line.text:
            continue
        stretch = 100 * (right - left) / (len(line.text) * ADVANCE * size)
        shown = "".join(f"{codes[character]:04X}" for character in line.text)
        baseline = page.height - bottom + DESCENT * size
        parts.append(f"/F {size:.2f} Tf {stretch:.3f} Tz 1 0 0 1 {left:.2f} {baseline:.2f} Tm <{shown}> Tj")
    return "\n".join([*parts, "ET"]).encode()


def _code_table(codes: dict[str, int]) -> bytes:
    entries = [f"<{code:04X}> <{character.encode('utf-16-be').hex().upper()}>" for character, code in codes.items()]
    blocks = [entries[start : start + CODES_A_BLOCK] for start in range(0, len(entries), CODES_A_BLOCK)]
    head = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap\n"
        "/CIDSystemInfo <</Registry (Adobe) /Ordering (UCS) /Supplement 0>> def\n"
        "/CMapName /Adobe-Identity-UCS def /CMapType 2 def\n"
        "1 begincodespacerange <0000> <FFFF> endcodespacerange\n"
    )
    body = "".join(f"{len(block)} beginbfchar\n" + "\n".join(block) + "\nendbfchar\n" for block in blocks)
    return (head + body + "endcmap CMapName currentdict /CMap defineresource pop end end").encode()


def _stream(data: bytes) -> bytes:
    packed = zlib.compress(data)
    return b"<</Length %d/Filter/FlateDecode>>\nstream\n" % len(packed) + packed + b"\nendstream"


def _file(objects: Iterable[bytes]) -> bytes:
    out = bytearray(b"%PDF-1.7\n")
    starts = []
    for number, content in enumerate(objects, 1):
        starts.append(len(out))
        out += b"%d 0 obj\n" % number + content + b"\nendobj\n"
    table = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(starts) + 1)
    out += b"".join(b"%010d 00000 n \n" % start for start in starts)
    out += b"trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (len(starts) + 1, table)
    return bytes(out)
