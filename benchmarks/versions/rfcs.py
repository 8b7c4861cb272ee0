"""Obsoletes and Updates among the RFCs from their texts alone.

    python benchmarks/versions/rfcs.py FOLDER_WITH_RFCS

``FOLDER_WITH_RFCS`` holds docs.tar.gz and pairs.tsv; default ``$CORPUS_TEST_DATA/rfcs``. Only
pairs of which both texts are stored count. The index behind pairs.tsv lists some relations that
no text states, and leaves out some that the first lines of the newer text do state. So precision is
given twice: against the index, and with the pairs right that those first lines name, read here line
by line without the pipeline (``against_index_and_headers``).
"""

from __future__ import annotations

import csv
import json
import os
import re
import sys
import tarfile
import time
from collections import defaultdict
from datetime import date
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from corpus_texts import read, scores, spec_of

from corpus_pipeline.versions import resolve

Pairs = set[tuple[str, str]]
HEADER_LINES = 12


def measure(folder: Path, as_of: date) -> dict[str, object]:
    """Scores of both relations, also with the index closed under transitivity."""
    texts = _texts(folder / "docs.tar.gz")
    started = time.process_time()
    documents, evidence = read("rfcs", texts)
    extraction_seconds = time.process_time() - started
    started = time.process_time()
    resolution = resolve(documents, evidence, [], [], spec_of("rfcs"), as_of)
    resolution_seconds = time.process_time() - started
    obsoletes, updates = _truth(folder / "pairs.tsv", {one.document_id for one in documents})
    found: dict[str, Pairs] = {"supersedes": set(), "amends": set()}
    stated = {}
    for one in resolution.relations:
        if (
            one.relation in found
            and one.source_id
            and one.target_id
            and not one.note.startswith(("needs review", "unlikely"))
        ):
            found[one.relation].add((one.target_id, one.source_id))
            stated[one.target_id, one.source_id] = one.evidence
    beyond = found["supersedes"] - obsoletes
    closed = scores(found["supersedes"], obsoletes | (beyond & _closure(obsoletes)))
    named = {pair for pair in beyond if _header_names(texts, pair, "obsoletes")}
    named_updates = {pair for pair in found["amends"] - updates if _header_names(texts, pair, "updates")}
    return {
        "documents": len(documents),
        "obsoletes": scores(found["supersedes"], obsoletes),
        "obsoletes_with_indirect": closed,
        "obsoletes_against_index_and_headers": scores(found["supersedes"], obsoletes | named),
        "obsoletes_in_no_header_nor_index": {" -> ".join(pair): stated[pair] for pair in sorted(beyond - named)},
        "obsoletes_beyond_index": {" -> ".join(pair): stated[pair] for pair in sorted(beyond)},
        "obsoletes_missed": sorted(obsoletes - found["supersedes"]),
        "updates": scores(found["amends"], updates),
        "updates_against_index_and_headers": scores(found["amends"], updates | named_updates),
        "updates_beyond_index": {" -> ".join(pair): stated[pair] for pair in sorted(found["amends"] - updates)},
        "updates_missed": sorted(updates - found["amends"]),
        "superseded": sum(one.superseded_by is not None for one in resolution.decisions),
        "for_review": sum(one.needs_review for one in resolution.decisions),
        "conflicts": [one.message for one in resolution.conflicts],
        "extraction_seconds": round(extraction_seconds, 2),
        "resolution_seconds": round(resolution_seconds, 2),
    }


def _texts(archive: Path) -> dict[str, str]:
    texts = {}
    with tarfile.open(archive) as opened:
        for entry in opened:
            content = opened.extractfile(entry) if entry.isfile() else None
            if content is not None and entry.name.endswith(".txt"):
                texts[Path(entry.name).name] = content.read().decode("utf-8", errors="replace")
    return texts


def _header_names(texts: dict[str, str], pair: tuple[str, str], word: str) -> bool:
    """Whether a line ``Obsoletes: ...`` or ``Updates: ...`` at the top of the newer text holds the older number."""
    older, newer = (one.split("/", 1)[1] for one in pair)
    number = older.removeprefix("rfc").removesuffix(".txt")
    head = "\n".join([line for line in texts[newer].splitlines() if line.strip()][:HEADER_LINES])
    field = re.search(rf"^[ ]*{word}\b[^\n]*(?:\n[ ]*\d[^\n]*)*", head, re.IGNORECASE | re.MULTILINE)
    return field is not None and re.search(rf"\b0*{number}\b", field[0]) is not None


def _truth(path: Path, stored: set[str]) -> tuple[Pairs, Pairs]:
    obsoletes: Pairs = set()
    updates: Pairs = set()
    with path.open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            pair = (f"rfcs/rfc{row['old']}.txt", f"rfcs/rfc{row['new']}.txt")
            if set(pair) <= stored:
                (obsoletes if row["relation"] == "obsoleted_by" else updates).add(pair)
    return obsoletes, updates


def _closure(pairs: Pairs) -> Pairs:
    newer: dict[str, set[str]] = defaultdict(set)
    for old, new in pairs:
        newer[old].add(new)
    closed: Pairs = set()
    for old in list(newer):
        waiting, seen = list(newer[old]), set()
        while waiting:
            new = waiting.pop()
            if new not in seen:
                seen.add(new)
                waiting.extend(newer.get(new, ()))
        closed |= {(old, new) for new in seen}
    return closed


def main() -> None:
    """Prints the scores and writes them beside this file."""
    default = Path(os.environ.get("CORPUS_TEST_DATA", "data")) / "rfcs"
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    if not (folder / "docs.tar.gz").is_file():
        print(f"skipped: {folder} holds no RFCs (docs.tar.gz is missing); name the folder or set CORPUS_TEST_DATA")
        return
    result = measure(folder, date(2026, 11, 1))
    (Path(__file__).parent / "rfcs.json").write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
