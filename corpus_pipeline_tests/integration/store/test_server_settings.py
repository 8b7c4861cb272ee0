"""The embedded server has settings for its machine; what an operator sets stands."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from corpus_pipeline.store import embedded
from corpus_pipeline.store.server_settings import SETTINGS_FILE, server_settings


@pytest.fixture
def state() -> Iterator[Path]:
    """A state folder with a short path of its own, which the server's user may enter."""
    with tempfile.TemporaryDirectory(prefix="corpus-settings-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)
        embedded.stop_embedded_server(Path(folder))


def _sources(url: str) -> dict[str, tuple[str, str]]:
    """Value and source of every setting that comes from a file."""
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT name, current_setting(name), sourcefile FROM pg_settings WHERE source = 'configuration file'"
        ).fetchall()
    return {name: (value, Path(file).name) for name, value, file in rows}


def test_a_server_has_its_settings_from_the_first_start_and_an_operators_stand(state: Path) -> None:
    url = embedded.start_embedded_server(state)
    found = _sources(url)
    assert {name for name, (_, file) in found.items() if file == SETTINGS_FILE} == set(server_settings(1 << 30))
    assert found["wal_level"] == ("minimal", SETTINGS_FILE)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET shared_buffers = '64MB'")
    embedded.stop_embedded_server(state)
    found = _sources(embedded.start_embedded_server(state))
    assert found["shared_buffers"] == ("64MB", "postgresql.auto.conf")
    assert found["max_wal_size"] == ("4GB", SETTINGS_FILE)


def test_a_data_folder_of_before_gets_them_at_its_next_start(state: Path) -> None:
    embedded.start_embedded_server(state)
    embedded.stop_embedded_server(state)
    configuration = state / "postgres" / "postgresql.conf"
    configuration.write_text(configuration.read_text().replace(f"include_if_exists '{SETTINGS_FILE}'", ""))
    (state / "postgres" / SETTINGS_FILE).unlink()
    assert _sources(embedded.start_embedded_server(state))["wal_level"] == ("minimal", SETTINGS_FILE)
    assert configuration.read_text().count(SETTINGS_FILE) == 1
