"""PDFs drawn by the tests: what the engine reads is known to the point."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from reportlab.lib.pagesizes import letter
from reportlab.pdfgen.canvas import Canvas

PARAGRAPH = (
    "The allowance covers travel on duty and ends with the duty itself. It is paid with the salary of the "
    "month after the claim. A claim reaches back three months and no further, and it names the journey."
)
WIDTH, HEIGHT = letter


def draw(path: Path, *pages: Callable[[Canvas], None], **options: object) -> Path:
    """Writes one page a function."""
    canvas = Canvas(str(path), pagesize=letter, **options)
    for page in pages:
        page(canvas)
        canvas.showPage()
    canvas.save()
    return path


def text(canvas: Canvas, x: float, top: float, content: str, *, size: float = 10, font: str = "Helvetica") -> None:
    """One line; ``top`` is the distance of its baseline from the top of the page."""
    canvas.setFont(font, size)
    canvas.drawString(x, HEIGHT - top, content)


def paragraph(
    canvas: Canvas, x: float, top: float, content: str, *, width: float = 460, size: float = 10, font: str = "Helvetica"
) -> float:
    """Words wrapped to a width; returns where the next line would stand."""
    line = ""
    for word in content.split():
        if line and canvas.stringWidth(f"{line} {word}", font, size) > width:
            text(canvas, x, top, line, size=size, font=font)
            line, top = word, top + 1.2 * size
        else:
            line = f"{line} {word}".strip()
    text(canvas, x, top, line, size=size, font=font)
    return top + 1.2 * size
