"""What one page holds: words, ruling lines, filled areas, pictures and links.

The only module that reads docling-parse's cells. Everything after it works on these
plain values, so that a page of any size costs little once it has been captured.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from corpus_pipeline.conversion.pdf.font_names import FontNames, is_resource_key
from corpus_pipeline.conversion.pdf.geometry import Box
from corpus_pipeline.conversion.pdf.rules import PageRules, rules_from_shapes

__all__ = ["FontStyle", "PageCapture", "Word", "capture_page", "font_style"]

MONOSPACED_NAMES = re.compile(
    r"mono|courier|consol|menlo|typewriter|cmtt|fixed|nimbusmon|freemon|inconsol|sourcecode|terminal|lettergothic|andale",
    re.IGNORECASE,
)
CODE_FONT_TAGS = re.compile(r"lmtt|cmtt|ectt|sftt|\btt\d*$", re.IGNORECASE)
BOLD_WEIGHT = 600
CELL_LIMIT = 30_000
"""More words than this on one page are a drawing made of text; the page is read natively."""


@dataclass(frozen=True, slots=True)
class FontStyle:
    """What the name of a font says about its look."""

    name: str
    bold: bool
    italic: bool
    monospaced: bool


@dataclass(slots=True)
class Word:
    """A run of glyphs without a space.

    Attributes:
        size: Nominal line height of the font in points; corrected once the document's fonts are known.
        right_to_left: Whether the script of the word runs from right to left.
    """

    text: str
    box: Box
    font: FontStyle
    size: float
    right_to_left: bool = False


@dataclass(slots=True)
class PageCapture:
    """The content of one page in page coordinates (see :mod:`.geometry`).

    Attributes:
        turned: Words that stand at an angle to the page's main direction.
        quarter_turns: Clockwise quarter turns that were undone, so that the page's text runs
            from left to right; boxes of ``words``, ``rules`` and ``images`` are in the turned frame.
        links: Boxes of hyperlinks with their targets, in the page's own frame.
    """

    number: int
    width: float
    height: float
    words: list[Word]
    rules: PageRules
    images: list[Box]
    turned: list[Word] = field(default_factory=list)
    quarter_turns: int = 0
    links: list[tuple[Box, str]] = field(default_factory=list)

    @property
    def frame_width(self) -> float:
        """Width of the frame the words are in."""
        return self.height if self.quarter_turns % 2 else self.width

    @property
    def frame_height(self) -> float:
        """Height of the frame the words are in."""
        return self.width if self.quarter_turns % 2 else self.height

    def to_page(self, box: Box) -> Box:
        """A box of the turned frame in the page's own frame."""
        for _ in range(self.quarter_turns % 4):
            box = Box(-box.bottom, box.left, -box.top, box.right)
        shift_x = self.width if self.quarter_turns in (1, 2) else 0.0
        shift_y = self.height if self.quarter_turns in (2, 3) else 0.0
        return Box(box.left + shift_x, box.top + shift_y, box.right + shift_x, box.bottom + shift_y)


@lru_cache(maxsize=4096)
def font_style(name: str) -> FontStyle:
    """Style of a font by its name, as docling reads it; an unknown name is regular."""
    from docling.utils.font_style import parse_font_style

    style = parse_font_style(name)
    bare = name.lstrip("/").rpartition("+")[2]
    return FontStyle(
        name=name,
        bold=bool(style.known and style.weight >= BOLD_WEIGHT),
        italic=bool(style.italic),
        monospaced=bool(MONOSPACED_NAMES.search(bare) or CODE_FONT_TAGS.search(bare)),
    )


def capture_page(page_backend: Any, font_names: FontNames | None = None) -> PageCapture:
    """Reads a parsed page.

    Args:
        page_backend: docling's page backend, valid and not yet unloaded.
        font_names: Where to look up fonts that docling knows by resource key alone.

    Raises:
        ValueError: The page holds more words than a page of text can.
    """
    size = page_backend.get_size()
    parsed = page_backend.get_segmented_page()
    if len(parsed.word_cells) > CELL_LIMIT:
        raise ValueError(f"{len(parsed.word_cells)} words on one page")
    shapes = [
        Box(box.l, box.t, box.r, box.b)
        for found in (page_backend.get_thin_shape_boxes(max_thickness=math.inf), page_backend.get_shape_lines())
        for box in found or ()
    ]
    upright: dict[int, list[Word]] = {0: [], 1: [], 2: [], 3: []}
    slanted: list[Word] = []
    for cell in parsed.word_cells:
        word, turns = _word(cell)
        if word is None:
            continue
        (slanted if turns is None else upright[turns]).append(word)
    if font_names is not None:
        _name_fonts([word for words in upright.values() for word in words], page_backend.page_no, font_names)
    main = max(upright, key=lambda turns: (sum(len(word.text) for word in upright[turns]), -turns))
    capture = PageCapture(
        number=page_backend.page_no,
        width=size.width,
        height=size.height,
        words=upright.pop(main),
        rules=rules_from_shapes(shapes, size.width, size.height),
        images=[
            Box(box.l, box.t, box.r, box.b).clipped(size.width, size.height) for box in page_backend.get_bitmap_rects()
        ],
        links=_links(parsed, size.height),
    )
    capture.turned = [word for words in upright.values() for word in words] + slanted
    return _turned(capture, main) if main else capture


def _name_fonts(words: list[Word], number: int, font_names: FontNames) -> None:
    """Gives words set in fonts without a name the style of the font pdfium finds there."""
    samples: dict[str, Word] = {}
    for word in words:
        key = word.font.name
        if is_resource_key(key) and (key not in samples or len(word.text) > len(samples[key].text)):
            samples[key] = word
    if not samples:
        return
    names = font_names.on_page(number, {key: word.box for key, word in samples.items()})
    for word in words:
        if word.font.name in names:
            word.font = font_style(names[word.font.name])


def _word(cell: Any) -> tuple[Word | None, int | None]:
    """The word of a cell and its quarter turns; ``None`` turns for a slanted word."""
    text = cell.text.strip()
    rect = cell.rect
    xs = (rect.r_x0, rect.r_x1, rect.r_x2, rect.r_x3)
    ys = (rect.r_y0, rect.r_y1, rect.r_y2, rect.r_y3)
    box = Box(min(xs), min(ys), max(xs), max(ys))
    if not text or box.width <= 0 or box.height <= 0:
        return None, 0
    turns: int | None = 0
    run_x, run_y = rect.r_x1 - rect.r_x0, rect.r_y1 - rect.r_y0
    if abs(run_y) > abs(run_x) * 0.02:
        turns = round(math.atan2(run_y, run_x) / (math.pi / 2)) % 4
        if abs(math.sin(2 * math.atan2(run_y, run_x))) > 0.1:
            turns = None
    elif run_x < 0:
        turns = 2
    height = box.width if turns in (1, 3) else box.height
    right_to_left = cell.text_direction.value == "right_to_left"
    return Word(text, box, font_style(cell.font_name), height, right_to_left), turns


def _turned(capture: PageCapture, turns: int) -> PageCapture:
    """The capture in a frame where text that runs at ``turns`` quarter turns runs to the right."""
    frame = replace(capture, quarter_turns=turns)

    def into_frame(box: Box) -> Box:
        for _ in range(4 - turns):
            box = Box(-box.bottom, box.left, -box.top, box.right)
        shift_x = frame.frame_width if turns in (2, 3) else 0.0
        shift_y = frame.frame_height if turns in (1, 2) else 0.0
        return Box(box.left + shift_x, box.top + shift_y, box.right + shift_x, box.bottom + shift_y)

    for word in frame.words:
        word.box = into_frame(word.box)
    frame.images = [into_frame(box) for box in frame.images]
    frame.rules = rules_from_shapes(
        [into_frame(box) for box in capture.rules.shapes()], frame.frame_width, frame.frame_height
    )
    return frame


def _links(parsed: Any, page_height: float) -> list[tuple[Box, str]]:
    links = []
    for link in parsed.hyperlinks:
        if link.uri is None:
            continue
        box = link.rect.to_bounding_box().to_top_left_origin(page_height)
        links.append((Box(box.l, box.t, box.r, box.b), str(link.uri)))
    return links
