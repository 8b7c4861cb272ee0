"""Families and order among dated terms and policies, with file names and with random ones.

    python benchmarks/versions/terms.py FOLDER_WITH_TERMS

``FOLDER_WITH_TERMS`` holds docs/*.md, truth.jsonl and jaccard_pairs.tsv; default
``$CORPUS_TEST_DATA/terms_versions``. The exact Jaccard values of the file stand in for the edges
that the deduplication room would verify.
"""

from __future__ import annotations

import csv
import json
import os
import sys
from collections import defaultdict
from datetime import date
from functools import cache
from itertools import combinations
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from corpus_texts import converted_files, read, scores, spec_of

from corpus_pipeline.records import ConvertedDocument, DuplicateEdge, DuplicateKind, sha256_hex
from corpus_pipeline.versions import Resolution, resolve

THRESHOLD = 0.8


def measure(folder: Path, as_of: date, *, random_names: bool, threshold: float = THRESHOLD) -> dict[str, object]:
    """Pairwise membership, latest versions and order."""
    truth = [json.loads(line) for line in (folder / "truth.jsonl").read_text(encoding="utf-8").splitlines()]
    name = {row["file"]: f"{sha256_hex(row['file'])[:16]}.md" if random_names else row["file"] for row in truth}
    converted = {name[file]: document for file, document in documents_of(folder).items()}
    texts = {path: document.text for path, document in converted.items()}
    documents, evidence = read("terms", texts, converted=converted)
    edges = _edges(folder / "jaccard_pairs.tsv", name, threshold)
    resolution = resolve(documents, evidence, [], edges, spec_of("terms"), as_of)
    families = defaultdict(list)
    for row in truth:
        families[row["family"]].append(row)
    found_families = defaultdict(list)
    for one in resolution.decisions:
        found_families[one.family].append(one.document_id)
    true_pairs = _pairs([[_id(name[row["file"]]) for row in rows] for rows in families.values()])
    several = [rows for rows in families.values() if len(rows) > 1]
    return {
        "membership": scores(_pairs(found_families.values()), true_pairs),
        "families_with_latest_current": sum(_latest_is_current(rows, name, resolution) for rows in several),
        "families": len(several),
        "kendall_tau": _tau(several, name, resolution),
        "stale_without_reason": _stale_latest(truth, name, resolution),
        "for_review": sum(one.needs_review for one in resolution.decisions),
        "duplicates_suppressed": sum(one.exclusion_reason == "duplicate" for one in resolution.decisions),
    }


@cache
def documents_of(folder: Path) -> dict[str, ConvertedDocument]:
    """Every file, really converted, by name."""
    return converted_files(list((folder / "docs").glob("*.md")))


def _id(path: str) -> str:
    return f"terms/{path}"


def _edges(path: Path, name: dict[str, str], threshold: float) -> list[DuplicateEdge]:
    edges = []
    with path.open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            jaccard = float(row["jaccard_5word"])
            if jaccard >= threshold:
                left, right = sorted((_id(name[row["a"]]), _id(name[row["b"]])))
                edges.append(
                    DuplicateEdge(
                        left_id=left, right_id=right, kind=DuplicateKind.NEAR, jaccard=jaccard, containment=jaccard
                    )
                )
    return edges


def _pairs(groups: object) -> set[tuple[str, str]]:
    return {pair for group in groups for pair in combinations(sorted(group), 2)}  # type: ignore[attr-defined]


def _latest_is_current(rows: list[dict], name: dict[str, str], resolution: Resolution) -> bool:  # type: ignore[type-arg]
    decisions = {one.document_id: one for one in resolution.decisions}
    current = {row["file"] for row in rows if decisions[_id(name[row["file"]])].superseded_by is None}
    return current == {row["file"] for row in rows if row["is_current"]}


def _stale_latest(truth: list[dict], name: dict[str, str], resolution: Resolution) -> int:  # type: ignore[type-arg]
    latest = {_id(name[row["file"]]) for row in truth if row["is_current"]}
    return sum(one.document_id in latest and not one.is_current for one in resolution.decisions)


def _tau(several: list[list[dict]], name: dict[str, str], resolution: Resolution) -> dict[str, float | int]:  # type: ignore[type-arg]
    """Kendall's tau over the pairs of a family that chains of successors order."""
    successor = {one.document_id: one.superseded_by for one in resolution.decisions}
    right = wrong = unordered = 0
    for rows in several:
        ordered = sorted(rows, key=lambda row: row["version"])
        for older, newer in combinations(ordered, 2):
            old, new = _id(name[older["file"]]), _id(name[newer["file"]])
            if _leads(old, new, successor):
                right += 1
            elif _leads(new, old, successor):
                wrong += 1
            else:
                unordered += 1
    tau = (right - wrong) / (right + wrong) if right + wrong else 0.0
    return {"tau_of_ordered_pairs": round(tau, 4), "ordered": right + wrong, "abstained": unordered}


def _leads(start: str, end: str, successor: dict[str, str | None]) -> bool:
    following = successor[start]
    while following is not None and following != end:
        following = successor[following]
    return following == end


def main() -> None:
    """Prints the scores and writes them beside this file."""
    default = Path(os.environ.get("CORPUS_TEST_DATA", "data")) / "terms_versions"
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    if not (folder / "truth.jsonl").is_file():
        print(f"skipped: {folder} holds no terms (truth.jsonl is missing); name the folder or set CORPUS_TEST_DATA")
        return
    result = {
        "file_names": measure(folder, date(2026, 11, 1), random_names=False),
        "random_names": measure(folder, date(2026, 11, 1), random_names=True),
        "random_names_threshold_0.5": measure(folder, date(2026, 11, 1), random_names=True, threshold=0.5),
    }
    (Path(__file__).parent / "terms.json").write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
