"""The Dagster instance of this installation, for commands that run outside Dagster's processes."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
from dagster import DagsterInstance, DagsterRunStatus, RunsFilter

from corpus_pipeline.settings import Settings
from corpus_pipeline.store import project_file

__all__ = ["HOST_TAG", "PID_TAG", "dagster_environment", "dagster_instance", "owner_tags"]

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
        _fail_dead_runs(instance)
        yield instance


def owner_tags() -> dict[str, str]:
    """Tags that let a later command see that this process has died."""
    return {PID_TAG: str(os.getpid()), HOST_TAG: socket.gethostname(), "corpus_pipeline/launcher": "command line"}


def _fail_dead_runs(instance: DagsterInstance) -> None:
    """Ends runs whose command-line process was killed; nothing else would."""
    started = RunsFilter(statuses=[DagsterRunStatus.STARTED], tags={HOST_TAG: socket.gethostname()})
    for run in instance.get_runs(started):
        if not psutil.pid_exists(int(run.tags.get(PID_TAG, "0"))):
            instance.report_run_failed(run, "the process of this run has died")
