"""Text recognition with the weights that come inside the package: no network, no model hub."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, NamedTuple

from corpus_pipeline.conversion.text_layer import RecognisedLine, TextPage
from corpus_pipeline.errors import ConversionError
from corpus_pipeline.records import QuarantineReason

__all__ = ["Recogniser"]

INSTALL = "pip install 'corpus-pipeline[ocr]', or leave such files out with source.exclude."
MIN_SCORE = 0.5
POINTS_PER_INCH = 72


class Recogniser:
    """rapidocr on the ONNX runtime, loaded once a worker.

    Raises:
        ConversionError: ``no_text``: it is not installed.
    """

    def __init__(self) -> None:
        if find_spec("rapidocr") is None or find_spec("onnxruntime") is None:
            raise ConversionError(
                "the text is in pictures, and text recognition is not installed",
                reason=QuarantineReason.NO_TEXT,
                remedy=INSTALL,
            )
        from rapidocr import RapidOCR

        self._engine: Any = RapidOCR(
            params={
                "EngineConfig.onnxruntime.intra_op_num_threads": 1,
                "EngineConfig.onnxruntime.inter_op_num_threads": 1,
                "Global.log_level": "error",
                "Global.text_score": MIN_SCORE,
            }
        )

    def page(self, image: Any, points_per_pixel: float) -> TextPage:
        """The lines of text on a picture; one that stands on its side or head is turned upright.

        Args:
            image: A picture of Pillow's.
            points_per_pixel: Scale of the page.
        """
        best, seen = image, self._read(image)
        for degrees in _turns(seen):
            turned = image.rotate(degrees, expand=True)
            lines = self._read(turned)
            if _weight(lines) > _weight(seen) or (degrees == _SIDEWAYS[0] and _mostly_tall(seen)):
                best, seen = turned, lines
        scale = points_per_pixel
        found = [RecognisedLine(line.text, _scaled(line.box, scale)) for line in seen]
        return TextPage(best.width * scale, best.height * scale, found)

    def _read(self, image: Any) -> list[_Seen]:
        import numpy as np

        pixels = np.asarray(image.convert("RGB"))[:, :, ::-1]  # the engine expects blue first
        found = self._engine(pixels, use_cls=False)
        if found.boxes is None or found.txts is None:
            return []
        return [
            _Seen(text.strip(), _upright(corners), float(score))
            for corners, text, score in zip(found.boxes, found.txts, found.scores, strict=True)
            if text.strip()
        ]


class _Seen(NamedTuple):
    text: str
    box: tuple[float, float, float, float]
    score: float


_SIDEWAYS = (90, 270)
DOUBTFUL_SCORE = 0.85
"""Mean score below which a page may stand on its head; upright print scores above 0.95."""


def _turns(seen: list[_Seen]) -> tuple[int, ...]:
    """Turns in degrees that are worth a second look."""
    if _mostly_tall(seen):
        return _SIDEWAYS
    letters = sum(len(line.text) for line in seen)
    return (180,) if letters and _weight(seen) / letters < DOUBTFUL_SCORE else ()


def _mostly_tall(seen: list[_Seen]) -> bool:
    long = [line.box for line in seen if len(line.text) > 2]  # noqa: PLR2004 - a word, not a mark
    tall = sum(1 for left, top, right, bottom in long if bottom - top > 1.5 * (right - left))
    return tall > len(long) / 2


def _weight(seen: list[_Seen]) -> float:
    """How much text was read, and how surely."""
    return sum(line.score * len(line.text) for line in seen)


def _upright(corners: Any) -> tuple[float, float, float, float]:
    """The upright box around four corners."""
    xs, ys = [float(x) for x, _ in corners], [float(y) for _, y in corners]
    return min(xs), min(ys), max(xs), max(ys)


def _scaled(box: tuple[float, float, float, float], scale: float) -> tuple[float, float, float, float]:
    left, top, right, bottom = box
    return left * scale, top * scale, right * scale, bottom * scale
