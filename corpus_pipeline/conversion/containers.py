"""Looks into containers before anything opens them: bombs, damage, encryption."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

from corpus_pipeline.conversion.file_format import FileFormat
from corpus_pipeline.errors import ConversionError
from corpus_pipeline.inventory import bomb, expansion_fault
from corpus_pipeline.records import QuarantineReason

__all__ = ["ZIP_FORMATS", "check_xml", "check_zip"]

ZIP_FORMATS = frozenset(
    {
        FileFormat.DOCX,
        FileFormat.PPTX,
        FileFormat.XLSX,
        FileFormat.ODT,
        FileFormat.ODS,
        FileFormat.ODP,
        FileFormat.EPUB,
    }
)
XML_HEAD_BYTES = 8192
_ENTITY = re.compile(rb"<!ENTITY\s+(?:%\s+)?[^\s>]+\s+(SYSTEM|PUBLIC|[\"'])([^>]*)", re.IGNORECASE)
_XML_PARTS = (".xml", ".rels", ".vml")


def check_zip(path: Path, file_format: FileFormat, *, max_expanded_bytes: int, max_members: int) -> None:
    """Refuses a container whose content would not be safe or possible to read.

    Args:
        path: A file of one of :data:`ZIP_FORMATS`.
        file_format: Which one.
        max_expanded_bytes: Most bytes that all members may have together.
        max_members: Most members.

    Raises:
        ConversionError: ``bomb``, ``corrupt`` or ``encrypted``.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            _check_sizes(path, members, max_expanded_bytes, max_members)
            if any(member.flag_bits & 1 for member in members):
                raise _encrypted(file_format)
            for member in members:
                if member.filename.lower().endswith(_XML_PARTS):
                    _check_part(archive, member, file_format)
    except (zipfile.BadZipFile, EOFError, OSError, NotImplementedError, RuntimeError, ValueError) as error:
        if isinstance(error, ConversionError):
            raise
        raise ConversionError(
            f"the {file_format} container is damaged: {type(error).__name__}",
            reason=QuarantineReason.CORRUPT,
            remedy="Open it in its own program, repair and save it, or restore it from a backup.",
        ) from error


def _check_sizes(path: Path, members: list[zipfile.ZipInfo], max_expanded_bytes: int, max_members: int) -> None:
    fault = expansion_fault(
        members=len(members),
        max_members=max_members,
        expanded=sum(member.file_size for member in members),
        max_expanded=max_expanded_bytes,
        packed=path.stat().st_size,
    )
    if fault:
        raise bomb(fault)


def _check_part(archive: zipfile.ZipFile, member: zipfile.ZipInfo, file_format: FileFormat) -> None:
    with archive.open(member) as part:
        head = part.read(XML_HEAD_BYTES)
    declares_type = b"<!DOCTYPE" in head or "<!DOCTYPE".encode("utf-16-le") in head
    if declares_type and (file_format in {FileFormat.DOCX, FileFormat.PPTX, FileFormat.XLSX} or b"<!ENTITY" in head):
        raise ConversionError(
            "a part of the container declares XML entities or a document type, which its format forbids",
            reason=QuarantineReason.BOMB,
            remedy="Leave the file out with source.exclude; no office program writes such a file.",
        )


def _encrypted(file_format: FileFormat) -> ConversionError:
    return ConversionError(
        f"the {file_format} container is encrypted",
        reason=QuarantineReason.ENCRYPTED,
        remedy="Save an unprotected copy in the corpus.",
    )


def check_xml(data: bytes) -> None:
    """Refuses XML whose entities refer to each other or to files.

    Raises:
        ConversionError: ``bomb``; nothing outside the file is ever read, and nested entities
            can expand without bound. Unparsed entities (``NDATA``) only name pictures and pass.
    """
    for kind, value in _ENTITY.findall(data):
        outside = kind.upper() in {b"SYSTEM", b"PUBLIC"} and not re.search(rb"\sNDATA\s", value)
        if outside or re.search(rb"&[^#\s;]+;", value):
            what = "an entity outside the file" if outside else "entities made of entities"
            raise ConversionError(
                f"the XML declares {what}",
                reason=QuarantineReason.BOMB,
                remedy="Write the text out in the file, or leave it out with source.exclude.",
            )
