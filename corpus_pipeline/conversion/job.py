"""What goes to a worker and what comes back."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = ["ConversionJob", "ConversionOutcome"]


@dataclass(frozen=True)
class ConversionJob:
    """One file to convert.

    Attributes:
        key: Names the job in its outcome.
        path: A local copy.
        extension: Lower case, without dot.
        requested: The policy: ``auto`` or one converter.
        targets: Converter name to ``module:Class`` for all converters a route may name.
        candidates: Converters to try in place of the route, in order.
        password: Opens an encrypted file.
        limits: ``ConversionLimits`` as a dictionary.
        pdf_grade: ``models``, ``geometry`` or ``native``.
        ocr: ``auto``, ``on`` or ``off``.
        keep_images: Whether pictures in the file become part of the document.
        slice_folder: Where captured slices go; empty, the file is converted by one worker alone.
        file_format: Of a sliced file, what the first look found.
        sliced_by: Of a sliced file, the converter that slices it.
        slices: First and last page of all its slices, 1-based and inclusive.
        slice_pages: The one slice this job captures; empty for all other jobs.
        assembles: Whether this job makes the document from captured slices.
        slice_failure: Reason and message of a slice that could not be read; its file goes to the
            next converter of the route.
    """

    key: str
    path: str
    extension: str
    requested: str
    targets: dict[str, str]
    limits: dict[str, Any]
    candidates: tuple[str, ...] = ()
    password: str | None = field(default=None, repr=False)
    pdf_grade: str = "geometry"
    ocr: str = "auto"
    keep_images: bool = False
    slice_folder: str = ""
    file_format: str = ""
    sliced_by: str = ""
    slices: tuple[tuple[int, int], ...] = ()
    slice_pages: tuple[int, ...] = ()
    assembles: bool = False
    slice_failure: tuple[str, ...] = ()

    def to_head(self) -> dict[str, Any]:
        """The job as a JSON value."""
        return asdict(self)

    @classmethod
    def from_head(cls, head: dict[str, Any]) -> ConversionJob:
        """The job of a message."""
        tuples = {name: tuple(head.get(name, ())) for name in ("candidates", "slice_pages", "slice_failure")}
        slices = tuple((first, last) for first, last in head.get("slices", ()))
        return cls(**{**head, **tuples, "slices": slices})


@dataclass(frozen=True)
class ConversionOutcome:
    """What became of a job: a document, or a reason.

    Attributes:
        key: The job's key.
        reason: Value of ``QuarantineReason``; empty when there is a document.
        message: For a person: what is wrong and what to do.
        file_format: What the file was found to be; empty when a worker died before it knew.
        converter: The converter that succeeded, or the last one tried.
        tried: All converters tried, in order; more than one means that a fallback was used.
        summary: Columns of the document: hashes, counts, title, language, properties.
        content: The document as zlib-compressed canonical JSON.
        elapsed_seconds: Wall time in the workers.
        slices: Says instead of a result that the file falls into these ranges of pages.
    """

    key: str
    reason: str = ""
    message: str = ""
    file_format: str = ""
    converter: str = ""
    tried: tuple[str, ...] = ()
    summary: dict[str, Any] = field(default_factory=dict)
    content: bytes = b""
    elapsed_seconds: float = 0.0
    slices: tuple[tuple[int, int], ...] = ()

    def to_head(self) -> dict[str, Any]:
        """All but ``content`` as a JSON value."""
        head = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "content"}
        return {**head, "tried": list(self.tried)}

    @classmethod
    def from_frame(cls, head: dict[str, Any], content: bytes) -> ConversionOutcome:
        """The outcome of a message."""
        slices = tuple((first, last) for first, last in head["slices"])
        return cls(**{**head, "tried": tuple(head["tried"]), "slices": slices}, content=content)
