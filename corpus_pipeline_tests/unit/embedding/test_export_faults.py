"""Exporting a model where another process does so as well, and where there is no room for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_EXPORT = """
import sys
from pathlib import Path
from corpus_pipeline.embedding import load_model
from corpus_pipeline.registry import EmbeddingSpec
spec = EmbeddingSpec.model_validate({"backend": sys.argv[1], "precision": sys.argv[2]})
print(load_model(spec, export_folder=Path(sys.argv[3])).encode_queries(["refunds"]).sum())
"""
_WITHOUT_ROOM = (
    "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))\n"
    "from corpus_pipeline.errors import DiskFullError\n"
    "try:\n"
    + "".join(f"    {line}\n" for line in _EXPORT.strip().splitlines())
    + "except DiskFullError as error:\n    print('no room:', error, error.remedy)\n"
)


def _run(code: str, *given: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *given], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.slow
def test_two_processes_that_quantise_a_model_at_once_keep_one_whole_graph(tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    both = [_run(_EXPORT, "onnx", "int8", str(tmp_path / "models")) for _ in range(2)]
    said = [process.communicate(timeout=240) for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert said[0] == said[1]
    (kept,) = (tmp_path / "models").iterdir()
    graph = kept / "onnx" / "model.onnx"
    made = graph.stat().st_mtime_ns
    third = _run(_EXPORT, "onnx", "int8", str(tmp_path / "models"))
    assert third.communicate(timeout=240) == said[0]
    assert graph.stat().st_mtime_ns == made, "what was kept is whole, and not made again"


@pytest.mark.slow
@pytest.mark.parametrize(("backend", "precision"), [("onnx", "int8"), ("openvino", "float32")])
def test_a_disk_that_is_full_is_named_and_leaves_nothing(tmp_path: Path, backend: str, precision: str) -> None:
    pytest.importorskip(backend)
    process = _run(_WITHOUT_ROOM, backend, precision, str(tmp_path / "models"))
    said, faults = process.communicate(timeout=240)
    assert said.startswith(f"no room: there is no room to export the model all-MiniLM-L6-v2 for backend '{backend}'"), (
        said + faults
    )
    assert "Free disk space in the state folder" in said
    assert not list((tmp_path / "models").iterdir())
