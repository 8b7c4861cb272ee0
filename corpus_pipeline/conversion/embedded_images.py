"""Pictures that office documents and web pages hold, kept beside the text where a corpus asks for it.

docling says where a picture stands and gives its pixels; the bytes are those of the file where
the file holds a picture with the same pixels, else docling's PNG of them. A block on its way
carries marks of its pictures among its links, which :func:`take_images` turns into records.
"""

from __future__ import annotations

import base64
import binascii
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO
from typing import Any

from corpus_pipeline.conversion.file_format import FileFormat
from corpus_pipeline.records import Block, EmbeddedImage, sha256_hex

__all__ = ["IMAGES_VERSION", "IMAGE_FORMATS", "image_marks", "take_images"]

IMAGES_VERSION = "keep-1"
"""Part of the fingerprint of what is converted with pictures; raised when their choice or form changes."""
IMAGE_FORMATS = frozenset(
    {FileFormat.DOCX, FileFormat.PPTX, FileFormat.XLSX, FileFormat.ODT, FileFormat.ODS, FileFormat.ODP}
    | {FileFormat.DOC, FileFormat.PPT, FileFormat.XLS, FileFormat.HTML, FileFormat.MHTML}
)
"""Formats whose pictures can be kept."""
IMAGE_BYTES = 4_000_000
DOCUMENT_BYTES = 16_000_000
IMAGE_PIXELS = 50_000_000
"""Larger pictures, and those that would take a document beyond ``DOCUMENT_BYTES``, are left out and counted."""
_MARK = "embedded-image:"
_NAMES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff")
_DATA_ADDRESS = re.compile(rb"data:image/[a-z+.-]+;base64,([A-Za-z0-9+/=\s]+)")
_Pixels = tuple[tuple[int, int], str]


def image_marks(items: Iterable[Any]) -> tuple[str, ...]:
    """Marks of docling's picture items that have pixels."""
    return tuple(f"{_MARK}{item.self_ref}" for item in items if item.image is not None)


def take_images(
    blocks: Sequence[Block], document: Any, data: bytes
) -> tuple[list[Block], tuple[EmbeddedImage, ...], int]:
    """Takes the marks off blocks and gives the pictures they stand for.

    Args:
        blocks: In reading order; those of pictures without a caption have no text.
        document: The ``DoclingDocument``.
        data: The file that docling read.

    Returns:
        The blocks without marks, each picture once with all its places, and how many were left out.
    """
    pictures = {item.self_ref: item for item in document.pictures}
    originals: dict[_Pixels, bytes] | None = None
    kept: dict[str, EmbeddedImage] = {}
    left_out = total = 0
    for number, block in enumerate(blocks):
        for link in block.links:
            item = pictures.get(link.removeprefix(_MARK)) if link.startswith(_MARK) else None
            if item is None:
                continue
            originals = originals if originals is not None else dict(_originals(data))
            content = _content(item, originals)
            digest = sha256_hex(content)
            if digest in kept:
                places = (*kept[digest].blocks, number)
                kept[digest] = kept[digest].model_copy(update={"blocks": tuple(dict.fromkeys(places))})
            elif not content or len(content) > IMAGE_BYTES or total + len(content) > DOCUMENT_BYTES:
                left_out += 1
            else:
                total += len(content)
                kept[digest] = EmbeddedImage(
                    sha256=digest, media_type=_media_type(content), data=_base64(content), blocks=(number,)
                )
    return [_unmarked(block) for block in blocks], tuple(kept.values()), left_out


def _unmarked(block: Block) -> Block:
    links = tuple(link for link in block.links if not link.startswith(_MARK))
    return block if links == block.links else block.model_copy(update={"links": links})


def _content(item: Any, originals: dict[_Pixels, bytes]) -> bytes:
    drawn = _decoded(str(item.image.uri).partition(",")[2].encode())
    pixels = _pixels(drawn)
    return originals.get(pixels, drawn) if pixels else b""


def _originals(data: bytes) -> Iterator[tuple[_Pixels, bytes]]:
    """The pictures that the file holds as they are, by their pixels."""
    for content in _pictures_of(data):
        pixels = _pixels(content)
        if pixels is not None:
            yield pixels, content


def _pictures_of(data: bytes) -> Iterator[bytes]:
    if not zipfile.is_zipfile(BytesIO(data)):
        for match in _DATA_ADDRESS.finditer(data):
            yield _decoded(match.group(1))
        return
    with zipfile.ZipFile(BytesIO(data)) as package:
        for entry in sorted(package.infolist(), key=lambda entry: entry.filename):
            if entry.filename.lower().endswith(_NAMES) and entry.file_size <= IMAGE_BYTES:
                yield package.read(entry)


def _decoded(text: bytes) -> bytes:
    try:
        return base64.b64decode(text, validate=False)
    except binascii.Error:
        return b""


def _pixels(content: bytes) -> _Pixels | None:
    """Size and digest of the pixels; ``None`` of what is no picture, or too large a one."""
    from PIL import Image

    try:
        with Image.open(BytesIO(content)) as picture:
            if picture.width * picture.height > IMAGE_PIXELS:
                return None
            return picture.size, sha256_hex(picture.convert("RGBA").tobytes())
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None


def _media_type(content: bytes) -> str:
    from PIL import Image

    with Image.open(BytesIO(content)) as picture:
        return Image.MIME.get(picture.format or "", "application/octet-stream")


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")
