"""Scores PDF engines against known structure.

    OMP_NUM_THREADS=1 python -m benchmarks.conversion.pdf_structure FOLDER

``FOLDER`` holds one folder a set, with ``NAME.pdf`` beside ``NAME.md``, the truth. Prints a
table an engine and set, and writes every score to ``benchmarks/conversion/results/``. An
engine that is not installed is left out with a note.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import time
import warnings
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean

from benchmarks.conversion import measures
from benchmarks.conversion.pdf_engines import ENGINES, Engine
from benchmarks.conversion.structure import Structure, from_markdown

SETS = ("tagged", "taggedrun", "synth")
RESULTS = Path(__file__).parent / "results" / "pdf_structure.json"
MEASURES = ("reading_order", "tables", "headings", "lists", "levels")
OVERALL = ("reading_order", "tables", "headings")


@dataclass
class Score:
    """Scores of one engine on one file; ``None`` where the truth has nothing to compare."""

    engine: str
    set: str
    name: str
    pages: int
    seconds: float
    reading_order: float | None = None
    tables: float | None = None
    headings: float | None = None
    lists: float | None = None
    levels: float | None = None
    surplus_tables: int = 0
    error: str = ""


def main() -> None:
    arguments = _arguments()
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    _use_one_core()
    scores: list[Score] = []
    for engine in arguments.engines:
        scores += list(scores_of(engine, arguments.folder, arguments.sets))
    _print_table(scores, arguments.engines, arguments.sets)
    if arguments.worst:
        _print_worst(scores, arguments.worst)
    if arguments.output:
        arguments.output.parent.mkdir(parents=True, exist_ok=True)
        arguments.output.write_text(json.dumps(_report(scores, arguments.engines, arguments.sets), indent=1) + "\n")
        print(f"written: {arguments.output}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--engines", nargs="+", choices=sorted(ENGINES), default=["geometry", "docling-native"])
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--worst", type=int, default=0, help="also print the N lowest scores of each measure")
    return parser.parse_args()


def _use_one_core() -> None:
    """Keeps the whole run on one core, so that seconds a page mean the same everywhere."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def scores_of(engine: str, folder: Path, sets: Iterable[str]) -> Iterable[Score]:
    convert = ENGINES[engine]
    files = [(name, path) for name in sets for path in sorted((folder / name).glob("*.pdf"))]
    try:
        convert(files[0][1])  # imports and first-time set-up are not the engine's speed
    except Exception as error:  # noqa: BLE001 - not installed, or without its weights
        print(f"{engine}: left out, {type(error).__name__}: {str(error).splitlines()[0][:150]}")
        return
    for name, path in files:
        yield _score(engine, convert, name, path)


def _score(engine: str, convert: Engine, set_name: str, path: Path) -> Score:
    import pypdfium2

    document = pypdfium2.PdfDocument(path)
    pages = len(document)
    document.close()
    started = time.process_time()
    try:
        found, error = convert(path), ""
    except Exception as failure:  # noqa: BLE001 - an engine that fails on a file scores nothing on it
        found, error = Structure(), f"{type(failure).__name__}: {failure}"[:200]
    seconds = time.process_time() - started
    truth = from_markdown(path.with_suffix(".md").read_text(encoding="utf-8"))
    return Score(
        engine,
        set_name,
        path.stem,
        pages,
        round(seconds, 4),
        reading_order=measures.reading_order(truth, found),
        tables=measures.tables(truth.tables(), found.tables()),
        headings=measures.f1(truth.texts("heading"), found.texts("heading")),
        lists=measures.f1(truth.texts("list_item"), found.texts("list_item")),
        levels=measures.level_agreement(truth, found),
        surplus_tables=max(0, len(found.tables()) - len(truth.tables())),
        error=error,
    )


def summary(scores: Iterable[Score]) -> dict[str, float | None]:
    """Mean of each measure over the files where the truth has something to compare; ``None`` where none has."""
    given = list(scores)
    means: dict[str, float | None] = {}
    for measure in MEASURES:
        values = [value for score in given if (value := getattr(score, measure)) is not None]
        means[measure] = round(mean(values), 4) if values else None
    parts = [value for measure in OVERALL if (value := means[measure]) is not None]
    means["overall"] = round(mean(parts), 4) if len(parts) == len(OVERALL) else None
    pages = max(1, sum(score.pages for score in given))
    means["seconds_per_page"] = round(sum(score.seconds for score in given) / pages, 4)
    means["surplus_tables"] = sum(score.surplus_tables for score in given)
    means["files"] = len(given)
    return means


def _print_table(scores: list[Score], engines: Iterable[str], sets: list[str]) -> None:
    columns = (
        "overall",
        "reading_order",
        "tables",
        "headings",
        "lists",
        "levels",
        "seconds_per_page",
        "surplus_tables",
    )
    print(f"{'engine':18} {'set':10} files " + " ".join(f"{column:>16}" for column in columns))
    for engine in engines:
        own = [score for score in scores if score.engine == engine]
        for name in [*sets, "together"]:
            chosen = [score for score in own if name in (score.set, "together")]
            if not chosen or (name == "together" and len(sets) == 1):
                continue
            means = summary(chosen)
            print(f"{engine:18} {name:10} {len(chosen):5} " + " ".join(_cell(means[column]) for column in columns))


def _cell(value: float | None) -> str:
    return f"{value:16.4f}" if value is not None else f"{'-':>16}"


def _print_worst(scores: list[Score], count: int) -> None:
    for measure in ("reading_order", "tables", "headings", "lists"):
        rated = sorted(
            (value, score.set, score.name) for score in scores if (value := getattr(score, measure)) is not None
        )
        print(measure, ", ".join(f"{set_name}/{name} {value:.2f}" for value, set_name, name in rated[:count]))
    for score in scores:
        if score.error:
            print(f"{score.engine} {score.set}/{score.name}: {score.error}")


def _report(scores: list[Score], engines: Iterable[str], sets: list[str]) -> dict[str, object]:
    return {
        "sets": sets,
        "summary": {
            engine: {
                name: summary([score for score in scores if score.engine == engine and name in (score.set, "together")])
                for name in [*sets, "together"]
            }
            for engine in engines
            if any(score.engine == engine for score in scores)
        },
        "files": [asdict(score) for score in scores],
    }


if __name__ == "__main__":
    main()
