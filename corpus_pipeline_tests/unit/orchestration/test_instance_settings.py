"""dagster.yaml is what Dagster accepts and what the nightly run relies on."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from dagster._core.instance.config import dagster_instance_config
from dagster._core.storage.tags import GRPC_INFO_TAG

from corpus_pipeline.orchestration import storage
from corpus_pipeline.orchestration.instance import HOST_TAG, PID_TAG, _is_dead, dagster_environment
from corpus_pipeline.settings import Settings
from corpus_pipeline.store import project_file


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The settings after Dagster's own validation, which refuses unknown keys."""
    folder = tmp_path_factory.mktemp("dagster_home")
    shutil.copyfile(project_file("dagster.yaml"), folder / "dagster.yaml")
    validated, _ = dagster_instance_config(str(folder))
    return json.loads(json.dumps(validated, default=str))  # type: ignore[no-any-return]


def test_one_run_a_corpus_at_a_time(config: dict[str, Any]) -> None:
    limits = config["concurrency"]["runs"]["tag_concurrency_limits"]
    assert limits == [{"key": "dagster/partition", "limit": 1, "value": {"applyLimitPerUniqueValue": True}}]
    assert config["concurrency"]["runs"]["max_concurrent_runs"] > 1


def test_dead_workers_are_retried_and_failed_steps_are_not(config: dict[str, Any]) -> None:
    assert config["run_retries"]["enabled"] is True
    assert config["run_retries"]["max_retries"] >= 1
    assert config["run_retries"]["retry_on_asset_or_op_failure"] is False
    assert config["run_monitoring"]["enabled"] is True, "a dead worker is found by run monitoring"


def test_storage_is_ours_and_event_logs_are_purged(config: dict[str, Any]) -> None:
    custom = config["storage"]["custom"]
    assert (custom["module"], custom["class"]) == (storage.__name__, storage.CorpusStorage.__name__)
    assert config["retention"]["schedule"]["purge_after_days"] > 0
    assert config["telemetry"]["enabled"] is False


def test_the_state_folder_gets_a_copy_unless_the_user_has_a_dagster_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(config=tmp_path / "corpora.yaml", home=tmp_path / "state")
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    ours = dagster_environment(settings)
    assert ours["DAGSTER_HOME"] == str(tmp_path / "state" / "dagster")
    assert Path(ours["DAGSTER_HOME"], "dagster.yaml").read_bytes() == project_file("dagster.yaml").read_bytes()
    assert ours["CORPUS_CONFIG"] == str(tmp_path / "corpora.yaml")
    monkeypatch.setenv("DAGSTER_HOME", "/srv/dagster")
    assert dagster_environment(settings)["DAGSTER_HOME"] == "/srv/dagster"


@pytest.mark.parametrize("scheme", ["postgresql", "postgres"])
def test_dagsters_url_names_its_driver(scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CORPUS_DAGSTER_DATABASE_URL", raising=False)
    monkeypatch.setenv("CORPUS_DATABASE_URL", f"{scheme}://corpus:p%40ss@db:5432/corpus?sslmode=require")
    assert storage.dagster_database_url() == "postgresql+psycopg2://corpus:p%40ss@db:5432/corpus?sslmode=require"


def test_dagster_may_have_a_database_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CORPUS_DATABASE_URL", "postgresql://corpus@db/corpus")
    monkeypatch.setenv("CORPUS_DAGSTER_DATABASE_URL", "postgresql://dagster@other/dagster")
    assert storage.dagster_database_url() == "postgresql+psycopg2://dagster@other/dagster"


def test_a_run_is_dead_when_its_command_is() -> None:
    ended = subprocess.Popen([sys.executable, "-c", "pass"])
    ended.wait()
    here = socket.gethostname()
    assert _is_dead({HOST_TAG: here, PID_TAG: str(ended.pid)})
    assert not _is_dead({HOST_TAG: here, PID_TAG: str(os.getpid())})
    assert not _is_dead({HOST_TAG: "elsewhere", PID_TAG: str(ended.pid)}), "another machine's processes are not seen"
    assert not _is_dead({})


def test_a_run_is_dead_when_the_code_server_it_was_launched_in_is() -> None:
    with tempfile.TemporaryDirectory() as folder:
        address = str(Path(folder, "socket"))
        tags = {GRPC_INFO_TAG: json.dumps({"host": "localhost", "socket": address})}
        assert _is_dead(tags), "a restart of the machine takes the socket with it"
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(address)
            server.listen()
            assert not _is_dead(tags)
        assert _is_dead(tags), "a killed server leaves its socket behind"
        assert not _is_dead({GRPC_INFO_TAG: json.dumps({"host": "code", "port": 4000})})
