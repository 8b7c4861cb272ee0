"""kill -9 of a run inside each asset, then a new run: the same generation root as an undisturbed one."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pytest

from corpus_pipeline.records import Stage
from corpus_pipeline_tests.acceptance.installation import Installation

pytestmark = pytest.mark.slow

# Holds a stage inside its transaction, all rows written and none committed, until the test has killed it.
HOLD = """
CREATE FUNCTION corpus.hold() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_sleep(120);
    RETURN NEW;
END $$;
CREATE TRIGGER hold BEFORE INSERT OR UPDATE ON corpus.stage_states
    FOR EACH ROW WHEN (NEW.stage = '{stage}') EXECUTE FUNCTION corpus.hold();
"""
HELD = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()"


def _wait_until_held(installation: Installation, process: subprocess.Popen[str]) -> list[int]:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        pids = [int(row["pid"]) for row in installation.query(HELD)]
        if pids:
            return pids
        assert process.poll() is None, process.stderr.read() if process.stderr else ""
        time.sleep(0.2)
    pytest.fail("the stage was never reached")


@pytest.mark.timeout(900)
@pytest.mark.parametrize("stages", [list(Stage)[:5], list(Stage)[5:]], ids=["to_fragments", "to_publication"])
def test_a_killed_run_changes_nothing_and_the_next_one_converges(
    installation: Installation, tmp_path: Path, stages: list[Stage]
) -> None:
    installation.run("store", "check")
    for stage in stages:
        installation.query(HOLD.format(stage=stage.value))
        process = subprocess.Popen(
            installation.command("ingest", "alpha"),
            env=installation.environment,
            cwd=installation.root,
            text=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        held = _wait_until_held(installation, process)
        process.send_signal(signal.SIGKILL)
        process.wait()
        for pid in held:
            installation.query("SELECT pg_terminate_backend(%s)", pid)
        time.sleep(0.5)
        installation.query("DROP FUNCTION corpus.hold() CASCADE")
        finished = {row["stage"] for row in installation.query("SELECT stage FROM corpus.stage_states")}
        assert stage.value not in finished, "a killed stage leaves no state"
        assert installation.published()["alpha"] == (None, None), "nothing half-done is visible"
    survived = installation.json("ingest", "alpha")["corpora"][0]
    assert survived["published"]

    installation.extra = {"CORPUS_HOME": str(tmp_path / "undisturbed")}
    undisturbed = installation.json("ingest", "alpha")["corpora"][0]
    assert survived["stages"]["index_generation"]["root"] == undisturbed["stages"]["index_generation"]["root"]
