"""A database as an earlier version left it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from corpus_pipeline.store import migrations
from corpus_pipeline_tests.databases import fresh_database


@pytest.fixture
def empty_url(server_url: str) -> Iterator[str]:
    """An empty database on the server of the tests."""
    with fresh_database(server_url, template="template0", prefix="upgraded") as url:
        yield url


@pytest.fixture
def migrated_up_to(empty_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Applies the migrations up to the one named, as the version that had no later ones did; gives the URL."""

    def migrate(last: str) -> str:
        old = tmp_path / "released" / "migrations"
        old.mkdir(parents=True)
        for path in migrations.migration_files():
            if path.stem <= last:
                shutil.copy(path, old)
        with monkeypatch.context() as patch:
            patch.setattr(migrations, "project_file", lambda _: old.parent)
            assert migrations.apply_migrations(empty_url)[-1] == last
        return empty_url

    return migrate
