"""Tables as lines of the text: which lines are header, where rows begin, what a continued part repeats."""

from __future__ import annotations

from dataclasses import dataclass

from corpus_pipeline.records import Block

__all__ = ["TableLines", "table_lines"]


@dataclass(frozen=True, slots=True)
class TableLines:
    """A table in the text.

    Attributes:
        row_starts: Where each line of the table begins in the document's text, header lines included.
        head_lines: How many leading lines are caption and header; the first row follows them.
        prefix: Caption and header lines, ending in a newline, for parts that begin after them;
            empty when the table has neither.
    """

    row_starts: tuple[int, ...]
    head_lines: int
    prefix: str


def table_lines(block: Block, caption: str = "") -> TableLines:
    """Finds the lines of a table block.

    Where the number of lines says that cells hold line breaks, every line counts as a row and the
    header is written anew from the cells.

    Args:
        block: A block of kind table.
        caption: A caption that stands beside the table; else the table's own is taken.
    """
    lines = block.text.split("\n")
    starts = []
    at = block.char_start
    for line in lines:
        starts.append(at)
        at += len(line) + 1
    kept = [start for start, line in zip(starts, lines, strict=True) if line.strip()]
    texts = [line for line in lines if line.strip()]
    table = block.table
    if table is None:
        return TableLines(tuple(kept), 0, "")
    caption = caption or table.caption
    own_caption = (
        1 if table.caption and len(texts) == len(table.rows) + 1 and texts[0].strip() == table.caption.strip() else 0
    )
    exact = len(texts) - own_caption == len(table.rows)
    header = (
        texts[own_caption : own_caption + table.header_rows]
        if exact
        else [" ".join(" | ".join(row).split()) for row in table.rows[: table.header_rows]]
    )
    prefix = "".join(
        f"{' '.join(line.split()) if line is caption else line}\n" for line in (caption, *header) if line.strip()
    )
    return TableLines(tuple(kept), own_caption + table.header_rows if exact else 0, prefix)
