"""A docutils document tree to blocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from corpus_pipeline.conversion.inline_text import collapse
from corpus_pipeline.conversion.tables import Span, table_block
from corpus_pipeline.records import Block, BlockKind

__all__ = ["doctree_blocks"]

MAX_LEVEL = 6
_SKIPPED = frozenset(
    {"comment", "target", "substitution_definition", "pending", "meta", "raw", "transition", "decoration", "generated"}
)
_ADMONITIONS = {
    "attention": "Attention",
    "caution": "Caution",
    "danger": "Danger",
    "error": "Error",
    "hint": "Hint",
    "important": "Important",
    "note": "Note",
    "tip": "Tip",
    "warning": "Warning",
}


def doctree_blocks(tree: Any, *, may_have_title: bool = True) -> list[Block]:
    """Blocks of a doctree in order.

    A single section that begins the document and holds everything is its title; the sections
    in it then have level 2. What docutils could not parse is kept as code.

    Args:
        tree: A ``docutils.nodes.document``.
        may_have_title: False when something precedes the tree.
    """
    sections = [node for node in tree.children if node.tagname == "section"]
    before = [node for node in tree.children if node.tagname not in _SKIPPED | {"section", "system_message"}]
    titled = may_have_title and len(sections) == 1 and not before
    blocks = list(_walk(tree, section=0, depth=0))
    if titled and blocks and blocks[0].kind is BlockKind.HEADING:
        blocks[0] = blocks[0].model_copy(update={"kind": BlockKind.TITLE})
    return blocks


def _walk(node: Any, *, section: int, depth: int) -> Iterator[Block]:
    for child in node.children:
        yield from _node(child, section=section, depth=depth)


def _node(node: Any, *, section: int, depth: int) -> Iterator[Block]:
    name = node.tagname
    if name == "#text" or name in _SKIPPED:
        return
    if name == "section":
        yield from _walk(node, section=section + 1, depth=0)
    elif name == "title" and node.parent.tagname == "section":
        level = min(max(section, 1), MAX_LEVEL)
        yield Block(kind=BlockKind.HEADING, text=collapse(node.astext()), level=level, links=_links(node))
    elif name in _LEAVES:
        yield _leaf(node)
    elif name in _ADMONITIONS:
        yield from _labelled(f"{_ADMONITIONS[name]}: ", node, section=section, depth=depth)
    elif name in _READERS:
        yield from _READERS[name](node, section, depth)
    else:
        yield from _walk(node, section=section, depth=depth)


_LEAVES = {
    "paragraph": BlockKind.PARAGRAPH,
    "title": BlockKind.PARAGRAPH,
    "subtitle": BlockKind.PARAGRAPH,
    "rubric": BlockKind.PARAGRAPH,
    "attribution": BlockKind.PARAGRAPH,
    "caption": BlockKind.CAPTION,
    "literal_block": BlockKind.CODE,
    "doctest_block": BlockKind.CODE,
    "math_block": BlockKind.FORMULA,
}


def _leaf(node: Any) -> Block:
    kind = _LEAVES[node.tagname]
    if kind is not BlockKind.CODE:
        return Block(kind=kind, text=_text(node), links=_links(node))
    classes = [name for name in node.get("classes", ()) if name != "code"]
    language = "pycon" if node.tagname == "doctest_block" else (classes or [None])[0]
    return Block(kind=kind, text=node.astext().strip("\n"), code_language=language)


def _text(node: Any) -> str:
    lines = (line.rstrip() for line in node.astext().split("\n"))
    return "\n".join(lines).strip()


def _links(node: Any) -> tuple[str, ...]:
    targets = (found.get("refuri") for found in node.findall(lambda item: item.tagname == "reference"))
    return tuple(dict.fromkeys(target for target in targets if target))


def _labelled(label: str, node: Any, *, section: int, depth: int) -> Iterator[Block]:
    for number, block in enumerate(_walk(node, section=section, depth=depth)):
        yield block.model_copy(update={"text": label + block.text}) if number == 0 else block


def _list(node: Any, section: int, depth: int) -> Iterator[Block]:
    start = int(node.get("start", 1))
    for number, item in enumerate(node.children, start):
        marker = "- " if node.tagname == "bullet_list" else f"{_ordinal(number, node.get('enumtype', 'arabic'))}. "
        yield from _list_item(item, marker, section, depth + 1)


def _list_item(item: Any, marker: str, section: int, depth: int) -> Iterator[Block]:
    children = list(item.children)
    if children and children[0].tagname == "paragraph":
        first = children.pop(0)
        yield Block(kind=BlockKind.LIST_ITEM, text=marker + _text(first), level=depth, links=_links(first))
    for child in children:
        yield from _node(child, section=section, depth=depth)


def _ordinal(number: int, kind: str) -> str:
    if kind.endswith("alpha"):
        letter = chr(ord("a") + (number - 1) % 26)
        return letter.upper() if kind.startswith("upper") else letter
    if kind.endswith("roman"):
        from docutils.utils._roman_numerals import RomanNumeral

        roman = str(RomanNumeral(number))
        return roman if kind.startswith("upper") else roman.lower()
    return str(number)


def _definitions(node: Any, section: int, depth: int) -> Iterator[Block]:
    for item in node.children:
        terms = [collapse(child.astext()) for child in item.children if child.tagname in {"term", "classifier"}]
        label = " : ".join(terms)
        body = [
            block
            for child in item.children
            if child.tagname == "definition"
            for block in _walk(child, section=section, depth=depth)
        ]
        if body and body[0].kind is BlockKind.PARAGRAPH:
            body[0] = body[0].model_copy(update={"text": f"{label}\n{body[0].text}"})
        else:
            body.insert(0, Block(kind=BlockKind.PARAGRAPH, text=label))
        yield from body


def _fields(node: Any, section: int, depth: int) -> Iterator[Block]:
    """A field list as one paragraph, a field a line; a field with lists or code in it is walked."""
    lines: list[str] = []
    for item in node.children:
        name, body = item.children[0].astext(), item.children[-1]
        if all(child.tagname == "paragraph" for child in body.children):
            lines.append(f"{name}: {_text(body)}".rstrip())
            continue
        if lines:
            yield Block(kind=BlockKind.PARAGRAPH, text="\n".join(lines))
            lines = []
        yield Block(kind=BlockKind.PARAGRAPH, text=f"{name}:")
        yield from _walk(body, section=section, depth=depth)
    if lines:
        yield Block(kind=BlockKind.PARAGRAPH, text="\n".join(lines), links=_links(node))


def _options(node: Any, section: int, depth: int) -> Iterator[Block]:  # noqa: ARG001 - one signature for all readers
    lines = [f"{item.children[0].astext()}  {collapse(item.children[1].astext())}" for item in node.children]
    yield Block(kind=BlockKind.PARAGRAPH, text="\n".join(lines))


def _line_block(node: Any, section: int, depth: int) -> Iterator[Block]:  # noqa: ARG001 - one signature for all readers
    lines = [line.astext() for line in node.findall(lambda item: item.tagname == "line")]
    yield Block(kind=BlockKind.PARAGRAPH, text="\n".join(lines).strip("\n"), links=_links(node))


def _footnote(node: Any, section: int, depth: int) -> Iterator[Block]:  # noqa: ARG001 - one signature for all readers
    label = next((child.astext() for child in node.children if child.tagname == "label"), "")
    body = "\n".join(_text(child) for child in node.children if child.tagname != "label")
    yield Block(kind=BlockKind.FOOTNOTE, text=f"[{label}] {body}".strip(), links=_links(node))


def _image(node: Any, section: int, depth: int) -> Iterator[Block]:  # noqa: ARG001 - one signature for all readers
    if node.get("alt"):
        yield Block(kind=BlockKind.PICTURE, text=collapse(node["alt"]))


def _unparsed(node: Any, section: int, depth: int) -> Iterator[Block]:  # noqa: ARG001 - one signature for all readers
    for child in node.children:
        if child.tagname == "literal_block":
            yield Block(kind=BlockKind.CODE, text=child.astext().strip("\n"))


def _table(node: Any, section: int, depth: int) -> Iterator[Block]:  # noqa: ARG001 - one signature for all readers
    caption = next((collapse(child.astext()) for child in node.children if child.tagname == "title"), "")
    if caption:
        yield Block(kind=BlockKind.CAPTION, text=caption)
    rows = list(node.findall(lambda item: item.tagname == "row"))
    header = sum(1 for row in rows if row.parent.tagname == "thead")
    grid: dict[tuple[int, int], str] = {}
    spans: list[Span] = []
    for y, row in enumerate(rows):
        x = 0
        for entry in row.children:
            while (y, x) in grid:
                x += 1
            for down in range(entry.get("morerows", 0) + 1):
                for right in range(entry.get("morecols", 0) + 1):
                    grid[(y + down, x + right)] = entry.astext()
            across, down = entry.get("morecols", 0) + 1, entry.get("morerows", 0) + 1
            if across > 1 or down > 1:
                spans.append((y, x, down, across))
            x += across
    width = max((x for _, x in grid), default=-1) + 1
    cells = [[grid.get((y, x), "") for x in range(width)] for y in range(len(rows))]
    block = table_block(cells, header_rows=header, caption=caption, links=_links(node), spans=spans)
    if block:
        yield block


_READERS = {
    "bullet_list": _list,
    "enumerated_list": _list,
    "definition_list": _definitions,
    "field_list": _fields,
    "option_list": _options,
    "line_block": _line_block,
    "footnote": _footnote,
    "citation": _footnote,
    "image": _image,
    "system_message": _unparsed,
    "table": _table,
}
