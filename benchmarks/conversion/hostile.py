"""Broken, encrypted, fuzzed and bomb-like files: each ends converted or in quarantine with a class that fits.

    python -m benchmarks.conversion.hostile FOLDER [--publish-with FOLDER]

``FOLDER`` holds ``manifest.jsonl``: for each file what a plain opener (pdfium, zipfile, a look at
the first bytes) said. The classes that are defensible follow from that alone, see :func:`defensible`.
With ``--publish-with`` a second corpus of good files (its ``manifest.jsonl`` lists them) joins the
hostile ones in one run through the whole pipeline, which must publish what is good.
"""

from __future__ import annotations

import argparse
import json
import logging
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from benchmarks.conversion.pool_runs import MEGABYTE, MemoryWatch, PoolRun, convert_files, write_result
from corpus_pipeline.registry import ConversionLimits

CONVERTED = "converted"
TIMEOUT_SECONDS = 60.0
LEGACY = frozenset(("doc", "xls", "ppt"))
OFFICE = frozenset(("docx", "xlsx", "pptx", "xlsb", "odt"))
BOMB = re.compile(r"bomb|poc-|xxe|oom|droste", re.IGNORECASE)
"""Names by which the collections mark attacks rather than accidents."""


def defensible(extension: str, probe: str, name: str) -> frozenset[str]:
    """Classes that fit what the plain opener said of a file.

    A fuzzed file may be refused as corrupt even where an opener gets through its first layer.
    An attack may be refused as a bomb, or converted where what it attacks is not used.
    """
    allowed = _by_probe(extension, probe)
    if "fuzz" in name or "orrupt" in name or "crash" in name.lower():
        allowed |= {"corrupt", "converter_error", "no_text", CONVERTED}
    if BOMB.search(name):
        allowed |= {"bomb", "corrupt"}
    if "passw" in name.lower() or "protected" in name.lower() or "encrypt" in name.lower():
        allowed |= {"encrypted"}
    return frozenset(allowed)


BY_PROBE = {
    "zero_bytes": {"empty"},
    "pdf_needs_password": {"encrypted"},
    "ole2_encrypted_package": {"encrypted"},
    "zip_error": {"corrupt"},
}
ANY_LEGACY = {CONVERTED, "unsupported", "no_text", "encrypted", "corrupt", "converter_error"}


def _by_probe(extension: str, probe: str) -> set[str]:
    known = BY_PROBE.get(probe.split(maxsplit=1)[0])
    if known is not None:
        # A workbook under the password that its program tries by itself opens without asking for one.
        default_password = {CONVERTED} if probe == "ole2_encrypted_package" and extension == "xlsx" else set()
        damaged = {"unsupported", "corrupt"} if probe == "ole2_encrypted_package" and extension in LEGACY else set()
        return known | default_password | damaged
    if probe.startswith("pdf_opens"):
        return {"no_text", "corrupt", CONVERTED} if "chars=0" in probe else {CONVERTED}
    if probe.startswith("zip"):
        return _of_zip(extension, probe)
    return ANY_LEGACY if probe.startswith("ole2") else {CONVERTED, "unsupported", "no_text", "empty", "encrypted"}


def _of_zip(extension: str, probe: str) -> set[str]:
    if "encrypted" in probe:
        return {"encrypted", "unsupported"}
    if "members=0" in probe:
        return {"corrupt"}
    if "bad=" in probe:
        return {"corrupt", "converter_error", CONVERTED}
    return {CONVERTED, "no_text"} if extension in OFFICE else {CONVERTED, "unsupported", "bomb"}


def main() -> int:
    """Converts all and prints the classes; 1 if something hung, stayed behind or got a class that does not fit."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--publish-with", type=Path, help="folder of good files for a run of the whole pipeline")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=TIMEOUT_SECONDS, help="seconds a file; more on a busy machine")
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    if not (arguments.folder / "manifest.jsonl").is_file():
        sys.stderr.write(f"{arguments.folder}/manifest.jsonl is absent: nothing measured\n")
        return 0
    listed = [json.loads(line) for line in (arguments.folder / "manifest.jsonl").read_text().splitlines() if line]
    entries = {
        arguments.folder / entry["file"]: entry for entry in listed if (arguments.folder / entry["file"]).is_file()
    }
    limits = ConversionLimits(timeout_seconds=arguments.timeout)
    run = convert_files(sorted(entries), workers=arguments.workers, limits=limits)
    rows = _rows(entries, run)
    report: dict[str, object] = {
        "files": len(entries),
        "ended": len(rows),
        "classes": dict(sorted(Counter(row["class"] for row in rows).items())),
        "not_defensible": sum(not row["fits"] for row in rows),
        "timeout_seconds": arguments.timeout,
        "memory_limit_mb": limits.memory_mb,
        **run.costs(),
        "table": rows,
    }
    if arguments.publish_with:
        report["publication"] = _publish(entries, arguments.publish_with, arguments.workers, arguments.timeout)
    _print(report, rows)
    write_result("hostile", report, arguments.output)
    sound = len(rows) == len(entries) and not report["not_defensible"]
    return 0 if sound and not run.processes_left and not run.files_left else 1


def _publish(hostile: Iterable[Path], good: Path, workers: int, timeout: float) -> dict[str, object]:
    """One run of the whole pipeline over both sets; what it published and what it put into quarantine."""
    from benchmarks.conversion.corpus_runs import SLUG, open_corpus
    from corpus_pipeline.conversion import quarantined_files
    from corpus_pipeline.orchestration.ingestion import ingest
    from corpus_pipeline.orchestration.observer import LogObserver

    listed = [json.loads(line)["file"] for line in (good / "manifest.jsonl").read_text().splitlines() if line]
    files = {f"hostile/{path.name}": path for path in hostile}
    files |= {f"good/{name}": good / name for name in listed if (good / name).is_file()}
    gates = {"max_quarantined_ratio": 0.9, "max_unreadable_ratio": 0.9, "min_page_coverage": 0.0}
    sections: dict[str, object] = {
        "gates": gates,
        "conversion": {"limits": {"timeout_seconds": timeout}},
        "embedding": {"backend": "openvino", "batch_size": 64},
    }
    started = time.perf_counter()
    with MemoryWatch() as watch, open_corpus(files, workers=workers, **sections) as corpus:
        observer = LogObserver(logging.getLogger("benchmark"))
        [run] = ingest(corpus.settings, corpus.registry, corpus.database, [SLUG], observer)
        with corpus.database.connection() as connection:
            refused = {row.document_id.partition("/")[2]: row for row in quarantined_files(connection, SLUG)}
    return {
        "files": len(files),
        "published": run.published,
        "good_files_refused": {
            name: f"{row.reason}: {row.message.splitlines()[0]}"
            for name, row in sorted(refused.items())
            if name.startswith("good/")
        },
        "error": run.error,
        "failed_checks": [str(verdict.stage) for verdict in run.failed_checks],
        "seconds": round(time.perf_counter() - started, 1),
        "peak_worker_mb": round(watch.peak_process / MEGABYTE, 1),
        "stages": {str(result.stage): dict(result.counts) for result in run.results},
    }


def _rows(entries: dict[Path, dict[str, str]], run: PoolRun) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for path, outcome in sorted(run.outcomes.items()):
        entry = entries[path]
        found = outcome.reason or CONVERTED
        rows.append(
            {
                "file": path.name,
                "opener": entry["probe"],
                "format": outcome.file_format,
                "class": found,
                "fits": found in defensible(entry["ext"], entry["probe"], path.name),
                "converter": outcome.converter,
                "characters": outcome.summary.get("char_count", 0),
                "seconds": round(outcome.elapsed_seconds, 2),
                "message": outcome.message.splitlines()[0] if outcome.message else "",
            }
        )
    return rows


def _print(report: dict[str, object], rows: list[dict[str, object]]) -> None:
    for row in rows:
        mark = " " if row["fits"] else "!"
        print(f"{mark} {row['class']!s:16} {row['file']!s:75.75} {row['opener']!s:45.45} {row['message']!s:.80}")
    for name, value in report.items():
        if name != "table":
            print(f"{name:18} {value}")


if __name__ == "__main__":
    sys.exit(main())
