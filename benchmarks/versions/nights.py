"""The PEPs as three nights: 2017, 2022 and today, through the stages from the source to the decisions.

    python benchmarks/versions/nights.py FOLDER_WITH_PEPS

``FOLDER_WITH_PEPS`` holds docs/*.rst and older_*.tar.gz; default ``$CORPUS_TEST_DATA/peps``. After each night the
states are compared with the headers of that night's texts, read here without the pipeline; the same
night runs again to show what is recomputed; afterwards the earlier nights are asked for again.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import sys
import tarfile
import tempfile
from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path

from corpus_pipeline.conversion import convert_corpus
from corpus_pipeline.deduplication import cluster_corpus
from corpus_pipeline.inventory import approve_removals, held_removals, take_inventory
from corpus_pipeline.records import ExclusionReason
from corpus_pipeline.registry import ConversionSpec, CorpusSpec, Registry, SourceSpec
from corpus_pipeline.settings import Settings
from corpus_pipeline.store import Database, StageContext, StageResult
from corpus_pipeline.versions import held_decisions, resolve_corpus, states_on, version_decisions

NIGHTS = (date(2017, 1, 1), date(2022, 1, 1), date(2026, 8, 22))
NOT_IN_FORCE = {"draft", "draught", "rejected", "withdrawn", "deferred", "provisional"}
STAGES: dict[str, Callable[[StageContext], StageResult]] = {
    "inventory": take_inventory,
    "conversion": convert_corpus,
    "deduplication": cluster_corpus,
    "versions": resolve_corpus,
}
WORK = ("added", "changed", "removed", "converted", "reused", "signatures_computed", "candidates_compared", "extracted")


def texts_of(folder: Path, night: date) -> dict[str, bytes]:
    """The PEPs of a night by file name; a PEP keeps one name whatever its format was at the time."""
    archive = folder / f"older_{night.isoformat()}.tar.gz"
    if not archive.is_file():
        return {path.name: path.read_bytes() for path in sorted((folder / "docs").glob("pep-*.rst"))}
    with tarfile.open(archive) as opened:
        files = [(Path(entry.name), opened.extractfile(entry)) for entry in opened if entry.isfile()]
        return {f"{path.stem}.rst": (content or io.BytesIO()).read() for path, content in files}


def stale_by_headers(texts: dict[str, bytes]) -> set[str]:
    """Names of the PEPs that the headers of these texts alone make stale.

    Named as replaced on either side by a PEP whose status is in force, or called superseded by its own status.
    """
    headers = {}
    for name, content in texts.items():
        head = content.decode("utf-8", errors="replace").replace("\r", "").split("\n\n")[0]
        found = re.findall(r"^([A-Za-z-]+):[ \t]*(.*(?:\n[ \t]+.*)*)", head, re.MULTILINE)
        headers[name] = {key.lower(): value for key, value in found}
    stale = {name for name, fields in headers.items() if (fields.get("status") or "").strip().lower() == "superseded"}
    for name, fields in headers.items():
        for number in re.findall(r"\d+", fields.get("superseded-by", "")):
            if _in_force(headers.get(_name(number))):
                stale.add(name)
        if _in_force(fields):
            replaced = {_name(number) for number in re.findall(r"\d+", fields.get("replaces", ""))}
            stale |= replaced & headers.keys()
    return stale


def _name(number: str) -> str:
    return f"pep-{int(number):04d}.rst"


def _in_force(fields: dict[str, str] | None) -> bool:
    words = (fields or {}).get("status", "").split()
    return bool(words) and words[0].lower() not in NOT_IN_FORCE


def run_night(context: StageContext, source: Path, texts: dict[str, bytes]) -> dict[str, dict[str, object]]:
    """Lays out a night's files and runs the stages; removals are approved as a person would."""
    for path in source.iterdir():
        if path.name not in texts:
            path.unlink()
    for name, content in texts.items():
        if not (source / name).is_file() or (source / name).read_bytes() != content:
            (source / name).write_bytes(content)
    take_inventory(context)
    with context.database.connection() as connection:
        if held_removals(connection, context.spec.slug):
            approve_removals(connection, context.spec.slug, "benchmark")
    counts = {}
    for name, stage in STAGES.items():
        result = stage(context)
        work = {key: result.counts[key] for key in WORK if key in result.counts}
        counts[name] = {**work, "seconds": round(result.seconds, 1), "unchanged": result.unchanged}
    return counts


def measure(folder: Path, work: Path) -> dict[str, object]:
    """Three nights, each run twice, then the earlier ones asked for again."""
    source = work / "peps"
    source.mkdir()
    spec = CorpusSpec(
        slug="peps",
        base_folder=work,
        owner="benchmark",
        source=SourceSpec(url="peps"),
        conversion=ConversionSpec(converter="plain"),
    )
    settings = Settings(home=work / "state", config=work / "corpora.yaml", workers=1)
    registry = Registry(path=work / "corpora.yaml", corpora={"peps": spec})
    nights, previous, known = [], {}, []
    with Database.open(settings) as database:
        context = StageContext(
            database=database, settings=settings, registry=registry, spec=spec, as_of=NIGHTS[0], run_id="night"
        )
        for night in NIGHTS:
            context = replace(context, as_of=night)
            texts = texts_of(folder, night)
            counts = run_night(context, source, texts)
            again = run_night(context, source, texts)
            expected, found, kept = stale_by_headers(texts), _stale(context), _known(context, night)
            known.append((night, _clock(context), kept))
            nights.append(
                {
                    "night": night.isoformat(),
                    "documents": len(texts),
                    "new_or_changed_texts": len(set(texts.values()) - set(previous.values())),
                    "stale_by_headers": len(expected),
                    "stale_found": len(found),
                    "wrong": sorted(expected ^ found),
                    "first_run": counts,
                    "same_night_again": again,
                    "history_rows": _rows(context),
                }
            )
            previous = texts
        shutil.rmtree(source)
        asked = [
            {
                "day": night.isoformat(),
                "known_at": str(moment),
                "same_as_then": _known(context, night, moment) == kept,
                "same_day_as_known_today": _known(context, night) == kept,
                "states": len(kept),
                "not_in_force": sum(not in_force for in_force, _, _ in kept.values()),
            }
            for night, moment, kept in known
        ]
    return {"nights": nights, "asked_afterwards": asked}


def _stale(context: StageContext) -> set[str]:
    with context.database.connection() as connection:
        return {
            one.document_id.removeprefix("peps/")
            for one in version_decisions(connection, "peps")
            if one.exclusion_reason is ExclusionReason.SUPERSEDED
        }


def _known(
    context: StageContext, day: date, moment: datetime | None = None
) -> dict[str, tuple[bool, str | None, str | None]]:
    """In force, reason and successor of every document on a day, as known at a moment or now."""
    with context.database.connection() as connection:
        states = states_on(held_decisions(connection, "peps", moment), day)
    return {one.document_id: (one.in_force, one.reason, one.decision.superseded_by) for one in states}


def _clock(context: StageContext) -> datetime:
    with context.database.connection() as connection:
        row = connection.execute("SELECT clock_timestamp() AS moment").fetchone()
    assert row is not None
    moment: datetime = row["moment"]
    return moment


def _rows(context: StageContext) -> int:
    with context.database.connection() as connection:
        row = connection.execute("SELECT count(*) AS rows FROM corpus.document_version_history").fetchone()
    assert row is not None
    return int(row["rows"])


def main() -> None:
    """Prints the nights and writes them beside this file."""
    default = Path(os.environ.get("CORPUS_TEST_DATA", "data")) / "peps"
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    if not (folder / "older_2017-01-01.tar.gz").is_file():
        print(f"skipped: {folder} holds no older PEPs; name the folder or set CORPUS_TEST_DATA")
        return
    with tempfile.TemporaryDirectory(prefix="corpus-nights-", ignore_cleanup_errors=True) as work:
        result = measure(folder, Path(work))
    (Path(__file__).parent / "nights.json").write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
