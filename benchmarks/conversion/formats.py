"""Documents in about 20 formats: each converts, and holds what it is known to hold.

    python -m benchmarks.conversion.formats FOLDER

``FOLDER`` holds ``manifest.jsonl`` (file and format) and ``markitdown/must_contain.json``: strings
that must, and must not, appear in a conversion to Markdown. Ours is structured text and not
Markdown, so marks of Markdown are taken off before strings are compared; :data:`NORMALISATION`
lists each rule and :func:`wanted_content` applies them.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from benchmarks.conversion.pool_runs import PoolRun, convert_files, read_document, write_result
from corpus_pipeline.conversion import ConversionOutcome
from corpus_pipeline.records import ConvertedDocument
from corpus_pipeline.registry import ConversionLimits

NORMALISATION = {
    "heading marks": "'# Abstract' is the heading 'Abstract'",
    "emphasis": "'**From:**' is 'From:', '*different*' is 'different'",
    "bullets and quotes": "'* A bullet point' and '> This is' stand for the text behind the mark",
    "rules of pipe tables": "'| --- | --- |' has no content; cells are compared one by one, in their order",
    "links": "'[Unix](/wiki/Unix)' is the text 'Unix' and the link '/wiki/Unix'; a text cut off in the middle of a link stands for its part",
    "pictures": "'![caption](name)' is the caption; the name a converter gives a picture is no content",
    "code fences": "'```python' is code in that language",
    "embedded pictures": "'data:image/png;base64...' is the mark of a picture cut out",
    "quotation marks": "typographic and straight marks and dashes, and runs of spaces, are the same",
}
"""Strings that are Markdown syntax rather than content, and what is compared instead."""

NO_TEXT_EXPECTED = frozenset(("no_text",))
EMBEDDED = "data:image/"
CUT = "base64..."
PICTURE = re.compile(r"!\[([^\]]*)\](?:\([^)]*\))?")
LINK = re.compile(r"\[([^\]]*)\](?:\(([^)\s]*)(?:\s[^)]*)?\))?")
OPEN_LINK = re.compile(r"^\]\(([^)\s]*)$")
FENCE = re.compile(r"^```(\w*)$")
VARIANTS = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "\u00a0": " "})


def wanted_content(wanted: str) -> list[tuple[str, str]]:
    """What a string of a Markdown conversion asks for: pairs of kind (``text``, ``link``, ``code``) and content."""
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
    """What a conversion holds: its text in one line, its links, its languages of code."""

    def __init__(self, document: ConvertedDocument) -> None:
        extra = [document.title or "", *document.properties.values()]
        self.text = even("\n".join([document.text, *extra]))
        self.links = [link for block in document.blocks for link in block.links]
        self.languages = {block.code_language for block in document.blocks if block.code_language}

    def holds(self, kind: str, content: str) -> bool:
        """Whether a piece of content is there."""
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
    wanted = [text for text in case["must_include"] if not text.startswith(EMBEDDED)]
    missing = [text for text in wanted if not all(searched.holds(*part) for part in wanted_content(text))]
    unwanted = [text for text in case["must_not_include"] if not text.startswith("![") and even(text) in searched.text]
    return {"strings": len(wanted), "missing": missing, "unwanted": unwanted}


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
    entries = {folder / entry["file"]: entry for entry in listed if (folder / entry["file"]).is_file()}
    run = convert_files(sorted(entries), workers=arguments.workers, limits=ConversionLimits(timeout_seconds=180))
    by_format = _by_format(entries, run)
    cases = _cases(folder / "markitdown", run)
    report: dict[str, Any] = {
        "files": len(entries),
        "converted": sum(not outcome.reason for outcome in run.outcomes.values()),
        "normalisation": NORMALISATION,
        **run.costs(),
        "formats": by_format,
        "must_contain": cases,
        "refused": _refused(run, folder),
    }
    _print(report)
    write_result("formats", report, arguments.output)
    lacking = [name for name, row in by_format.items() if not row["converted"]]
    return 1 if lacking or any(case["missing"] or case["unwanted"] for case in cases) else 0


def _by_format(entries: dict[Path, dict[str, str]], run: PoolRun) -> dict[str, dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = defaultdict(lambda: {"files": 0, "converted": 0, "characters": 0, "refused": {}})
    for path, entry in sorted(entries.items()):
        outcome = run.outcomes[path]
        row = rows[entry["format"]]
        row["files"] += 1
        row["characters"] += outcome.summary.get("char_count", 0)
        if outcome.reason:
            row["refused"][outcome.reason] = row["refused"].get(outcome.reason, 0) + 1
        else:
            row["converted"] += 1
    return dict(sorted(rows.items()))


def _refused(run: PoolRun, folder: Path) -> list[dict[str, str]]:
    return [
        {
            "file": str(path.relative_to(folder)),
            "class": outcome.reason,
            "message": outcome.message.splitlines()[0],
        }
        for path, outcome in sorted(run.outcomes.items())
        if outcome.reason
    ]


def _cases(folder: Path, run: PoolRun) -> list[dict[str, Any]]:
    if not (folder / "must_contain.json").is_file():
        return []
    cases = []
    for case in json.loads((folder / "must_contain.json").read_text("utf-8")):
        outcome = run.outcomes.get(folder / case["filename"])
        shown = {"file": case["filename"], "option": _option(case)}
        cases.append({**shown, **_checked(case, outcome)})
    return cases


def _checked(case: dict[str, Any], outcome: ConversionOutcome | None) -> dict[str, Any]:
    if outcome is None or outcome.reason:
        reason = "absent" if outcome is None else outcome.reason
        return {"class": reason, "strings": len(case["must_include"]), "missing": case["must_include"], "unwanted": []}
    return {"class": "converted", **check_case(case, Searched(read_document(outcome)))}


def _option(case: dict[str, Any]) -> str:
    """Which handling of embedded pictures a case is for."""
    asked = " ".join(case["must_include"])
    return "keep" if EMBEDDED in asked and CUT not in asked else "cut" if EMBEDDED in str(case) else "any"


def _print(report: dict[str, Any]) -> None:
    print(f"{'format':14} files converted characters refused")
    for name, row in report["formats"].items():
        print(f"{name:14} {row['files']:5} {row['converted']:9} {row['characters']:10} {row['refused'] or ''}")
    for row in report["refused"]:
        print(f"refused {row['file']:60.60} {row['class']:16} {row['message']:.90}")
    for case in report["must_contain"]:
        state = f"missing {case['missing']}" if case["missing"] else "all found"
        state += f", unwanted {case['unwanted']}" if case["unwanted"] else ""
        print(f"{case['file']:24} {case['option']:5} {case['class']:12} {case['strings']:3} strings: {state}")


if __name__ == "__main__":
    sys.exit(main())
