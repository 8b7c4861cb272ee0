"""Converting one file: checks before, the route, checks after. Runs inside a worker."""

from __future__ import annotations

import tempfile
import time
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from corpus_pipeline.conversion.catalogue import load_converter
from corpus_pipeline.conversion.containers import ZIP_FORMATS, check_zip
from corpus_pipeline.conversion.decoding import clean_text
from corpus_pipeline.conversion.file_format import FileFormat, sniff_format
from corpus_pipeline.conversion.job import ConversionJob, ConversionOutcome
from corpus_pipeline.conversion.measures import measure_document
from corpus_pipeline.conversion.office_password import LEGACY_FORMATS, decrypted_copy, is_encrypted
from corpus_pipeline.conversion.pdf_models import missing_for_models
from corpus_pipeline.conversion.routing import RouteOptions, route
from corpus_pipeline.conversion.scanned_pages import scanned_pages
from corpus_pipeline.conversion.shared_strings import check_shared_strings
from corpus_pipeline.conversion.source import ConversionInput, Converter, ConverterFailure, SlicedConverter
from corpus_pipeline.errors import ConversionError, ModelUnavailableError
from corpus_pipeline.records import ConvertedDocument, QuarantineReason, canonical_json, sha256_hex

__all__ = ["capture_slice", "convert_file"]

COMPRESSION_LEVEL = 6
_T = TypeVar("_T")
_NO_FALLBACK = frozenset(
    {
        QuarantineReason.ENCRYPTED,
        QuarantineReason.BOMB,
        QuarantineReason.TOO_LARGE,
        QuarantineReason.EMPTY,
    }
)


def convert_file(job: ConversionJob) -> ConversionOutcome:
    """Converts one file; every failure becomes an outcome with its class.

    Memory errors pass through, because a process that ran out of memory must not go on.
    """
    started = time.monotonic()
    trace = _Trace()
    try:
        document = _convert(job, trace)
    except ConversionError as error:
        outcome = _failure(job, trace, error)
    except _Sliced as request:
        outcome = ConversionOutcome(
            key=job.key,
            file_format=trace.file_format,
            converter=trace.tried[-1],
            elapsed_seconds=time.monotonic() - started,
            slices=request.ranges,
        )
    else:
        outcome = ConversionOutcome(
            key=job.key,
            file_format=trace.file_format,
            converter=trace.tried[-1],
            tried=tuple(trace.tried),
            summary=_summary(document),
            content=zlib.compress(canonical_json(document).encode(), COMPRESSION_LEVEL),
            elapsed_seconds=time.monotonic() - started,
        )
    return outcome


def capture_slice(job: ConversionJob) -> ConversionOutcome:
    """Captures one slice of a sliced file into the job's folder; see :mod:`.slicing`.

    Memory errors pass through, as in :func:`convert_file`.
    """
    started = time.monotonic()
    trace = _Trace()
    trace.file_format, trace.tried = job.file_format, [job.sliced_by]
    first, last = job.slice_pages
    source = _input(job, Path(job.path), FileFormat(job.file_format))
    try:
        _run(job.sliced_by, job, source, lambda converter: _capture(converter, source, job, (first, last)))
    except ConversionError as error:
        return _failure(job, trace, error)
    return ConversionOutcome(key=job.key, elapsed_seconds=time.monotonic() - started)


def _capture(converter: Converter, source: ConversionInput, job: ConversionJob, pages: tuple[int, int]) -> None:
    if isinstance(converter, SlicedConverter):
        _slice_file(job, pages).write_bytes(converter.capture_slice(source, pages))


def _slice_file(job: ConversionJob, pages: tuple[int, int]) -> Path:
    return Path(job.slice_folder) / f"pages-{pages[0]}-{pages[1]}"


class _Sliced(Exception):  # noqa: N818 - a request
    """The file is to be shared between workers."""

    def __init__(self, ranges: tuple[tuple[int, int], ...]) -> None:
        super().__init__()
        self.ranges = ranges


class _Trace:
    """What is known so far, for the outcome."""

    def __init__(self) -> None:
        self.file_format = ""
        self.tried: list[str] = []


def _failure(job: ConversionJob, trace: _Trace, error: ConversionError) -> ConversionOutcome:
    return ConversionOutcome(
        key=job.key,
        reason=str(error.reason),
        message=str(error),
        file_format=trace.file_format,
        converter=trace.tried[-1] if trace.tried else "",
        tried=tuple(trace.tried),
    )


def _convert(job: ConversionJob, trace: _Trace) -> ConvertedDocument:
    path = Path(job.path)
    _check_size(path, job)
    file_format = sniff_format(path, job.extension)
    trace.file_format = file_format.value
    if file_format is FileFormat.ENCRYPTED_OFFICE or (file_format in LEGACY_FORMATS and is_encrypted(path)):
        path = decrypted_copy(path, job.password, Path(tempfile.mkdtemp(prefix="decrypted-")))
        file_format = sniff_format(path, job.extension)
        trace.file_format = file_format.value
    names = job.candidates or route(file_format, job.requested, _route_options(job, path, file_format))
    if file_format in ZIP_FORMATS:
        limits = job.limits
        check_zip(path, file_format, max_expanded_bytes=limits["max_expanded_bytes"], max_members=limits["max_members"])
    if file_format is FileFormat.XLSX:
        check_shared_strings(path, max_text_chars=job.limits["max_text_chars"])
    source = _input(job, path, file_format)
    document = _try_in_order(names, job, source, trace)
    _check_document(document, job.limits["max_text_chars"])
    return document


def _route_options(job: ConversionJob, path: Path, file_format: FileFormat) -> RouteOptions:
    look = file_format is FileFormat.PDF and job.ocr != "off"
    scanned = look and bool(scanned_pages(path, job.password, max_pages=job.limits["max_pages"]))
    found = job.pdf_grade != "models" or file_format is not FileFormat.PDF or not missing_for_models()
    return RouteOptions(job.pdf_grade, job.ocr, scanned=scanned, models_found=found)


def _check_size(path: Path, job: ConversionJob) -> None:
    try:
        size = path.stat().st_size
        with path.open("rb") as stream:
            blank = not stream.read(65536).strip(b" \t\r\n\f\x00\xef\xbb\xbf\xfe\xff")
    except OSError as error:
        raise ConversionError(
            f"the file cannot be read: {error.strerror}",
            reason=QuarantineReason.UNREADABLE,
            remedy="Correct its permissions, or restore it; it is tried again in the next run.",
        ) from error
    if size > job.limits["max_bytes"]:
        raise ConversionError(
            f"the file has {size} bytes; at most {job.limits['max_bytes']} are accepted",
            reason=QuarantineReason.TOO_LARGE,
            remedy="Raise conversion.limits.max_bytes, or split the file.",
        )
    if blank and size <= 65536:  # noqa: PLR2004 - as much as was read
        raise ConversionError(
            f"the file has {size} bytes and no content",
            reason=QuarantineReason.EMPTY,
            remedy="Restore it from its source, or delete it.",
        )


def _try_in_order(
    names: tuple[str, ...], job: ConversionJob, source: ConversionInput, trace: _Trace
) -> ConvertedDocument:
    first: ConversionError | None = None
    for name in names:
        trace.tried.append(name)
        try:
            document = _clean(_run(name, job, source, partial(_make, name, job, source)))
        except ConversionError as error:
            first = first or error
            if error.reason in _NO_FALLBACK:
                break
            continue
        if document.text.strip():
            return document
        first = first or _no_text(source.file_format)
    if first is None:
        raise _no_text(source.file_format)
    raise first


def _input(job: ConversionJob, path: Path, file_format: FileFormat) -> ConversionInput:
    return ConversionInput(path, file_format, job.extension, job.password, job.limits["max_pages"], job.keep_images)


def _make(name: str, job: ConversionJob, source: ConversionInput, converter: Converter) -> ConvertedDocument:
    """The document, made whole or from captured slices.

    Raises:
        _Sliced: Several workers are to share the file.
        ConversionError: As the converter says; or what kept a slice from being captured.
    """
    if not job.slice_folder or not isinstance(converter, SlicedConverter):
        return converter.convert(source)
    if not job.assembles:
        ranges = converter.slices(source)
        if len(ranges) > 1:
            raise _Sliced(tuple(ranges))
        return converter.convert(source)
    if name != job.sliced_by:
        return converter.convert(source)
    if job.slice_failure:
        reason, message = job.slice_failure
        message, _, remedy = message.partition("\n")
        raise ConversionError(message, reason=reason, remedy=remedy)
    return converter.assemble_slices(source, [_slice_file(job, pages) for pages in job.slices])


def _run(name: str, job: ConversionJob, source: ConversionInput, act: Callable[[Converter], _T]) -> _T:
    try:
        return act(load_converter(job.targets[name]))
    except (ConversionError, MemoryError, _Sliced):
        raise
    except ModelUnavailableError as error:
        raise ConversionError(error.message, reason=QuarantineReason.CONVERTER_ERROR, remedy=error.remedy) from error
    except RecursionError as error:
        raise ConversionError(
            f"{name} gave up on the nesting of the file",
            reason=QuarantineReason.CONVERTER_ERROR,
            remedy="Simplify the file, or ask for another converter with conversion.overrides.",
        ) from error
    except Exception as error:
        if _is_memory_error(error):
            raise MemoryError from error
        raise ConversionError(
            f"{name} failed on this {source.file_format} file: {_cause(error)}",
            reason=QuarantineReason.CONVERTER_ERROR,
            remedy="Open and save it in its own program, or ask for another converter with conversion.overrides.",
        ) from error


def _is_memory_error(error: BaseException) -> bool:
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, MemoryError) or "bad_alloc" in str(seen) or "Cannot allocate memory" in str(seen):
            return True
        seen = seen.__cause__ or seen.__context__
    return False


def _cause(error: BaseException) -> str:
    """Kind and place of an error; its message may hold text of the document and is left out."""
    if isinstance(error, ConverterFailure):
        return str(error)
    trace = error.__traceback__
    place = ""
    while trace is not None:
        code = trace.tb_frame.f_code
        place = f"{Path(code.co_filename).name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return f"{type(error).__name__} at {place}"


def _clean(document: ConvertedDocument) -> ConvertedDocument:
    """The document without characters that a database or a terminal cannot hold."""
    raw = canonical_json(document)
    if clean_text(raw) == raw and "\\u00" not in raw and "\\ud" not in raw and "\\ufeff" not in raw:
        return document
    blocks = [
        block.model_copy(
            update={
                "text": clean_text(block.text),
                "links": tuple(clean_text(link) for link in block.links),
                "table": block.table
                and block.table.model_copy(
                    update={
                        "rows": tuple(tuple(clean_text(cell) for cell in row) for row in block.table.rows),
                        "caption": clean_text(block.table.caption),
                    }
                ),
            }
        )
        for block in document.blocks
    ]
    return ConvertedDocument.from_blocks(
        blocks,
        title=document.title and clean_text(document.title),
        language=document.language and clean_text(document.language),
        page_count=document.page_count,
        properties={clean_text(key): clean_text(value) for key, value in document.properties.items()},
        images=document.images,
    )


def _no_text(file_format: FileFormat | str) -> ConversionError:
    return ConversionError(
        f"the {file_format} file has no text that can be read",
        reason=QuarantineReason.NO_TEXT,
        remedy="If it is a scan, add a version with recognised text; if it is empty, delete it.",
    )


def _check_document(document: ConvertedDocument, max_text_chars: int) -> None:
    if len(document.text) > max_text_chars:
        raise ConversionError(
            f"the file has {len(document.text)} characters of text; at most {max_text_chars} are accepted",
            reason=QuarantineReason.TOO_LARGE,
            remedy="Raise conversion.limits.max_text_chars, or split the file.",
        )


def _summary(document: ConvertedDocument) -> dict[str, object]:
    heading = next((block.text for block in document.blocks if block.kind.value in {"title", "heading"}), None)
    return {
        "document_sha256": document.document_sha256,
        "text_sha256": sha256_hex(document.text),
        "char_count": len(document.text),
        "page_count": document.page_count,
        "title": document.title or heading,
        "language": document.language,
        "properties": document.properties,
        "measures": measure_document(document),
    }
