"""Fixtures for all tests: a real PostgreSQL server a worker, a fresh database a test."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from corpus_pipeline.registry import CorpusSpec, Registry, SourceSpec
from corpus_pipeline.settings import Settings
from corpus_pipeline.store import Database, StageContext
from corpus_pipeline.store.embedded import start_embedded_server, stop_embedded_server
from corpus_pipeline.store.migrations import apply_migrations
from corpus_pipeline_tests.databases import TEMPLATE, fresh_database

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
# Lines wrap at the width of the terminal; what the tests look for must not depend on where they run.
os.environ["COLUMNS"] = "200"

DATA_FOLDERS = (Path(os.environ.get("CORPUS_TEST_DATA", "/nonexistent")), Path(__file__).parents[2] / "shared" / "data")
AS_OF = date(2026, 11, 1)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skips long tests once the moment that CORPUS_TEST_DEADLINE names (seconds since 1970) has passed."""
    deadline = float(os.environ.get("CORPUS_TEST_DEADLINE", "inf"))
    is_long = item.get_closest_marker("slow") or item.get_closest_marker("data")
    if is_long and time.time() > deadline:
        pytest.skip("no time left for long tests: CORPUS_TEST_DEADLINE has passed")


@pytest.fixture(scope="session")
def server_url() -> Iterator[str]:
    """URL of an embedded server shared by the tests of one worker; its database is the migrated template.

    Its folder is not below pytest's own: pytest makes that one private again whenever another
    session starts, and the server, which runs as a user of its own, would lose its data.
    """
    with tempfile.TemporaryDirectory(prefix="corpus-tests-", ignore_cleanup_errors=True) as folder:
        url = start_embedded_server(Path(folder), database=TEMPLATE)
        apply_migrations(url)
        yield url
        stop_embedded_server(Path(folder))


@pytest.fixture
def database_url(server_url: str) -> Iterator[str]:
    """URL of a fresh, migrated database."""
    with fresh_database(server_url, template=TEMPLATE, prefix="test") as url:
        yield url


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """An open pool on a fresh, migrated database."""
    with Database.connect(database_url, pool_size=4) as opened:
        yield opened


@pytest.fixture
def corpus_folder(tmp_path: Path) -> Path:
    """An empty source folder."""
    folder = tmp_path / "docs"
    folder.mkdir()
    return folder


@pytest.fixture
def context(database: Database, corpus_folder: Path, tmp_path: Path) -> StageContext:
    """A stage context for corpus ``handbook``, whose source is ``corpus_folder``."""
    spec = CorpusSpec(slug="handbook", base_folder=tmp_path, owner="docs@example.com", source=SourceSpec(url="docs"))
    return StageContext(
        database=database,
        settings=Settings(home=tmp_path / "state", config=tmp_path / "corpora.yaml", workers=2),
        registry=Registry(path=tmp_path / "corpora.yaml", corpora={"handbook": spec}),
        spec=spec,
        as_of=AS_OF,
        run_id="test-run",
    )


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Folder of the real corpora; the test is skipped where it is absent."""
    for folder in DATA_FOLDERS:
        if folder.is_dir():
            return folder
    pytest.skip("the real corpora are absent (set CORPUS_TEST_DATA to their folder)")
