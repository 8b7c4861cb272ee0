"""Each room has one explicit front door, and opening it loads no heavy library."""

from __future__ import annotations

import ast
import importlib
import json
import pkgutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import corpus_pipeline

ROOMS = sorted(module.name for module in pkgutil.iter_modules(corpus_pipeline.__path__) if module.ispkg)
HEAVY = (
    "dagster",
    "datasketch",
    "docling",
    "docling_core",
    "great_expectations",
    "pandas",
    "sentence_transformers",
    "spacy",
    "torch",
    "transformers",
    "unstructured",
)


def _export_order(name: str) -> tuple[int, str]:
    """Constants, then classes, then functions, each by name: what ruff's RUF022 writes."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2), name


@pytest.fixture(params=ROOMS)
def room(request: pytest.FixtureRequest) -> ModuleType:
    return importlib.import_module(f"corpus_pipeline.{request.param}")


def test_the_rooms_are_found() -> None:
    assert {"inventory", "conversion", "index", "store", "cli", "orchestration"} <= set(ROOMS)


def test_the_docstring_says_what_belongs_here(room: ModuleType) -> None:
    assert room.__doc__
    assert "ot here" in room.__doc__, "the docstring does not say what is not here"


def test_all_names_are_sorted_and_exist(room: ModuleType) -> None:
    assert list(room.__all__) == sorted(room.__all__, key=_export_order)
    assert [name for name in room.__all__ if not hasattr(room, name)] == []
    assert len(set(room.__all__)) == len(room.__all__)


def test_the_front_door_holds_no_logic(room: ModuleType) -> None:
    assert room.__file__ is not None
    body = ast.parse(Path(room.__file__).read_text(encoding="utf-8")).body
    kinds = {type(node) for node in body}
    assert kinds <= {ast.Expr, ast.Import, ast.ImportFrom, ast.Assign}, kinds
    assert not any(isinstance(node, ast.ImportFrom) and node.names[0].name == "*" for node in body)


def _loaded_by(modules: list[str]) -> list[str]:
    code = (
        "import importlib, json, sys\n"
        f"for name in {modules!r}: importlib.import_module(name)\n"
        f"print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded: list[str] = json.loads(done.stdout)
    return loaded


def test_importing_every_room_and_the_command_line_loads_no_heavy_library() -> None:
    """The rooms in one process: an empty list holds for each of them."""
    modules = ["errors", "records", "settings", "model_files", *[name for name in ROOMS if name != "orchestration"]]
    assert _loaded_by([f"corpus_pipeline.{name}" for name in modules]) == []


def test_importing_the_dagster_shell_loads_dagster_and_no_model_runtime() -> None:
    loaded = _loaded_by(["corpus_pipeline.orchestration"])
    assert "dagster" in loaded
    assert set(loaded) <= {"dagster"}
