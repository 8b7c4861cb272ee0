"""How a source looks: pictures of its pages, or the beginning of its text.

Runs as a converter in the isolated workers, because a hostile file is as hostile to whoever draws
it: the "document" it gives holds the pictures in its properties.
"""

from __future__ import annotations

import base64
import json
import re
import tempfile
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

from corpus_pipeline.conversion.decoding import clean_text, decode_text
from corpus_pipeline.conversion.file_format import FileFormat
from corpus_pipeline.conversion.libreoffice import libreoffice_program, saved_as
from corpus_pipeline.conversion.source import ConversionInput
from corpus_pipeline.records import Block, BlockKind, ConvertedDocument

__all__ = ["SHOWN_PAGES", "SourceRenderer", "rendered_pages"]

SHOWN_PAGES = 4
WIDTH_PIXELS = 880
QUALITY = 72
SHOWN_CHARACTERS = 24_000
EDGE_LINES = 2
EDGE_PAGES = 60
OFFICE_SECONDS = 60
MEMBER_BYTES = 2_000_000
_F = FileFormat
_OFFICE = frozenset((_F.DOCX, _F.PPTX, _F.XLSX, _F.ODT, _F.ODS, _F.ODP, _F.RTF, _F.DOC, _F.XLS, _F.PPT))
_BINARY = _OFFICE | {_F.EPUB, _F.MSG, _F.BINARY, _F.ARCHIVE, _F.MEDIA}
_TAGS = re.compile(r"<[^>]{0,2000}>")
_MEMBERS = re.compile(r"(word/document|ppt/slides/slide\d+|xl/sharedStrings|content)\.xml$|\.x?html?$")


class SourceRenderer:
    """Draws a file."""

    def convert(self, source: ConversionInput) -> ConvertedDocument:
        """A document whose properties hold ``pages`` (JSON, see :func:`rendered_pages`), ``text`` and ``note``."""
        shown = _rendering(source)
        properties = {key: value if isinstance(value, str) else json.dumps(value) for key, value in shown.items()}
        blocks = [Block(kind=BlockKind.PICTURE, text="rendered")]
        return ConvertedDocument.from_blocks(blocks, properties=properties)


def rendered_pages(document: ConvertedDocument) -> list[dict[str, Any]]:
    """Pages of a rendering: ``image`` (data URL), ``width`` and ``height`` in points."""
    return list(json.loads(document.properties.get("pages", "[]")))


def _rendering(source: ConversionInput) -> dict[str, Any]:
    if source.file_format is FileFormat.PDF:
        return _pdf_pages(source.path, source.password)
    if source.file_format is FileFormat.IMAGE:
        return {"pages": [_picture(source.path)]}
    if source.file_format in _OFFICE:
        return _office_pages(source)
    if source.file_format in _BINARY:
        return {"text": _raw_text(source.path), "note": "The text of the container's parts without its markup."}
    with source.path.open("rb") as stream:
        text = decode_text(stream.read(4 * SHOWN_CHARACTERS), whole=False)
    return {"text": clean_text(text[:SHOWN_CHARACTERS])}


def _pdf_pages(path: Path, password: str | None) -> dict[str, Any]:
    import pypdfium2

    with pypdfium2.PdfDocument(path, password=password) as pdf:
        count = len(pdf)
        pages = [_pdf_page(pdf[number]) for number in range(min(count, SHOWN_PAGES))]
        edges = [_edge_lines(pdf[number]) for number in range(min(count, EDGE_PAGES))]
    return {"pages": pages, "edges": edges, "page_count": str(count)}


def _pdf_page(page: Any) -> dict[str, Any]:
    width, height = page.get_size()
    scale = min(WIDTH_PIXELS / max(width, 1.0), 2 * WIDTH_PIXELS / max(height, 1.0))
    image = page.render(scale=scale).to_pil()
    return {"image": _data_url(image), "width": round(width, 1), "height": round(height, 1)}


def _edge_lines(page: Any) -> list[str]:
    """The first and last lines of a page, where running headers and footers stand."""
    text = page.get_textpage().get_text_range().replace("\r", "\n")
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    return [clean_text(line[:200]) for line in [*lines[:EDGE_LINES], *lines[-EDGE_LINES:]]]


def _picture(path: Path) -> dict[str, Any]:
    from PIL import Image

    with Image.open(path) as image:
        image.thumbnail((WIDTH_PIXELS, 2 * WIDTH_PIXELS))
        return {"image": _data_url(image), "width": image.width, "height": image.height}


def _data_url(image: Any) -> str:
    stream = BytesIO()
    image.convert("RGB").save(stream, "JPEG", quality=QUALITY, optimize=True)
    return "data:image/jpeg;base64," + base64.b64encode(stream.getvalue()).decode()


def _office_pages(source: ConversionInput) -> dict[str, Any]:
    program = libreoffice_program()
    fault = "LibreOffice is not installed"
    if program is not None:
        with tempfile.TemporaryDirectory(prefix="rendering-") as name:
            pdf, ended = saved_as(
                "pdf",
                source.path,
                source.file_format.value,
                Path(name),
                program=program,
                timeout_seconds=OFFICE_SECONDS,
            )
            if pdf is not None:
                note = "Drawn by LibreOffice; its pages need not be those of the author."
                return {**_pdf_pages(pdf, None), "note": note}
        fault = f"LibreOffice could not draw this file ({ended})"
    return {"text": _raw_text(source.path), "note": f"{fault}; this is the text of the container's parts."}


def _raw_text(path: Path) -> str:
    """Text of the main parts of a ZIP container without tags; printable runs of anything else."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = [name for name in sorted(archive.namelist()) if _MEMBERS.search(name)][:20]
            parts = [_member_text(archive, name) for name in names]
        return clean_text("\n\n".join(parts)[:SHOWN_CHARACTERS])
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, ValueError):
        with path.open("rb") as stream:
            runs = re.findall(rb"[\x20-\x7e\r\n\t]{6,}", stream.read(20 * SHOWN_CHARACTERS))
        return b"\n".join(runs).decode("ascii")[:SHOWN_CHARACTERS]


def _member_text(archive: zipfile.ZipFile, name: str) -> str:
    with archive.open(name) as stream:
        text = stream.read(MEMBER_BYTES).decode("utf-8", "replace")
    return " ".join(_TAGS.sub(" ", text).split())
