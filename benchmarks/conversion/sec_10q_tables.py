"""Quarterly reports: every page covered, and the cells of 20 tables read off the pages by a person.

    OMP_NUM_THREADS=1 python -m benchmarks.conversion.sec_10q_tables FOLDER [--tables-only]

``FOLDER`` holds ``docs/*.pdf``. ``sec_10q_truth.json`` holds the cells: a head over several columns
stands in the first of them, a sign of currency with its amount, a wrapped text as one line. Spaces
do not count. Plain text extraction is pdfium's text of the page, each line split at runs of two or
more spaces (``plain``) or at every space (``plain, every space``), and of it only the lines from the
first to the last that holds a cell of the table.
"""

from __future__ import annotations

import argparse
import json
import logging
import re
import sys
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.conversion.pool_runs import convert_files, read_document, write_result
from benchmarks.conversion.table_cells import Rows, best_window, cell_scores
from corpus_pipeline.records import TableData

TRUTH = Path(__file__).with_name("sec_10q_truth.json")
Reader = Callable[[Path, int], list[Rows]]
"""Candidates for the tables of a page: the best one counts."""


def geometry(path: Path, page: int) -> list[Rows]:
    """This project's offline engine, on the page alone."""
    from corpus_pipeline.conversion.pdf import convert_pdf

    document = convert_pdf(path, password=None, max_pages=5_000, page_range=(page, page))
    return [shown_once(block.table) for block in document.blocks if block.table is not None]


def docling_standard(path: Path, page: int) -> list[Rows]:
    """docling's layout and table models, where their weights are."""
    from benchmarks.conversion.pdf_engines import standard_converter

    document = standard_converter().convert(path, page_range=(page, page)).document
    return [_rows_of_cells(table.data) for table in document.tables]


def docling_native(path: Path, page: int) -> list[Rows]:
    """docling's native pipeline finds no tables: its lines are rows of one cell."""
    from benchmarks.conversion.pdf_engines import native_converter

    document = native_converter().convert(path, page_range=(page, page)).document
    return [[[item.text] for item in document.texts]]


def plain(path: Path, page: int, split: str = r"\s{2,}") -> list[Rows]:
    """pdfium's text of the page, split at runs of spaces."""
    import pypdfium2

    document = pypdfium2.PdfDocument(path)
    text = document[page - 1].get_textpage().get_text_range()
    document.close()
    return [[re.split(split, line.strip()) for line in text.splitlines()]]


READERS: dict[str, Reader] = {
    "geometry": geometry,
    "docling-standard": docling_standard,
    "docling-native": docling_native,
    "plain": plain,
    "plain, every space": lambda path, page: plain(path, page, r"\s+"),
}
WHOLE_PAGE = frozenset(("docling-native", "plain", "plain, every space"))


def shown_once(table: TableData) -> Rows:
    """Rows in which the text of a cell over several places stands in the first only."""
    rows = [list(row) for row in table.rows]
    for row, column, row_count, column_count in table.spans:
        for r in range(row, row + row_count):
            for c in range(column, column + column_count):
                if (r, c) != (row, column):
                    rows[r][c] = ""
    return rows


def _rows_of_cells(data: Any) -> Rows:
    rows = [[""] * data.num_cols for _ in range(data.num_rows)]
    for cell in data.table_cells:
        rows[cell.start_row_offset_idx][cell.start_col_offset_idx] = cell.text
    return rows


def score_tables(folder: Path, readers: Iterable[str]) -> list[dict[str, Any]]:
    """Scores of each reader on each table."""
    rows = []
    truth = json.loads(TRUTH.read_text("utf-8"))
    for name in readers:
        for table in truth:
            try:
                found = READERS[name](folder / "docs" / table["file"], table["page"])
            except Exception as error:  # noqa: BLE001 - not installed, or without its weights
                print(f"{name}: left out, {type(error).__name__}: {str(error).splitlines()[0][:150]}")
                break
            if name in WHOLE_PAGE:
                found = [best_window(table["rows"], candidate) for candidate in found]
            in_row, in_column = max((cell_scores(table["rows"], each) for each in found), default=(0.0, 0.0))
            shown = {key: table[key] for key in ("file", "page", "table")}
            rows.append({"reader": name, **shown, "cells": in_row, "cells_in_columns": in_column})
            if name == "geometry":
                rows[-1]["header_rows_right"] = _heads_right(folder, table)
    return rows


def _heads_right(folder: Path, table: dict[str, Any]) -> bool:
    """Whether the engine knows how many rows of a table are its head."""
    from corpus_pipeline.conversion.pdf import convert_pdf

    page = table["page"]
    document = convert_pdf(folder / "docs" / table["file"], password=None, max_pages=5_000, page_range=(page, page))
    found = [block.table for block in document.blocks if block.table is not None]
    best = max(found, key=lambda one: cell_scores(table["rows"], shown_once(one)), default=None)
    return best is not None and best.header_rows == table["header_rows"]


def cover_pages(folder: Path, workers: int) -> dict[str, Any]:
    """Pages of all files, and those that have no block although there is text on them."""
    run = convert_files(sorted((folder / "docs").glob("*.pdf")), workers=workers)
    pages, without, refused = 0, [], []
    for path, outcome in sorted(run.outcomes.items()):
        if outcome.reason:
            refused.append(f"{path.name}: {outcome.reason}")
            continue
        document = read_document(outcome)
        pages += document.page_count or 0
        held = {block.page for block in document.blocks} | set(_continued_pages(path, document.text))
        without += [f"{path.name} page {page}" for page in range(1, (document.page_count or 0) + 1) if page not in held]
    uncovered = [name for name in without if not _is_blank(folder, name)]
    return {
        "pages": pages,
        "blank": len(without) - len(uncovered),
        "uncovered": uncovered,
        "refused": refused,
        **run.costs(),
    }


def _continued_pages(path: Path, text: str) -> Iterable[int]:
    """Pages all of whose text belongs to a paragraph that began on the page before."""
    import pypdfium2

    document = pypdfium2.PdfDocument(path)
    flat = "".join(text.split())
    for number, page in enumerate(document, start=1):
        lines = ["".join(line.split()) for line in page.get_textpage().get_text_range().splitlines()]
        # Longer than any running header.
        long_lines = [line for line in lines if len(line) > 40]
        if long_lines and sum(line in flat for line in long_lines) > 0.9 * len(long_lines):
            yield number
    document.close()


def _is_blank(folder: Path, name: str) -> bool:
    import pypdfium2

    file, _, page = name.rpartition(" page ")
    document = pypdfium2.PdfDocument(folder / "docs" / file)
    text = document[int(page) - 1].get_textpage().get_text_range()
    document.close()
    return not re.sub(r"Table of Contents|\W|\d", "", text)


def main() -> int:
    """Scores the tables and covers the pages; 1 if a page is not covered."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--readers", nargs="+", choices=sorted(READERS), default=list(READERS))
    parser.add_argument("--tables-only", action="store_true")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    if not (arguments.folder / "docs").is_dir():
        sys.stderr.write(f"{arguments.folder}/docs is absent: nothing measured\n")
        return 0
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    scores = score_tables(arguments.folder, arguments.readers)
    summary = {
        name: {measure: round(mean(row[measure] for row in own), 4) for measure in ("cells", "cells_in_columns")}
        for name in arguments.readers
        if (own := [row for row in scores if row["reader"] == name])
    }
    _print(scores, summary)
    right = sum(row.get("header_rows_right", False) for row in scores)
    print(f"tables whose header rows are known: {right}")
    report: dict[str, Any] = {"tables": summary, "header_rows_right": right}
    if not arguments.tables_only:
        report["coverage"] = cover_pages(arguments.folder, arguments.workers)
        print(report["coverage"])
    report["files"] = [
        {key: round(value, 4) if isinstance(value, float) else value for key, value in row.items()} for row in scores
    ]
    write_result("sec_10q_tables", report, arguments.output)
    return 1 if "coverage" in report and (report["coverage"]["uncovered"] or report["coverage"]["refused"]) else 0


def _print(scores: list[dict[str, Any]], summary: dict[str, dict[str, float]]) -> None:
    names = list(summary)
    print(f"{'table':66}" + "".join(f"{name:>20}" for name in names))
    for first in (row for row in scores if row["reader"] == names[0]):
        same = [
            row
            for name in names
            for row in scores
            if row["reader"] == name and row["file"] == first["file"] and row["table"] == first["table"]
        ]
        shown = f"{first['file']} p. {first['page']} {first['table']}"
        print(f"{shown:66.66}" + "".join(f"{row['cells']:13.3f} {row['cells_in_columns']:6.3f}" for row in same))
    print(
        f"{'mean: cells in their row, and in their column too':66}"
        + "".join(f"{summary[name]['cells']:13.3f} {summary[name]['cells_in_columns']:6.3f}" for name in names)
    )


if __name__ == "__main__":
    sys.exit(main())
