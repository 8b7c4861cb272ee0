"""Prints a table, stores it as JSON beside the benchmarks, and starts a database for them."""

from __future__ import annotations

import json
import os
import platform
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from corpus_pipeline.settings import Settings
from corpus_pipeline.store import Database

RESULTS = Path(__file__).parent / "results"


def machine() -> dict[str, Any]:
    """What figures depend on."""
    return {
        "cores": os.cpu_count(),
        "load_average": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        "datasketch": version("datasketch"),
        "numpy": version("numpy"),
    }


def report(name: str, rows: Sequence[dict[str, Any]], conditions: dict[str, Any]) -> None:
    """Prints rows as a table and writes them with their conditions to ``results/<name>.json``."""
    table = Table(*rows[0], title=name)
    for row in rows:
        table.add_row(*(f"{value:,.3f}" if isinstance(value, float) else str(value) for value in row.values()))
    console = Console(width=160)
    console.print(table)
    console.print(conditions)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps({"rows": rows, "conditions": conditions}, indent=2) + "\n")


class Fresh(NamedTuple):
    """A database and the folder its server lives in."""

    database: Database
    folder: str


@contextmanager
def fresh_server() -> Iterator[Fresh]:
    """An embedded server of its own, migrated and empty."""
    with tempfile.TemporaryDirectory() as folder, Database.open(Settings(home=Path(folder))) as database:
        yield Fresh(database, folder)


@contextmanager
def fresh_database() -> Iterator[Database]:
    """The database of such a server."""
    with fresh_server() as fresh:
        yield fresh.database


def data_folder() -> Path:
    """The folder of real corpora.

    Raises:
        SystemExit: It is absent.
    """
    named = Path(os.environ.get("CORPUS_TEST_DATA", "/nonexistent"))
    for folder in (named, Path(__file__).parents[3] / "shared" / "data"):
        if folder.is_dir():
            return folder
    raise SystemExit("the real corpora are absent: set CORPUS_TEST_DATA to their folder")
