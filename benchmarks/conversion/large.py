"""A PDF of 1,000 pages within a memory limit, and 2,000 mixed files with one worker and with several.

    python -m benchmarks.conversion.large FOLDER [--pages 1000] [--files 2000] [--workers 2]

``FOLDER`` holds documents in many formats (``manifest.jsonl`` lists them); the mixed files are the
smaller ones of it, each made different by a copy under another name. Perfect scaling over ``n``
workers would take the time of one worker divided by ``n``; start and end of the workers count.
Wall time means little on a machine with other work, so the same share is also computed from processor
seconds: what the start takes (which nothing shares), and what the files take with one worker and with ``n``.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.conversion.pool_runs import convert_files, load_remark, read_document, write_result

MEMORY_MB = 1536
NEEDED_EFFICIENCY = 0.85
LARGEST_BYTES = 120_000
WORDS = ("corpus", "version", "fragment", "policy", "review", "owner", "region", "table", "amount", "page", "index")
SLOW = frozenset(("ocr", "jpg", "doc", "xls", "ppt", "zip", "bin", "pdf_password"))
"""Formats whose time goes to another program or to nothing."""


def make_pdf(path: Path, pages: int) -> None:
    """Writes a PDF with running headers, headings, two-column text, a ruled table and a list on its pages."""
    from reportlab.lib.pagesizes import A4
    from reportlab.pdfgen.canvas import Canvas

    chance = random.Random(7)  # the same pages every time
    canvas = Canvas(str(path), pagesize=A4)
    for number in range(1, pages + 1):
        canvas.setFont("Helvetica", 8)
        canvas.drawString(56, 810, f"Annual handbook, part {number // 100 + 1}")
        canvas.drawCentredString(297, 30, f"Page {number} of {pages}")
        canvas.setFont("Helvetica-Bold", 15)
        canvas.drawString(56, 770, f"{number}. {' '.join(chance.choices(WORDS, k=4)).capitalize()}")
        canvas.setFont("Helvetica", 10)
        for column in (56, 307):
            for line in range(28):
                canvas.drawString(column, 740 - 13 * line, " ".join(chance.choices(WORDS, k=6)))
        for row in range(9):
            for column in range(4):
                text = WORDS[(row + number) % len(WORDS)] if column == 0 else f"{chance.randrange(100_000):,}"
                canvas.drawString(62 + 120 * column, 330 - 16 * row, text)
            canvas.line(56, 342 - 16 * row, 536, 342 - 16 * row)
        for item in range(5):
            canvas.drawString(70, 170 - 14 * item, f"• {' '.join(chance.choices(WORDS, k=8))}")
        canvas.showPage()
    canvas.save()


def convert_large(folder: Path, pages: int, workers: int) -> dict[str, Any]:
    """Pages converted, time and memory of one long PDF."""
    path = folder / "large.pdf"
    make_pdf(path, pages)
    run = convert_files([path], workers=workers)
    outcome = run.outcomes[path]
    if outcome.reason:
        return {"class": outcome.reason, "message": outcome.message, **run.costs()}
    document = read_document(outcome)
    text = document.text
    return {
        "pages": document.page_count,
        "pages_with_blocks": len({block.page for block in document.blocks}),
        "tables": sum(block.table is not None for block in document.blocks),
        "running_lines_left": sum(f"Page {number} of {pages}" in text for number in range(1, pages + 1)),
        "pages_per_second": round(pages / run.seconds, 1),
        "memory_needed_mb": MEMORY_MB,
        **run.costs(),
    }


def mixed_files(source: Path, folder: Path, count: int) -> list[Path]:
    """Copies of small documents in turn, so that formats are mixed evenly."""
    listed = [json.loads(line) for line in (source / "manifest.jsonl").read_text().splitlines() if line]
    small = [
        source / entry["file"]
        for entry in listed
        if entry["format"] not in SLOW and (source / entry["file"]).is_file() and entry["bytes"] <= LARGEST_BYTES
    ]
    copies = []
    for number in range(count):
        original = small[number % len(small)]
        copy = folder / f"{number:05}{original.suffix}"
        shutil.copyfile(original, copy)
        copies.append(copy)
    return copies


def _computed_efficiency(start: float, used: list[float], workers: int) -> float:
    """Share of perfect scaling if nothing but this ran: the start is serial, the rest is shared evenly.

    Args:
        start: Processor seconds until the workers can work.
        used: Processor seconds of the run with one worker and of that with several.
        workers: How many these are.
    """
    alone, shared = used
    return alone / (workers * (start + (shared - start) / workers))


def main() -> int:
    """Measures both; 1 if memory or scaling fall short."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pages", type=int, default=1_000)
    parser.add_argument("--files", type=int, default=2_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    if not (arguments.folder / "manifest.jsonl").is_file():
        sys.stderr.write(f"{arguments.folder}/manifest.jsonl is absent: nothing measured\n")
        return 0
    report: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="conversion-large-") as name:
        folder = Path(name)
        report["large_pdf"] = convert_large(folder, arguments.pages, arguments.workers)
        print("large PDF:", report["large_pdf"])
        files = mixed_files(arguments.folder, folder, arguments.files)
        start = convert_files(files[:1], workers=1).processor_seconds
        runs = []
        for workers in (1, arguments.workers):
            load = load_remark()["load_1_minute"]
            run = convert_files(files, workers=workers)
            runs.append({"workers": workers, "files": len(files), "load_before": load, **run.costs()})
            runs[-1]["files_per_second"] = round(len(files) / run.seconds, 2)
            runs[-1]["refused"] = sum(bool(outcome.reason) for outcome in run.outcomes.values())
            print("mixed files:", runs[-1])
    efficiency = runs[0]["seconds"] / (arguments.workers * runs[1]["seconds"])
    computed = _computed_efficiency(start, [run["processor_seconds"] for run in runs], arguments.workers)
    report |= {"mixed_files": runs, "scaling": round(efficiency, 3), "scaling_needed": NEEDED_EFFICIENCY}
    report |= {"start_processor_seconds": round(start, 1), "scaling_by_processor_seconds": round(computed, 3)}
    print(f"share of perfect scaling over {arguments.workers} workers: {efficiency:.3f} by wall time")
    print(f"and {computed:.3f} by processor seconds, {start:.1f} s of them for the start")
    write_result("large", report, arguments.output)
    whole = report["large_pdf"].get("pages_with_blocks") == arguments.pages
    enough = report["large_pdf"]["peak_tree_rss_mb"] <= MEMORY_MB and efficiency >= NEEDED_EFFICIENCY
    return 0 if whole and enough else 1


if __name__ == "__main__":
    sys.exit(main())
