"""``convert_pdf``: one PDF file to one converted document, offline and without any model."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from corpus_pipeline.conversion.pdf.document_info import PdfInfo, read_info
from corpus_pipeline.conversion.tables import dropped_tables
from corpus_pipeline.errors import ConversionError
from corpus_pipeline.records import Block, BlockKind, ConvertedDocument, QuarantineReason

__all__ = ["PDF_ENGINE_VERSION", "assemble_pdf_slices", "capture_pdf_slice", "convert_pdf", "pdf_slices"]

PDF_ENGINE_VERSION = "geometry-5"
"""Part of the converter's fingerprint; raised whenever the output for some file changes."""

SLICE_PAGES = 100
"""Pages that are parsed together: what a worker holds in memory at a time, and what workers share a file by."""


def convert_pdf(
    path: Path, *, password: str | None, max_pages: int, page_range: tuple[int, int] | None = None
) -> ConvertedDocument:
    """Converts a PDF by the geometry of its pages.

    Runs inside a worker process: a hostile file can take unlimited time and memory in the
    parser, which only the caller's limits on the process stop. A long document is captured in
    slices, packed until all are there; :func:`pdf_slices`, :func:`capture_pdf_slice` and
    :func:`assemble_pdf_slices` let several processes share that work and give the same document.

    Args:
        path: A local file.
        password: For an encrypted file.
        max_pages: A longer document is refused before it is parsed.
        page_range: First and last page to convert, 1-based and inclusive; all pages if ``None``.

    Returns:
        Blocks with pages and boxes. ``properties`` hold the information dictionary, and
        ``pdf_grade``: ``geometry``, or ``native`` when some page had to be read as bare lines.
        ``pdf_native_pages``, ``pdf_blank_pages`` (no text but running headers and footers),
        ``pdf_continued_pages`` (only the rest of a block that begins on an earlier page) and
        ``pdf_failed_pages`` (not parsed) list pages, where there are any.

    Raises:
        ConversionError: ``empty``, ``corrupt``, ``encrypted``, ``too_large``, ``no_text``, or
            ``converter_error`` when docling fails on every page.
    """
    info = _checked_info(path, password, max_pages)
    first, last = page_range or (1, info.page_count)
    ranges = _ranges(max(1, first), min(last, info.page_count))
    if not ranges:
        raise ConversionError(
            f"the PDF has no pages {first} to {last}",
            reason=QuarantineReason.CONVERTER_ERROR,
            remedy="Ask for pages that the document has.",
        )
    if len(ranges) == 1:
        return _whole(path, password, info, ranges[0])
    with TemporaryDirectory(prefix="slices-") as folder:
        files = [Path(folder) / f"{start}" for start, _ in ranges]
        for file, (start, end) in zip(files, ranges, strict=True):
            file.write_bytes(capture_pdf_slice(path, password=password, page_range=(start, end)))
        return _gathered(path, password, info, files)


def pdf_slices(path: Path, *, password: str | None, max_pages: int) -> list[tuple[int, int]]:
    """First and last page of each slice of a PDF; short ones have one slice.

    Raises:
        ConversionError: As :func:`convert_pdf` does before it parses.
    """
    return _ranges(1, _checked_info(path, password, max_pages).page_count)


def capture_pdf_slice(path: Path, *, password: str | None, page_range: tuple[int, int]) -> bytes:
    """What stands on the pages of a slice, packed for :func:`assemble_pdf_slices`.

    Raises:
        ConversionError: docling cannot load the file.
    """
    from corpus_pipeline.conversion.pdf.gathering import capture_slice
    from corpus_pipeline.conversion.pdf.slices import pack_slice

    return pack_slice(capture_slice(path, password, *page_range))


def assemble_pdf_slices(path: Path, *, password: str | None, max_pages: int, slices: list[Path]) -> ConvertedDocument:
    """The document of :func:`convert_pdf` from the packed slices of all its pages, in order.

    Raises:
        ConversionError: As :func:`convert_pdf`.
    """
    return _gathered(path, password, _checked_info(path, password, max_pages), slices)


def _checked_info(path: Path, password: str | None, max_pages: int) -> PdfInfo:
    info = read_info(path, password)
    if info.page_count > max_pages:
        raise ConversionError(
            f"the PDF has {info.page_count} pages, more than the limit of {max_pages}",
            reason=QuarantineReason.TOO_LARGE,
            remedy="Raise the page limit of the corpus or split the document.",
        )
    return info


def _ranges(first: int, last: int) -> list[tuple[int, int]]:
    return [(start, min(last, start + SLICE_PAGES - 1)) for start in range(first, last + 1, SLICE_PAGES)]


def _whole(path: Path, password: str | None, info: PdfInfo, pages: tuple[int, int]) -> ConvertedDocument:
    from corpus_pipeline.conversion.pdf.gathering import Gathered, capture_slice

    captured = capture_slice(path, password, *pages)
    gathered = Gathered(page.fonts for page in captured.pages)
    gathered.add(captured)
    return _document(path, password, info, gathered)


def _gathered(path: Path, password: str | None, info: PdfInfo, slices: list[Path]) -> ConvertedDocument:
    from corpus_pipeline.conversion.pdf.gathering import Gathered
    from corpus_pipeline.conversion.pdf.slices import unpack_evidence, unpack_slice

    gathered = Gathered(page for file in slices for page in unpack_evidence(file.read_bytes()))
    for file in slices:
        gathered.add(unpack_slice(file.read_bytes()))
    return _document(path, password, info, gathered)


def _document(path: Path, password: str | None, info: PdfInfo, gathered: Any) -> ConvertedDocument:
    from corpus_pipeline.conversion.pdf.mapping import blocks_of

    if not gathered.layouts:
        raise ConversionError(
            "no page of the PDF could be parsed",
            reason=QuarantineReason.CORRUPT,
            remedy="Open the file in a viewer and export it again.",
        )
    assembled = gathered.assemble(path, password)
    blocks = blocks_of(assembled)
    document = ConvertedDocument.from_blocks(
        blocks,
        title=_title(blocks, info),
        page_count=info.page_count,
        properties={**info.properties, **_page_properties(gathered), **_losses(gathered, assembled, blocks)},
    )
    if not document.text:
        raise ConversionError(
            f"the PDF has no text on its {info.page_count} pages: scanned, drawn or empty",
            reason=QuarantineReason.NO_TEXT,
            remedy="Scanned: pip install 'corpus-pipeline[ocr]', with conversion.ocr at auto. Drawn or empty: add a "
            "text version, or leave it out with source.exclude.",
        )
    return document


def _losses(gathered: Any, assembled: Any, blocks: list[Block]) -> dict[str, str]:
    """Pages that hold only the rest of a block that began before them, and how many tables were found but not kept."""
    begun = {block.page for block in blocks}
    covered = {place.page_no for item, _ in assembled.iterate_items(traverse_pictures=True) for place in item.prov}
    continued = sorted(covered & set(gathered.layouts) - begun)
    kept = sum(block.kind is BlockKind.TABLE for block in blocks)
    found = {"pdf_continued_pages": ",".join(map(str, continued)), **dropped_tables(gathered.table_count, kept)}
    return {name: value for name, value in found.items() if value}


def _page_properties(gathered: Any) -> dict[str, str]:
    """How the pages were read; lists of pages only where there are any."""
    layouts = sorted(gathered.layouts.items())
    native = [number for number, layout in layouts if not layout.geometric]
    lists = {
        "pdf_native_pages": native,
        "pdf_blank_pages": [number for number, layout in layouts if not layout.has_body_text],
        "pdf_failed_pages": sorted(gathered.failed_pages),
    }
    grade = "native" if native else "geometry"
    return {"pdf_grade": grade} | {name: ",".join(map(str, pages)) for name, pages in lists.items() if pages}


def _title(blocks: list[Block], info: PdfInfo) -> str | None:
    for block in blocks:
        if block.kind is BlockKind.TITLE:
            return block.text
    return info.properties.get("title")
