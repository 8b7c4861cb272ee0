"""What docling-core's HybridChunker does, on our blocks.

Each block is a fragment, a list as a whole is one; blocks over the budget are split, neighbours
under the same heading are merged as long as they fit. The library itself is not called: its
chunks hold table cells rewritten as sentences and text re-joined by its splitter, so that their
places in the converted text are lost, and with them exact spans and the proof of coverage.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from corpus_pipeline.chunking.layout import Child, Layout
from corpus_pipeline.chunking.packing import pack
from corpus_pipeline.chunking.parents import group_by_section
from corpus_pipeline.chunking.pieces import Piece, glued, section_pieces
from corpus_pipeline.chunking.sections import Section
from corpus_pipeline.chunking.strategies.registration import strategy
from corpus_pipeline.records import Block, BlockKind

__all__ = ["DoclingHybrid"]


@strategy("docling_hybrid")
class DoclingHybrid:
    """Blocks, merged with their peers."""

    overlaps_headings = False

    def children(self, layout: Layout) -> list[Child]:
        """Full fragments section by section; a heading without text goes with the next section."""
        children: list[Child] = []
        carried: list[Piece] = []
        for section in layout.sections:
            pieces = carried + list(_item_pieces(section))
            if section.is_heading_only and section.index + 1 < len(layout.sections):
                carried = pieces
                continue
            carried = []
            children.extend(pack(pieces, layout, section.index, balanced=False))
        return children

    def parents(self, layout: Layout, children: list[Child]) -> list[list[Child]]:
        """Whole sections where they fit."""
        return group_by_section(layout, children)


def _item_pieces(section: Section) -> Iterator[Piece]:
    at = section.char_start
    blocks = section.blocks
    if at < (blocks[0].char_start if blocks else section.char_end):
        yield Piece(at, blocks[0].char_start if blocks else section.char_end)
    items = [list(run) for _, run in groupby(enumerate(blocks), key=_item_key)]
    for position, item in enumerate(items):
        end = items[position + 1][0][1].char_start if position + 1 < len(items) else section.char_end
        yield glued(section_pieces(tuple(block for _, block in item), end))


def _item_key(numbered: tuple[int, Block]) -> int:
    """Equal for the items of one list, different for everything else."""
    position, block = numbered
    return -1 if block.kind is BlockKind.LIST_ITEM else position
