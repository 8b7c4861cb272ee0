"""Columns of a table that no vertical rule marks: intervals of x that its cells share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from corpus_pipeline.conversion.pdf.capture import Word
from corpus_pipeline.conversion.pdf.geometry import merge_intervals
from corpus_pipeline.conversion.pdf.lines import Line, rows_of_words

__all__ = ["column_intervals", "join_currency"]

WIDE_CELL = 0.6
"""A cell wider than this share of the table says nothing about single columns."""
COLUMN_GAP = 1.5
CURRENCY = frozenset({"$", "€", "£", "¥", "(", "$(", "US$"})
CLOSING = frozenset({")", "%", ")%"})
AMOUNT = re.compile(r"\(?[-–—−]?\s*(?:\d|$)")


def column_intervals(rows: Sequence[Sequence[Line]]) -> list[tuple[float, float]]:
    """Intervals of x, left to right, in which the cells of the fullest rows stand.

    Rows with nearly the most cells decide; cells of other rows widen a column they touch
    alone, or add one where nothing stands. A cell over several columns changes nothing.
    """
    parted = [row for row in rows if len(row) > 1]
    if not parted:
        return []
    left = min(line.box.left for row in parted for line in row)
    right = max(line.box.right for row in parted for line in row)
    narrow = [[line for line in row if line.box.width <= WIDE_CELL * (right - left)] for row in parted]
    most = max(len(row) for row in narrow)
    if most == 0:
        return []
    full = [row for row in narrow if len(row) >= max(2, 0.75 * most)] or narrow
    columns = merge_intervals(((line.box.left, line.box.right) for row in full for line in row), COLUMN_GAP)
    for row in narrow:
        for line in row:
            columns = _with_cell(columns, line.box.left, line.box.right)
    return columns


def _with_cell(columns: list[tuple[float, float]], left: float, right: float) -> list[tuple[float, float]]:
    touched = [
        position
        for position, (start, end) in enumerate(columns)
        if left <= end + COLUMN_GAP and right >= start - COLUMN_GAP
    ]
    if len(touched) > 1:
        return columns
    if not touched:
        return sorted([*columns, (left, right)])
    position = touched[0]
    start, end = columns[position]
    return [*columns[:position], (min(start, left), max(end, right)), *columns[position + 1 :]]


def join_currency(words: Iterable[Word]) -> list[Word]:
    """Joins currency signs, closing brackets and percent signs to the amounts they belong to.

    The sign of a column of amounts often stands far to the left of them, next to the amounts
    of the column before. A joined word keeps the box of its amount.
    """
    joined: list[Word] = []
    for row in rows_of_words(words):
        sign: Word | None = None
        for word in row:
            if word.text in CURRENCY:
                joined += [sign] if sign else []
                sign = word
            elif sign and AMOUNT.match(word.text):
                joined.append(replace(word, text=f"{sign.text}{'' if sign.text.endswith('(') else ' '}{word.text}"))
                sign = None
            elif word.text in CLOSING and joined and _closes(joined[-1], word):
                before = joined[-1]
                space = " " if word.box.left - before.box.right > 0.2 * word.size and word.text != ")" else ""
                joined[-1] = replace(before, text=f"{before.text}{space}{word.text}")
            else:
                joined += [sign, word] if sign else [word]
                sign = None
        joined += [sign] if sign else []
    return joined


def _closes(before: Word, word: Word) -> bool:
    return (
        0 <= word.box.left - before.box.right + 1 < 2.5 * word.size
        and before.box.overlap_y(word.box) > 0
        and bool(AMOUNT.search(before.text))
    )
