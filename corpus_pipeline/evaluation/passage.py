"""Passages of documents, named by a quoted anchor or a span, found again however the text is cut."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from corpus_pipeline.records import Record

__all__ = ["Passage", "covers", "locate", "normalised"]

MIN_PART = 0.5
"""A fragment that ends or begins inside a passage has it when it holds at least this share of it."""


class Passage(Record):
    """A passage of one document.

    Attributes:
        source: Relative path of the document.
        anchor: Words quoted from its converted text; white space does not count.
        span: Half-open ``[start, end)`` in the converted text, in code points; holds only for the
            text it was taken from, where an anchor survives every edit that leaves its words.
    """

    source: Annotated[str, Field(min_length=1)]
    anchor: Annotated[str, Field(max_length=5_000)] | None = None
    span: tuple[int, int] | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.anchor is None) == (self.span is None):
            raise ValueError("anchor: expected either an anchor or a span")
        if self.anchor is not None and not self.anchor.strip():
            raise ValueError("anchor: expected words of the document, found blanks")
        if self.span is not None and not 0 <= self.span[0] < self.span[1]:
            raise ValueError("span: expected [start, end] with 0 <= start < end")
        return self

    def words_in(self, text: str | None) -> str | None:
        """The passage as words: the anchor, or what the span covers; ``None`` where the text is too short."""
        if self.anchor is not None:
            return normalised(self.anchor)
        if text is None or self.span is None or self.span[1] > len(text):
            return None
        return normalised(text[self.span[0] : self.span[1]]) or None


def normalised(text: str) -> str:
    r"""Text with every run of white space as one space, none at the ends.

    >>> normalised(" a\n\n b ")
    'a b'
    """
    return " ".join(text.split())


def locate(text: str, anchor: str) -> list[tuple[int, int]]:
    r"""Half-open spans in ``text`` of every place that says the words of ``anchor``.

    >>> locate("Within 30\ndays. Within 30 days.", "30 days")
    [(7, 14), (23, 30)]
    """
    wanted = normalised(anchor)
    if not wanted:
        return []
    plain, offsets = _with_offsets(text)
    found: list[tuple[int, int]] = []
    at = plain.find(wanted)
    while at >= 0:
        found.append((offsets[at], offsets[at + len(wanted) - 1] + 1))
        at = plain.find(wanted, at + len(wanted))
    return found


def _with_offsets(text: str) -> tuple[str, list[int]]:
    """The normalised text, and for each of its characters where it stands in the text."""
    characters: list[str] = []
    offsets: list[int] = []
    for position, character in enumerate(text):
        if not character.isspace():
            characters.append(character)
            offsets.append(position)
        elif characters and characters[-1] != " ":
            characters.append(" ")
            offsets.append(position)
    if characters and characters[-1] == " ":
        characters.pop()
        offsets.pop()
    return "".join(characters), offsets


def covers(text: str, anchor: str) -> bool:
    """Whether a fragment says a passage, wholly or at least half of it at one of its ends.

    Args:
        text: Of the fragment.
        anchor: The passage, normalised.

    >>> covers("ask for a refund within", "a refund within 30 days"), covers("30 days", "a refund within 30 days")
    (True, False)
    """
    plain = normalised(text)
    if anchor in plain:
        return True
    least = max(1, round(len(anchor) * MIN_PART))
    return any(
        plain.endswith(anchor[:size].rstrip()) or plain.startswith(anchor[len(anchor) - size :].lstrip())
        for size in range(least, len(anchor))
    )
