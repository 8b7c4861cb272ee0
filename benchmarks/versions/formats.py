"""One RFC as .txt, .html, .pdf and .xml: are the four files recognised as one document?

    python benchmarks/versions/formats.py FOLDER_WITH_RFCS

``FOLDER_WITH_RFCS`` holds formats/; default ``$CORPUS_TEST_DATA/rfcs``. All files are really converted, PDF with the
fast text reader. Measured without any likeness of texts, on numbers alone: once with the file names
as they are (the number in a name counts as declared), once with random names (the number is read
from the text). Likeness of the contents alone is measured in benchmarks/deduplication.
"""

from __future__ import annotations

import json
import os
import sys
from collections import defaultdict
from datetime import date
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from corpus_texts import converted_files, read, spec_of

from corpus_pipeline.records import ConvertedDocument, ExclusionReason, VersionDecision, sha256_hex
from corpus_pipeline.versions import resolve


def measure(converted: dict[str, ConvertedDocument], as_of: date, *, random_names: bool) -> dict[str, object]:
    """How many RFCs have one served file, with all their other files as its duplicates, in one family."""
    name = {file: f"{sha256_hex(file)[:16]}{Path(file).suffix}" if random_names else file for file in converted}
    structured = {name[file]: one for file, one in converted.items()}
    documents, evidence = read("rfcs", {path: one.text for path, one in structured.items()}, converted=structured)
    resolution = resolve(documents, evidence, [], [], spec_of("rfcs"), as_of)
    decisions = {one.document_id.split("/", 1)[1]: one for one in resolution.decisions}
    groups: dict[str, list[str]] = defaultdict(list)
    for file in converted:
        groups[Path(file).stem].append(name[file])
    whole = {stem: _is_one([decisions[path] for path in paths]) for stem, paths in groups.items()}
    families: dict[str, set[str]] = defaultdict(set)
    for file, path in name.items():
        families[decisions[path].family].add(Path(file).stem)
    return {
        "files": len(converted),
        "rfcs": len(groups),
        "one_document": sum(whole.values()),
        "not_one": sorted(stem for stem, one in whole.items() if not one),
        "families_of_several_rfcs": sum(len(stems) > 1 for stems in families.values()),
        "served": sum(one.exclusion_reason is None for one in decisions.values()),
    }


def _is_one(members: list[VersionDecision]) -> bool:
    served = [one for one in members if one.exclusion_reason is None]
    others = [one for one in members if one.exclusion_reason is ExclusionReason.DUPLICATE]
    return (
        len(served) == 1
        and len(others) == len(members) - 1
        and all(one.duplicate_of == served[0].document_id for one in others)
        and len({one.family for one in members}) == 1
    )


def main() -> None:
    """Prints the figures and writes them beside this file."""
    default = Path(os.environ.get("CORPUS_TEST_DATA", "data")) / "rfcs"
    folder = (Path(sys.argv[1]) if len(sys.argv) > 1 else default) / "formats"
    if not folder.is_dir():
        print(f"skipped: {folder} is missing; name the folder or set CORPUS_TEST_DATA")
        return
    converted = converted_files(list(folder.iterdir()), pdf=("pdfium-text",))
    as_of = date(2026, 11, 1)
    result = {
        "file_names": measure(converted, as_of, random_names=False),
        "random_names": measure(converted, as_of, random_names=True),
    }
    (Path(__file__).parent / "formats.json").write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
