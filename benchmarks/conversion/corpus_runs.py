"""A corpus made of given files, for the runs that go through inventory, conversion and publication."""

from __future__ import annotations

import logging
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from corpus_pipeline.registry import Registry, load_registry
from corpus_pipeline.settings import Settings
from corpus_pipeline.store import Database, StageContext
from corpus_pipeline.store.embedded import stop_embedded_server

__all__ = ["SLUG", "OpenCorpus", "open_corpus"]

SLUG = "benchmark"


@dataclass
class OpenCorpus:
    """A registry with one corpus and the database that it will be published in."""

    settings: Settings
    registry: Registry
    database: Database

    def context(self) -> StageContext:
        """For single stages."""
        return StageContext(
            database=self.database,
            settings=self.settings,
            registry=self.registry,
            spec=self.registry.corpus(SLUG),
            as_of=self.settings.decision_date,
            run_id="benchmark",
        )


@contextmanager
def open_corpus(files: Mapping[str, Path], *, workers: int, **sections: Any) -> Iterator[OpenCorpus]:
    """Copies files into a corpus of their own and opens it with an embedded database; all goes afterwards.

    Args:
        files: Path inside the corpus to source path.
        workers: Conversion workers.
        sections: More sections of the corpus in corpora.yaml, such as ``gates`` or ``conversion``.
    """
    logging.disable(logging.WARNING)
    # The embedded server runs as a user of its own, which must reach its folder.
    with tempfile.TemporaryDirectory(prefix="conversion-benchmark-", ignore_cleanup_errors=True) as name:
        home = Path(name)
        home.chmod(0o755)
        for relative, source in files.items():
            target = home / "docs" / relative
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
        corpus = {"owner": "benchmarks@example.com", "source": {"url": "docs"}, **sections}
        config = home / "corpora.yaml"
        config.write_text(yaml.safe_dump({"version": 1, "corpora": {SLUG: corpus}}))
        settings = Settings(home=home / "state", config=config, workers=workers)
        try:
            with Database.open(settings) as database:
                yield OpenCorpus(settings, load_registry(config), database)
        finally:
            stop_embedded_server(settings.state_folder)
