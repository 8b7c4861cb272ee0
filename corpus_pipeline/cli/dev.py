"""``corpus-pipeline dev``: database, Dagster daemon and UI together, stopped together."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from typing import Annotated

import typer

from corpus_pipeline.cli.app import app, state_of
from corpus_pipeline.cli.output import err, print_error
from corpus_pipeline.errors import ConfigurationError, StoreError
from corpus_pipeline.settings import Settings

__all__ = ["dev"]

STOP_SECONDS = 30
LOOK_SECONDS = 10
"""How often the embedded server is looked after: a dead one would leave the daemon without its nights."""


@app.command()
def dev(
    context: typer.Context,
    host: Annotated[str, typer.Option(help="Address the UI listens on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port the UI listens on.", min=1, max=65535)] = 3000,
) -> None:
    """Start the database, the Dagster daemon (schedules, backfills) and the UI; Ctrl-C stops all of them."""
    from corpus_pipeline.orchestration.instance import dagster_environment, dagster_instance

    state = state_of(context)
    slugs = ", ".join(sorted(state.registry.corpora))
    _demand_free_port(host, port)
    database = state.database  # held open, so that the embedded server outlives Dagster's processes
    with dagster_instance(state.settings):
        pass  # ends runs that a killed process left as started: they would keep their corpora waiting
    environment = {**os.environ, **dagster_environment(state.settings), "PYTHONWARNINGS": "ignore"}
    if state.settings.as_of is not None:
        environment["CORPUS_AS_OF"] = state.settings.as_of.isoformat()
    command = [sys.executable, "-m", "dagster", "dev", "-m", "corpus_pipeline.definitions", "-h", host, "-p", str(port)]
    err.print(f"corpora: {slugs}\nDagster UI: http://{host}:{port} (a few seconds from now); Ctrl-C stops everything")
    # A shell starts background jobs with interrupts ignored, and children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # A session of its own, so that Ctrl-C reaches Dagster once, from here.
    # In Dagster's own home, where the dagster.yaml that counts is the only one there is.
    process = subprocess.Popen(  # noqa: S603 - fixed arguments
        command, env=environment, cwd=environment["DAGSTER_HOME"], start_new_session=True
    )
    try:
        code = _wait(process, state.settings)
    except KeyboardInterrupt:
        err.print("stopping …")
        code = _stop(process)
    finally:
        database.close()
    raise typer.Exit(code)


def _demand_free_port(host: str, port: int) -> None:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise ConfigurationError(
                f"{host}:{port} cannot be listened on: {error.strerror}",
                remedy="Stop what uses the port, or choose another one with --port.",
            ) from error


def _wait(process: subprocess.Popen[bytes], settings: Settings) -> int:
    """The exit code of Dagster; starts the embedded server again where it died, and says why it cannot."""
    from corpus_pipeline.store import database_url

    told = ""
    while True:
        try:
            return process.wait(LOOK_SECONDS)
        except subprocess.TimeoutExpired:
            pass
        try:
            database_url(settings)
            told = ""
        except StoreError as error:
            if told != str(error):
                print_error(error)
            told = str(error)


def _stop(process: subprocess.Popen[bytes]) -> int:
    """Interrupts Dagster's process group, then ends what is left of it."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            break
        try:
            process.wait(STOP_SECONDS)
            break
        except subprocess.TimeoutExpired:
            continue
    return 0
