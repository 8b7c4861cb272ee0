"""Pictures of text: images, and PDF files with scanned pages.

What is recognised becomes text pages in the place of the scanned ones, and the geometric engine
reads the whole: one document, in one reading order, with pages and boxes.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from corpus_pipeline.conversion.file_format import FileFormat
from corpus_pipeline.conversion.recognition import POINTS_PER_INCH, Recogniser
from corpus_pipeline.conversion.scanned_pages import scanned_pages
from corpus_pipeline.conversion.source import ConversionInput
from corpus_pipeline.conversion.text_layer import TextPage, text_layer
from corpus_pipeline.errors import ConversionError
from corpus_pipeline.records import ConvertedDocument, QuarantineReason

__all__ = ["OcrConverter"]

DOTS_PER_INCH = 200
MAX_PIXELS = 12_000_000
"""A larger picture is made smaller before it is read; a page of A4 at 300 dpi has 8.7 million."""
MAX_IMAGE_PIXELS = 200_000_000
LONG_SIDE_POINTS = 842.0
"""An image without a resolution is taken for a page as high as A4."""
_PLAUSIBLE_DPI = range(73, 1201)
"""Programs write 72 where they know nothing."""


class OcrConverter:
    """Text recognition, then the geometric PDF engine."""

    @cached_property
    def _recogniser(self) -> Recogniser:
        return Recogniser()

    def convert(self, source: ConversionInput) -> ConvertedDocument:
        """The document; ``properties["ocr_pages"]`` lists the pages that were recognised.

        Raises:
            ConversionError: ``no_text`` when recognition is not installed or finds nothing, ``corrupt``,
                ``bomb`` for an image of too many pixels, ``too_large`` for too many pages.
        """
        from corpus_pipeline.conversion.pdf import convert_pdf

        recogniser = self._recogniser
        with tempfile.TemporaryDirectory(prefix="recognised-") as folder:
            copy = Path(folder) / "recognised.pdf"
            if source.file_format is FileFormat.IMAGE:
                pages = [_image_page(recogniser, frame, dpi) for frame, dpi in _frames(source)]
                copy.write_bytes(text_layer(pages))
                numbers = tuple(range(1, len(pages) + 1))
            else:
                numbers = scanned_pages(source.path, source.password, max_pages=source.max_pages)
                _replace_pages(source, numbers, recogniser, copy)
            try:
                document = convert_pdf(copy, password=None, max_pages=source.max_pages)
            except ConversionError as error:
                raise (
                    _nothing_found(source, len(numbers)) if error.reason == QuarantineReason.NO_TEXT else error
                ) from error
        properties = {**document.properties, "ocr_pages": ",".join(map(str, numbers))}
        return document.model_copy(update={"properties": dict(sorted(properties.items()))})


def _nothing_found(source: ConversionInput, pages: int) -> ConversionError:
    what = "the image" if source.file_format is FileFormat.IMAGE else f"the {pages} scanned pages"
    return ConversionError(
        f"text recognition found no text in {what}",
        reason=QuarantineReason.NO_TEXT,
        remedy="Add a text version if there is text to be read, or leave it out with source.exclude.",
    )


def _replace_pages(source: ConversionInput, numbers: tuple[int, ...], recogniser: Recogniser, copy: Path) -> None:
    """Writes a copy of a PDF with text pages in the place of the scanned ones."""
    import pypdfium2

    with pypdfium2.PdfDocument(source.path, password=source.password) as pdf:
        pages = []
        for number in numbers:
            page = pdf[number - 1]
            pages.append(_pdf_page(page, recogniser))
            page.close()
        if len(pdf) > len(numbers):
            with pypdfium2.PdfDocument(text_layer(pages)) as texts:
                for position, number in enumerate(numbers):
                    pdf.import_pages(texts, pages=[position], index=number - 1)
                    pdf.del_page(number)
            pdf.save(copy, flags=pypdfium2.raw.FPDF_REMOVE_SECURITY)
        else:
            copy.write_bytes(text_layer(pages))


def _pdf_page(page: Any, recogniser: Recogniser) -> TextPage:
    width, height = page.get_size()
    dots = min(DOTS_PER_INCH / POINTS_PER_INCH, (MAX_PIXELS / max(1.0, width * height)) ** 0.5)
    image = page.render(scale=dots, may_draw_forms=False).to_pil()
    return recogniser.page(image, 1 / dots)


def _image_page(recogniser: Recogniser, frame: Any, dpi: float) -> TextPage:
    points = POINTS_PER_INCH / dpi
    shrink = min(1.0, (MAX_PIXELS / (frame.width * frame.height)) ** 0.5)
    if shrink < 1:
        frame = frame.resize((max(1, round(frame.width * shrink)), max(1, round(frame.height * shrink))))
    return recogniser.page(frame, points / shrink)


def _frames(source: ConversionInput) -> Iterator[tuple[Any, float]]:
    """The pictures of an image file, upright, each with its dots per inch; moving pictures give their first."""
    from PIL import Image, ImageOps, ImageSequence, UnidentifiedImageError

    try:
        with Image.open(source.path) as image:
            if image.width * image.height > MAX_IMAGE_PIXELS:
                raise _too_many_pixels(image)
            frames = getattr(image, "n_frames", 1) if image.format == "TIFF" else 1
            if frames > source.max_pages:
                raise ConversionError(
                    f"the image has {frames} pages; at most {source.max_pages} are accepted",
                    reason=QuarantineReason.TOO_LARGE,
                    remedy="Raise conversion.limits.max_pages, or split the file.",
                )
            for number, frame in enumerate(ImageSequence.Iterator(image)):
                if number >= frames:
                    break
                upright = ImageOps.exif_transpose(_opaque(frame))
                yield upright, _dots_per_inch(frame)
    except Image.DecompressionBombError as error:
        raise _too_many_pixels(None) from error
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, EOFError) as error:
        raise ConversionError(
            f"the image is damaged: {type(error).__name__}",
            reason=QuarantineReason.CORRUPT,
            remedy="Open and save it in an image program, or restore it from its source.",
        ) from error


def _opaque(frame: Any) -> Any:
    """The picture on white: text on a transparent ground would drown in black."""
    from PIL import Image

    if frame.mode in {"RGBA", "LA", "PA"} or "transparency" in frame.info:
        layered = frame.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", layered.size, "white"), layered).convert("RGB")
    return frame.convert("RGB")


def _dots_per_inch(frame: Any) -> float:
    declared = float(frame.info.get("dpi", (0, 0))[0])
    if round(declared) in _PLAUSIBLE_DPI:
        return declared
    return float(max(frame.width, frame.height)) * POINTS_PER_INCH / LONG_SIDE_POINTS


def _too_many_pixels(image: Any) -> ConversionError:
    size = f" of {image.width} x {image.height}" if image is not None else ""
    return ConversionError(
        f"the image{size} has too many pixels; at most {MAX_IMAGE_PIXELS} are accepted",
        reason=QuarantineReason.BOMB,
        remedy="Leave the file out with source.exclude, or make a smaller one if it is genuine.",
    )
