"""Supersession among the Python PEPs from their texts alone.

    python benchmarks/versions/peps.py FOLDER_WITH_PEPS

``FOLDER_WITH_PEPS`` holds docs/*.rst, pairs.tsv and truth.jsonl; default ``$CORPUS_TEST_DATA/peps``.
"""

from __future__ import annotations

import csv
import json
import os
import sys
import time
from datetime import date
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from corpus_texts import read, scores, spec_of

from corpus_pipeline.versions import resolve

NOT_IN_FORCE = {"draft", "draught", "rejected", "withdrawn", "deferred"}


def measure(folder: Path, as_of: date) -> dict[str, object]:
    """Scores of the relations, and stale documents whose successor is not in force."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted((folder / "docs").glob("*.rst"))}
    started = time.process_time()
    documents, evidence = read("peps", texts)
    extraction_seconds = time.process_time() - started
    started = time.process_time()
    resolution = resolve(documents, evidence, [], [], spec_of("peps"), as_of)
    resolution_seconds = time.process_time() - started
    with (folder / "pairs.tsv").open(encoding="utf-8") as lines:
        truth = {(_id(row["old"]), _id(row["new"])) for row in csv.DictReader(lines, delimiter="\t")}
    found = {
        (one.target_id, one.source_id)
        for one in resolution.relations
        if one.relation == "supersedes"
        and one.source_id
        and one.target_id
        and not one.note.startswith(("needs review", "unlikely"))
    }
    status = {}
    for line in (folder / "truth.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        status[_id(str(row["pep"]))] = row["status"].lower()
    stale = [one for one in resolution.decisions if one.superseded_by]
    wrong = [one.document_id for one in stale if status[one.superseded_by] in NOT_IN_FORCE]
    return {
        "documents": len(documents),
        **scores(found, truth),
        "false_positives": sorted(found - truth),
        "missed": sorted(truth - found),
        "superseded": len(stale),
        "stale_though_successor_not_in_force": wrong,
        "recorded_without_effect": sum("without effect" in one.note for one in resolution.relations),
        "for_review": sum(one.needs_review for one in resolution.decisions),
        "conflicts": [one.message for one in resolution.conflicts],
        "extraction_seconds": round(extraction_seconds, 2),
        "resolution_seconds": round(resolution_seconds, 2),
    }


def _id(number: str) -> str:
    return f"peps/pep-{int(number):04d}.rst"


def main() -> None:
    """Prints the scores and writes them beside this file."""
    default = Path(os.environ.get("CORPUS_TEST_DATA", "data")) / "peps"
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    if not (folder / "pairs.tsv").is_file():
        print(f"skipped: {folder} holds no PEPs (pairs.tsv is missing); name the folder or set CORPUS_TEST_DATA")
        return
    result = measure(folder, date(2026, 11, 1))
    (Path(__file__).parent / "peps.json").write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
