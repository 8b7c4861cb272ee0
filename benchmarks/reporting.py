"""Tables on the screen, JSON in the folder of results, with the machine they were taken on."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

__all__ = ["report"]


def report(folder: Path, name: str, rows: Sequence[Mapping[str, Any]], conditions: Mapping[str, Any]) -> None:
    """Prints rows as a table and writes them with their conditions to ``<folder>/<name>.json``."""
    table = Table(*rows[0], title=name)
    for row in rows:
        table.add_row(*(f"{value:,.4f}" if isinstance(value, float) else str(value) for value in row.values()))
    console = Console(width=200)
    console.print(table)
    machine = {
        "cores": os.cpu_count(),
        "load_average": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
    }
    stored = dict(conditions) | machine
    console.print(stored)
    folder.mkdir(exist_ok=True)
    text = json.dumps({"rows": [dict(row) for row in rows], "conditions": stored}, indent=1)
    (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")
