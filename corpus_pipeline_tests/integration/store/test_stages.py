"""The lock of a corpus, the one transaction of a stage, and what the state of the chain says."""

from __future__ import annotations

import dataclasses
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from corpus_pipeline.errors import CorpusBusyError, UpstreamMissingError
from corpus_pipeline.records import Stage
from corpus_pipeline.store import Database, StageContext, StageResult, corpus_lock, open_stage, stage_output

HOLDER = """
import sys, time
from corpus_pipeline.store import Database, corpus_lock
with Database.connect(sys.argv[1]) as database, corpus_lock(database, "handbook"):
    print("held", flush=True)
    time.sleep(600)
"""


def test_a_second_session_is_refused_and_another_corpus_is_not(database: Database) -> None:
    with corpus_lock(database, "handbook"):
        with pytest.raises(CorpusBusyError, match="'handbook'") as caught, corpus_lock(database, "handbook"):
            pytest.fail("two sessions hold one corpus")
        assert "run this again" in caught.value.remedy
        with corpus_lock(database, "legal"):
            pass
    with corpus_lock(database, "handbook"):
        pass


def test_an_error_frees_the_lock(database: Database) -> None:
    with pytest.raises(ZeroDivisionError), corpus_lock(database, "handbook"):
        _ = 1 / 0
    with corpus_lock(database, "handbook"):
        pass


def test_the_lock_is_freed_when_its_backend_dies(database: Database) -> None:
    from corpus_pipeline.errors import DatabaseUnreachableError

    with pytest.raises(DatabaseUnreachableError), corpus_lock(database, "handbook") as held:  # noqa: PT012 - the block as a whole is rolled back
        with database.session() as other:
            other.execute("SELECT pg_terminate_backend(%s)", (held.info.backend_pid,))
        _acquire_within(database, seconds=10)
        held.execute("SELECT 1")


def test_the_lock_is_freed_when_its_process_is_killed(database: Database) -> None:
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, database.url], stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline().strip() == "held"
        with pytest.raises(CorpusBusyError), corpus_lock(database, "handbook"):
            pytest.fail("two processes hold one corpus")
        holder.send_signal(signal.SIGKILL)
        holder.wait(timeout=30)
        _acquire_within(database, seconds=30)
    finally:
        holder.kill()
        holder.communicate(timeout=30)


def _acquire_within(database: Database, *, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            with corpus_lock(database, "handbook"):
                return
        except CorpusBusyError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def _run(context: StageContext, stage: Stage, output: str, **counts: object) -> StageResult:
    with open_stage(context, stage) as run, run.commit(output_sha256=output, counts=counts):  # type: ignore[arg-type]
        pass
    return run.result


def test_a_stage_reads_the_output_of_the_one_before(context: StageContext) -> None:
    first = _run(context, Stage.SOURCE_INVENTORY, "a1", files=3)
    second = _run(context, Stage.CONVERTED_DOCUMENTS, "b1")
    assert (first.input_sha256, first.unchanged) == ("", False)
    assert (second.input_sha256, second.unchanged) == ("a1", False)
    assert _run(context, Stage.CONVERTED_DOCUMENTS, "b1").unchanged
    assert not _run(context, Stage.CONVERTED_DOCUMENTS, "b2").unchanged


def test_a_stage_whose_upstream_never_ran_is_refused(context: StageContext) -> None:
    with pytest.raises(UpstreamMissingError, match="needs source_inventory") as caught:
        _run(context, Stage.CONVERTED_DOCUMENTS, "b1")
    assert "corpus-pipeline ingest handbook" in caught.value.remedy
    with corpus_lock(context.database, "handbook"):
        pass


def test_rows_and_state_are_written_together_or_not_at_all(context: StageContext) -> None:
    with (  # noqa: PT012 - the block as a whole is rolled back
        pytest.raises(ZeroDivisionError),
        open_stage(context, Stage.SOURCE_INVENTORY) as run,
        run.commit(output_sha256="a1", counts={}) as connection,
    ):
        connection.execute("CREATE TABLE corpus.half_done (one integer)")
        _ = 1 / 0
    with context.database.connection() as connection:
        assert stage_output(connection, "handbook", Stage.SOURCE_INVENTORY) is None
        assert connection.execute("SELECT to_regclass('corpus.half_done') AS found").fetchone() == {"found": None}


def test_a_stage_without_a_commit_has_no_result(context: StageContext) -> None:
    with open_stage(context, Stage.SOURCE_INVENTORY) as run:
        pass
    with pytest.raises(UpstreamMissingError, match="has not committed"):
        _ = run.result


def test_counts_are_stored_as_plain_numbers(context: StageContext) -> None:
    result = _run(context, Stage.SOURCE_INVENTORY, "a1", files=np.int64(3), ratio=np.float32(0.5), name="x")
    assert {name: type(value) for name, value in result.counts.items()} == {"files": int, "ratio": float, "name": str}
    with context.database.connection() as connection:
        row = connection.execute("SELECT counts, as_of, run_id FROM corpus.stage_states").fetchone()
    assert row == {"counts": {"files": 3, "ratio": 0.5, "name": "x"}, "as_of": context.as_of, "run_id": "test-run"}


def test_corpora_do_not_see_each_others_state(context: StageContext) -> None:
    legal = dataclasses.replace(context, spec=context.spec.model_copy(update={"slug": "legal"}))
    _run(context, Stage.SOURCE_INVENTORY, "a1")
    with context.database.connection() as connection:
        assert stage_output(connection, "handbook", Stage.SOURCE_INVENTORY) == "a1"
        assert stage_output(connection, "legal", Stage.SOURCE_INVENTORY) is None
    with pytest.raises(UpstreamMissingError):
        _run(legal, Stage.CONVERTED_DOCUMENTS, "b1")


def test_stages_in_quick_succession_never_find_the_corpus_busy(database: Database) -> None:
    for _ in range(60):
        with corpus_lock(database, "handbook") as connection:
            assert connection.execute("SELECT 1 AS one").fetchone() == {"one": 1}
