"""Nothing that a file name or a document holds reaches the terminal as a command."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from datetime import UTC, date, datetime

import pytest
from rich.console import Console

from corpus_pipeline.cli.failures import MAX_DOCUMENTS_SHOWN, failure_lines
from corpus_pipeline.cli.output import print_error, print_json, safe, table
from corpus_pipeline.errors import DatabaseUnreachableError

HOSTILE = {
    "escape sequence": "a\x1b[31mred\x1b[0m.md",
    "terminal title": "\x1b]0;owned\x07.md",
    "C1 control": "\x9b31mred.md",
    "line breaks": "a\r\nb\u2028c.md",
    "markup": "[bold red]urgent[/].md",
    "closing tag": "[/]",
    "link": "[link=https://example.com]click[/link]",
    "escaped markup": r"\[bold]a[/bold]",
    "backslash at the end": "folder\\",
    "bidirectional override": "fdp.\u202egpj.md",
    "zero width": "re\u200bfund.md",
    "byte outside UTF-8": "a\udcff.md",
    "null": "a\x00b",
}


def _printed(markup: str) -> str:
    """What a terminal with colours would get."""
    target = io.StringIO()
    Console(file=target, force_terminal=True, highlight=False, width=200).print(markup, end="")
    return target.getvalue()


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_is_printed_as_plain_characters(text: str) -> None:
    printed = _printed(safe(text))
    assert "\x1b" not in printed, "rich saw markup or the terminal sees a sequence"
    assert printed.isprintable()
    kept = "".join(character for character in " ".join(text.split()) if character.isprintable() or character == " ")
    # rich doubles a last backslash, lest it escape the markup that follows.
    assert printed.rstrip("\\") == kept.rstrip("\\")


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_does_not_break_the_markup_around_it(text: str) -> None:
    assert _printed(f"[bold]{safe(text)}[/] after").endswith(" after")


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_tables_make_their_title_and_cells_safe(text: str) -> None:
    target = io.StringIO()
    Console(file=target, width=200).print(table(text, ["name"], [[text]]))
    assert "\x1b" not in target.getvalue()
    assert "\x9b" not in target.getvalue()
    assert target.getvalue().count(_printed(safe(text)).strip()) >= 2


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_json_keeps_every_character_and_prints_none_that_commands(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    print_json({"name": text})
    shown = capsys.readouterr().out
    assert json.loads(shown) == {"name": text}
    assert shown.replace("\n", "").isprintable()
    assert shown.encode("utf-8")


def test_json_writes_days_times_and_letters_as_people_read_them(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"day": date(2026, 11, 1), "at": datetime(2026, 11, 1, 2, tzinfo=UTC), "word": "Zürich 東京"})
    shown = capsys.readouterr().out
    assert json.loads(shown)["day"] == "2026-11-01"
    assert json.loads(shown)["at"] == "2026-11-01T02:00:00+00:00"
    assert "Zürich 東京" in shown


def test_an_error_is_printed_with_its_remedy_and_without_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    print_error(DatabaseUnreachableError("server \x1b[31m[bold]x[/] is down", remedy="Start\x07 it."))
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "[bold]x[/] is down" in shown.err
    assert "to do: Start it." in shown.err
    assert "\x1b" not in shown.err
    assert "\x07" not in shown.err


def _failure(documents: list[str], severity: str = "critical") -> dict[str, object]:
    return {
        "expectation": "readable_metadata",
        "severity": severity,
        "expected": "every file to be readable",
        "found": "1 of 3 do not",
        "documents": documents,
        "details": {documents[0]: "line 2: bad [date]"} if documents else {},
        "failing": len(documents),
        "remedy": "Correct the file.",
    }


def test_a_failure_names_expectation_documents_detail_and_remedy() -> None:
    text = _printed("\n".join(failure_lines([_failure(["handbook/[a].md"])])))
    assert "readable_metadata: expected every file to be readable; found 1 of 3 do not" in text
    assert "handbook/[a].md — line 2: bad [date]" in text
    assert "to do: Correct the file." in text


def test_a_failure_names_the_first_documents_and_counts_the_others() -> None:
    documents = [f"handbook/{number}.md" for number in range(MAX_DOCUMENTS_SHOWN + 3)]
    text = _printed("\n".join(failure_lines([_failure(documents, "warning")])))
    assert "! warning" in text
    assert text.count("handbook/") == MAX_DOCUMENTS_SHOWN
    assert "… and 3 more" in text


@pytest.mark.parametrize(("columns", "lines"), [(None, 1), ("40", 3)])
def test_a_line_written_to_a_pipe_is_not_cut_at_eighty(columns: str | None, lines: int) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    if columns:
        environment["COLUMNS"] = columns
    said = "from corpus_pipeline.cli.output import out; out.print('not in force ' * 9)"
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True, env=environment)
    assert len(done.stdout.splitlines()) == lines
