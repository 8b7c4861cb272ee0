"""Boxes and intervals on a page: plain arithmetic, nothing about text.

All coordinates are points from the page's top left corner, y growing downwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

__all__ = ["Box", "bounding_box", "cluster_centres", "index_between", "merge_intervals"]


@dataclass(frozen=True, slots=True)
class Box:
    """An upright rectangle; ``left <= right`` and ``top <= bottom``."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        """Horizontal extent in points."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """Vertical extent in points."""
        return self.bottom - self.top

    @property
    def centre_x(self) -> float:
        """Horizontal middle."""
        return (self.left + self.right) / 2

    @property
    def centre_y(self) -> float:
        """Vertical middle."""
        return (self.top + self.bottom) / 2

    @property
    def area(self) -> float:
        """Area in square points."""
        return self.width * self.height

    def overlap_x(self, other: Box) -> float:
        """Length shared on the x axis; negative is the gap between the two."""
        return min(self.right, other.right) - max(self.left, other.left)

    def overlap_y(self, other: Box) -> float:
        """Length shared on the y axis; negative is the gap between the two."""
        return min(self.bottom, other.bottom) - max(self.top, other.top)

    def intersection_area(self, other: Box) -> float:
        """Area shared with another box."""
        return max(0.0, self.overlap_x(other)) * max(0.0, self.overlap_y(other))

    def holds_centre_of(self, other: Box, margin: float = 2.0) -> bool:
        """Whether the middle of ``other`` lies inside this box, grown by ``margin``."""
        return (
            self.left - margin <= other.centre_x <= self.right + margin
            and self.top - margin <= other.centre_y <= self.bottom + margin
        )

    def grown(self, margin: float) -> Box:
        """The box with every side moved outwards by ``margin``."""
        return Box(self.left - margin, self.top - margin, self.right + margin, self.bottom + margin)

    def clipped(self, width: float, height: float) -> Box:
        """The part of the box on a page of this size."""
        left, top = min(max(self.left, 0.0), width), min(max(self.top, 0.0), height)
        return Box(left, top, max(left, min(self.right, width)), max(top, min(self.bottom, height)))


def bounding_box(boxes: Iterable[Box]) -> Box:
    """The smallest box around all boxes.

    Raises:
        ValueError: There is no box.
    """
    given = list(boxes)
    return Box(
        min(box.left for box in given),
        min(box.top for box in given),
        max(box.right for box in given),
        max(box.bottom for box in given),
    )


def cluster_centres(values: Iterable[float], tolerance: float) -> list[float]:
    """Means of the groups of values that lie within ``tolerance`` of their neighbour, ascending.

    >>> cluster_centres([1.0, 9.0, 1.5], 1.0)
    [1.25, 9.0]
    """
    groups: list[list[float]] = []
    for value in sorted(values):
        if groups and value - groups[-1][-1] <= tolerance:
            groups[-1].append(value)
        else:
            groups.append([value])
    return [sum(group) / len(group) for group in groups]


def merge_intervals(intervals: Iterable[tuple[float, float]], gap: float) -> list[tuple[float, float]]:
    """Unions of the intervals that are at most ``gap`` apart, ascending.

    >>> merge_intervals([(0, 2), (5, 6), (1, 3)], 1)
    [(0, 3), (5, 6)]
    """
    merged: list[tuple[float, float]] = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1] + gap:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def index_between(separators: Sequence[float], value: float) -> int:
    """Which of the slots between ascending ``separators`` holds ``value``, clamped to a slot.

    >>> index_between([0.0, 10.0, 20.0], 12.0), index_between([0.0, 10.0, 20.0], 99.0)
    (1, 1)
    """
    slot = sum(1 for separator in separators[1:-1] if value >= separator)
    return min(slot, max(0, len(separators) - 2))
