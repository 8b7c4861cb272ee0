"""reStructuredText through docutils, its reference parser.

pandoc and unstructured were measured on 740 Python Enhancement Proposals: unstructured took 1 to 3
seconds a file and ran the lines of the header fields together; pandoc took 0.3 seconds and refuses a
file that includes another when sandboxed. docutils takes 0.05 seconds, keeps lines, and is told to
read no other file.
"""

from __future__ import annotations

import io
import re
from typing import Any

from corpus_pipeline.conversion.decoding import decode_text
from corpus_pipeline.conversion.inline_text import collapse
from corpus_pipeline.conversion.rst_mapping import doctree_blocks
from corpus_pipeline.conversion.source import ConversionInput
from corpus_pipeline.records import Block, BlockKind, ConvertedDocument

__all__ = ["RstConverter"]

_SETTINGS = {
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "_disable_config": True,
    "doctitle_xform": False,
    "docinfo_xform": False,
    "sectsubtitle_xform": False,
    "report_level": 3,
    "halt_level": 6,
    "syntax_highlight": "none",
    "smart_quotes": False,
    "line_length_limit": 1_000_000,
}
_DIRECTIVE = re.compile(r"^[ \t]*\.\.[ \t]+(?:\|[^|\n]+\|[ \t]+)?([\w][\w:.+-]*)::(?:[ \t]|$)", re.MULTILINE)
_ROLE = re.compile(r":([A-Za-z][\w:.+-]*):`|`:([A-Za-z][\w:.+-]*):")
_HEADER = re.compile(r"\A(?:[A-Z][A-Za-z0-9-]*:(?:[ \t].*)?\n(?:[ \t]+\S.*\n)*){2,}(?=[ \t]*(?:\n|\Z))")
"""Mail-like header fields at the very beginning, as the enhancement proposals of Python have them."""
_TARGET = re.compile(r"\A(.*?)\s*<[^<>]*>\Z", re.DOTALL)


class RstConverter:
    """docutils with every unknown directive and role of the file kept as its text."""

    def convert(self, source: ConversionInput) -> ConvertedDocument:
        """The document; a single section around everything gives its title."""
        from docutils.core import publish_doctree

        text = decode_text(source.path.read_bytes()).replace("\f", "\n")
        header = _HEADER.match(text)
        text = text[header.end() :] if header else text
        _accept_unknown_names(text)
        tree = publish_doctree(text, settings_overrides={**_SETTINGS, "warning_stream": io.StringIO()})
        blocks = doctree_blocks(tree, may_have_title=header is None)
        fields = _fields(header.group()) if header else {}
        if header:
            blocks.insert(0, Block(kind=BlockKind.PARAGRAPH, text=header.group().strip("\n")))
        title = fields.get("title") or next((block.text for block in blocks if block.kind is BlockKind.TITLE), None)
        return ConvertedDocument.from_blocks(blocks, title=title, properties=fields)


def _fields(header: str) -> dict[str, str]:
    """Header fields by lower-case name; those that only hold a version control keyword are left out."""
    pairs = (line.partition(":") for line in re.sub(r"\n[ \t]+", " ", header).splitlines())
    found = {name.strip().lower(): collapse(value) for name, _, value in pairs}
    return {name: found[name] for name in sorted(found) if found[name] and not found[name].startswith("$")}


def _accept_unknown_names(text: str) -> None:
    """Registers the directives and roles of other systems (Sphinx) that this file uses."""
    from docutils.parsers.rst import directives, roles
    from docutils.parsers.rst.languages import en

    known = set(en.directives) | set(directives._directive_registry) | set(directives._directives)  # noqa: SLF001
    for name in set(_DIRECTIVE.findall(text)):
        if name.lower() not in known:
            directives.register_directive(name.lower(), _text_directive())
    known_roles = set(en.roles) | set(roles._role_registry) | set(roles._roles)  # noqa: SLF001
    for before, after in set(_ROLE.findall(text)):
        name = (before or after).lower()
        if name not in known_roles:
            roles.register_local_role(name, _text_role)


def _text_role(name: str, rawtext: str, text: str, *_: Any, **__: Any) -> tuple[list[Any], list[Any]]:  # noqa: ARG001
    from docutils import nodes, utils

    shown = utils.unescape(text)
    titled = _TARGET.match(shown)
    shown = titled.group(1) if titled and titled.group(1) else shown.lstrip("!~")
    return [nodes.inline(rawtext, shown)], []


_made: list[Any] = []


def _text_directive() -> Any:
    """A directive class that keeps argument and content, whatever the name means elsewhere."""
    if _made:
        return _made[0]
    from docutils import nodes
    from docutils.parsers.rst import Directive

    class TextDirective(Directive):  # type: ignore[misc]  # docutils ships no types
        optional_arguments = 1
        final_argument_whitespace = True
        has_content = True

        def run(self) -> list[Any]:
            kept: list[Any] = []
            if self.arguments:
                parsed, _ = self.state.inline_text(self.arguments[0], self.lineno)
                kept.append(nodes.paragraph(self.arguments[0], "", *parsed))
            body = nodes.container()
            self.state.nested_parse(self.content, self.content_offset, body)
            return [*kept, *body.children]

    _made.append(TextDirective)
    return TextDirective
