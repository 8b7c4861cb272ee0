"""Which files are containers of documents: archives and mails with attachments, by their bytes.

Office documents, e-books and programs are ZIP files too; those are documents, or nothing.
"""

from __future__ import annotations

import re
import tarfile
import zipfile
from enum import StrEnum
from pathlib import Path

__all__ = [
    "HEAD_BYTES",
    "ContainerKind",
    "container_kind",
    "is_document_package",
    "looks_like_mail",
    "may_be_container",
]

HEAD_BYTES = 64 * 1024


class ContainerKind(StrEnum):
    """Kinds of container that are opened."""

    ZIP = "zip"
    TAR = "tar"
    GZIP = "gzip"
    BZIP2 = "bzip2"
    XZ = "xz"
    EML = "eml"
    MSG = "msg"

    @property
    def is_mail(self) -> bool:
        """Whether it is a document itself besides holding others."""
        return self in {ContainerKind.EML, ContainerKind.MSG}


_ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_COMPRESSED = ((b"\x1f\x8b", ContainerKind.GZIP), (b"BZh", ContainerKind.BZIP2), (b"\xfd7zXZ\x00", ContainerKind.XZ))
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ZIP_DOCUMENTS = frozenset(
    ("docx", "docm", "dotx", "xlsx", "xlsm", "xltx", "pptx", "pptm", "potx", "ppsx", "odt", "ods", "odp", "odg", "epub")
)
_OLE_DOCUMENTS = frozenset(("doc", "dot", "xls", "xlt", "ppt", "pps", "docx", "xlsx", "pptx", "vsd", "mpp", "pub"))
_PACKAGE_MARKS = frozenset(("[Content_Types].xml", "META-INF/MANIFEST.MF", "AndroidManifest.xml", "Index/Document.iwa"))
_MIME_PREFIXES = ("application/vnd.", "application/epub+zip", "image/", "application/x-")
_PLAIN_NAMES = frozenset(("", "txt", "text", "mail", "email"))
_MAIL_HEADER = re.compile(r"\A(?:[A-Za-z][A-Za-z0-9-]*: .*\n(?:[ \t].*\n)*){3,}", re.MULTILINE)
_MAIL_NEEDS = re.compile(r"^(?:From|Received|Return-Path|Message-ID):", re.MULTILINE | re.IGNORECASE)
_TAR_BLOCK = 512


def looks_like_mail(text: str) -> bool:
    r"""Whether a text begins with the header of an internet message.

    >>> looks_like_mail("From: a@b.c\nTo: d@e.f\nSubject: x\n\nHello"), looks_like_mail("Hello: world\n")
    (True, False)
    """
    return _MAIL_HEADER.match(text) is not None and _MAIL_NEEDS.search(text[:8192]) is not None


def may_be_container(head: bytes, extension: str) -> bool:
    """Whether a file has to be looked into; cheap, and never wrong when it says no.

    Args:
        head: The first :data:`HEAD_BYTES` of the file, or all of it.
        extension: Lower case, without dot.
    """
    if head.startswith(_ZIP_MAGIC):
        return extension not in _ZIP_DOCUMENTS
    if head.startswith(_OLE):
        return extension not in _OLE_DOCUMENTS
    if any(head.startswith(magic) for magic, _ in _COMPRESSED) or _is_tar(head):
        return True
    return _is_mail(head, extension) and _may_have_attachments(head)


def container_kind(path: Path, extension: str) -> ContainerKind | None:
    """What kind of container a file is, ``None`` when it is none or is damaged beyond telling.

    Reads directories of untrusted files: to be called in a process that may be killed.
    """
    with path.open("rb") as stream:
        head = stream.read(HEAD_BYTES)
    if not may_be_container(head, extension):
        return None
    if head.startswith(_ZIP_MAGIC):
        return _zip_kind(path)
    if head.startswith(_OLE):
        return _ole_kind(path)
    if _is_tar(head):
        return ContainerKind.TAR
    return next((kind for magic, kind in _COMPRESSED if head.startswith(magic)), ContainerKind.EML)


def is_document_package(archive: zipfile.ZipFile) -> bool:
    """Whether a ZIP file is one document or program rather than a container of files."""
    names = set(archive.namelist())
    if names & _PACKAGE_MARKS:
        return True
    if "mimetype" not in names or archive.getinfo("mimetype").file_size > _TAR_BLOCK:
        return False
    return archive.read("mimetype").decode("ascii", "replace").strip().startswith(_MIME_PREFIXES)


def is_tar_file(path: Path) -> bool:
    """Whether a file that is not compressed is a tar archive."""
    with path.open("rb") as stream:
        return _is_tar(stream.read(_TAR_BLOCK))


def _is_tar(head: bytes) -> bool:
    if head[257:262] == b"ustar":
        return True
    block = head[:_TAR_BLOCK]
    if len(block) < _TAR_BLOCK or not block[148:156].strip(b" \x000123456789"):
        # Before POSIX there was no mark; the checksum of the header tells.
        try:
            return len(block) == _TAR_BLOCK and bool(tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape").name)
        except (tarfile.HeaderError, ValueError):
            return False
    return False


def _is_mail(head: bytes, extension: str) -> bool:
    if extension == "eml":
        return True
    return extension in _PLAIN_NAMES and looks_like_mail(head.decode("latin-1").replace("\r\n", "\n").lstrip())


def _may_have_attachments(head: bytes) -> bool:
    lowered = head.lower()
    return b"multipart/" in lowered or b"content-disposition" in lowered


def _zip_kind(path: Path) -> ContainerKind | None:
    try:
        with zipfile.ZipFile(path) as archive:
            return None if is_document_package(archive) else ContainerKind.ZIP
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, ValueError, EOFError):
        return None


def _ole_kind(path: Path) -> ContainerKind | None:
    import olefile

    try:
        with olefile.OleFileIO(str(path)) as container:
            names = [parts[0].lower() for parts in container.listdir()]
    except Exception:  # noqa: BLE001 - olefile raises many kinds on damaged input; all mean damaged
        return None
    return ContainerKind.MSG if any(name.startswith(("__properties_version", "__nameid")) for name in names) else None
