"""LibreOffice inside a worker: stopped at the limit of time with all it started, gone when the run is."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from corpus_pipeline.conversion import CATALOGUE, ConversionJob, ConversionPool
from corpus_pipeline.conversion.libreoffice import libreoffice_program, saved_as
from corpus_pipeline.records import QuarantineReason
from corpus_pipeline.registry import ConversionLimits
from corpus_pipeline_tests.packing import legacy_word_bytes

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice (soffice) is not installed"),
]


def job(folder: Path, seconds: float) -> ConversionJob:
    path = folder / "old.doc"
    path.write_bytes(legacy_word_bytes())
    targets = {name: entry.target for name, entry in CATALOGUE.items()}
    limits = ConversionLimits(timeout_seconds=seconds).model_dump()
    return ConversionJob("old.doc", str(path), "doc", "auto", targets, limits)


def offices(folder: Path) -> list[psutil.Process]:
    """The processes of LibreOffice whose profile lies below a folder."""
    found = []
    for process in psutil.process_iter():
        try:
            if any(str(folder) in word for word in process.cmdline()) and "office" in process.name():
                found.append(process)
        except (psutil.NoSuchProcess, psutil.ZombieProcess):
            continue
    return found


@pytest.fixture
def frozen(tmp_path: Path) -> Iterator[list[psutil.Process]]:
    """The first soffice.bin of this test, stopped as it appears, so that it hangs for good."""
    seen: list[psutil.Process] = []
    over = threading.Event()

    def watch() -> None:
        while not over.is_set() and not seen:
            for process in offices(tmp_path / "scratch"):
                if process.name() == "soffice.bin":
                    process.suspend()
                    seen.append(process)
            time.sleep(0.005)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    yield seen
    over.set()
    thread.join()
    for process in seen:
        if process.is_running():
            process.kill()


def all_gone(folder: Path) -> bool:
    for _ in range(400):
        if not offices(folder):
            return True
        time.sleep(0.05)
    return False


def test_a_hanging_libreoffice_ends_at_the_limit_of_time(tmp_path: Path, frozen: list[psutil.Process]) -> None:
    with ConversionPool(tmp_path / "scratch", workers=1) as pool:
        [outcome] = pool.run([job(tmp_path, 40)])
        assert frozen, "soffice.bin was never seen"
        assert outcome.reason == QuarantineReason.TIMEOUT
        assert "40 seconds" in outcome.message
        assert all_gone(tmp_path / "scratch")
        folders = [name for _, names, _ in os.walk(tmp_path / "scratch") for name in names]
        assert not [name for name in folders if name.startswith("libreoffice-")]
    assert list((tmp_path / "scratch").iterdir()) == []


def test_no_libreoffice_survives_a_worker_that_is_killed(tmp_path: Path, frozen: list[psutil.Process]) -> None:
    with ConversionPool(tmp_path / "scratch", workers=1) as pool:

        def kill_supervisor() -> None:
            while not frozen:
                time.sleep(0.02)
            family = frozen[0].parents()
            worker = next(each for each in family if "supervisor" in " ".join(each.cmdline()))
            worker.parent().kill()

        thread = threading.Thread(target=kill_supervisor, daemon=True)
        thread.start()
        [outcome] = pool.run([job(tmp_path, 120)])
        thread.join()
        assert outcome.key == "old.doc"
        assert all_gone(tmp_path / "scratch")
    assert list((tmp_path / "scratch").iterdir()) == []


def test_a_limit_of_its_own_ends_it_at_once(tmp_path: Path) -> None:
    given, folder, program = tmp_path / "old.doc", tmp_path / "scratch", libreoffice_program()
    given.write_bytes(legacy_word_bytes())
    folder.mkdir()
    assert program is not None
    made = saved_as("pdf", given, "doc", folder, program=program, timeout_seconds=0.2)
    assert made == (None, "it took more than 0.2 seconds")
    assert all_gone(folder)
