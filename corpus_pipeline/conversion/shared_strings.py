"""Spreadsheets that hold one long text and show it in thousands of cells: small files, endless text."""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from pathlib import Path

from corpus_pipeline.errors import ConversionError
from corpus_pipeline.records import QuarantineReason

__all__ = ["check_shared_strings"]

LONGEST_CELL = 32_767
"""Characters that a cell can hold by the rules of its own format; shorter texts can be counted later."""
MOST_BYTES = 200_000_000
"""Parts beyond this are left to the limits on time and memory."""
_ITEM = re.compile(rb"<si\b[^>]*>(.*?)</si>|<si\b[^>]*/>", re.DOTALL)
_TAG = re.compile(rb"<[^>]*>")
_REFERENCE = re.compile(rb'<c\b[^>]*\bt="s"[^>]*>\s*(?:<f\b.*?</f>)?\s*<v>\s*(\d+)\s*</v>', re.DOTALL)


def check_shared_strings(path: Path, *, max_text_chars: int) -> None:
    """Refuses a workbook whose cells repeat its shared texts beyond measure.

    Only a workbook with a text longer than a cell can hold is looked at more closely.

    Args:
        path: An xlsx file whose container has been checked.
        max_text_chars: Most characters of text that a document may have.

    Raises:
        ConversionError: ``bomb``.
    """
    with zipfile.ZipFile(path) as archive:
        lengths = _text_lengths(archive)
        if max(lengths, default=0) <= LONGEST_CELL:
            return
        shown = 0
        for member in archive.infolist():
            if member.filename.startswith("xl/worksheets/") and member.file_size <= MOST_BYTES:
                uses = Counter(int(number) for number in _REFERENCE.findall(archive.read(member)))
                shown += sum(count * lengths[number] for number, count in uses.items() if number < len(lengths))
    if shown > max_text_chars:
        raise ConversionError(
            f"the cells of the workbook repeat its texts to {shown} characters; at most {max_text_chars} are accepted",
            reason=QuarantineReason.BOMB,
            remedy="Leave the file out with source.exclude; no spreadsheet program writes cells this long.",
        )


def _text_lengths(archive: zipfile.ZipFile) -> list[int]:
    """Bytes of each shared text without its tags."""
    for member in archive.infolist():
        if member.filename.lower() == "xl/sharedstrings.xml" and member.file_size <= MOST_BYTES:
            return [len(_TAG.sub(b"", text)) for text in _ITEM.findall(archive.read(member))]
    return []
