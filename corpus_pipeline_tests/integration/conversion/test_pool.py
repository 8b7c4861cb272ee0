"""Workers that hang, crash, fill memory, are killed, or lose their parent. No database is needed."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from corpus_pipeline.conversion import ConversionJob, ConversionOutcome, ConversionPool
from corpus_pipeline.records import QuarantineReason
from corpus_pipeline.registry import ConversionLimits

CONVERTERS = '''
import os, socket, subprocess, sys, tempfile, time, urllib.request
from corpus_pipeline.records import Block, BlockKind, ConvertedDocument


def text(words):
    return ConvertedDocument.from_blocks([Block(kind=BlockKind.PARAGRAPH, text=words)])


class Behaving:
    """Does what the file says."""

    def convert(self, source):
        order = source.path.read_text().strip()
        return getattr(self, order.split()[0])(source, *order.split()[1:])

    def say(self, source, words):
        return text(words)

    def pid(self, source):
        return text(str(os.getpid()))

    def sleep(self, source, seconds):
        child = subprocess.Popen(["sleep", "600"])
        tempfile.NamedTemporaryFile(delete=False).write(b"left behind")
        (source.path.parent / "child.pid").write_text(str(child.pid))
        (source.path.parent / "worker.pid").write_text(str(os.getpid()))
        time.sleep(float(seconds))
        return text("slept")

    def spin(self, source):
        while True:
            try:
                while True:
                    pass
            except BaseException:
                continue

    def fill(self, source):
        hoard = []
        while True:
            hoard.append(bytearray(16_000_000))

    def abort(self, source):
        os.abort()

    def raises(self, source):
        raise ValueError("the secret words of the document")

    def print(self, source):
        print("noise on standard output", flush=True)
        os.write(1, b"more noise")
        os.write(2, b"and on standard error")
        return text("quiet")

    def fetch(self, source, host, port):
        found = []
        for attempt in (lambda: socket.create_connection((host, int(port)), 2),
                        lambda: urllib.request.urlopen(f"http://{host}:{port}/", timeout=2),
                        lambda: socket.getaddrinfo("example.com", 80)):
            try:
                attempt()
                found.append("reached")
            except OSError:
                found.append("refused")
        return text(" ".join(found))

    def environment(self, source):
        return text(os.environ["HF_HUB_OFFLINE"] + " " + os.environ["TMPDIR"])

    def control(self, source):
        return text("a\\x00b\\x1b[31mc")

    def flaky(self, source):
        mark = source.path.parent / "tried"
        if not mark.exists():
            mark.touch()
            os.kill(os.getpid(), 9)
        return text("second time")
'''


@pytest.fixture(autouse=True)
def converters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "modules"
    folder.mkdir()
    (folder / "behaving_converters.py").write_text(CONVERTERS)
    monkeypatch.syspath_prepend(str(folder))


Run = Callable[..., dict[str, ConversionOutcome]]


def job(path: Path, **limits: float) -> ConversionJob:
    return ConversionJob(
        key=path.name,
        path=str(path),
        extension="txt",
        requested="auto",
        targets={"behaving": "behaving_converters:Behaving"},
        candidates=("behaving",),
        limits=ConversionLimits(**{"timeout_seconds": 60, **limits}).model_dump(),
    )


@pytest.fixture
def orders(tmp_path: Path) -> Callable[[str, str], Path]:
    folder = tmp_path / "orders"
    folder.mkdir()

    def write(name: str, order: str) -> Path:
        (folder / name).write_text(order)
        return folder / name

    return write


@pytest.fixture
def run(tmp_path: Path, orders: Callable[[str, str], Path]) -> Iterator[Run]:
    scratch = tmp_path / "scratch"

    def run_jobs(
        names: dict[str, str], *, workers: int = 2, files_per_worker: int = 100, **limits: float
    ) -> dict[str, ConversionOutcome]:
        jobs = [job(orders(name, order), **limits) for name, order in names.items()]
        with ConversionPool(scratch, workers=workers, files_per_worker=files_per_worker) as pool:
            outcomes = list(pool.run(jobs))
        assert sorted(outcome.key for outcome in outcomes) == sorted(names)
        return {outcome.key: outcome for outcome in outcomes}

    yield run_jobs
    assert list(scratch.iterdir()) == []


def content(outcome: ConversionOutcome) -> str:
    import json
    import zlib

    return json.loads(zlib.decompress(outcome.content))["text"]


def wait_for(path: Path) -> int:
    for _ in range(600):
        if path.exists() and path.read_text():
            return int(path.read_text())
        time.sleep(0.05)
    raise AssertionError(f"{path.name} did not appear")


def gone(process_id: int) -> bool:
    for _ in range(200):
        try:
            if psutil.Process(process_id).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.05)
    return False


def test_every_job_has_one_outcome(run: Run) -> None:
    outcomes = run({f"f{number}": f"say word{number}" for number in range(40)}, workers=3)
    assert content(outcomes["f7"]) == "word7"
    assert outcomes["f7"].converter == "behaving"
    assert outcomes["f7"].summary["char_count"] == 5


def test_a_file_that_takes_too_long_is_stopped_with_all_it_started(run: Run, tmp_path: Path) -> None:
    started = time.monotonic()
    outcomes = run({"slow": "sleep 300", "good": "say fine"}, timeout_seconds=3)
    assert outcomes["slow"].reason == QuarantineReason.TIMEOUT
    assert "3 seconds" in outcomes["slow"].message
    assert content(outcomes["good"]) == "fine"
    assert time.monotonic() - started < 40
    assert gone(wait_for(tmp_path / "orders" / "child.pid"))


def test_a_file_that_ignores_everything_is_stopped(run: Run) -> None:
    assert run({"spin": "spin"}, timeout_seconds=2)["spin"].reason == QuarantineReason.TIMEOUT


def test_a_file_that_fills_memory_is_out_of_memory_alone(run: Run) -> None:
    outcomes = run({"greedy": "fill", "a": "say a", "b": "say b"}, workers=1, memory_mb=256)
    assert outcomes["greedy"].reason == QuarantineReason.OUT_OF_MEMORY
    assert "256 MB" in outcomes["greedy"].message
    assert (content(outcomes["a"]), content(outcomes["b"])) == ("a", "b")


def test_a_crash_loses_its_own_file_only(run: Run) -> None:
    outcomes = run({"bad": "abort", "a": "say a", "b": "say b"}, workers=1)
    assert outcomes["bad"].reason == QuarantineReason.CONVERTER_ERROR
    assert f"signal {signal.SIGABRT.value}" in outcomes["bad"].message
    assert (content(outcomes["a"]), content(outcomes["b"])) == ("a", "b")


def test_a_worker_killed_once_is_replaced_and_its_file_converted(run: Run) -> None:
    assert content(run({"flaky": "flaky"})["flaky"]) == "second time"


def test_an_exception_becomes_a_message_without_text_of_the_document(run: Run) -> None:
    outcome = run({"bad": "raises"})["bad"]
    assert outcome.reason == QuarantineReason.CONVERTER_ERROR
    assert "ValueError at behaving_converters.py" in outcome.message
    assert "secret" not in outcome.message


def test_what_libraries_print_disturbs_nothing(run: Run) -> None:
    assert content(run({"loud": "print"})["loud"]) == "quiet"


def test_workers_reach_no_network(run: Run) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        outcome = run({"fetch": f"fetch 127.0.0.1 {port}"})["fetch"]
    assert content(outcome) == "refused refused refused"


def test_workers_are_offline_and_have_a_temporary_folder_of_their_own(run: Run, tmp_path: Path) -> None:
    offline, folder = content(run({"environment": "environment"})["environment"]).split()
    assert offline == "1"
    assert folder.startswith(str(tmp_path / "scratch"))


def test_characters_that_a_database_refuses_are_removed(run: Run) -> None:
    assert content(run({"control": "control"})["control"]) == "ab[31mc"


def test_workers_are_replaced_after_a_number_of_files(run: Run) -> None:
    outcomes = run({f"f{number}": "pid" for number in range(6)}, workers=1, files_per_worker=2)
    assert len({content(outcome) for outcome in outcomes.values()}) == 3


def test_too_much_text_is_refused(run: Run) -> None:
    assert run({"long": "say abcdefgh"}, max_text_chars=5)["long"].reason == QuarantineReason.TOO_LARGE


def test_too_many_bytes_are_refused_before_opening(run: Run) -> None:
    assert run({"long": "say abcdefgh"}, max_bytes=5)["long"].reason == QuarantineReason.TOO_LARGE


def test_an_unreadable_file_has_a_reason(tmp_path: Path) -> None:
    with ConversionPool(tmp_path / "scratch", workers=1) as pool:
        outcome = next(pool.run([job(tmp_path / "none")]))
    assert outcome.reason == QuarantineReason.UNREADABLE


def test_a_killed_supervisor_is_started_again(tmp_path: Path, orders: Callable[[str, str], Path]) -> None:
    paths = [orders("first", "sleep 3"), *(orders(f"f{number}", f"say w{number}") for number in range(4))]
    with ConversionPool(tmp_path / "scratch", workers=2) as pool:
        outcomes = pool.run([job(path) for path in paths])
        found = [next(outcomes)]
        worker = psutil.Process(wait_for(tmp_path / "orders" / "worker.pid"))
        worker.parent().kill()
        found += list(outcomes)
    assert sorted(outcome.key for outcome in found) == sorted(path.name for path in paths)
    assert not any(outcome.reason for outcome in found)
    assert gone(worker.pid)


def test_no_process_or_file_survives_a_kill_of_the_run(tmp_path: Path, orders: Callable[[str, str], Path]) -> None:
    path = orders("slow", "sleep 300")
    script = textwrap.dedent(
        f"""
        import sys
        sys.path.insert(0, {str(tmp_path / "modules")!r})
        from pathlib import Path
        from corpus_pipeline.conversion import ConversionJob, ConversionPool
        job = ConversionJob(**{job(path).to_head()!r})
        with ConversionPool(Path({str(tmp_path / "scratch")!r}), workers=2) as pool:
            list(pool.run([job]))
        """
    )
    run = subprocess.Popen([sys.executable, "-c", script])
    worker = psutil.Process(wait_for(path.parent / "worker.pid"))
    supervisor = worker.parent()
    child = wait_for(path.parent / "child.pid")
    run.kill()
    run.wait()
    assert gone(worker.pid)
    assert gone(supervisor.pid)
    assert gone(child)
    assert list((tmp_path / "scratch").iterdir()) == []


def test_what_a_killed_supervisor_left_is_removed_by_the_next_run(tmp_path: Path) -> None:
    left = tmp_path / "scratch" / "conversion-abc"
    left.mkdir(parents=True)
    (left / "lock").touch()
    (left / "worker-1").mkdir()
    held = tmp_path / "scratch" / "conversion-live"
    held.mkdir()
    import fcntl

    with (held / "lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with ConversionPool(tmp_path / "scratch", workers=1):
            pass
        assert held.exists()
    assert not left.exists()


def test_outcomes_arrive_while_others_still_run(tmp_path: Path, orders: Callable[[str, str], Path]) -> None:
    jobs = [job(orders("slow", "sleep 300")), job(orders("quick", "say done"))]
    with ConversionPool(tmp_path / "scratch", workers=2) as pool:
        assert next(pool.run(jobs)).key == "quick"
