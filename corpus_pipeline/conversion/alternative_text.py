"""What authors wrote about the pictures of their slides, which docling leaves out."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import Any

from corpus_pipeline.conversion.inline_text import collapse
from corpus_pipeline.records import Block, BlockKind

__all__ = ["with_alternative_text"]

_DESCRIPTIONS = ".//p:pic/p:nvPicPr/p:cNvPr/@descr | .//p:graphicFrame/p:nvGraphicFramePr/p:cNvPr/@descr"


def with_alternative_text(blocks: Sequence[Block], presentation: bytes) -> list[Block]:
    """The blocks of a presentation with a picture block for each description, at the end of its slide.

    Args:
        blocks: In reading order, with pages.
        presentation: The file, already read by docling without error.
    """
    merged = list(blocks)
    for page, texts in reversed(list(enumerate(_descriptions(presentation), 1))):
        told = {block.text for block in blocks if block.page == page}
        new = [text for text in dict.fromkeys(texts) if text not in told]
        end = max((number for number, block in enumerate(merged, 1) if (block.page or 0) <= page), default=0)
        merged[end:end] = [Block(kind=BlockKind.PICTURE, text=text, page=page) for text in new]
    return merged


def _descriptions(presentation: bytes) -> list[list[str]]:
    import pptx

    slides: Any = pptx.Presentation(BytesIO(presentation)).slides
    return [
        [text for text in (collapse(found) for found in slide._element.xpath(_DESCRIPTIONS)) if text]  # noqa: SLF001
        for slide in slides
    ]
