"""What a file says of its parts and docling does not hand on: notes, captions, formulas, links.

Each reader returns :class:`Details`; :func:`with_details` puts them on the blocks. Blocks are
matched by their text, which both sides read from the same file.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from corpus_pipeline.conversion.inline_text import collapse
from corpus_pipeline.records import Block, BlockKind

__all__ = ["Details", "docx_details", "jats_details", "odt_details", "with_details"]

MAX_PART_BYTES = 200_000_000
_ITEM_MARK = re.compile(r"^(?:- |[(\[]?[\w.]{1,6}[.)\]:] )")
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_XLINK = "{http://www.w3.org/1999/xlink}"


@dataclass
class Details:
    """By collapsed text of the block they belong to.

    Attributes:
        notes: Texts that are footnotes.
        captions: Texts that are captions.
        code: Texts that are code.
        links: Targets of links.
        beginnings: Targets of links by the text up to the first formula of a paragraph.
        formulas: Formulas that stand in a paragraph, whose text docling leaves out.
        lost_notes: Footnotes that docling leaves out altogether.
    """

    notes: set[str] = field(default_factory=set)
    captions: set[str] = field(default_factory=set)
    code: set[str] = field(default_factory=set)
    links: dict[str, tuple[str, ...]] = field(default_factory=dict)
    beginnings: dict[str, tuple[str, ...]] = field(default_factory=dict)
    formulas: dict[str, list[str]] = field(default_factory=dict)
    lost_notes: list[str] = field(default_factory=list)


def with_details(blocks: Iterable[Block], details: Details) -> list[Block]:
    """The blocks with their true kinds and links, and with what was left out."""
    made: list[Block] = []
    for block in blocks:
        text = collapse(_ITEM_MARK.sub("", block.text) if block.kind is BlockKind.LIST_ITEM else block.text)
        changed: dict[str, Any] = {}
        kind = _kind(block, text, details)
        if kind is not block.kind:
            changed = {"kind": kind, "level": 0}
            if block.kind is BlockKind.LIST_ITEM:
                changed["text"] = _ITEM_MARK.sub("", block.text)
        if not block.links and block.kind is not BlockKind.TABLE:
            starts = (links for start, links in details.beginnings.items() if start and text.startswith(start))
            changed |= {"links": links} if (links := details.links.get(text) or next(starts, ())) else {}
        made.append(block.model_copy(update=changed) if changed else block)
        made += [Block(kind=BlockKind.FORMULA, text=each) for each in details.formulas.pop(text, ())]
    made += [Block(kind=BlockKind.FORMULA, text=each) for rest in details.formulas.values() for each in rest]
    return made + [Block(kind=BlockKind.FOOTNOTE, text=text) for text in details.lost_notes]


def _kind(block: Block, text: str, details: Details) -> BlockKind:
    if block.kind in {BlockKind.PARAGRAPH, BlockKind.LIST_ITEM} and text in details.notes:
        return BlockKind.FOOTNOTE
    if block.kind is BlockKind.PARAGRAPH and text in details.captions:
        return BlockKind.CAPTION
    return BlockKind.CODE if block.kind is BlockKind.PARAGRAPH and text in details.code else block.kind


def docx_details(path: Path) -> Details:
    """Captions by their style and links of paragraphs; docling reads the notes itself."""
    details = Details()
    parts = _parts(path, ("word/document.xml", "word/styles.xml", "word/_rels/document.xml.rels"))
    body = parts.get("word/document.xml")
    if body is None:
        return details
    caption_styles = {
        style.get(f"{_W}styleId")
        for style in _all(parts.get("word/styles.xml"), f"{_W}style")
        for name in style.iter(f"{_W}name")
        if "caption" in (name.get(f"{_W}val") or "").lower()
    }
    targets = {
        each.get("Id"): each.get("Target")
        for each in _all(parts.get("word/_rels/document.xml.rels"), "{*}Relationship")
    }
    for paragraph in body.iter(f"{_W}p"):
        text = collapse("".join(node.text or "" for node in paragraph.iter(f"{_W}t")))
        style = next((node.get(f"{_W}val") for node in paragraph.iter(f"{_W}pStyle")), None)
        if text and style in caption_styles:
            details.captions.add(text)
        found = [targets.get(link.get(f"{_R}id")) for link in paragraph.iter(f"{_W}hyperlink")]
        links = tuple(dict.fromkeys(str(target) for target in found if target))
        if text and links:
            details.links[text] = links
            if next(paragraph.iter("{*}oMath"), None) is not None:
                details.beginnings[_beginning(paragraph)] = links
    return details


def _beginning(paragraph: Any) -> str:
    """Text up to the first formula, which docling writes in a way of its own."""
    parts = []
    for node in paragraph.iter(f"{_W}t", "{*}oMath"):
        if node.tag.endswith("}oMath"):
            break
        parts.append(node.text or "")
    return collapse("".join(parts))


def odt_details(path: Path) -> Details:
    """Captions, code and formulas by paragraph, and the notes."""
    details = Details()
    with zipfile.ZipFile(path) as archive:
        formulas = {
            name.rpartition("/")[0]: formula
            for name in archive.namelist()
            if name.endswith("/content.xml") and (formula := _formula(_part(archive, name)))
        }
        body = _part(archive, "content.xml")
    for note in _all(body, f"{_TEXT}note"):
        text = collapse(" ".join("".join(part.itertext()) for part in note.iter(f"{_TEXT}note-body")))
        if text:
            details.lost_notes.append(text)
    parents = {
        style.get(f"{_STYLE}name"): style.get(f"{_STYLE}parent-style-name") for style in _all(body, f"{_STYLE}style")
    }
    last = ""
    for paragraph in _all(body, f"{_TEXT}p"):
        text = collapse(_without_notes(paragraph))
        last = text or last
        name = paragraph.get(f"{_TEXT}style-name") or ""
        style = (parents.get(name) or name).lower()
        if text and ("caption" in style or style in {"table", "figure", "illustration"}):
            details.captions.add(text)
        if text and ("preformatted" in style or "source" in style):
            details.code.add(text)
        objects = [
            (node.get(f"{_XLINK}href") or "").removeprefix("./").rstrip("/") for node in paragraph.iter("{*}object")
        ]
        found = [formulas[name] for name in objects if name in formulas]
        if found:
            details.formulas.setdefault(last, []).extend(found)
    return details


def jats_details(data: bytes) -> Details:
    """Which texts are footnotes."""
    root = _parsed(data)
    return Details(notes={text for note in _all(root, "{*}fn") for text in _jats_note(note)})


def _jats_note(note: Any) -> list[str]:
    label = next((collapse("".join(node.itertext())) for node in note.iter("{*}label")), "")
    paragraphs = [collapse("".join(node.itertext())) for node in note.iter("{*}p")]
    return [text for each in paragraphs for text in (each, f"{label} {each}", f"{label}{each}") if each]


def _formula(root: Any) -> str:
    if root is None or not str(root.tag).endswith("}math"):
        return ""
    notes = {node.get("encoding", ""): "".join(node.itertext()) for node in root.iter("{*}annotation")}
    written = notes.get("application/x-tex") or next(iter(notes.values()), "")
    return collapse(written or " ".join(root.itertext()))


def _without_notes(paragraph: Any) -> str:
    """Text of a paragraph with its spaces, without the notes that hang on it."""
    parts = [paragraph.text or ""]
    for node in paragraph:
        if node.tag in {f"{_TEXT}s", f"{_TEXT}tab", f"{_TEXT}line-break"}:
            parts.append(" ")
        elif node.tag != f"{_TEXT}note":
            parts.append(_without_notes(node))
        parts.append(node.tail or "")
    return "".join(parts)


def _parts(path: Path, names: Sequence[str]) -> Mapping[str, Any]:
    with zipfile.ZipFile(path) as archive:
        return {name: _part(archive, name) for name in names}


def _part(archive: zipfile.ZipFile, name: str) -> Any:
    if name not in archive.namelist() or archive.getinfo(name).file_size > MAX_PART_BYTES:
        return None
    return _parsed(archive.read(name))


def _parsed(data: bytes) -> Any:
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True)
    try:
        return etree.fromstring(data, parser)
    except etree.XMLSyntaxError:
        return None


def _all(root: Any, tag: str) -> Iterable[Any]:
    return () if root is None else root.iter(tag)
