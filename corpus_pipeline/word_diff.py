r"""What two texts have different, word by word, for people to read.

Words are what lies between white space, compared as they are written: where two converters
break lines differently is no difference, a changed comma is one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from enum import StrEnum
from typing import NamedTuple

__all__ = ["ChangeKind", "WordRun", "changed_words", "shortened", "word_diff"]

CONTEXT_WORDS = 8
"""Equal words left standing on either side of a change."""


class ChangeKind(StrEnum):
    """What became of a run of words."""

    SAME = "same"
    REMOVED = "removed"
    ADDED = "added"
    OMITTED = "omitted"
    """Equal words that :func:`shortened` left out; ``text`` is empty."""


class WordRun(NamedTuple):
    """Successive words of one kind.

    Attributes:
        text: The words joined by single spaces, as they stand in the document: not safe for a terminal.
        words: How many there are.
    """

    kind: ChangeKind
    text: str
    words: int


def word_diff(before: str, after: str) -> list[WordRun]:
    """Runs of words that lead from one text to another; removed words come before those added in their place.

    Frequent words alone make no match in long texts (difflib's heuristic), which keeps sentences
    together and the time of long texts in bounds.

    >>> [(run.kind.value, run.text) for run in word_diff("a fee of 50 EUR", "a fee of 75 EUR")]
    [('same', 'a fee of'), ('removed', '50'), ('added', '75'), ('same', 'EUR')]
    """
    old, new = before.split(), after.split()
    start = _common_start(old, new)
    end = _common_start(old[: start - 1 if start else None : -1], new[: start - 1 if start else None : -1])
    old_middle, new_middle = old[start : len(old) - end], new[start : len(new) - end]
    return list(
        _joined(
            [
                _run(ChangeKind.SAME, old[:start]),
                *_middle(old_middle, new_middle),
                _run(ChangeKind.SAME, old[len(old) - end :]),
            ]
        )
    )


def _common_start(old: Sequence[str], new: Sequence[str]) -> int:
    return next(
        (n for n, (left, right) in enumerate(zip(old, new, strict=False)) if left != right), min(len(old), len(new))
    )


def _middle(old: Sequence[str], new: Sequence[str]) -> Iterator[WordRun]:
    for tag, left, left_end, right, right_end in SequenceMatcher(None, old, new).get_opcodes():
        if tag == "equal":
            yield _run(ChangeKind.SAME, old[left:left_end])
        else:
            yield _run(ChangeKind.REMOVED, old[left:left_end])
            yield _run(ChangeKind.ADDED, new[right:right_end])


def _run(kind: ChangeKind, words: Sequence[str]) -> WordRun:
    return WordRun(kind, " ".join(words), len(words))


def _joined(runs: Sequence[WordRun]) -> Iterator[WordRun]:
    """Runs without empty ones, neighbours of one kind put together."""
    last: WordRun | None = None
    for run in runs:
        if not run.words:
            continue
        if last and last.kind is run.kind:
            last = WordRun(run.kind, f"{last.text} {run.text}", last.words + run.words)
            continue
        if last:
            yield last
        last = run
    if last:
        yield last


def shortened(runs: Sequence[WordRun], context: int = CONTEXT_WORDS) -> list[WordRun]:
    """The changes with a few equal words around them; longer equal runs are left out and counted.

    Args:
        runs: From :func:`word_diff`.
        context: Equal words to keep beside a change.
    """
    short: list[WordRun] = []
    for position, run in enumerate(runs):
        before = context if position else 0
        after = context if position < len(runs) - 1 else 0
        if run.kind is not ChangeKind.SAME or run.words <= before + after + 1:
            short.append(run)
            continue
        words = run.text.split(" ")
        short += [
            piece
            for piece in (
                _run(ChangeKind.SAME, words[:before]),
                WordRun(ChangeKind.OMITTED, "", run.words - before - after),
                _run(ChangeKind.SAME, words[run.words - after :]),
            )
            if piece.words
        ]
    return short


def changed_words(runs: Sequence[WordRun]) -> tuple[int, int]:
    """How many words were removed and how many added."""
    counts = {kind: sum(run.words for run in runs if run.kind is kind) for kind in ChangeKind}
    return counts[ChangeKind.REMOVED], counts[ChangeKind.ADDED]
