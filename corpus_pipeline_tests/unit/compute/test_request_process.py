"""A process that answers requests ends at its limits and starts again."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from corpus_pipeline.compute import RequestProcess, RequestProcessError

MODULE = """
import os, socket, sys, time
from corpus_pipeline.compute import serve_requests

def answer(request):
    what = request["what"]
    if what == "sleep":
        time.sleep(60)
    if what == "eat":
        return {"got": len(bytearray(2_000_000_000))}
    if what == "die":
        os._exit(3)
    if what == "print":
        print("noise on standard output")
    if what == "connect":
        try:
            socket.create_connection(("127.0.0.1", 9))
        except PermissionError:
            return {"refused": True}
    return {"what": what, "pid": os.getpid()}

sys.exit(serve_requests(answer, sys.argv[1:]))
"""


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    (tmp_path / "answering_for_tests.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    with RequestProcess("answering_for_tests", memory_mb=300) as process:
        yield lambda what, seconds=30.0: process.ask({"what": what}, folder=tmp_path, timeout_seconds=seconds)


def test_one_process_answers_many_requests_and_its_noise_does_no_harm(ask: Any) -> None:
    assert ask("print")["pid"] == ask("more")["pid"] != os.getpid()


@pytest.mark.parametrize(("what", "cause"), [("sleep", "timeout"), ("eat", "out_of_memory"), ("die", "crashed")])
def test_a_request_that_goes_wrong_ends_the_process_and_the_next_one_works(ask: Any, what: str, cause: str) -> None:
    first = ask("hello")["pid"]
    with pytest.raises(RequestProcessError) as raised:
        ask(what, 1.5 if what == "sleep" else 30.0)
    assert raised.value.cause == cause
    assert ask("hello")["pid"] != first
    for _ in range(100):
        if not Path(f"/proc/{first}").exists():
            return
        time.sleep(0.05)
    pytest.fail("the process is still there")


def test_the_process_has_no_network(ask: Any) -> None:
    assert ask("connect") == {"refused": True}
