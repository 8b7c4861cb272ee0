"""Every command explains itself and stands in docs/cli.md."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import corpus_pipeline.cli

DOCUMENT = Path(__file__).parents[3] / "docs" / "cli.md"
WITHOUT_JSON = {"config schema", "dev"}


def _commands(group: object, prefix: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    for name, command in sorted(getattr(group, "commands", {}).items()):
        path = (*prefix, name)
        if hasattr(command, "commands"):
            yield from _commands(command, path)
        else:
            yield path, command


ROOT = typer.main.get_command(corpus_pipeline.cli.app)
COMMANDS = dict(_commands(ROOT))


def _words(path: tuple[str, ...]) -> str:
    return " ".join(path)


def test_the_commands_are_those_the_manual_names() -> None:
    manual = set(re.findall(r"^\| `([a-z-]+(?: [a-z]+)?)[` ]", _section("Commands"), re.MULTILINE))
    assert manual == {_words(path) for path in COMMANDS}


def _section(title: str) -> str:
    return DOCUMENT.read_text(encoding="utf-8").split(f"\n## {title}\n")[1].split("\n## ")[0]


@pytest.mark.parametrize("path", COMMANDS, ids=_words)
def test_help_says_what_the_command_does_and_what_each_option_means(path: tuple[str, ...]) -> None:
    done = CliRunner().invoke(corpus_pipeline.cli.app, [*path, "--help"], env={"COLUMNS": "200"})
    assert done.exit_code == 0, done.output
    command = COMMANDS[path]
    text = str(command.help)  # type: ignore[attr-defined]
    assert len(text.split()) >= 5
    assert " ".join(text.split("\n\n", maxsplit=1)[0].split())[:40] in " ".join(done.output.split())
    unexplained = [parameter.name for parameter in command.params if not getattr(parameter, "help", None)]  # type: ignore[attr-defined]
    assert unexplained == []


@pytest.mark.parametrize("path", COMMANDS, ids=_words)
def test_every_command_but_the_declared_ones_has_a_json_form(path: tuple[str, ...]) -> None:
    options = {option for parameter in COMMANDS[path].params for option in parameter.opts}  # type: ignore[attr-defined]
    assert ("--json" in options) == (_words(path) not in WITHOUT_JSON)


@pytest.mark.parametrize(
    "group", [(), ("config",), ("store",), ("quarantine",)], ids=lambda group: _words(group) or "app"
)
def test_groups_explain_themselves_when_called_bare(group: tuple[str, ...]) -> None:
    done = CliRunner().invoke(corpus_pipeline.cli.app, list(group))
    assert "Usage" in done.output
    assert "Commands" in done.output


def test_the_manual_names_every_exit_code() -> None:
    codes = {int(code) for code in re.findall(r"^\| (\d+) \|", _section("Exit codes"), re.MULTILINE)}
    assert codes == {0, 1, 2, 3, 130}


def test_the_manual_names_every_global_option() -> None:
    options = {max(parameter.opts, key=len) for parameter in ROOT.params if parameter.opts[0].startswith("--")}
    shell_completion = {"--install-completion", "--show-completion"}
    manual = set(re.findall(r"^\| `(--[a-z-]+)", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE))
    assert manual == options - shell_completion
