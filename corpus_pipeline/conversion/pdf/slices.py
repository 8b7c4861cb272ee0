"""A slice of pages on its way from the process that captured it to the one that assembles the document.

Written as JSON, which has no code in it and gives every number back exactly; a slice of a
hostile file is as untrusted as the file.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from corpus_pipeline.conversion.pdf.capture import PageCapture, Word, font_style
from corpus_pipeline.conversion.pdf.geometry import Box
from corpus_pipeline.conversion.pdf.rules import PageRules, Rule
from corpus_pipeline.conversion.pdf.sizes import FontEvidence

__all__ = ["CapturedPage", "PdfSlice", "pack_slice", "unpack_evidence", "unpack_slice"]

_COMPRESSION = 1
_SEPARATOR = b"\n"


@dataclass(slots=True)
class CapturedPage:
    """One page before its layout.

    Attributes:
        native: docling's own lines, for a page that geometry cannot lay out.
        parsed: docling's page without its content, for hyperlinks.
        size: Width and height in points.
        fonts: What the page teaches about fonts.
    """

    capture: PageCapture
    native: list[Word]
    parsed: Any
    size: tuple[float, float]
    fonts: FontEvidence


@dataclass(slots=True)
class PdfSlice:
    """Pages that were captured together.

    Attributes:
        pages: In order.
        failed_pages: Numbers of pages that could not be parsed.
    """

    pages: list[CapturedPage]
    failed_pages: list[int] = field(default_factory=list)


def pack_slice(pages: PdfSlice) -> bytes:
    """The slice as bytes; :func:`unpack_slice` gives an equal one."""
    fonts: dict[str, int] = {}
    body = {"pages": [_page_values(page, fonts) for page in pages.pages], "failed": pages.failed_pages}
    body["fonts"] = list(fonts)
    evidence = [_evidence_values(page.fonts) for page in pages.pages]
    parts = (json.dumps(part, separators=(",", ":")).encode() for part in (evidence, body))
    compressed = [zlib.compress(part, _COMPRESSION) for part in parts]
    return str(len(compressed[0])).encode() + _SEPARATOR + b"".join(compressed)


def unpack_evidence(data: bytes) -> list[FontEvidence]:
    """What each page of a packed slice teaches about fonts, without reading the pages."""
    return [_evidence(values) for values in json.loads(zlib.decompress(_parts(data)[0]))]


def unpack_slice(data: bytes) -> PdfSlice:
    """The slice of :func:`pack_slice`."""
    evidence, packed = unpack_evidence(data), _parts(data)[1]
    body = json.loads(zlib.decompress(packed))
    pages = [_page(values, body["fonts"], fonts) for values, fonts in zip(body["pages"], evidence, strict=True)]
    return PdfSlice(pages, body["failed"])


def _parts(data: bytes) -> tuple[memoryview, memoryview]:
    head = data.index(_SEPARATOR)
    split = head + 1 + int(data[:head])
    view = memoryview(data)
    return view[head + 1 : split], view[split:]


def _page_values(page: CapturedPage, fonts: dict[str, int]) -> list[Any]:
    capture, rules = page.capture, page.capture.rules
    return [
        [capture.number, capture.width, capture.height, capture.quarter_turns],
        _words_values(capture.words, fonts),
        _words_values(capture.turned, fonts),
        _words_values(page.native, fonts),
        [[(rule.position, rule.start, rule.end) for rule in each] for each in (rules.horizontal, rules.vertical)],
        [_boxes_values(each) for each in (rules.fills, rules.dots, capture.images)],
        [[*_box_values(box), target] for box, target in capture.links],
        list(page.size),
        page.parsed.model_dump(mode="json") if page.parsed is not None else None,
    ]


def _page(values: list[Any], fonts: list[str], evidence: FontEvidence) -> CapturedPage:
    from docling_core.types.doc.page import SegmentedPdfPage

    (number, width, height, turns), words, turned, native, lines, areas, links, size, parsed = values
    horizontal, vertical = ([Rule(*each) for each in group] for group in lines)
    fills, dots, images = ([Box(*each) for each in group] for group in areas)
    capture = PageCapture(
        number=number,
        width=width,
        height=height,
        words=_words(words, fonts),
        rules=PageRules(horizontal, vertical, fills, dots),
        images=images,
        turned=_words(turned, fonts),
        quarter_turns=turns,
        links=[(Box(*box), target) for *box, target in links],
    )
    shown = SegmentedPdfPage.model_validate(parsed) if parsed is not None else None
    return CapturedPage(capture, _words(native, fonts), shown, (size[0], size[1]), evidence)


def _words_values(words: Iterable[Word], fonts: dict[str, int]) -> list[Any]:
    return [
        (
            word.text,
            *_box_values(word.box),
            fonts.setdefault(word.font.name, len(fonts)),
            word.size,
            int(word.right_to_left),
        )
        for word in words
    ]


def _words(values: list[Any], fonts: list[str]) -> list[Word]:
    styles = [font_style(name) for name in fonts]
    return [
        Word(text, Box(left, top, right, bottom), styles[font], size, bool(turned))
        for text, left, top, right, bottom, font, size, turned in values
    ]


def _box_values(box: Box) -> tuple[float, float, float, float]:
    return box.left, box.top, box.right, box.bottom


def _boxes_values(boxes: Iterable[Box]) -> list[tuple[float, float, float, float]]:
    return [_box_values(box) for box in boxes]


def _evidence_values(evidence: FontEvidence) -> list[Any]:
    return [
        [name, [[*reach, measured] for reach, measured in heights.items()], votes, advances]
        for name, (heights, votes, advances) in evidence.items()
    ]


def _evidence(values: list[Any]) -> FontEvidence:
    return {
        name: ({(rises, falls): measured for rises, falls, measured in heights}, votes, advances)
        for name, heights, votes, advances in values
    }
