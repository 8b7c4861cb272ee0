"""Files the project ships, and the handles of the embedded server, without any server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from corpus_pipeline.errors import StoreError
from corpus_pipeline.store import load_queries, project_file
from corpus_pipeline.store.embedded import _drop_dead_handles, _drop_stale_pid_file


def test_shipped_files_are_found() -> None:
    assert (project_file("sql") / "migrations").is_dir()
    assert project_file("dagster.yaml").is_file()


def test_a_missing_file_says_how_to_repair_the_installation() -> None:
    with pytest.raises(StoreError, match=r"lacks 'absent\.yaml'") as caught:
        project_file("absent.yaml")
    assert "Install it again" in caught.value.remedy


def test_queries_are_loaded_once_and_hold_their_text() -> None:
    assert load_queries("store") is load_queries("store")
    assert "corpus.stage_states" in load_queries("store").stage_states.sql
    assert "%(corpus)s" in load_queries("store").stage_states.sql, "psycopg's own placeholders"


def _dead_pid() -> int:
    process = subprocess.Popen([sys.executable, "-c", "pass"])
    process.wait()
    return process.pid


def test_only_handles_of_living_processes_are_kept(tmp_path: Path) -> None:
    handles = tmp_path / ".handle_pids.json"
    handles.write_text(json.dumps([_dead_pid(), os.getpid(), _dead_pid()]))
    _drop_dead_handles(tmp_path)
    assert json.loads(handles.read_text()) == [os.getpid()]


@pytest.mark.parametrize("content", ["", "[1, ", "\udcff"])
def test_an_unreadable_list_of_handles_does_not_stop_a_start(tmp_path: Path, content: str) -> None:
    handles = tmp_path / ".handle_pids.json"
    handles.write_bytes(content.encode("utf-8", "surrogateescape"))
    before = handles.read_bytes()
    _drop_dead_handles(tmp_path)
    assert handles.read_bytes() == before


@pytest.mark.parametrize("other", [True, False], ids=["another process has its number", "no process has"])
def test_the_pid_file_of_a_killed_server_goes(tmp_path: Path, other: bool) -> None:
    file = tmp_path / "postmaster.pid"
    file.write_text(f"{os.getpid() if other else _dead_pid()}\n{tmp_path}\n")
    _drop_stale_pid_file(tmp_path)
    assert not file.exists()
    _drop_stale_pid_file(tmp_path)


def test_no_list_of_handles_is_none(tmp_path: Path) -> None:
    _drop_dead_handles(tmp_path)
    assert list(tmp_path.iterdir()) == []
