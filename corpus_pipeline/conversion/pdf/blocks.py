"""Blocks: lines that make up one paragraph, list item, heading or caption."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from corpus_pipeline.conversion.pdf.enumerations import is_initial, letters_of
from corpus_pipeline.conversion.pdf.geometry import Box, bounding_box
from corpus_pipeline.conversion.pdf.lines import Line
from corpus_pipeline.conversion.pdf.patterns import (
    ends_in_leader,
    has_bullet_glyph,
    has_leader,
    is_bullet,
    is_list_item,
    is_marker_only,
    looks_numbered_deep,
)
from corpus_pipeline.conversion.pdf.rules import PageRules
from corpus_pipeline.conversion.pdf.table_cells import TableGrid

__all__ = ["BlockLabel", "PageBlock", "build_blocks"]

FARTHEST_LINE = 3.5
"""Lines farther apart than this many line heights never follow one another."""
SAME_SIZE = 0.13
CODE_GAP = 2.3
"""Lines of code up to this many heights apart belong together: a blank line may stand between."""
CODE_INDENT = 6.0
"""A line of code starts at most this many sizes right of the end of the next one."""
SENTENCE_END = re.compile(r"[.!?:][\"'”’)\]]*$")
COLUMN_INDENT = 40.0
"""Lines of one column start at most this many points apart: indents and hanging numbers included."""
FULL_LINE_WORDS = 5
ENOUGH_LINES = 4
PARAGRAPH_WORDS = 12
"""A line of at least this many words is running text, not a label or a heading."""


class BlockLabel(StrEnum):
    """What a block is; decided for the document as a whole, :mod:`.labels`."""

    TEXT = "text"
    HEADING = "heading"
    LIST_ITEM = "list_item"
    TABLE = "table"
    CODE = "code"
    CAPTION = "caption"
    FOOTNOTE = "footnote"
    PICTURE = "picture"
    PAGE_HEADER = "page_header"
    PAGE_FOOTER = "page_footer"


@dataclass(slots=True)
class PageBlock:
    """Lines of one page that belong together.

    Attributes:
        box: In the frame the lines are in.
        grid: Cells, for a table.
        turned: Whether the text stands at an angle to the page's.
    """

    lines: list[Line]
    box: Box
    label: BlockLabel = BlockLabel.TEXT
    grid: TableGrid | None = None
    text: str = field(default="", repr=False)
    turned: bool = False

    @classmethod
    def of_lines(cls, lines: Sequence[Line], label: BlockLabel = BlockLabel.TEXT) -> PageBlock:
        """A block of lines in reading order."""
        return cls(
            list(lines), bounding_box(line.box for line in lines), label, text=" ".join(line.text for line in lines)
        )

    @property
    def size(self) -> float:
        """Nominal text height that most characters have."""
        sizes: Counter[float] = Counter()
        for line in self.lines:
            sizes[line.size] += len(line.text)
        return max(sizes, key=lambda size: (sizes[size], size)) if sizes else 0.0

    @property
    def word_count(self) -> int:
        """Number of words."""
        return sum(line.word_count for line in self.lines)


def build_blocks(lines: Sequence[Line], rules: PageRules) -> list[PageBlock]:
    """Chains each line with the one below it where both belong to one block.

    Args:
        lines: Lines of a page that stand in no table.
        rules: Horizontal rules part blocks.
    """
    ordered = sorted(lines, key=lambda line: (line.box.top, line.box.left))
    below = _nearest_below(ordered)
    room = {position: _room_left(ordered, position) for position in below}
    spacing = _line_spacing(ordered, below, room)
    letters = letters_of(line.text for line in ordered)
    following = {
        position: target
        for position, target in below.items()
        if _continues(ordered[position], ordered[target], spacing, rules, letters)
        and not _breaks_early(ordered[position], ordered[target], room[position])
    }
    started = set(following.values())
    blocks = []
    for position in range(len(ordered)):
        if position in started:
            continue
        chain = [ordered[position]]
        while position in following:
            position = following[position]  # noqa: PLW2901 - the walk starts at each chain's head
            chain.append(ordered[position])
        blocks.append(PageBlock.of_lines(chain))
    return blocks


def _nearest_below(lines: list[Line]) -> dict[int, int]:
    """For each line the line right below it, where each is the other's nearest."""
    below: dict[int, int] = {}
    above: dict[int, int] = {}
    for position, line in enumerate(lines):
        for target in range(position + 1, len(lines)):
            other = lines[target]
            if other.box.top - line.box.bottom > FARTHEST_LINE * max(line.box.height, other.box.height):
                break
            if not _stacked(line.box, other.box) and not _outdents(line, other):
                continue
            if position not in below or _nearer(lines, line, target, below[position]):
                below[position] = target
            if target not in above or _nearer_above(lines, other, position, above[target]):
                above[target] = position
    return {position: target for position, target in below.items() if above.get(target) == position}


def _stacked(upper: Box, lower: Box) -> bool:
    return lower.centre_y > upper.centre_y + 0.3 * upper.height and upper.overlap_x(lower) >= 0.25 * min(
        upper.width, lower.width
    )


def _outdents(upper: Line, lower: Line) -> bool:
    """Whether a line of code ends left of where the one above starts, as a closing bracket does."""
    if not (upper.monospaced and lower.monospaced) or lower.box.centre_y <= upper.box.bottom:
        return False
    return 0 <= upper.box.left - lower.box.right < CODE_INDENT * upper.size


def _nearer(lines: list[Line], line: Line, candidate: int, current: int) -> bool:
    """Whether ``candidate`` is nearer below ``line``; on one row the one that overlaps more."""
    new, old = lines[candidate].box, lines[current].box
    if abs(new.top - old.top) <= 0.5 * new.height:
        return line.box.overlap_x(new) > line.box.overlap_x(old)
    return new.top < old.top


def _nearer_above(lines: list[Line], line: Line, candidate: int, current: int) -> bool:
    new, old = lines[candidate].box, lines[current].box
    if abs(new.bottom - old.bottom) <= 0.5 * new.height:
        return line.box.overlap_x(new) > line.box.overlap_x(old)
    return new.bottom > old.bottom


def _room_left(lines: list[Line], position: int) -> float:
    """White space between a line's end and the right edge of its column."""
    line = lines[position]
    if line.word_count == 1:
        return 0.0
    column = [other for other in lines if other.word_count > 1 and abs(other.box.left - line.box.left) <= COLUMN_INDENT]
    return max(other.box.right for other in column) - line.box.right


def _breaks_early(line: Line, other: Line, room: float) -> bool:
    """Whether ``other`` starts a new paragraph although its first word would still have fitted above."""
    if line.words[0].right_to_left or line.monospaced or line.bold:
        return False
    first = other.words[0].box.width
    starts_anew = not other.text[:1].islower()
    return starts_anew and room > first + 2.5 * line.size


def _line_spacing(lines: list[Line], below: dict[int, int], room: dict[int, float]) -> dict[tuple[float, bool], float]:
    """The usual gap between the lines of a paragraph over their height, for each text style of the page.

    Lines that are full, so that the text had to go on below, tell it best.
    The key ``(0, False)`` holds the gap over all styles.
    """
    full = {
        position: target
        for position, target in below.items()
        if room[position] < lines[target].words[0].box.width + lines[position].size
        and lines[position].word_count >= FULL_LINE_WORDS
    }
    gaps: dict[tuple[float, bool], Counter[float]] = {}
    for position, target in (full if len(full) >= ENOUGH_LINES else below).items():
        line, other = lines[position], lines[target]
        if line.monospaced or abs(line.size - other.size) > SAME_SIZE * line.size:
            continue
        gap = round((other.box.top - line.box.bottom) / line.box.height, 1)
        for key in (_style_key(line), (0.0, False)):
            gaps.setdefault(key, Counter())[gap] += 1
    return {key: _usual_gap(counts) for key, counts in gaps.items() if key == (0.0, False) or counts.total() >= 4}


def _usual_gap(counts: Counter[float]) -> float:
    def support(gap: float) -> tuple[int, float]:
        return counts[gap] * 2 + counts[round(gap + 0.1, 1)] + counts[round(gap - 0.1, 1)], -gap

    return min(max(max(counts, key=support), 0.0), 1.6)


def _style_key(line: Line) -> tuple[float, bool]:
    return round(line.size), line.bold


def _continues(
    line: Line,
    other: Line,
    spacing: dict[tuple[float, bool], float],
    rules: PageRules,
    letters: frozenset[str],
) -> bool:
    """Whether ``other``, right below, goes on with the block of ``line``."""
    usual = spacing.get(_style_key(line), spacing.get((0.0, False), 0.3))
    gap = (other.box.top - line.box.bottom) / min(line.box.height, other.box.height)
    if line.monospaced != other.monospaced:
        return False
    if line.monospaced:
        return (
            gap < CODE_GAP
            and not has_bullet_glyph(other.text)
            and abs(line.size - other.size) <= SAME_SIZE * max(line.size, other.size)
        )
    if has_leader(line.text) and not ends_in_leader(line.text):
        return False
    if gap > max(usual + 0.28, 0.45 if usual < 0.35 else 0.0):
        return False
    return not (
        _style_parts(line, other)
        or _item_starts(line, other, letters)
        or _ruled_apart(line, other, rules)
        or _paragraph_ends(line, other)
    )


def _style_parts(line: Line, other: Line) -> bool:
    if abs(line.size - other.size) > SAME_SIZE * max(line.size, other.size):
        return True
    if line.bold == other.bold:
        return False
    if line.word_count >= PARAGRAPH_WORDS and other.word_count >= PARAGRAPH_WORDS:
        return False
    # A bold label that fills its line runs on in the next one.
    runs_on = line.box.right >= other.box.right - 2 * line.size and other.text[:1].islower()
    return not runs_on


def _item_starts(line: Line, other: Line, letters: frozenset[str]) -> bool:
    if is_marker_only(other.text):
        return True
    if is_list_item(other.text) and not is_initial(other.text, letters):
        return not _is_wrapped_number(line, other)
    if looks_numbered_deep(line.text) and line.word_count <= PARAGRAPH_WORDS:
        return not line.text.endswith((".", ",", ";")) and line.box.width < 0.75 * other.box.width
    return (
        looks_numbered_deep(other.text) and other.word_count <= PARAGRAPH_WORDS and bool(SENTENCE_END.search(line.text))
    )


def _is_wrapped_number(line: Line, other: Line) -> bool:
    """Whether a sentence just happens to break before ``2) …`` or a dash inside a paragraph."""
    return (
        not is_bullet(other.text)
        and not is_list_item(line.text)
        and not SENTENCE_END.search(line.text)
        and line.word_count >= 6
        and abs(line.box.left - other.box.left) < 0.5 * line.size
        and other.text.split(maxsplit=2)[1][:1].islower()
    )


def _ruled_apart(line: Line, other: Line, rules: PageRules) -> bool:
    return any(
        line.box.bottom - 2 <= rule.position <= other.box.top + 2
        and rule.start <= max(line.box.left, other.box.left) + 3
        and rule.end >= min(line.box.right, other.box.right) - 3
        and rule.length > 0.6 * max(line.box.width, other.box.width)
        for rule in rules.horizontal
    )


def _paragraph_ends(line: Line, other: Line) -> bool:
    """Whether ``line`` closes a paragraph: a first-line indent follows, or it stops short."""
    if not SENTENCE_END.search(line.text):
        return False
    indent = other.box.left - line.box.left
    if 0.8 * line.size < indent < 4 * line.size and not is_list_item(line.text):
        return True
    stops_short = line.box.right < other.box.right - 0.25 * max(line.box.width, other.box.width)
    return stops_short and other.text[:1].isupper() and abs(indent) < 2 * line.size
