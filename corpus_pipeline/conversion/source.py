"""What a converter is given, and what it has to be able to do."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from corpus_pipeline.conversion.file_format import FileFormat
from corpus_pipeline.records import ConvertedDocument

__all__ = ["ConversionInput", "Converter", "ConverterFailure", "SlicedConverter"]


@dataclass(frozen=True)
class ConversionInput:
    """One file for a converter.

    Attributes:
        path: A local copy; its name says nothing, the extension below is the declared one.
        file_format: What the content was found to be.
        extension: Lower case, without dot.
        password: Opens the file when it is encrypted.
        max_pages: Files with more pages are refused as ``too_large``.
        keep_images: Pictures in the file become part of the document, where the converter can.
    """

    path: Path
    file_format: FileFormat
    extension: str = ""
    password: str | None = field(default=None, repr=False)
    max_pages: int = 5000
    keep_images: bool = False


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


@runtime_checkable
class SlicedConverter(Converter, Protocol):
    """A converter that several workers can share a large file for; the result is that of ``convert``."""

    def slices(self, source: ConversionInput) -> list[tuple[int, int]]:
        """First and last page of each slice, 1-based and inclusive; one slice means that nothing is to be shared.

        Raises:
            ConversionError: With the quarantine class.
        """

    def capture_slice(self, source: ConversionInput, pages: tuple[int, int]) -> bytes:
        """What a slice holds, for :meth:`assemble_slices`.

        Raises:
            ConversionError: With the quarantine class.
        """

    def assemble_slices(self, source: ConversionInput, files: list[Path]) -> ConvertedDocument:
        """The document from what was captured of all slices, in order.

        Raises:
            ConversionError: With the quarantine class.
        """
