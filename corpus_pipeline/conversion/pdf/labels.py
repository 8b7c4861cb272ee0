"""Labels for the blocks of a whole document: what is a heading depends on what the body looks like."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from corpus_pipeline.conversion.pdf.blocks import BlockLabel, PageBlock
from corpus_pipeline.conversion.pdf.body_style import BodyStyle, body_style
from corpus_pipeline.conversion.pdf.enumerations import is_initial, letters_of
from corpus_pipeline.conversion.pdf.furniture import label_furniture
from corpus_pipeline.conversion.pdf.headings import is_heading
from corpus_pipeline.conversion.pdf.page_layout import PageLayout
from corpus_pipeline.conversion.pdf.patterns import has_bullet_glyph, is_caption, is_footnote, is_list_item

__all__ = ["label_blocks"]

CAPTION_DISTANCE = 30.0
SHORT_CODE = 3
"""So few characters in a monospaced font are code only beside more of it."""


def label_blocks(pages: Sequence[PageLayout], outline: Collection[tuple[str, int | None]] = ()) -> None:
    """Labels all blocks in place.

    Args:
        pages: All pages of the document.
        outline: Titles of the PDF's bookmarks with their pages.
    """
    body = body_style(pages)
    if body is None:
        return
    geometric = [page for page in pages if page.geometric]
    label_furniture(geometric, body.size)
    _keep_some_text(geometric)
    bookmarks = {(_bare(title), page) for title, page in outline}
    for page in geometric:
        for block in page.blocks:
            if block.label is BlockLabel.TEXT:
                block.label = _label(block, page, body, bookmarks)


def _keep_some_text(pages: Sequence[PageLayout]) -> None:
    """A document whose every line looks like a running header has none: its text is its text."""
    blocks = [block for page in pages for block in page.blocks if block.lines]
    if all(block.label in (BlockLabel.PAGE_HEADER, BlockLabel.PAGE_FOOTER) for block in blocks):
        for block in blocks:
            block.label = BlockLabel.TABLE if block.grid is not None else BlockLabel.TEXT


def _bare(text: str) -> str:
    return "".join(character for character in text.lower() if character.isalnum())


def _label(
    block: PageBlock, page: PageLayout, body: BodyStyle, bookmarks: Collection[tuple[str, int | None]]
) -> BlockLabel:
    text = block.text
    if not body.monospaced and _is_code(block, page):
        return BlockLabel.CODE
    if is_caption(text) and block.size <= 1.1 * body.size and _is_caption_like(block, page):
        return BlockLabel.CAPTION
    if is_heading(block, page, body) or _is_bookmarked(block, page, bookmarks):
        return BlockLabel.HEADING
    if is_list_item(text) and not is_initial(text, letters_of(other.text for other in page.blocks)):
        return BlockLabel.LIST_ITEM
    if block.size < 0.9 * body.size and block.box.top > 0.6 * page.height and is_footnote(text):
        return BlockLabel.FOOTNOTE
    return BlockLabel.TEXT


def _is_bookmarked(block: PageBlock, page: PageLayout, bookmarks: Collection[tuple[str, int | None]]) -> bool:
    """Whether a bookmark names the block; of several with its text, as in a table of contents, the most prominent."""
    bare = _bare(block.text)
    if len(block.lines) > 3 or (bare, page.number) not in bookmarks:
        return False
    same = [other for other in page.blocks if other.lines and _bare(other.text) == bare]
    return max(same, key=lambda other: (other.size, other.lines[0].bold, other.box.top)) is block


def _is_caption_like(block: PageBlock, page: PageLayout) -> bool:
    return all(line.bold for line in block.lines) or any(
        other.label in (BlockLabel.TABLE, BlockLabel.PICTURE)
        and other.box.overlap_x(block.box) > 0
        and -4 <= -other.box.overlap_y(block.box) < CAPTION_DISTANCE
        for other in page.blocks
    )


def _is_code(block: PageBlock, page: PageLayout) -> bool:
    if not all(line.monospaced for line in block.lines) or has_bullet_glyph(block.text):
        return False
    if len(block.text) <= SHORT_CODE:
        return any(_stands_at(block, other) for other in page.blocks if other is not block and other.lines)
    return not all(line.bold for line in block.lines)


def _stands_at(block: PageBlock, other: PageBlock) -> bool:
    """Whether the other block is code right above or below: a closing bracket alone is code as well."""
    gap = max(other.box.top - block.box.bottom, block.box.top - other.box.bottom)
    near = gap < 3 * block.size and other.box.left - 2 <= block.box.left <= other.box.right
    return near and len(other.text) > SHORT_CODE and all(line.monospaced for line in other.lines)
