"""What commands print: tables for people, JSON for programs, errors on one screen.

Text that comes from documents or file names goes through :func:`safe` before it reaches
a terminal: control characters would otherwise move the cursor or change the title.
"""

from __future__ import annotations

import json
import os
import re
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from corpus_pipeline.errors import CorpusPipelineError
from corpus_pipeline.records import as_json

__all__ = ["err", "out", "plain", "print_error", "print_json", "safe", "table"]

# Columns in files and pipes, where nothing says how wide: lines of a log that grep finds are not cut at 80.
PIPE_WIDTH = 160


def _width(stream: TextIO) -> int | None:
    """``None`` leaves it to the terminal, or to COLUMNS."""
    return None if stream.isatty() or os.environ.get("COLUMNS") else PIPE_WIDTH


out = Console(highlight=False, soft_wrap=False, width=_width(sys.stdout))
err = Console(stderr=True, highlight=False, width=_width(sys.stderr))
# JSON escapes C0 itself; these are DEL and C1, zero-width and bidirectional controls, lone surrogates.
UNPRINTABLE = re.compile("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")


def safe(value: object) -> str:
    r"""Text without control characters and without rich markup; line breaks become spaces.

    >>> safe("a\x1b[31mb\nc")
    'a\\[31mb c'
    """
    text = " ".join(str(value).split())
    return escape("".join(character for character in text if unicodedata.category(character)[0] != "C"))


def print_json(value: Any) -> None:
    """Writes one JSON document to standard output and nothing else.

    Characters that would command a terminal, turn the direction of text or have no UTF-8 form are escaped.
    """
    text = json.dumps(value, indent=2, ensure_ascii=False, default=as_json)
    sys.stdout.write(UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n")


def table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], *, numbers: Sequence[str] = ()
) -> Table:
    """A table whose title and cells are made safe; columns named in ``numbers`` are right-aligned."""
    made = Table(title=safe(title), title_justify="left", title_style="bold", header_style="bold", expand=False)
    for column in columns:
        made.add_column(safe(column), justify="right" if column in numbers else "left", overflow="fold")
    for row in rows:
        made.add_row(*[safe(cell) if cell is not None else "" for cell in row])
    return made


def print_error(error: CorpusPipelineError) -> None:
    """The error and its remedy on standard error, with the chain of causes on one line each."""
    text = Text("error: ", style="bold red")
    text.append("\n".join(plain(line) for line in error.message.splitlines()), style="default")
    err.print(text)
    if error.remedy:
        err.print(Text("to do: ", style="bold") + Text(plain(error.remedy), style="default"))


def plain(line: str) -> str:
    """Text without control characters, tabs excepted, for what rich does not read as markup."""
    return "".join(character for character in line if character == "\t" or unicodedata.category(character)[0] != "C")
