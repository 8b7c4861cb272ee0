"""What a file really is, from its bytes; its name only decides between kinds of text."""

from __future__ import annotations

import json
import re
import zipfile
from enum import StrEnum
from pathlib import Path

from corpus_pipeline.conversion.decoding import decode_text, looks_like_text
from corpus_pipeline.inventory import looks_like_mail

__all__ = ["FileFormat", "code_language", "sniff_format"]

HEAD_BYTES = 65536


class FileFormat(StrEnum):
    """The kinds of file that routing tells apart."""

    PDF = "pdf"
    DOCX = "docx"
    PPTX = "pptx"
    XLSX = "xlsx"
    ODT = "odt"
    ODS = "ods"
    ODP = "odp"
    EPUB = "epub"
    HTML = "html"
    MHTML = "mhtml"
    MARKDOWN = "markdown"
    RST = "rst"
    ORG = "org"
    ASCIIDOC = "asciidoc"
    LATEX = "latex"
    RTF = "rtf"
    CSV = "csv"
    TSV = "tsv"
    JSON = "json"
    JSONL = "jsonl"
    NOTEBOOK = "notebook"
    XML = "xml"
    JATS = "jats"
    USPTO = "uspto"
    XBRL = "xbrl"
    EML = "eml"
    MSG = "msg"
    WEBVTT = "webvtt"
    CODE = "code"
    TEXT = "text"
    IMAGE = "image"
    DOC = "doc"
    XLS = "xls"
    PPT = "ppt"
    LEGACY_OFFICE = "legacy_office"
    ENCRYPTED_OFFICE = "encrypted_office"
    ARCHIVE = "archive"
    BROKEN_ZIP = "broken_zip"
    BROKEN_OLE = "broken_ole"
    MEDIA = "media"
    BINARY = "binary"


_MAGIC: tuple[tuple[bytes, FileFormat], ...] = (
    (b"%PDF-", FileFormat.PDF),
    (b"{\\rtf", FileFormat.RTF),
    (b"\x89PNG\r\n\x1a\n", FileFormat.IMAGE),
    (b"\xff\xd8\xff", FileFormat.IMAGE),
    (b"GIF8", FileFormat.IMAGE),
    (b"II*\x00", FileFormat.IMAGE),
    (b"MM\x00*", FileFormat.IMAGE),
    (b"7z\xbc\xaf\x27\x1c", FileFormat.ARCHIVE),
    (b"\x1f\x8b", FileFormat.ARCHIVE),
    (b"BZh", FileFormat.ARCHIVE),
    (b"\xfd7zXZ\x00", FileFormat.ARCHIVE),
    (b"\x28\xb5\x2f\xfd", FileFormat.ARCHIVE),
    (b"Rar!\x1a\x07", FileFormat.ARCHIVE),
    (b"ID3", FileFormat.MEDIA),
    (b"OggS", FileFormat.MEDIA),
    (b"fLaC", FileFormat.MEDIA),
)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OLE_STREAMS = {
    "worddocument": FileFormat.DOC,
    "workbook": FileFormat.XLS,
    "book": FileFormat.XLS,
    "powerpoint document": FileFormat.PPT,
}
_BMP_HEADERS = frozenset((12, 40, 52, 56, 64, 108, 124))
_MIME_OF_ZIP = {
    "application/epub+zip": FileFormat.EPUB,
    "application/vnd.oasis.opendocument.text": FileFormat.ODT,
    "application/vnd.oasis.opendocument.text-template": FileFormat.ODT,
    "application/vnd.oasis.opendocument.spreadsheet": FileFormat.ODS,
    "application/vnd.oasis.opendocument.spreadsheet-template": FileFormat.ODS,
    "application/vnd.oasis.opendocument.presentation": FileFormat.ODP,
    "application/vnd.oasis.opendocument.presentation-template": FileFormat.ODP,
}
_CONTAINER_EXTENSIONS = frozenset(("docx", "xlsx", "pptx", "docm", "xlsm", "pptm", "odt", "ods", "odp", "epub"))
_TEXT_EXTENSIONS = {
    **dict.fromkeys(("md", "markdown", "mdx", "qmd", "rmd"), FileFormat.MARKDOWN),
    **dict.fromkeys(("rst", "rest"), FileFormat.RST),
    **dict.fromkeys(("adoc", "asciidoc", "asc"), FileFormat.ASCIIDOC),
    **dict.fromkeys(("tex", "latex"), FileFormat.LATEX),
    **dict.fromkeys(("html", "htm", "xhtml"), FileFormat.HTML),
    **dict.fromkeys(("mhtml", "mht"), FileFormat.MHTML),
    **dict.fromkeys(("jsonl", "ndjson"), FileFormat.JSONL),
    "org": FileFormat.ORG,
    "csv": FileFormat.CSV,
    "tsv": FileFormat.TSV,
    "tab": FileFormat.TSV,
    "eml": FileFormat.EML,
    "vtt": FileFormat.WEBVTT,
}
_XML_EXTENSIONS = frozenset(("xml", "nxml", "xbrl", "rss", "atom", "xsd", "svg"))
_CODE_LANGUAGES = {
    "py": "python", "js": "javascript", "ts": "typescript", "tsx": "typescript", "jsx": "javascript", "java": "java",
    "c": "c", "h": "c", "cc": "cpp", "cpp": "cpp", "hpp": "cpp", "cs": "csharp", "go": "go", "rs": "rust", "rb": "ruby",
    "php": "php", "sh": "bash", "bash": "bash", "zsh": "bash", "ps1": "powershell", "sql": "sql", "r": "r",
    "kt": "kotlin", "swift": "swift", "scala": "scala", "lua": "lua", "pl": "perl", "css": "css", "scss": "scss",
    "yaml": "yaml", "yml": "yaml", "toml": "toml", "ini": "ini", "cfg": "ini", "tf": "hcl", "proto": "protobuf",
    "json": "json", "vue": "vue", "dockerfile": "dockerfile", "graphql": "graphql",
}  # fmt: skip


def code_language(extension: str) -> str | None:
    """The language of a source-code extension, ``None`` when it is none.

    >>> code_language("py"), code_language("txt")
    ('python', None)
    """
    return _CODE_LANGUAGES.get(extension)


def sniff_format(path: Path, extension: str) -> FileFormat:
    """The format of a file by its content.

    Args:
        path: A readable file that is not empty.
        extension: Lower case, without dot; decides between kinds of text only.
    """
    with path.open("rb") as stream:
        head = stream.read(HEAD_BYTES)
    return _binary_format(path, head, extension) or _text_format(head, extension)


def _binary_format(path: Path, head: bytes, extension: str) -> FileFormat | None:
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")):
        return _zip_format(path, extension)
    if head.startswith(_OLE):
        return _ole_format(path)
    found = next((file_format for magic, file_format in _MAGIC if head.startswith(magic)), None) or _inner_magic(head)
    return found or (None if looks_like_text(head) else FileFormat.BINARY)


def _inner_magic(head: bytes) -> FileFormat | None:
    """Formats whose mark is not at the very beginning."""
    if b"%PDF-" in head[:1024]:  # the format allows other bytes before its header
        return FileFormat.PDF
    if head[:4] == b"RIFF":
        return FileFormat.IMAGE if head[8:12] == b"WEBP" else FileFormat.MEDIA
    if head[4:8] == b"ftyp":
        return FileFormat.MEDIA
    if head[:2] == b"BM" and head[6:10] == b"\0\0\0\0" and int.from_bytes(head[14:18], "little") in _BMP_HEADERS:
        return FileFormat.IMAGE
    return FileFormat.ARCHIVE if head[257:262] == b"ustar" else None


def _zip_format(path: Path, extension: str) -> FileFormat:
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
            if "mimetype" in names and archive.getinfo("mimetype").file_size < HEAD_BYTES:
                mime = archive.read("mimetype").decode("ascii", "replace").strip()
                if mime in _MIME_OF_ZIP:
                    return _MIME_OF_ZIP[mime]
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, ValueError, EOFError):
        return FileFormat.BROKEN_ZIP
    if "[Content_Types].xml" not in names:
        return FileFormat.BROKEN_ZIP if extension in _CONTAINER_EXTENSIONS else FileFormat.ARCHIVE
    for folder, file_format in (("word/", FileFormat.DOCX), ("ppt/", FileFormat.PPTX), ("xl/", FileFormat.XLSX)):
        if any(name.startswith(folder) for name in names):
            return FileFormat.BINARY if "xl/workbook.bin" in names else file_format
    return FileFormat.ARCHIVE


def _ole_format(path: Path) -> FileFormat:
    import olefile

    try:
        with olefile.OleFileIO(str(path)) as container:
            names = {"/".join(parts).lower() for parts in container.listdir()}
    except Exception:  # noqa: BLE001 - olefile raises many kinds on damaged input; all mean damaged
        return FileFormat.BROKEN_OLE
    if "encryptedpackage" in names or "encryptioninfo" in names:
        return FileFormat.ENCRYPTED_OFFICE
    if any(name.startswith(("__properties_version", "__nameid")) for name in names):
        return FileFormat.MSG
    return next((found for name, found in _OLE_STREAMS.items() if name in names), FileFormat.LEGACY_OFFICE)


def _text_format(head: bytes, extension: str) -> FileFormat:
    if extension == "ipynb":
        return FileFormat.NOTEBOOK
    text = decode_text(head, whole=False).lstrip()
    if extension == "json":
        return _json_format(text)
    if extension in _CODE_LANGUAGES:
        return FileFormat.CODE
    return _markup_format(text, extension) or _TEXT_EXTENSIONS.get(extension) or _undeclared_text_format(text)


def _markup_format(text: str, extension: str) -> FileFormat | None:
    start = text[:2048].lower()
    if start.startswith(("<!doctype html", "<html")) or (start.startswith("<?xml") and "<html" in start):
        return FileFormat.HTML
    return _xml_format(text) if start.startswith("<?xml") or extension in _XML_EXTENSIONS else None


def _undeclared_text_format(text: str) -> FileFormat:
    if text.startswith("WEBVTT"):
        return FileFormat.WEBVTT
    if looks_like_mail(text):
        return FileFormat.EML
    return FileFormat.TEXT


def _json_format(text: str) -> FileFormat:
    lines = [line for line in text.splitlines()[:3] if line.strip()]
    if len(lines) > 1 and all(_is_json_object(line) for line in lines[:2]):
        return FileFormat.JSONL
    return FileFormat.JSON


def _is_json_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def _xml_format(text: str) -> FileFormat:
    root = re.search(r"<(?![?!])([A-Za-z_][\w.:-]*)([^>]*)>", text)
    name = root.group(1).lower() if root else ""
    if name == "article" and ("jats" in text[:4096].lower() or "nlm" in text[:4096].lower() or "<front" in text):
        return FileFormat.JATS
    if name.startswith(("us-patent", "patent-application", "us-patent-grant")) or name == "patdoc":
        return FileFormat.USPTO
    if name in {"xbrl", "xbrli:xbrl"}:
        return FileFormat.XBRL
    return FileFormat.HTML if name == "html" else FileFormat.XML
