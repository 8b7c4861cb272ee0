"""The embedded server: shared by processes, and not kept alive by the handles of dead ones."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from corpus_pipeline.errors import DiskFullError, StoreError
from corpus_pipeline.settings import Settings
from corpus_pipeline.store import database_url, embedded

STARTER = """
import os, sys
from pathlib import Path
from corpus_pipeline.store.embedded import start_embedded_server
print(start_embedded_server(Path(sys.argv[1])), flush=True)
if sys.argv[2] == "killed":
    os.kill(os.getpid(), 9)
"""


@pytest.fixture
def state() -> Iterator[Path]:
    """A state folder with a short path of its own, which the server's user may enter."""
    with tempfile.TemporaryDirectory(prefix="corpus-state-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)
        embedded.stop_embedded_server(Path(folder))


def _start(state: Path, end: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", STARTER, str(state), end], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.stdout.startswith("postgresql://"), done.stderr
    return done.stdout.strip()


def _handles(state: Path) -> list[int]:
    handles: list[int] = json.loads((state / "postgres" / ".handle_pids.json").read_text())
    return handles


def test_handles_of_killed_processes_are_dropped_and_data_outlives_the_server(state: Path) -> None:
    url = _start(state, "killed")
    (dead,) = _handles(state)
    assert dead != os.getpid()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE kept (one integer)")
    again = embedded.start_embedded_server(state)
    assert _handles(state) == [os.getpid()], "the handle of the killed process is still there"
    with psycopg.connect(again) as connection:
        assert connection.execute("SELECT to_regclass('kept')::text").fetchone() == ("kept",)
    assert _start(state, "ended") == again, "a second process joins the same server"
    assert _handles(state) == [os.getpid()], "a process that ended took its handle with it"


def _kill_server(state: Path) -> None:
    postmaster = psutil.Process(int((state / "postgres" / "postmaster.pid").read_text().split("\n", 1)[0]))
    family = [*postmaster.children(), postmaster]
    postmaster.kill()
    psutil.wait_procs(family, timeout=30)


def test_a_server_that_died_while_held_is_started_again_with_its_data(state: Path) -> None:
    url = embedded.start_embedded_server(state)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE kept (one integer)")
    _kill_server(state)
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(url)
    with psycopg.connect(embedded.start_embedded_server(state)) as connection:
        assert connection.execute("SELECT to_regclass('kept')::text").fetchone() == ("kept",)


def test_connections_keep_the_memory_of_a_search_and_this_process_its_environment(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MALLOC_TOP_PAD_", "4096")
    monkeypatch.delenv("MALLOC_TRIM_THRESHOLD_", raising=False)
    before = dict(os.environ)
    embedded.start_embedded_server(state)
    assert {name: value for name, value in os.environ.items() if name.startswith("MALLOC")} == {
        name: value for name, value in before.items() if name.startswith("MALLOC")
    }
    postmaster = psutil.Process(int((state / "postgres" / "postmaster.pid").read_text().split("\n", 1)[0]))
    given = postmaster.environ()
    assert int(given["MALLOC_TRIM_THRESHOLD_"]) == 32 << 20
    assert given["MALLOC_TOP_PAD_"] == "4096", "what an operator has set stays"


def test_the_development_command_looks_after_the_server(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from corpus_pipeline.cli import dev as command

    monkeypatch.setattr(command, "LOOK_SECONDS", 0.2)
    settings = Settings(home=state)
    url = database_url(settings)
    _kill_server(settings.state_folder)
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(6)"]) as dagster:
        assert command._wait(dagster, settings) == 0
    psycopg.connect(url).close()
    embedded.stop_embedded_server(settings.state_folder)


def test_a_state_folder_that_cannot_be_made_names_the_variable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match="cannot be made") as caught:
        embedded.start_embedded_server(tmp_path / "file" / "state")
    assert "CORPUS_HOME" in caught.value.remedy


def test_too_little_space_is_said_before_anything_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "MIN_FREE_BYTES", 1 << 62)
    with pytest.raises(DiskFullError, match="MB free") as caught:
        embedded.start_embedded_server(tmp_path / "state")
    assert "CORPUS_HOME" in caught.value.remedy
    assert list((tmp_path / "state").iterdir()) == []
