"""What a document says about itself: title, author, language, dates; never an error."""

from __future__ import annotations

import re
import zipfile
from html import unescape
from pathlib import Path
from typing import Any

from corpus_pipeline.conversion.containers import ZIP_FORMATS
from corpus_pipeline.conversion.decoding import decode_text
from corpus_pipeline.conversion.file_format import FileFormat
from corpus_pipeline.conversion.inline_text import collapse
from corpus_pipeline.conversion.source import ConversionInput

__all__ = ["file_properties", "html_properties"]

_PARTS = {FileFormat.ODT: "meta.xml", FileFormat.ODS: "meta.xml", FileFormat.ODP: "meta.xml"}
_NAMES = {
    "title": "title",
    "creator": "author",
    "language": "language",
    "version": "version",
    "revision": "revision",
    "subject": "subject",
    "description": "description",
    "keywords": "keywords",
    "keyword": "keywords",
    "created": "created",
    "creation-date": "created",
    "modified": "modified",
    "date": "modified",
    "category": "category",
    "contentStatus": "status",
}
MAX_PART_BYTES = 1_000_000
MAX_VALUE_CHARS = 1000
HTML_HEAD_CHARS = 65536


def file_properties(source: ConversionInput) -> dict[str, str]:
    """Properties of an office file, an EPUB, an HTML page or a message, by plain names such as ``title``."""
    if source.file_format is FileFormat.MSG:
        return _message_properties(source.path)
    if source.file_format is FileFormat.HTML:
        return html_properties(decode_text(source.path.read_bytes()[: HTML_HEAD_CHARS * 2], whole=False))
    if source.file_format in ZIP_FORMATS:
        found = _zip_properties(source.path, source.file_format)
        language = found.get("language") or _styled_language(source)
        return dict(sorted({**found, "language": language}.items())) if language else found
    if source.file_format in {FileFormat.JATS, FileFormat.XML, FileFormat.USPTO}:
        declared = _ROOT_LANGUAGE.search(source.path.read_bytes()[:HTML_HEAD_CHARS])
        return {"language": declared.group(1).decode()} if declared else {}
    return {}


_ROOT_LANGUAGE = re.compile(
    rb"<[A-Za-z][\w:.-]*(?:\s[^<>]*?)?\s(?:xml:)?lang\s*=\s*[\"']([A-Za-z]{2,3}(?:-[A-Za-z0-9]+)*)[\"']"
)
_STYLE_PARTS = {
    FileFormat.DOCX: (
        "word/styles.xml",
        re.compile(rb"<w:docDefaults>.*?<w:lang\s[^>]*?w:val=\"([A-Za-z-]+)\"", re.DOTALL),
    ),
    FileFormat.PPTX: ("ppt/slides/slide1.xml", re.compile(rb"<a:(?:rPr|endParaRPr)\s[^>]*?lang=\"([A-Za-z-]+)\"")),
    FileFormat.ODT: ("styles.xml", re.compile(rb"fo:language=\"([a-z]{2,3})\"")),
}
"""Where the language of the text is stated when the properties say none."""


def _styled_language(source: ConversionInput) -> str | None:
    part, pattern = _STYLE_PARTS.get(source.file_format, ("", None))
    try:
        with zipfile.ZipFile(source.path) as archive:
            if pattern is None or part not in archive.namelist() or archive.getinfo(part).file_size > MAX_PART_BYTES:
                return None
            found = pattern.search(archive.read(part))
    except (zipfile.BadZipFile, OSError, ValueError, RuntimeError, EOFError, NotImplementedError):
        return None
    return found.group(1).decode() if found else None


def html_properties(html: str) -> dict[str, str]:
    """Title, language and ``meta`` values of the head of a page.

    >>> html_properties('<html lang="en"><head><title>A &amp; B</title>')
    {'language': 'en', 'title': 'A & B'}
    """
    head = html[:HTML_HEAD_CHARS]
    found = {}
    language = re.search(r"<html[^>]*?\slang\s*=\s*[\"']?([A-Za-z][\w-]*)", head, re.IGNORECASE)
    if language:
        found["language"] = language.group(1)
    title = re.search(r"<title[^>]*>([^<]*)</title", head, re.IGNORECASE)
    if title:
        found["title"] = unescape(title.group(1))
    for tag in re.findall(r"<meta\s[^>]*>", head, re.IGNORECASE):
        name = re.search(r"\bname\s*=\s*[\"']([\w.:-]+)[\"']", tag, re.IGNORECASE)
        content = re.search(r"\bcontent\s*=\s*\"([^\"]*)\"|\bcontent\s*=\s*'([^']*)'", tag, re.IGNORECASE)
        key = _META.get(name.group(1).lower()) if name else None
        if key and content:
            found.setdefault(key, unescape(content.group(1) or content.group(2) or ""))
    return _tidy(found)


_META = {
    "author": "author",
    "keywords": "keywords",
    "version": "version",
    "dc.title": "title",
    "dc.language": "language",
    "last-modified": "modified",
    "dcterms.modified": "modified",
}


_SENDER_ADDRESS = "__substg1.0_0C1F001F"
"""Of an Outlook message: the address it was sent from, which need not be the one it was sent in the name of."""


def _message_properties(path: Path) -> dict[str, str]:
    import olefile

    try:
        with olefile.OleFileIO(str(path)) as container:
            if not container.exists(_SENDER_ADDRESS) or container.get_size(_SENDER_ADDRESS) > MAX_PART_BYTES:
                return {}
            return _tidy({"sender": container.openstream(_SENDER_ADDRESS).read().decode("utf-16-le", "replace")})
    except Exception:  # noqa: BLE001 - olefile raises many kinds on damaged input; the text is read all the same
        return {}


def _zip_properties(path: Path, file_format: FileFormat) -> dict[str, str]:
    try:
        with zipfile.ZipFile(path) as archive:
            part = _epub_package(archive) if file_format is FileFormat.EPUB else _PARTS.get(file_format)
            part = part or "docProps/core.xml"
            if part not in archive.namelist() or archive.getinfo(part).file_size > MAX_PART_BYTES:
                return {}
            root = _parse(archive.read(part))
    except (zipfile.BadZipFile, OSError, ValueError, RuntimeError, EOFError, NotImplementedError):
        return {}
    if root is None:
        return {}
    found: dict[str, str] = {}
    for element in root.iter():
        name = _NAMES.get(element.tag.rpartition("}")[2]) if isinstance(element.tag, str) else None
        if name and element.text:
            found.setdefault(name, element.text)
    return _tidy(found)


def _epub_package(archive: zipfile.ZipFile) -> str | None:
    container = "META-INF/container.xml"
    if container not in archive.namelist() or archive.getinfo(container).file_size > MAX_PART_BYTES:
        return None
    root = _parse(archive.read(container))
    files = root.iter("{*}rootfile") if root is not None else ()
    return next((element.get("full-path") for element in files), None)


def _parse(data: bytes) -> Any:
    from lxml import etree

    try:
        return etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False))
    except etree.XMLSyntaxError:
        return None


def _tidy(found: dict[str, str]) -> dict[str, str]:
    tidy = {key: collapse(value)[:MAX_VALUE_CHARS] for key, value in found.items()}
    return {key: tidy[key] for key in sorted(tidy) if tidy[key]}
