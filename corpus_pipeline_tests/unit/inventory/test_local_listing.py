"""Files and folders that this user may not read. As root the tests act as another user."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from corpus_pipeline.errors import SourceUnavailableError
from corpus_pipeline.inventory.local_listing import local_files
from corpus_pipeline.inventory.reading import read_document
from corpus_pipeline.registry import GlobSet

NOBODY = 65534
ROOT = 0


@pytest.fixture
def folder() -> Iterator[Path]:
    # Not tmp_path: its parents are closed to other users.
    path = Path(tempfile.mkdtemp(prefix="corpus-listing-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@contextmanager
def without_privileges() -> Iterator[None]:
    if os.geteuid() != ROOT:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(ROOT)


def test_a_file_without_permission_has_its_cause_and_the_others_are_read(folder: Path) -> None:
    (folder / "open.md").write_text("open")
    (folder / "closed.md").write_text("closed")
    (folder / "closed.md").chmod(0)
    with without_privileges():
        readings = {file.relative_path: read_document(file) for file in local_files(folder, GlobSet(()))}
    assert readings["open.md"].sha256
    assert readings["closed.md"].unreadable == "cannot be read: Permission denied"
    assert (readings["closed.md"].sha256, readings["closed.md"].change_token) == ("", "")


def test_a_folder_without_permission_stops_the_listing_unless_it_is_excluded(folder: Path) -> None:
    (folder / "a.md").write_text("a")
    (folder / "private").mkdir()
    (folder / "private").chmod(0)
    with without_privileges(), pytest.raises(SourceUnavailableError, match="private cannot be listed") as raised:
        list(local_files(folder, GlobSet(())))
    with without_privileges():
        listed = [file.relative_path for file in local_files(folder, GlobSet(["private/"]))]
    (folder / "private").chmod(0o755)
    assert listed == ["a.md"]
    assert "source.exclude" in raised.value.remedy


def test_a_source_that_is_a_file_is_told(folder: Path) -> None:
    (folder / "a.md").write_text("a")
    with pytest.raises(SourceUnavailableError, match="is a file, not a folder"):
        list(local_files(folder / "a.md", GlobSet(())))


def test_a_fresh_file_is_not_trusted_until_its_clock_has_ticked(folder: Path) -> None:
    (folder / "a.md").write_text("a")
    (fresh,) = local_files(folder, GlobSet(()))
    assert fresh.change_token == ""


def test_the_state_folder_inside_a_source_is_passed_over(folder: Path) -> None:
    (folder / "state").mkdir()
    (folder / "state" / "log").write_text("x")
    assert list(local_files(folder, GlobSet(()), (folder / "state").resolve())) == []
