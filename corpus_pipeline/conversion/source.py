"""What a converter is given, and what it has to be able to do."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from corpus_pipeline.conversion.file_format import FileFormat
from corpus_pipeline.records import ConvertedDocument

__all__ = ["ConversionInput", "Converter", "ConverterFailure"]


@dataclass(frozen=True)
class ConversionInput:
    """One file for a converter.

    Attributes:
        path: A local copy; its name says nothing, the extension below is the declared one.
        file_format: What the content was found to be.
        extension: Lower case, without dot.
        password: Opens the file when it is encrypted.
        max_pages: Files with more pages are refused as ``too_large``.
    """

    path: Path
    file_format: FileFormat
    extension: str = ""
    password: str | None = field(default=None, repr=False)
    max_pages: int = 5000


class ConverterFailure(Exception):  # noqa: N818 - what happened to the converter, not to the pipeline
    """A converter gave up on a file; the message names no text of it and may be shown."""


class Converter(Protocol):
    """Turns a file into a structured document.

    An implementation may keep loaded models between calls; it runs in a worker process that is
    killed when a limit is passed, so it needs no guards of its own against time and memory.
    """

    def convert(self, source: ConversionInput) -> ConvertedDocument:
        """The document.

        Raises:
            ConversionError: With the quarantine class. Any other exception means that this
                converter failed on the file, and the next one of the route is tried.
        """
