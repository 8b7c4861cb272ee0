"""Printed lines: words on one baseline, up to a gap that separates columns or cells."""

from __future__ import annotations

import itertools
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from corpus_pipeline.conversion.pdf.capture import FontStyle, Word
from corpus_pipeline.conversion.pdf.geometry import Box, bounding_box
from corpus_pipeline.conversion.pdf.patterns import ends_in_leader, is_marker_only, is_numeric_cell, is_page_number
from corpus_pipeline.conversion.pdf.rules import Rule

__all__ = ["CODE_GAP", "LINE_GAP", "Line", "build_lines", "close_gaps", "rows_of", "rows_of_words", "text_of"]

WORD_GAP = 0.12
"""Words closer than this share of their size are one word, broken by a change of font."""
LINE_GAP = 0.62
"""Words closer than this share of their size belong to one line, whatever stands around them."""
STRETCHED_GAP = 1.35
"""The widest gap, in sizes, that justified setting makes between two words of a line."""
WIDEST_GAP = 5.0
"""The widest gap, in sizes, that is closed because the lines around run across it."""
CODE_GAP = 30.0
"""The widest gap, in sizes, inside a line of code, where spaces align what stands below one another."""
LEADER_GAP = 5.0
"""The widest gap, in sizes, between the end of dot leaders and the number they lead to."""
MARKER_GAP = 4.0
"""The widest gap, in sizes, between the marker of a list item or section and its text."""


@dataclass(slots=True)
class Line:
    """Words of one line in reading order.

    Attributes:
        size: Nominal height of the most used font in points.
        bold: Whether every word is bold; so with the other styles.
    """

    words: list[Word]
    box: Box
    text: str
    size: float
    font: FontStyle
    bold: bool
    italic: bool
    monospaced: bool

    @property
    def word_count(self) -> int:
        """Number of words."""
        return len(self.words)


def build_lines(
    words: Iterable[Word],
    verticals: Sequence[Rule] = (),
    *,
    enumerator_gap: float = MARKER_GAP,
    code_gap: float = LINE_GAP,
) -> list[Line]:
    """Joins words into lines.

    Args:
        words: Words of a page, any order.
        verticals: Vertical rules; a line never crosses one.
        enumerator_gap: Widest gap, in sizes, between a number such as ``2.`` and its text;
            in a table a number with white space behind it is a cell of its own.
        code_gap: Widest gap, in sizes, between two words in a monospaced font.

    Returns:
        Lines, top to bottom and then left to right.
    """
    gaps = _Gaps(enumerator_gap, code_gap)
    lines = [
        _line(run)
        for row in rows_of_words(words)
        for run in _runs(row, [rule for rule in verticals if rule.spans(row[0].box.centre_y)], gaps)
    ]
    lines.sort(key=lambda line: (line.box.top, line.box.left))
    return lines


def close_gaps(lines: Sequence[Line], verticals: Sequence[Rule] = ()) -> list[Line]:
    """Joins parts of one line that justified setting has driven apart.

    A wide gap is only a gap between words where the lines right above and below run
    across it; between columns or cells they have a gap in the same place.
    """
    rows = rows_of(lines)
    closed: list[Line] = []
    for position, row in enumerate(rows):
        near = [line for other in rows[max(0, position - 3) : position + 4] if other is not row for line in other]
        joined = [row[0]]
        for line in row[1:]:
            before = joined[-1]
            ruled = any(
                before.box.right - 1.5 <= rule.position <= line.box.left + 1.5 and rule.spans(line.box.centre_y)
                for rule in verticals
            )
            if not ruled and _is_run_across(before, line, near):
                joined[-1] = _line(sorted(before.words + line.words, key=lambda word: word.box.left))
            else:
                joined.append(line)
        closed += joined
    closed.sort(key=lambda line: (line.box.top, line.box.left))
    return closed


def _is_run_across(before: Line, line: Line, near: Sequence[Line]) -> bool:
    gap = -before.box.overlap_x(line.box)
    size = min(before.size, line.size)
    if not 0 < gap <= WIDEST_GAP * size or max(before.size, line.size) > 1.25 * size:
        return False
    both = bounding_box([before.box, line.box])
    hole = Box(before.box.right, both.top, line.box.left, both.bottom)
    across = []
    for upper in (True, False):
        beside = [other for other in near if _is_next(hole, other.box, upper=upper) and _meets(before, line, other)]
        if beside:
            across.append(any(_covers(other.box, hole, size) for other in beside))
    return all(across) and (len(across) == 2 or (len(across) == 1 and gap <= 2.5 * size))


def _covers(box: Box, hole: Box, margin: float) -> bool:
    return box.left < hole.left - margin and box.right > hole.right + margin


def _is_next(hole: Box, other: Box, *, upper: bool) -> bool:
    distance = hole.top - other.bottom if upper else other.top - hole.bottom
    return -0.4 * hole.height <= distance <= 0.9 * hole.height


def _meets(before: Line, line: Line, other: Line) -> bool:
    return other.box.right > before.box.right - before.size and other.box.left < line.box.left + line.size


def rows_of_words(words: Iterable[Word]) -> list[list[Word]]:
    """Groups words that stand side by side, each group sorted from left to right."""
    rows: list[list[Word]] = []
    for word in sorted(words, key=lambda word: (word.box.centre_y, word.box.left)):
        for row in reversed(rows[-6:]):
            if _side_by_side(row[0].box, word.box):
                row.append(word)
                break
        else:
            rows.append([word])
    for row in rows:
        row.sort(key=lambda word: word.box.left)
    return rows


def rows_of(lines: Iterable[Line]) -> list[list[Line]]:
    """Groups lines that stand side by side, top to bottom, each group sorted from left to right."""
    rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: (line.box.centre_y, line.box.left)):
        for row in reversed(rows[-4:]):
            if _side_by_side(row[0].box, line.box):
                row.append(line)
                break
        else:
            rows.append([line])
    for row in rows:
        row.sort(key=lambda line: line.box.left)
    return rows


def text_of(words: Sequence[Word]) -> str:
    """The text of words in reading order, with spaces where the page shows them."""
    parts = [words[0].text]
    for before, after in itertools.pairwise(words):
        gap = -before.box.overlap_x(after.box)
        if gap < WORD_GAP * min(before.size, after.size):
            parts.append(after.text)
        else:
            parts.append(" " * _space_count(before, after, gap) + after.text)
    return "".join(parts)


def _space_count(before: Word, after: Word, gap: float) -> int:
    """One space, or in code as many as the page shows."""
    if not (before.font.monospaced and after.font.monospaced):
        return 1
    return max(1, round(gap * len(before.text) / before.box.width))


def _side_by_side(first: Box, second: Box) -> bool:
    lower, higher = sorted((first.height, second.height))
    if first.overlap_y(second) < 0.55 * lower:
        return False
    return higher < 2.2 * lower or lower < 4 or abs(first.bottom - second.bottom) < 0.3 * higher


@dataclass(frozen=True, slots=True)
class _Gaps:
    """Widest gaps, in sizes, behind an enumerator and between words of code."""

    enumerator: float
    code: float


def _runs(row: list[Word], verticals: list[Rule], widest: _Gaps) -> list[list[Word]]:
    """Splits a row where columns or cells part."""
    gaps = [-before.box.overlap_x(after.box) for before, after in itertools.pairwise(row)]
    runs = [[row[0]]]
    for position, word in enumerate(row[1:]):
        run = runs[-1]
        before = run[-1]
        parted = any(
            before.box.right - 1.5 <= rule.position <= word.box.left + 1.5 for rule in verticals
        ) or not _joins(run, word, gaps, position, widest)
        if parted:
            runs.append([word])
        else:
            run.append(word)
    return runs


def _joins(run: list[Word], word: Word, gaps: list[float], position: int, widest: _Gaps) -> bool:
    before, gap = run[-1], gaps[position]
    size = max(before.size, word.size) if min(before.size, word.size) > 4 else 8.0
    size = min(size, 1.6 * min(before.size, word.size)) if min(before.size, word.size) > 4 else size
    if gap <= LINE_GAP * size:
        return gap > -0.6 * max(1.0, min(before.box.width, word.box.width)) or before.font == word.font
    if is_marker_only(" ".join(word.text for word in run[-2:])) and len(run) <= 2:
        bullet = not any(character.isalnum() for character in before.text)
        if gap <= (MARKER_GAP if bullet else widest.enumerator) * size:
            return True
    if before.font.monospaced and word.font.monospaced and gap <= widest.code * size:
        return True
    if gap <= LEADER_GAP * size and _leads_to(run, word):
        return True
    return gap <= STRETCHED_GAP * size and _is_stretched(gaps, position, size)


def _leads_to(run: Sequence[Word], word: Word) -> bool:
    """Whether a run ends in dot leaders and the word is the number that they lead to."""
    if not ends_in_leader(" ".join(word.text for word in run[-4:])):
        return False
    return is_numeric_cell(word.text) or is_page_number(word.text)


def _is_stretched(gaps: list[float], position: int, size: float) -> bool:
    """Whether a wide gap is as wide as its neighbours: the mark of a justified line."""
    near = gaps[max(0, position - 4) : position] + gaps[position + 1 : position + 5]
    words = [gap for gap in near if gap <= STRETCHED_GAP * size]
    if len(words) < 4:
        return False
    return gaps[position] <= 1.6 * median(words)


def _line(run: list[Word]) -> Line:
    ordered = _reading_order(run)
    fonts: Counter[FontStyle] = Counter()
    sizes: Counter[float] = Counter()
    for word in run:
        fonts[word.font] += len(word.text)
        sizes[round(word.size * 4) / 4] += len(word.text)
    size = max(sizes, key=lambda value: (sizes[value], value))
    body = [word for word in run if word.size >= 0.8 * size] or run
    box = bounding_box(word.box for word in run)
    core = bounding_box(word.box for word in body)
    lettered = [word for word in run if any(character.isalnum() for character in word.text)] or run
    return Line(
        words=ordered,
        box=Box(box.left, core.top, box.right, core.bottom),
        text=text_of(ordered),
        size=size,
        font=max(fonts, key=lambda font: (fonts[font], font.name)),
        bold=all(word.font.bold for word in lettered),
        italic=all(word.font.italic for word in lettered),
        monospaced=all(word.font.monospaced for word in lettered),
    )


def _reading_order(run: list[Word]) -> list[Word]:
    """Words of a line as they are read: a line in a right-to-left script starts at its right end.

    Runs of left-to-right words and numbers inside such a line keep their own direction
    (the outcome of the Unicode bidirectional algorithm for whole words).
    """
    if sum(word.right_to_left for word in run) * 2 <= sum(_has_letter(word.text) for word in run):
        return _with_right_to_left_runs(run)
    ordered: list[Word] = []
    forward: list[Word] = []
    for word in reversed(run):
        if word.right_to_left or not any(character.isalnum() for character in word.text):
            ordered += reversed(forward)
            forward = []
            ordered.append(word)
        else:
            forward.append(word)
    return ordered + list(reversed(forward))


def _with_right_to_left_runs(run: list[Word]) -> list[Word]:
    """A left-to-right line in which neighbouring right-to-left words are read backwards."""
    if not any(word.right_to_left for word in run):
        return run
    ordered: list[Word] = []
    backward: list[Word] = []
    for word in run:
        if word.right_to_left:
            backward.append(word)
        else:
            ordered += reversed(backward)
            backward = []
            ordered.append(word)
    return ordered + list(reversed(backward))


def _has_letter(text: str) -> bool:
    return any(unicodedata.category(character).startswith("L") for character in text)
