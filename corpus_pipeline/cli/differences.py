"""A word diff on a terminal, readable with and without colours."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from corpus_pipeline.cli.output import plain
from corpus_pipeline.word_diff import ChangeKind, changed_words, shortened, word_diff

__all__ = ["diff_json", "diff_text"]

MAX_WORDS = 2_000
"""More words of a diff than this help nobody on a terminal."""
_MARKS = {
    ChangeKind.SAME: ("", "", ""),
    ChangeKind.REMOVED: ("[-", "-]", "red"),
    ChangeKind.ADDED: ("{+", "+}", "green"),
}


def diff_text(before: str, after: str) -> Text:
    """The difference as ``[-removed-]`` and ``{+added+}`` words among a few equal ones.

    Document text is made safe: no control character reaches the terminal, and nothing in it is
    markup. Very long differences are cut with a word about it.
    """
    runs = word_diff(before, after)
    removed, added = changed_words(runs)
    if not removed and not added:
        return Text("the same words", style="dim")
    text = Text(f"{removed} words removed, {added} added\n", style="dim")
    shown = 0
    for run in shortened(runs):
        if shown >= MAX_WORDS:
            text.append("… and more; --json gives all of it", style="dim")
            break
        shown += run.words if run.kind is not ChangeKind.OMITTED else 0
        if run.kind is ChangeKind.OMITTED:
            text.append(f"… {run.words} words … ", style="dim")
            continue
        opening, closing, style = _MARKS[run.kind]
        text.append(f"{opening}{plain(_cut(run.text))}{closing} ", style=style or "default")
    text.rstrip()
    return text


def _cut(text: str) -> str:
    words = text.split(" ")
    return text if len(words) <= MAX_WORDS else f"{' '.join(words[:MAX_WORDS])} … {len(words) - MAX_WORDS} words more"


def diff_json(before: str, after: str) -> list[dict[str, Any]]:
    """The whole difference, equal words shortened, for programs."""
    return [run._asdict() for run in shortened(word_diff(before, after))]
