"""The Dagster instance of this installation, for commands that run outside Dagster's processes."""

from __future__ import annotations

import json
import os
import shutil
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psutil
from dagster import DagsterInstance, DagsterRunStatus, RunsFilter
from dagster._core.storage.tags import GRPC_INFO_TAG

from corpus_pipeline.settings import Settings
from corpus_pipeline.store import project_file

__all__ = ["HOST_TAG", "PID_TAG", "dagster_environment", "dagster_instance", "fail_dead_runs", "owner_tags"]

PID_TAG = "corpus_pipeline/pid"
HOST_TAG = "corpus_pipeline/host"


def dagster_environment(settings: Settings) -> dict[str, str]:
    """Variables that make Dagster's processes use this registry, state folder and dagster.yaml.

    ``DAGSTER_HOME`` is kept when the user set it; otherwise it is ``<state folder>/dagster``,
    which gets a copy of the project's dagster.yaml.
    """
    home = os.environ.get("DAGSTER_HOME") or str(_prepared_home(settings.state_folder / "dagster"))
    return {
        "CORPUS_CONFIG": str(settings.config.absolute()),
        "CORPUS_HOME": str(settings.state_folder),
        "DAGSTER_HOME": home,
        "DAGSTER_DISABLE_TELEMETRY": "yes",
    }


def _prepared_home(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(project_file("dagster.yaml"), folder / "dagster.yaml")
    return folder


@contextmanager
def dagster_instance(settings: Settings) -> Iterator[DagsterInstance]:
    """The instance that `corpus-pipeline dev` shows, so that runs made here appear there.

    Raises:
        StoreError: Dagster's database cannot be used.
    """
    os.environ.update(dagster_environment(settings))
    with DagsterInstance.get() as instance:
        fail_dead_runs(instance)
        yield instance


def owner_tags() -> dict[str, str]:
    """Tags that let a later command see that this process has died."""
    return {PID_TAG: str(os.getpid()), HOST_TAG: socket.gethostname(), "corpus_pipeline/launcher": "command line"}


def fail_dead_runs(instance: DagsterInstance) -> list[str]:
    """Ends runs whose process on this machine was killed; nothing else would, and their corpora would wait for them.

    Returns:
        The ids of the runs it ended.
    """
    ended = []
    for run in instance.get_runs(RunsFilter(statuses=[DagsterRunStatus.STARTING, DagsterRunStatus.STARTED])):
        if _is_dead(run.tags):
            instance.report_run_failed(run, "the process of this run has died")
            ended.append(run.run_id)
    return ended


def _is_dead(tags: Mapping[str, str]) -> bool:
    """Whether a run is certain to have no process: its command, or the code server it was launched in, is gone.

    A code server of `dagster dev` listens on a socket of its own; one reached by network is left to its deployment.
    """
    if tags.get(HOST_TAG) == socket.gethostname():
        return not psutil.pid_exists(int(tags.get(PID_TAG, "0")))
    address = json.loads(tags.get(GRPC_INFO_TAG, "{}")).get("socket")
    if address is None:
        return False
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(address)
        except (FileNotFoundError, ConnectionRefusedError):
            return True
        except OSError:
            return False
    return False
