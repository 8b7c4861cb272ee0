"""Markdown by the CommonMark grammar with tables, without docling: nothing is restructured."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from corpus_pipeline.conversion.decoding import decode_text
from corpus_pipeline.conversion.inline_text import collapse
from corpus_pipeline.conversion.source import ConversionInput
from corpus_pipeline.conversion.tables import html_table_rows, table_block
from corpus_pipeline.records import Block, BlockKind, ConvertedDocument

if TYPE_CHECKING:
    from markdown_it.token import Token

__all__ = ["MarkdownConverter", "markdown_blocks"]

_FRONT_MATTER = re.compile(r"\A(---|\+\+\+)[ \t]*\n.*?\n(?:\1|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_TAG = re.compile(r"<!--.*?-->|<[^>]*>", re.DOTALL)


class MarkdownConverter:
    """Headings, lists, fenced code, quotes and tables; front matter belongs to the inventory."""

    def convert(self, source: ConversionInput) -> ConvertedDocument:
        """The document; a single first heading of level 1 is its title."""
        text = _FRONT_MATTER.sub("", decode_text(source.path.read_bytes()), count=1)
        blocks = markdown_blocks(text)
        tops = [block for block in blocks if block.kind is BlockKind.HEADING and block.level == 1]
        title = tops[0].text if len(tops) == 1 else None
        if title is not None:
            blocks = [
                block.model_copy(update={"kind": BlockKind.TITLE}) if block is tops[0] else block for block in blocks
            ]
        return ConvertedDocument.from_blocks(blocks, title=title)


def markdown_blocks(text: str) -> list[Block]:
    r"""Blocks of Markdown text without front matter.

    >>> [(block.kind.value, block.text) for block in markdown_blocks("# A\n\n- b\n")]
    [('heading', 'A'), ('list_item', '- b')]
    """
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"maxNesting": 100}).enable(["table", "strikethrough"])
    return list(_Reader(parser.parse(text)).blocks())


class _Reader:
    """Walks the flat token stream; ``lists`` holds the open lists, ``marker`` the one not yet used."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.position = 0
        self.lists: list[int | None] = []
        self.marker = ""

    def blocks(self) -> Iterator[Block]:
        while self.position < len(self.tokens):
            token = self.tokens[self.position]
            self.position += 1
            if token.type == "table_open":
                yield from self.table()
            elif token.type == "heading_open":
                text, links = _inline(self.tokens[self.position])
                level = int(token.tag[1:])
                yield Block(kind=BlockKind.HEADING, text=collapse(text), level=level, links=links)
                self.position += 1
            elif token.type == "inline":
                yield from self.paragraph(token)
            elif token.type in {"fence", "code_block"}:
                language = (token.info.split() or [""])[0].strip("{}.").lower()
                yield Block(kind=BlockKind.CODE, text=token.content.rstrip("\n"), code_language=language or None)
            elif token.type == "html_block":
                yield from _html_blocks(token.content)
            else:
                self.list_token(token)

    def list_token(self, token: Token) -> None:
        if token.type == "bullet_list_open":
            self.lists.append(None)
        elif token.type == "ordered_list_open":
            self.lists.append(int(token.attrGet("start") or 1))
        elif token.type in {"bullet_list_close", "ordered_list_close"}:
            self.lists.pop()
        elif token.type == "list_item_open":
            number = self.lists[-1]
            self.marker = "- " if number is None else f"{token.info or number}. "
            if number is not None:
                self.lists[-1] = number + 1
        elif token.type == "list_item_close":
            self.marker = ""

    def paragraph(self, token: Token) -> Iterator[Block]:
        text, links = _inline(token)
        if self.marker:
            yield Block(kind=BlockKind.LIST_ITEM, text=self.marker + text, level=len(self.lists), links=links)
            self.marker = ""
        else:
            yield Block(kind=BlockKind.PARAGRAPH, text=text, links=links)

    def table(self) -> Iterator[Block]:
        rows: list[list[str]] = []
        links: list[str] = []
        header = 0
        while self.tokens[self.position].type != "table_close":
            token = self.tokens[self.position]
            self.position += 1
            if token.type == "tr_open":
                rows.append([])
            elif token.type == "inline":
                text, found = _inline(token)
                rows[-1].append(text)
                links.extend(found)
            elif token.type == "thead_close":
                header = len(rows)
        self.position += 1
        block = table_block(rows, header_rows=header, links=tuple(dict.fromkeys(links)))
        if block:
            yield block


def _inline(token: Token) -> tuple[str, tuple[str, ...]]:
    """Plain text and link targets of an inline token; line ends of the source are kept."""
    parts: list[str] = []
    links: list[str] = []
    for child in token.children or ():
        if child.type in {"softbreak", "hardbreak"}:
            parts.append("\n")
        elif child.type == "image":
            parts.append(_inline(child)[0])
        elif child.type == "html_inline":
            parts.append("\n" if re.match(r"<br\s*/?>", child.content, re.IGNORECASE) else "")
        elif child.type == "link_open":
            links.append(str(child.attrGet("href") or ""))
        elif child.content:
            parts.append(child.content)
    lines = "".join(parts).split("\n")
    return "\n".join(line.strip() for line in lines).strip(), tuple(dict.fromkeys(link for link in links if link))


def _html_blocks(html: str) -> Iterator[Block]:
    if re.search(r"<table[\s>]", html, re.IGNORECASE):
        block = _html_table(html)
        if block:
            yield block
            return
    from html import unescape

    text = "\n".join(line for line in (collapse(line) for line in unescape(_TAG.sub(" ", html)).split("\n")) if line)
    if text:
        yield Block(kind=BlockKind.PARAGRAPH, text=text)


def _html_table(html: str) -> Block | None:
    from lxml.etree import ParserError, XMLSyntaxError

    try:
        rows, header, spans = html_table_rows(html)
    except (ParserError, XMLSyntaxError):
        return None  # a tag cut by a blank line; its text is kept as a paragraph
    return table_block(rows, header_rows=header, spans=spans)
