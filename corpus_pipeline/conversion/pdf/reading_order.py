"""Reading order of a page's elements: columns first where text runs in columns, else row by row."""

from __future__ import annotations

from collections.abc import Sequence

from corpus_pipeline.conversion.pdf.geometry import Box

__all__ = ["reading_order"]

CHANNEL_WIDTH = 4.0
"""Least white space, in points, between two columns."""
SHORTEST_COLUMN = 0.08
"""Columns run side by side over at least this share of the page's height."""
MOST_CROSSING = 0.35
"""Elements across the gutter cover at most this share of the height of the columns."""


def reading_order(boxes: Sequence[Box], page_height: float, *, right_to_left: bool = False) -> list[int]:
    """Positions of boxes in the order they are read.

    Where white space parts the boxes into a left and a right column, what spans both splits
    them into strips, and in each strip the left column comes first; each column is then
    ordered in the same way (a recursive cut in the manner of Nagy and Seth, 1984, with the
    spanning elements taken out first). Elsewhere boxes on one row are read from left to right.

    Args:
        boxes: Elements of one page.
        page_height: Height of the page in points.
        right_to_left: Whether the page is in a script that runs from right to left; columns then do so too.
    """
    if right_to_left:
        boxes = [Box(-box.right, box.top, -box.left, box.bottom) for box in boxes]
    return _ordered(list(range(len(boxes))), boxes, page_height)


def _ordered(members: list[int], boxes: Sequence[Box], page_height: float) -> list[int]:
    if len(members) < 2:
        return members
    channel = _channel(members, boxes, page_height)
    if channel is None:
        return _by_rows(members, boxes, page_height)
    left, right, across = channel
    ordered: list[int] = []
    for strip in _strips(across, boxes):
        upper, lower, spanning = strip
        for side in (left, right):
            inside = [member for member in side if upper <= boxes[member].centre_y < lower]
            ordered += _ordered(inside, boxes, page_height)
        ordered += spanning
    return ordered


def _strips(across: list[int], boxes: Sequence[Box]) -> list[tuple[float, float, list[int]]]:
    """Half-open y ranges between spanning elements, each with the element that closes it."""
    strips = []
    upper = float("-inf")
    for member in sorted(across, key=lambda member: boxes[member].centre_y):
        lower = boxes[member].centre_y
        strips.append((upper, lower, [member]))
        upper = lower
    return [*strips, (upper, float("inf"), [])]


def _channel(
    members: list[int], boxes: Sequence[Box], page_height: float
) -> tuple[list[int], list[int], list[int]] | None:
    """The best parting of members into a left column, a right column and what spans both."""
    best: tuple[float, tuple[list[int], list[int], list[int]]] | None = None
    for x in sorted({boxes[member].right for member in members}):
        left = [member for member in members if boxes[member].right <= x + 1]
        right = [member for member in members if boxes[member].left >= x + CHANNEL_WIDTH]
        if not left or not right:
            continue
        across = [member for member in members if member not in left and member not in right]
        together = _side_by_side(left, right, boxes)
        if together < SHORTEST_COLUMN * page_height or len(left) + len(right) < 3:
            continue
        top, bottom = _shared_range(left, right, boxes)
        crossing = sum(boxes[member].height for member in across if top <= boxes[member].centre_y <= bottom)
        if crossing > MOST_CROSSING * together:
            continue
        score = together - 3 * crossing + 0.01 * min(len(left), len(right))
        if best is None or score > best[0]:
            best = (score, (left, right, across))
    return best[1] if best else None


def _shared_range(left: list[int], right: list[int], boxes: Sequence[Box]) -> tuple[float, float]:
    """Half-open range of y in which both columns have elements."""
    return (
        max(min(boxes[member].top for member in left), min(boxes[member].top for member in right)),
        min(max(boxes[member].bottom for member in left), max(boxes[member].bottom for member in right)),
    )


def _side_by_side(left: list[int], right: list[int], boxes: Sequence[Box]) -> float:
    top, bottom = _shared_range(left, right, boxes)
    return bottom - top


def _by_rows(members: list[int], boxes: Sequence[Box], page_height: float) -> list[int]:
    """Top to bottom; boxes that stand side by side from left to right."""
    rows: list[list[int]] = []
    for member in sorted(members, key=lambda member: (boxes[member].top, boxes[member].left)):
        box = boxes[member]
        if rows:
            height = max(boxes[other].bottom for other in rows[-1]) - box.top
            if height > 0.5 * min(box.height, *(boxes[other].height for other in rows[-1])):
                rows[-1].append(member)
                continue
        rows.append([member])
    return [member for row in rows for member in _row_order(row, boxes, page_height, len(members))]


def _row_order(row: list[int], boxes: Sequence[Box], page_height: float, total: int) -> list[int]:
    if len(row) < total and len(row) > 2:
        return _ordered(row, boxes, page_height)
    return sorted(row, key=lambda member: (boxes[member].left, boxes[member].top))
