"""Ruling lines and filled areas, from the boxes of the page's vector shapes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from corpus_pipeline.conversion.pdf.geometry import Box

__all__ = ["PageRules", "Rule", "rules_from_shapes"]

THICKEST_RULE = 3.0
SHORTEST_HORIZONTAL = 6.0
SHORTEST_VERTICAL = 4.0
SMALLEST_DOT = 1.5
LARGEST_DOT = 7.0
SHAPE_LIMIT = 8_000
"""A page with more vector shapes is a drawing; its shapes rule no table."""


@dataclass(frozen=True, slots=True, order=True)
class Rule:
    """A straight line along one axis.

    Attributes:
        position: y of a horizontal line, x of a vertical one.
        start: Smaller end on the other axis.
        end: Larger end on the other axis.
    """

    position: float
    start: float
    end: float

    @property
    def length(self) -> float:
        """Length in points."""
        return self.end - self.start

    def spans(self, value: float, margin: float = 2.0) -> bool:
        """Whether ``value`` on the line's own axis lies between its ends."""
        return self.start - margin <= value <= self.end + margin


@dataclass(slots=True)
class PageRules:
    """The lines and areas drawn on a page; ``dots`` are small round or square areas, such as drawn bullets."""

    horizontal: list[Rule] = field(default_factory=list)
    vertical: list[Rule] = field(default_factory=list)
    fills: list[Box] = field(default_factory=list)
    dots: list[Box] = field(default_factory=list)

    def shapes(self) -> list[Box]:
        """All of them as boxes."""
        return (
            [Box(rule.start, rule.position, rule.end, rule.position) for rule in self.horizontal]
            + [Box(rule.position, rule.start, rule.position, rule.end) for rule in self.vertical]
            + self.fills
            + self.dots
        )

    def within(self, box: Box, margin: float = 4.0) -> PageRules:
        """The lines and areas that lie in ``box``."""
        grown = box.grown(margin)
        return PageRules(
            [
                rule
                for rule in self.horizontal
                if grown.top <= rule.position <= grown.bottom
                and rule.start >= grown.left - margin
                and rule.end <= grown.right + margin
            ],
            [
                rule
                for rule in self.vertical
                if grown.left <= rule.position <= grown.right
                and rule.start >= grown.top - margin
                and rule.end <= grown.bottom + margin
            ],
            [
                fill
                for fill in self.fills
                if grown.left <= fill.left
                and fill.right <= grown.right
                and grown.top <= fill.top
                and fill.bottom <= grown.bottom
            ],
        )


def rules_from_shapes(shapes: Iterable[Box], width: float, height: float) -> PageRules:
    """Sorts shapes into lines and areas and joins the pieces of broken lines.

    Args:
        shapes: Boxes of drawn paths; a thin box is a line, whichever way it was painted.
        width: Page width in points.
        height: Page height in points.
    """
    given = list(shapes)
    if len(given) > SHAPE_LIMIT:
        return PageRules()
    rules = PageRules()
    for shape in given:
        if shape.right < 0 or shape.bottom < 0 or shape.left > width or shape.top > height:
            continue
        if SMALLEST_DOT <= shape.width <= LARGEST_DOT and abs(shape.width - shape.height) < 0.5:
            rules.dots.append(shape)
        elif shape.height <= THICKEST_RULE and shape.width >= SHORTEST_HORIZONTAL:
            rules.horizontal.append(Rule(shape.centre_y, shape.left, shape.right))
        elif shape.width <= THICKEST_RULE and shape.height >= SHORTEST_VERTICAL:
            rules.vertical.append(Rule(shape.centre_x, shape.top, shape.bottom))
        elif shape.width > 10 and shape.height > 6 and not _is_background(shape, width, height):
            rules.fills.append(shape)
    rules.horizontal = _joined(rules.horizontal)
    rules.vertical = _joined(rules.vertical)
    rules.fills = list(dict.fromkeys(rules.fills))
    return rules


def _is_background(shape: Box, width: float, height: float) -> bool:
    return (shape.width > 0.93 * width and shape.height > 0.5 * height) or shape.area > 0.45 * width * height


def _joined(rules: list[Rule], tolerance: float = 1.5, gap: float = 4.0) -> list[Rule]:
    """Lines at one position whose ends touch become one line."""
    joined: list[Rule] = []
    group: list[Rule] = []
    for rule in sorted(rules):
        if group and rule.position - group[-1].position > tolerance:
            joined += _joined_group(group, gap)
            group = []
        group.append(rule)
    return joined + (_joined_group(group, gap) if group else [])


def _joined_group(group: list[Rule], gap: float) -> list[Rule]:
    group.sort(key=lambda rule: (rule.start, rule.end, rule.position))
    joined = [group[0]]
    for rule in group[1:]:
        last = joined[-1]
        if rule.start <= last.end + gap:
            joined[-1] = Rule(last.position, last.start, max(last.end, rule.end))
        else:
            joined.append(rule)
    return joined
