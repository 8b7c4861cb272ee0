"""Quarterly reports as series: order, latest member, and where the name and the text disagree.

    python benchmarks/versions/quarters.py FOLDER_WITH_10Q

``FOLDER_WITH_10Q`` holds docs/*.pdf and versions.jsonl; default ``$CORPUS_TEST_DATA/sec_10q``. The period in
the file name counts as declared; the day the period ended is read from the converted PDF. 1,037
pages are converted: set ``$CORPUS_CONVERTED`` to a folder to keep them for the next run.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections import defaultdict
from datetime import date
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from corpus_texts import converted_files, read, spec_of

from corpus_pipeline.records import VersionDecision
from corpus_pipeline.versions import resolve


def measure(folder: Path, as_of: date, *, pdf: tuple[str, ...] = ()) -> dict[str, object]:
    """Series, order and latest members against the file names; stated days against a plain reading.

    Args:
        folder: docs/*.pdf and versions.jsonl.
        as_of: The day decided for.
        pdf: Converters to try, in place of those of the stage.
    """
    converted = converted_files(list((folder / "docs").glob("*.pdf")), pdf=pdf)
    documents, evidence = read("reports", {name: one.text for name, one in converted.items()}, converted=converted)
    resolution = resolve(documents, evidence, [], [], spec_of("reports"), as_of)
    series: dict[str, list[VersionDecision]] = defaultdict(list)
    for one in resolution.decisions:
        series[one.series_key or "none"].append(one)
    truth: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for line in (folder / "versions.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        truth[row["company"]].append((row["year"], row["quarter"]))
    rows = [_row(name, members, truth) for name, members in sorted(series.items())]
    stated = {name: _plainly_stated(one.text) for name, one in converted.items()}
    read_right = sum(one.period_end == stated[one.document_id.split("/", 1)[1]] for one in resolution.decisions)
    flagged = [one for one in resolution.decisions if one.needs_review]
    return {
        "documents": len(documents),
        "series": rows,
        "series_in_order": sum(row["in_order"] for row in rows),
        "series_with_right_latest": sum(row["right_latest"] for row in rows),
        "period_end_as_stated": read_right,
        "superseded": sum(one.superseded_by is not None for one in resolution.decisions),
        "flagged": {one.document_id: one.evidence for one in flagged},
        "organisations": sorted({one.organisation or "none" for one in resolution.decisions}),
    }


def _row(name: str, members: list[VersionDecision], truth: dict[str, list[tuple[int, str]]]) -> dict[str, object]:
    ordered = sorted(members, key=lambda one: one.period_end or date.min)
    expected = [f"{year}-{quarter}" for year, quarter in sorted(truth[name.rsplit("/", 1)[-1].upper()])]
    return {
        "series": name,
        "periods": [f"{one.period_label} ended {one.period_end}" for one in ordered],
        "in_order": [one.period_label for one in ordered] == expected,
        "right_latest": [one.period_label for one in ordered if one.is_latest] == expected[-1:],
    }


def _plainly_stated(text: str) -> date | None:
    """The day on the cover of a 10-Q, read without the pipeline."""
    months = [f"{date(2000, month, 1):%B}".lower() for month in range(1, 13)]
    found = re.search(r"period\s+ended\s+([A-Z][a-z]+)\s+(\d+),\s+(\d{4})", text, re.IGNORECASE)
    return date(int(found[3]), months.index(found[1].lower()) + 1, int(found[2])) if found else None


def main() -> None:
    """Prints the figures and writes them beside this file."""
    default = Path(os.environ.get("CORPUS_TEST_DATA", "data")) / "sec_10q"
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    if not (folder / "versions.jsonl").is_file():
        print(f"skipped: {folder} holds no 10-Q (versions.jsonl is missing); name the folder or set CORPUS_TEST_DATA")
        return
    result = measure(folder, date(2026, 11, 1))
    (Path(__file__).parent / "quarters.json").write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
