"""An installation of three small corpora, driven through the real console script."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import dict_row

TOPICS = {
    "alpha": ["lighthouse keepers", "harbour pilots", "tide tables", "fog signals", "buoy maintenance"],
    "beta": ["bread ovens", "sourdough starters", "flour mills", "yeast storage", "baking times"],
    "gamma": ["bicycle wheels", "chain tension", "brake pads", "gear ratios", "frame sizes"],
}


@dataclass
class Installation:
    """A corpora.yaml, its folders, and its own state folder with its own embedded database."""

    root: Path
    environment: dict[str, str]
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def config(self) -> Path:
        return self.root / "corpora.yaml"

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "corpus_pipeline.cli", *arguments]

    def run(self, *arguments: str, expect: int | None = 0, timeout: float = 240) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            self.command(*arguments),
            env={**self.environment, **self.extra},
            cwd=self.root,
            text=True,
            capture_output=True,
            timeout=timeout,
            check=False,
        )
        if expect is not None:
            assert done.returncode == expect, f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def json(self, *arguments: str, expect: int | None = 0) -> Any:
        return json.loads(self.run(*arguments, "--json", expect=expect).stdout)

    def published(self) -> dict[str, tuple[int, str]]:
        return {entry["corpus"]: (entry["generation"], entry["root"]) for entry in self.json("status")["corpora"]}

    def database_url(self) -> str:
        from corpus_pipeline.store.embedded import start_embedded_server

        return start_embedded_server(self.root / "state")

    def query(self, sql: str, *values: object) -> list[dict[str, Any]]:
        with psycopg.connect(self.database_url(), row_factory=dict_row, autocommit=True) as connection:
            cursor = connection.execute(sql, values)
            return cursor.fetchall() if cursor.description else []


def write_documents(folder: Path, slug: str, *, suffix: str = "") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number, topic in enumerate(TOPICS[slug]):
        (folder / f"{topic.replace(' ', '-')}.md").write_text(
            f"# About {topic}\n\nThis page explains {topic} for section {number}.{suffix}\n\n"
            f"## Care\n\nWhoever works with {topic} checks them every {number + 2} weeks and writes the result down.\n"
        )
