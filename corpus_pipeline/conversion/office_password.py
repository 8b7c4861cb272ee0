"""Office documents that are encrypted: opened when a password is known."""

from __future__ import annotations

from pathlib import Path

from corpus_pipeline.conversion.file_format import FileFormat
from corpus_pipeline.errors import ConversionError
from corpus_pipeline.records import QuarantineReason

__all__ = ["LEGACY_FORMATS", "decrypted_copy", "is_encrypted"]

LEGACY_FORMATS = frozenset({FileFormat.DOC, FileFormat.XLS, FileFormat.PPT})
"""Formats that hold their encryption inside, where only a reader of the format finds it."""

BUILT_IN_PASSWORD = "VelvetSweatshop"  # noqa: S105 - public: Excel encrypts write-protected workbooks with it
"""[MS-OFFCRYPTO] 2.4.2.3; nobody has to type it to open such a file."""


def is_encrypted(path: Path) -> bool:
    """Whether a legacy office file is encrypted; a damaged one counts as not."""
    import msoffcrypto

    try:
        with path.open("rb") as stream:
            return bool(msoffcrypto.OfficeFile(stream).is_encrypted())
    except Exception:  # noqa: BLE001 - the library raises many kinds on damaged input; the converter says what is wrong
        return False


def decrypted_copy(path: Path, password: str | None, folder: Path) -> Path:
    """A readable copy of an encrypted office document.

    Args:
        path: An encrypted package in a compound file.
        password: The one given for the corpus, if any.
        folder: Where the copy goes; the caller removes it.

    Raises:
        ConversionError: ``encrypted``: there is no password, or it is not the right one.
    """
    import msoffcrypto

    for candidate in (password, BUILT_IN_PASSWORD):
        if candidate is None:
            continue
        try:
            with path.open("rb") as stream, (folder / "decrypted").open("wb") as copy:
                office = msoffcrypto.OfficeFile(stream)
                office.load_key(password=candidate, verify_password=True)
                office.decrypt(copy)
        except Exception:  # noqa: BLE001, S112 - the library raises many kinds for a wrong password or a damaged header
            continue
        return folder / "decrypted"
    found = "the password of the corpus does not open it" if password else "no password is given"
    raise ConversionError(
        f"the office document is encrypted, and {found}",
        reason=QuarantineReason.ENCRYPTED,
        remedy="Set conversion.password to the password it was saved with, or put an unprotected copy in its place.",
    )
