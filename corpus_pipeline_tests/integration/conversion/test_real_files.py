"""Real and hostile files: all of them end as a document or in quarantine, and nothing is left behind."""

from __future__ import annotations

import json
import re
import sys
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from corpus_pipeline.conversion import CATALOGUE, ConversionJob, ConversionOutcome, ConversionPool
from corpus_pipeline.records import ConvertedDocument, QuarantineReason
from corpus_pipeline.registry import ConversionLimits

pytestmark = [pytest.mark.data, pytest.mark.slow, pytest.mark.timeout(1800)]

LIMITS = ConversionLimits(timeout_seconds=60, memory_mb=2048)
PRELOAD = ("docling.document_converter", "markdown_it", "docutils.core")


NOT_TEXT = {
    "test_outlook_msg.msg": ("**From:** test.sender@example.com", "**Subject:** Test Email Message", "## Content"),
    "test_serp.html": ("](https://en.wikipedia.org/wiki/Microsoft",),
    "test_notebook.ipynb": ("```python",),
    "test.epub": ("**Authors:** Test Author", "A test EPUB document for MarkItDown testing"),
}
"""Labels another converter adds, Markdown syntax, and metadata that is kept as properties here."""


class Watched:
    """A run over files that also looks how much memory its processes take."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self.peak_bytes = 0

    def convert(self, paths: list[Path]) -> dict[str, ConversionOutcome]:
        with ConversionPool(self.scratch, workers=2, preload=PRELOAD) as pool:
            outcomes = {}
            for outcome in pool.run(self.jobs(paths)):
                outcomes[outcome.key] = outcome
                sizes = [
                    child.memory_info().rss for child in psutil.Process().children(recursive=True) if child.is_running()
                ]
                self.peak_bytes = max([self.peak_bytes, *sizes])
        return outcomes

    def jobs(self, paths: list[Path]) -> Iterator[ConversionJob]:
        targets = {name: entry.target for name, entry in CATALOGUE.items()}
        for path in paths:
            yield ConversionJob(str(path), str(path), path.suffix[1:].lower(), "auto", targets, LIMITS.model_dump())


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    return Watched(tmp_path / "scratch")


def table(outcomes: dict[str, ConversionOutcome]) -> str:
    counts = Counter((outcome.file_format or "?", outcome.reason or "converted") for outcome in outcomes.values())
    return "\n".join(f"{count:5} {kind:18} {reason}" for (kind, reason), count in sorted(counts.items()))


def text(outcome: ConversionOutcome) -> str:
    return ConvertedDocument.model_validate_json(zlib.decompress(outcome.content)).text


def test_hostile_files_end_with_a_class_and_leave_nothing(real_data: Path, watched: Watched) -> None:
    paths = sorted((real_data / "hostile_files" / "files").iterdir())
    outcomes = watched.convert(paths)
    sys.stdout.write(f"\n{table(outcomes)}\nlargest process {watched.peak_bytes / 1e6:.0f} MB\n")
    assert len(outcomes) == len(paths)
    for outcome in outcomes.values():
        assert outcome.reason in {"", *QuarantineReason}
        assert outcome.reason == "" or "\n" in outcome.message
    assert sum(not outcome.reason for outcome in outcomes.values()) >= 50
    assert Counter(outcome.reason for outcome in outcomes.values())["converter_error"] <= 4
    assert watched.peak_bytes < (LIMITS.memory_mb + 1024) * 1_000_000
    assert list(watched.scratch.iterdir()) == []
    left = [child for child in psutil.Process().children(recursive=True) if "supervisor" in " ".join(child.cmdline())]
    assert left == []


@pytest.mark.parametrize(
    ("part", "allowed"),
    [
        ("docx", set()), ("pptx", set()), ("xlsx", set()), ("html", {"no_text"}), ("csv", set()), ("md", set()),
        ("odf", set()), ("epub", set()), ("email", set()), ("asciidoc", set()), ("jats", set()), ("webvtt", set()),
        ("uspto", set()), ("pdf", set()),
    ],
)  # fmt: skip
def test_every_format_converts(real_data: Path, watched: Watched, part: str, allowed: set[str]) -> None:
    folder = real_data / "conversion" / "docling" / part
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and "expected" not in path.parts)
    outcomes = watched.convert(paths)
    refused = {key: (outcome.reason, outcome.message) for key, outcome in outcomes.items() if outcome.reason}
    assert {reason for reason, _ in refused.values()} <= allowed, refused


def test_strings_that_must_be_found_are_found(real_data: Path, watched: Watched) -> None:
    folder = real_data / "conversion" / "markitdown"
    cases = json.loads((folder / "must_contain.json").read_text())
    paths = sorted({folder / case["filename"] for case in cases if (folder / case["filename"]).is_file()})
    outcomes = watched.convert(paths)
    missing = {}
    for case in cases:
        outcome = outcomes.get(str(folder / case["filename"]))
        if outcome is None or outcome.reason:
            continue
        words = plain(text(outcome))
        wanted = [string for string in case["must_include"] if not string.startswith("data:")]
        lost = [string for string in wanted if plain(string) not in words]
        lost = [string for string in lost if string not in NOT_TEXT.get(case["filename"], ())]
        if lost:
            missing[case["filename"]] = lost
    sys.stdout.write(f"\n{table(outcomes)}\n{json.dumps(missing, indent=1)}\n")
    assert missing == {}


def plain(string: str) -> str:
    """Text without Markdown syntax, white space and dashes, which belong to another converter's rendering."""
    unlinked = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", string)
    return re.sub(r"[\s#*_|`\\>!\[\]\u2013-]+", "", unlinked)
