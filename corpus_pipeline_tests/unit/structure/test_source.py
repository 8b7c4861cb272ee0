"""Rules of the house that a syntax tree can hold: sizes, thin assets, used queries, explained broad handlers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import corpus_pipeline
from corpus_pipeline.store import project_file

PACKAGE = Path(corpus_pipeline.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
MAX_MODULE_LINES = 400
MAX_ASSET_STATEMENTS = 15
BROAD = {"Exception", "BaseException"}
EXPLAINED = re.compile(r"#\s*noqa:\s*BLE001[^-]*-\s*\w+")
SQL_WORDS = re.compile(r"\b(SELECT\s.+\sFROM|INSERT\s+INTO|UPDATE\s.+\sSET|DELETE\s+FROM|COPY\s.+\sFROM)\b", re.DOTALL)


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _name(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def test_no_module_is_longer_than_the_limit() -> None:
    long = {_name(path) for path in MODULES if len(path.read_text().splitlines()) > MAX_MODULE_LINES}
    assert not long


def _broad_handlers(path: Path) -> Iterator[ast.ExceptHandler]:
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.ExceptHandler):
            kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
            if any(kind is None or (isinstance(kind, ast.Name) and kind.id in BROAD) for kind in kinds):
                yield node


def test_a_broad_handler_raises_again_or_says_why_it_does_not() -> None:
    unexplained = [
        f"{_name(path)}:{node.lineno}"
        for path in MODULES
        for node in _broad_handlers(path)
        if not isinstance(node.body[-1], ast.Raise)
        and not EXPLAINED.search(path.read_text(encoding="utf-8").splitlines()[node.lineno - 1])
    ]
    assert unexplained == []


def test_no_assert_and_no_print_in_the_package() -> None:
    found = [
        f"{_name(path)}:{node.lineno}"
        for path in MODULES
        for node in ast.walk(_tree(path))
        if isinstance(node, ast.Assert)
        or (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print")
    ]
    assert found == []


@cache
def _names_used() -> dict[str, set[str]]:
    """By room: every attribute and every string, and so every way to name a query."""
    used: dict[str, set[str]] = {}
    for path in MODULES:
        names = used.setdefault(path.relative_to(PACKAGE).parts[0], set())
        for node in ast.walk(_tree(path)):
            if isinstance(node, ast.Attribute):
                names.add(node.attr)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                names.add(node.value)
    return used


@cache
def _readers() -> dict[str, set[str]]:
    """By query file: the rooms that load it."""
    readers: dict[str, set[str]] = {}
    for path in MODULES:
        for file in re.findall(r'load_queries\("(\w+)"\)', path.read_text(encoding="utf-8")):
            readers.setdefault(file, set()).add(path.relative_to(PACKAGE).parts[0])
    return readers


QUERY_FILES = sorted((project_file("sql") / "queries").glob("*.sql"))


@pytest.mark.parametrize("path", QUERY_FILES, ids=lambda path: path.stem)
def test_every_named_query_is_used_and_states_its_purpose(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    names = re.findall(r"^-- name: *(\w+)", text, re.MULTILINE)
    assert names, "a file of queries without a query"
    assert len(set(names)) == len(names)
    unused = [name for name in names if not any(name in _names_used()[room] for room in _readers().get(path.stem, ()))]
    assert unused == []
    assert len(re.findall(r"^-- name: .*\n-- \w", text, re.MULTILINE)) == len(names), "a query without its purpose"


def test_every_file_of_queries_that_is_loaded_exists() -> None:
    assert {path.stem for path in QUERY_FILES} == set(_readers())


ASSETS = _tree(PACKAGE / "orchestration" / "assets.py")
ASSET_FUNCTIONS = [node for node in ASSETS.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")]


def _statements(function: ast.FunctionDef) -> int:
    return sum(isinstance(node, ast.stmt) for node in ast.walk(function)) - 1


@pytest.mark.parametrize("function", ASSET_FUNCTIONS, ids=lambda function: function.name)
def test_an_asset_is_thin(function: ast.FunctionDef) -> None:
    assert _statements(function) <= MAX_ASSET_STATEMENTS
    assert not any(isinstance(node, ast.For | ast.While | ast.AsyncFor) for node in ast.walk(function))


def test_assets_and_checks_are_what_the_rule_looked_at() -> None:
    assert [function.name for function in ASSET_FUNCTIONS] == ["stage_asset", "stage_check"]


@pytest.mark.parametrize("path", sorted((PACKAGE / "orchestration").glob("*.py")), ids=_name)
def test_the_dagster_shell_holds_no_sql(path: Path) -> None:
    strings = [
        node.value for node in ast.walk(_tree(path)) if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    assert [text for text in strings if SQL_WORDS.search(text)] == []
    assert not any(isinstance(node, ast.Attribute) and node.attr == "execute" for node in ast.walk(_tree(path)))


def test_only_the_shell_imports_dagster() -> None:
    importers = {
        path.relative_to(PACKAGE).parts[0]
        for path in MODULES
        for node in ast.walk(_tree(path))
        if (isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0].startswith("dagster"))
        or (
            isinstance(node, ast.Import) and any(alias.name.split(".")[0].startswith("dagster") for alias in node.names)
        )
    }
    assert importers == {"orchestration"}
