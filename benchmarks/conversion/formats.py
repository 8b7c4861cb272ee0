"""Documents in about 20 formats: each converts, and holds what it is known to hold.

    python -m benchmarks.conversion.formats FOLDER

Inventory and conversion run as in the pipeline, so that archives and attachments are opened.
``FOLDER`` holds ``manifest.jsonl`` (file and format) and ``markitdown/must_contain.json``: strings
that must, and must not, appear in a conversion to Markdown. Ours is structured text and not
Markdown, so marks of Markdown are taken off before strings are compared; :data:`NORMALISATION`
lists each rule and :func:`wanted_content` applies them. Cases that want embedded pictures kept run with
``conversion.embedded_images: keep``, all others with ``cut``.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.conversion.corpus_runs import OpenCorpus, open_corpus
from benchmarks.conversion.pool_runs import MEGABYTE, MemoryWatch, write_result
from corpus_pipeline.conversion import convert_corpus, converted_documents, documents, quarantined_files
from corpus_pipeline.inventory import take_inventory
from corpus_pipeline.records import ConvertedDocument

NO_DOCUMENTS = "bin"
"""Random bytes."""
NORMALISATION = {
    "heading marks": "'# Abstract' is the heading 'Abstract'",
    "emphasis": "'**From:**' is 'From:', '*different*' is 'different'",
    "bullets and quotes": "'* A bullet point' and '> This is' stand for the text behind the mark",
    "rules of pipe tables": "'| --- | --- |' has no content; cells are compared one by one, in their order",
    "links": "'[Unix](/wiki/Unix)' is the text 'Unix' and the link '/wiki/Unix', cut off or whole",
    "pictures": "'![caption](name)' is the caption; the name a converter gives a picture is no content",
    "code fences": "'```python' is code in that language",
    "cut pictures": "'data:image/png;base64...' is the mark of a picture cut out; here nothing stands there",
    "kept pictures": "'data:image/png;base64,iVBOR' is found among the pictures of the document, not in its text",
    "labels": "'## Content' and '**Authors:**' are words of the converter itself; what follows counts",
    "quotation marks": "typographic and straight marks and dashes, and runs of spaces, are the same",
}
"""Strings that are Markdown syntax rather than content, and what is compared instead."""

OWN_WORDS = frozenset(("# Email Message", "## Content"))
LABEL = re.compile(r"^\*\*(?:Authors|From|To|Subject):\*\* ")
EMBEDDED = "data:image/"
CUT = "base64..."
PICTURE = re.compile(r"!\[([^\]]*)\](?:\([^)]*\))?")
LINK = re.compile(r"\[([^\]]*)\](?:\(([^)\s]*)(?:\s[^)]*)?\))?")
OPEN_LINK = re.compile(r"^\]\(([^)\s]*)$")
FENCE = re.compile(r"^```(\w*)$")
VARIANTS = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "\u00a0": " "})


def wanted_content(wanted: str) -> list[tuple[str, str]]:
    """What a string of a Markdown conversion asks for: pairs of kind and content.

    Kinds are ``text``, ``link``, ``code`` (its language) and ``image`` (the beginning of its data address).
    """
    if wanted in OWN_WORDS or (wanted.startswith(EMBEDDED) and wanted.endswith(CUT)):
        return []
    if wanted.startswith(EMBEDDED):
        return [("image", wanted)]
    wanted = LABEL.sub("", wanted)
    if match := FENCE.match(wanted):
        return [("code", match.group(1))] if match.group(1) else []
    if match := OPEN_LINK.match(wanted):
        return [("link", match.group(1))]
    if wanted.startswith("|"):
        cells = [cell.strip() for cell in wanted.strip("|").split("|")]
        return [("text", cell) for cell in cells if cell.strip(":- ")]
    content = [("link", match.group(2)) for match in LINK.finditer(wanted) if match.group(2) and "![" not in wanted]
    text = LINK.sub(r"\1", PICTURE.sub(r"\1", wanted))
    text = re.sub(r"^(?:#{1,6}|>|[*+-])\s+", "", text).replace("**", "")
    text = re.sub(r"(?<!\w)\*([^*]+)\*(?!\w)", r"\1", text)
    return [*content, ("text", text)] if text.strip() else content


class Searched:
    """What conversions of a file and its members hold: their text in one line, their links, their languages of code."""

    def __init__(self, found: Iterable[ConvertedDocument]) -> None:
        given = list(found)
        parts = [part for one in given for part in (one.text, one.title or "", *one.properties.values())]
        blocks = [block for one in given for block in one.blocks]
        self.text = even("\n".join(parts))
        self.links = [link for block in blocks for link in block.links]
        self.images = [image.uri for one in given for image in one.images]
        self.languages = {block.code_language for block in blocks if block.code_language}

    def holds(self, kind: str, content: str) -> bool:
        """Whether a piece of content is there."""
        if kind == "image":
            return any(uri.startswith(content) for uri in self.images)
        if kind == "code":
            return content in self.languages
        if kind == "link":
            return any(content in link for link in self.links) or content in self.text
        return even(content) in self.text


def even(text: str) -> str:
    """Text with one kind of quotation marks and dashes and single spaces."""
    return " ".join(text.translate(VARIANTS).split())


def check_case(case: dict[str, Any], searched: Searched) -> dict[str, Any]:
    """Which strings of a case are missing, and which are there and must not be."""
    wanted = case["must_include"]
    missing = [text for text in wanted if not all(searched.holds(*part) for part in wanted_content(text))]
    unwanted = [
        text
        for text in case["must_not_include"]
        if not text.startswith("![") and (even(text) in searched.text or searched.holds("image", text))
    ]
    return {"strings": len(wanted), "missing": missing, "unwanted": unwanted}


@dataclass
class Outcome:
    """What became of one file of the corpus, members of an archive included."""

    documents: list[ConvertedDocument] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)


def main() -> int:
    """Converts everything and prints a table; 1 if a format or a string is missing."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    folder: Path = arguments.folder
    if not (folder / "manifest.jsonl").is_file():
        sys.stderr.write(f"{folder}/manifest.jsonl is absent: nothing measured\n")
        return 0
    listed = [json.loads(line) for line in (folder / "manifest.jsonl").read_text().splitlines() if line]
    entries = {entry["file"]: entry["format"] for entry in listed if (folder / entry["file"]).is_file()}
    given = _given_cases(folder / "markitdown")
    keeping = {f"markitdown/{case['filename']}" for case in given if _option(case) == "keep"} & entries.keys()
    started = time.perf_counter()
    with MemoryWatch() as watch:
        outcomes = _run(folder, entries, arguments.workers, "cut")
        kept = _run(folder, sorted(keeping), arguments.workers, "keep") if keeping else {}
    by_format = _by_format(entries, outcomes)
    cases = _cases(given, {"keep": kept, "cut": outcomes})
    report: dict[str, Any] = {
        "files": len(entries),
        "converted": sum(bool(outcome.documents) for outcome in outcomes.values()),
        "normalisation": NORMALISATION,
        "seconds": round(time.perf_counter() - started, 1),
        "peak_worker_mb": round(watch.peak_process / MEGABYTE, 1),
        "formats": by_format,
        "must_contain": cases,
        "refused": {name: outcome.refused for name, outcome in sorted(outcomes.items()) if outcome.refused},
    }
    _print(report)
    write_result("formats", report, arguments.output)
    lacking = [name for name, row in by_format.items() if not _as_it_should(name, row)]
    return 1 if lacking or any(case["missing"] or case["unwanted"] for case in cases) else 0


def _as_it_should(name: str, row: dict[str, Any]) -> bool:
    """Something of a format converts; random bytes are no document, and all of them are refused as such."""
    if name == NO_DOCUMENTS:
        return bool(row["refused"] == {"unsupported": row["files"]})
    return bool(row["converted"])


def _run(folder: Path, names: Iterable[str], workers: int, embedded_images: str) -> dict[str, Outcome]:
    given = list(names)
    files = {name: folder / name for name in given}
    with open_corpus(files, workers=workers, conversion={"embedded_images": embedded_images}) as corpus:
        return _convert(corpus, given)


def _convert(corpus: OpenCorpus, names: Iterable[str]) -> dict[str, Outcome]:
    """Outcome of each file; what was found in an archive or a mail counts for the file it was in."""
    context = corpus.context()
    take_inventory(context)
    convert_corpus(context)
    outcomes = {name: Outcome() for name in names}
    slug = context.spec.slug
    with corpus.database.connection() as connection:
        for document, converted in converted_documents(connection, documents(connection, slug)):
            outcomes[document.relative_path.split("!/")[0]].documents.append(converted)
        for row in quarantined_files(connection, slug):
            relative = row.document_id.partition("/")[2]
            message = row.message.splitlines()[0]
            outcomes[relative.split("!/")[0]].refused[relative] = f"{row.reason}: {message}"
    return outcomes


def _by_format(entries: dict[str, str], outcomes: dict[str, Outcome]) -> dict[str, dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = defaultdict(lambda: {"files": 0, "converted": 0, "characters": 0, "refused": {}})
    for name, file_format in sorted(entries.items()):
        outcome = outcomes[name]
        row = rows[file_format]
        row["files"] += 1
        row["converted"] += bool(outcome.documents)
        row["characters"] += sum(len(document.text) for document in outcome.documents)
        for message in outcome.refused.values():
            reason = message.partition(":")[0]
            row["refused"][reason] = row["refused"].get(reason, 0) + 1
    return dict(sorted(rows.items()))


def _given_cases(folder: Path) -> list[dict[str, Any]]:
    path = folder / "must_contain.json"
    return json.loads(path.read_text("utf-8")) if path.is_file() else []


def _cases(given: Iterable[dict[str, Any]], outcomes: dict[str, dict[str, Outcome]]) -> list[dict[str, Any]]:
    cases = []
    for case in given:
        option = _option(case)
        outcome = outcomes[option].get(f"markitdown/{case['filename']}", Outcome())
        shown = {"file": case["filename"], "option": option, "documents": len(outcome.documents)}
        cases.append({**shown, **check_case(case, Searched(outcome.documents))})
    return cases


def _option(case: dict[str, Any]) -> str:
    """Which handling of embedded pictures a case is for; ``cut`` is the default, and that of cases without any."""
    asked = " ".join(case["must_include"])
    return "keep" if EMBEDDED in asked and CUT not in asked else "cut"


def _print(report: dict[str, Any]) -> None:
    print(f"{'format':14} files converted characters refused")
    for name, row in report["formats"].items():
        print(f"{name:14} {row['files']:5} {row['converted']:9} {row['characters']:10} {row['refused'] or ''}")
    for refused in report["refused"].values():
        for name, message in refused.items():
            print(f"refused {name:60.60} {message:.110}")
    for case in report["must_contain"]:
        state = f"missing {case['missing']}" if case["missing"] else "all found"
        state += f", unwanted {case['unwanted']}" if case["unwanted"] else ""
        print(
            f"{case['file']:24} {case['option']:5} {case['documents']:2} documents {case['strings']:3} strings: {state}"
        )


if __name__ == "__main__":
    sys.exit(main())
