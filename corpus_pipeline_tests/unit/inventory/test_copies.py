"""A stage works on the recorded bytes or is told that they are gone."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from corpus_pipeline.errors import SourceChangedError
from corpus_pipeline.inventory import local_copy
from corpus_pipeline.records import SourceFile, sha256_hex
from corpus_pipeline.registry import CorpusSpec, SourceSpec


@pytest.fixture
def spec(tmp_path: Path) -> CorpusSpec:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("one\n")
    return CorpusSpec(slug="one", base_folder=tmp_path, owner="me", source=SourceSpec(url="docs"))


def recorded(spec: CorpusSpec, sha256: str = sha256_hex("one\n")) -> SourceFile:
    return SourceFile(
        corpus="one",
        document_id="one/a.md",
        relative_path="a.md",
        source_uri=str(spec.base_folder / "docs" / "a.md"),
        sha256=sha256,
        size_bytes=4,
        extension="md",
    )


def test_an_unchanged_file_is_used_where_it_lies(spec: CorpusSpec) -> None:
    with local_copy(spec, recorded(spec)) as path:
        assert path == spec.base_folder / "docs" / "a.md"


def test_a_file_changed_behind_equal_size_and_time_is_found(spec: CorpusSpec) -> None:
    path = spec.base_folder / "docs" / "a.md"
    times = path.stat()
    path.write_text("two\n")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    with pytest.raises(SourceChangedError, match="other content") as raised:
        use(spec, recorded(spec), lambda _: pytest.fail("the block must not run"))
    assert "corpus-pipeline ingest one" in raised.value.remedy


def use(spec: CorpusSpec, file: SourceFile, work: Callable[[Path], object] = Path.exists) -> None:
    with local_copy(spec, file) as path:
        work(path)


@pytest.mark.parametrize("work", [lambda path: path.write_text("two\n"), Path.unlink])
def test_a_file_that_changes_during_the_work_is_found(spec: CorpusSpec, work: Callable[[Path], object]) -> None:
    with pytest.raises(SourceChangedError, match="while it was being worked on"):
        use(spec, recorded(spec), work)


def test_an_error_of_the_block_is_its_own(spec: CorpusSpec) -> None:
    def fails(path: Path) -> None:
        path.unlink()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        use(spec, recorded(spec), fails)


def test_a_missing_an_unreadable_and_an_escaping_file_are_told(spec: CorpusSpec) -> None:
    path = spec.base_folder / "docs" / "a.md"
    with pytest.raises(SourceChangedError, match="could not be read by the inventory"):
        use(spec, recorded(spec, ""))
    path.unlink()
    with pytest.raises(SourceChangedError, match="No such file"):
        use(spec, recorded(spec))
    (spec.base_folder / "secret.md").write_text("one\n")
    path.symlink_to(spec.base_folder / "secret.md")
    with pytest.raises(SourceChangedError, match="outside the source folder"):
        use(spec, recorded(spec))
