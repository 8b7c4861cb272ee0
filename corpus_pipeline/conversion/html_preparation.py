"""HTML as docling's reader wants it, where it would lose what things are.

Controls of the page go, for "move to sidebar" is no content. Formulas become their TeX, code becomes one
piece of text, notes are marked. Marks are private-use characters, which no page has any business holding;
:func:`marked_blocks` reads and removes them.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable
from io import BytesIO
from typing import Any

from corpus_pipeline.conversion.inline_text import collapse
from corpus_pipeline.records import Block, BlockKind

__all__ = ["keep_characters", "marked_blocks", "prepared_epub", "prepared_html"]

_PAGES = (".xhtml", ".html", ".htm")
_FORMULA, _NOTE = "\uf8f1", "\uf8f2"
_MARKS = re.compile(f"[{_FORMULA}{_NOTE}]")
_WHOLE_FORMULA = re.compile(f"{_FORMULA}([^{_FORMULA}]*){_FORMULA}[.,;]?")
_ITEM_MARK = re.compile(r"^(?:- |\d+\. )")
_BACK_LINK = re.compile("[\\s\u00a0]*[\u21a9\u2191\u21a5\u2b06][\ufe0e\ufe0f]?\\s*$")
_WORTH_A_LOOK = re.compile(rb"<math[\s>]|<pre[\s>]|footnote|endnote|<button[\s>]|aria-haspopup", re.IGNORECASE)
_MENUS = frozenset({"true", "menu", "listbox", "tree", "grid"})
_HEADINGS = ["h1", "h2", "h3", "h4", "h5", "h6"]
_HOLDS_TEXT = [*_HEADINGS, "dt", "dd", "summary", "p", "li", "td", "th", "blockquote", "figcaption", "pre"]
_BLOCKS = [*_HOLDS_TEXT, "ul", "ol", "dl", "table", "div", "section", "article", "main", "header", "footer", "form"]
_OPENING = ("aria-expanded", "aria-controls", "data-toggle", "data-bs-toggle", "data-target", "data-bs-target")
_OPENED = frozenset({"div", "section", "article", "p", "ul", "ol", "dl", "table", "details"})
_LONGEST_CONTROL = 40
_NOTE_ROLES = frozenset({"doc-footnote", "doc-endnote"})
_NOTE_LISTS = frozenset({"footnotes", "endnotes", "doc-endnotes", "footnote-list"})
_INVISIBLE = str.maketrans(dict.fromkeys("\u00ad\u200b\u2060\ufeff", "") | dict.fromkeys("\u00a0\u202f", " "))


def keep_characters() -> None:
    """Lets docling's HTML reader keep quotation marks, dashes, ellipses and joiners as the file has them.

    It writes them in ASCII by a function of its own that has no setting. What only hints at line
    breaks (soft hyphens, zero-width spaces) still goes, and fixed spaces become spaces.
    """
    from docling.backend.html_backend import HTMLDocumentBackend

    HTMLDocumentBackend._clean_unicode = staticmethod(_kept)  # type: ignore[method-assign]  # noqa: SLF001 - no setting


def _kept(text: str) -> str:
    return text.translate(_INVISIBLE)


def prepared_html(data: bytes) -> bytes:
    """The page without its controls, with formulas, code and notes as docling can hand them on; others as they are."""
    if not _WORTH_A_LOOK.search(data):
        return data
    from bs4 import BeautifulSoup

    page = BeautifulSoup(data, "html.parser")
    for control in _controls(page):
        control.decompose()
    for formula in page.find_all("math"):
        if formula.parent is not None:
            formula.replace_with(f"{_FORMULA}{_tex(formula)}{_FORMULA}")
    for code in page.find_all("pre"):
        inner = code.find("code")
        (inner or code).string = code.get_text()
    for note in _notes(page):
        note.insert(0, _NOTE)
    return page.encode("utf-8")


def prepared_epub(data: bytes) -> bytes:
    """A book with its pages prepared, the rest as it is."""
    with zipfile.ZipFile(BytesIO(data)) as book:
        pages = {name: book.read(name) for name in book.namelist() if name.lower().endswith(_PAGES)}
        changed = {name: made for name, page in pages.items() if (made := prepared_html(page)) is not page}
        if not changed:
            return data
        out = BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as copy:
            for member in book.infolist():
                copy.writestr(member, changed.get(member.filename) or book.read(member.filename))
    return out.getvalue()


def _controls(page: Any) -> list[Any]:
    """Short buttons and what opens a menu, where they stand apart from text and neither head nor hold any.

    A button may hold a card, be a word of a sentence, or open the answer below it: those stay, for what is cut is lost.
    """
    menus = [element for element in page.find_all(["button", "input"]) if element.get("aria-haspopup") in _MENUS]
    names = {str(menu.get("id")) for menu in menus if menu.get("id")}
    labels = [label for label in page.find_all("label") if str(label.get("for", "")) in names]
    buttons = [button for button in page.find_all("button") if not _opens_text(button)]
    controls = {id(each): each for each in (*labels, *buttons, *menus)}
    return [
        each
        for each in controls.values()
        if each.find(_BLOCKS) is None
        and len(collapse(each.get_text(" "))) <= _LONGEST_CONTROL
        and each.find_parent(_HOLDS_TEXT) is None
    ]


def _opens_text(button: Any) -> bool:
    if button.get("role") == "tab" or any(button.has_attr(name) for name in _OPENING):
        return True
    following = button.find_next_sibling()
    return following is not None and following.name in _OPENED


def _tex(formula: Any) -> str:
    """TeX where the page has it, else the symbols in their order."""
    for note in formula.find_all("annotation"):
        if "tex" in str(note.get("encoding", "")).lower():
            return collapse(note.get_text())
    written = formula.get("alttext")
    if written:
        return collapse(str(written))
    for note in formula.find_all(["annotation", "annotation-xml"]):
        note.decompose()
    return collapse(formula.get_text(" "))


def _notes(page: Any) -> list[Any]:
    """The first element with text of each note."""
    found = []
    for element in page.find_all(True):
        names = {*str(element.get("role", "")).split(), *(element.get("class") or ())}
        names |= set(str(element.get("epub:type", "")).split())
        if names & _NOTE_LISTS:
            found += [item.find("p") or item for item in element.find_all("li")]
        elif names & (_NOTE_ROLES | {"footnote", "endnote"}) and element.name in {"aside", "div", "p", "li", "section"}:
            found.append(element.find("p") or element)
    return list({id(each): each for each in found}.values())


def marked_blocks(blocks: Iterable[Block]) -> list[Block]:
    """The blocks with the kinds that marks tell, and without the marks."""
    made = []
    for block in blocks:
        if block.table is not None:
            rows = tuple(tuple(_MARKS.sub("", cell) for cell in row) for row in block.table.rows)
            table = block.table.model_copy(update={"rows": rows, "caption": _MARKS.sub("", block.table.caption)})
            made.append(block.model_copy(update={"table": table, "text": _MARKS.sub("", block.text)}))
        elif _MARKS.search(block.text):
            made.append(_unmarked(block))
        else:
            made.append(block)
    return made


def _unmarked(block: Block) -> Block:
    bare = _ITEM_MARK.sub("", block.text) if block.kind is BlockKind.LIST_ITEM else block.text
    if bare.startswith(_NOTE):
        text = _BACK_LINK.sub("", _MARKS.sub("", bare)).strip()
        return block.model_copy(update={"kind": BlockKind.FOOTNOTE, "text": text, "level": 0})
    whole = _WHOLE_FORMULA.fullmatch(bare.strip())
    if whole and block.kind is BlockKind.PARAGRAPH:
        return block.model_copy(update={"kind": BlockKind.FORMULA, "text": whole.group(1)})
    return block.model_copy(update={"text": _MARKS.sub("", block.text)})
