"""The default: along the section tree.

A fragment never reaches over a heading, except that a heading with nothing below it but
subsections goes with the first of them. Lists, code and tables stay with what introduces them,
exceptions with their rule; a section that is too large is cut into parts of about equal size.
"""

from __future__ import annotations

from corpus_pipeline.chunking.layout import Child, Layout
from corpus_pipeline.chunking.packing import pack
from corpus_pipeline.chunking.parents import group_by_section
from corpus_pipeline.chunking.pieces import Piece, section_pieces
from corpus_pipeline.chunking.sections import Section
from corpus_pipeline.chunking.strategies.registration import strategy

__all__ = ["MarkdownHeading"]


@strategy("markdown_heading")
class MarkdownHeading:
    """Sections, then what belongs together in them."""

    overlaps_headings = False

    def children(self, layout: Layout) -> list[Child]:
        """Fragments section by section."""
        children: list[Child] = []
        carried: list[Piece] = []
        for section in layout.sections:
            pieces = carried + covering_pieces(section)
            following = layout.sections[section.index + 1 : section.index + 2]
            if section.is_heading_only and following and following[0].parent == section.index:
                carried = pieces
                continue
            carried = []
            children.extend(pack(pieces, layout, section.index))
        return children

    def parents(self, layout: Layout, children: list[Child]) -> list[list[Child]]:
        """Whole sections where they fit."""
        return group_by_section(layout, children)


def covering_pieces(section: Section) -> list[Piece]:
    """Pieces of a section that reach from its beginning to its end, text outside of blocks included."""
    if section.char_start == section.char_end:
        return []
    if not section.blocks:
        return [Piece(section.char_start, section.char_end)]
    pieces = section_pieces(section.blocks, section.char_end)
    if pieces[0].char_start > section.char_start:
        pieces.insert(0, Piece(section.char_start, pieces[0].char_start))
    return pieces
