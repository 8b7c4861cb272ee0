"""How the running text of a document is set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from corpus_pipeline.conversion.pdf.blocks import BlockLabel
from corpus_pipeline.conversion.pdf.page_layout import PageLayout

__all__ = ["BodyStyle", "body_style"]


@dataclass(frozen=True, slots=True)
class BodyStyle:
    """How most characters are set.

    Attributes:
        size: Nominal height in points, to half a point.
    """

    size: float
    bold: bool
    monospaced: bool


def body_style(pages: Sequence[PageLayout]) -> BodyStyle | None:
    """The style of most text outside tables and code; ``None`` for a document without text."""
    everything = [(block, line) for page in pages for block in page.blocks for line in block.lines]
    if not everything:
        return None
    running = [line for block, line in everything if block.label is BlockLabel.TEXT and not line.monospaced]
    sizes: Counter[float] = Counter()
    for line in running or [line for _, line in everything]:
        sizes[round(line.size * 2) / 2] += len(line.text)

    def support(size: float) -> tuple[float, float]:
        return sizes[size] + 0.5 * (sizes[size + 0.5] + sizes[size - 0.5]), -size

    total = sum(len(line.text) for _, line in everything)
    bold = sum(len(line.text) for _, line in everything if line.bold)
    monospaced = sum(len(line.text) for _, line in everything if line.monospaced)
    return BodyStyle(max(sizes, key=support), 2 * bold > total, 2 * monospaced > total)
