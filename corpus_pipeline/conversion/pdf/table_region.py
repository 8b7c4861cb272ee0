"""A table before its cells are known."""

from __future__ import annotations

from dataclasses import dataclass, field

from corpus_pipeline.conversion.pdf.geometry import Box
from corpus_pipeline.conversion.pdf.rules import PageRules

__all__ = ["TableRegion"]


@dataclass(slots=True)
class TableRegion:
    """Where a table stands and what rules it.

    Attributes:
        grid: Whether vertical rules part its columns; ``xs`` and ``ys`` are then the grid lines.
        ys: Horizontal rules that part rows, ascending.
    """

    box: Box
    rules: PageRules = field(default_factory=PageRules)
    grid: bool = False
    xs: list[float] = field(default_factory=list)
    ys: list[float] = field(default_factory=list)
