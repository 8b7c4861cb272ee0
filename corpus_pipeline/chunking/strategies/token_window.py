"""Windows of a fixed number of tokens, whatever the structure: the plain yardstick."""

from __future__ import annotations

from bisect import bisect_right

from corpus_pipeline.chunking.layout import Child, Layout
from corpus_pipeline.chunking.packing import pack
from corpus_pipeline.chunking.parents import group_in_order
from corpus_pipeline.chunking.pieces import Grain, Piece
from corpus_pipeline.chunking.strategies.registration import strategy

__all__ = ["TokenWindow"]


@strategy("token_window")
class TokenWindow:
    """Windows between words, each repeating ``overlap_tokens`` of the one before."""

    overlaps_headings = True

    def children(self, layout: Layout) -> list[Child]:
        """Windows; each carries the section path of the place where it begins."""
        if not layout.text:
            return []
        longest = max(range(len(layout.sections)), key=lambda index: layout.context(index)[1])
        whole = Piece(0, len(layout.text), Grain.WORDS)
        windows = pack([whole], layout, longest, balanced=False)
        begins = [section.char_start for section in layout.sections]
        return [Child(w.own_start, w.own_start, w.char_end, bisect_right(begins, w.own_start) - 1) for w in windows]

    def parents(self, layout: Layout, children: list[Child]) -> list[list[Child]]:
        """Consecutive windows up to the parent's size."""
        return group_in_order(layout, children)
