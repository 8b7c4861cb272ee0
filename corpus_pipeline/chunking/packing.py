"""Packing pieces into fragments: whole pieces where they fit, finer ones where they do not.

Greedy in reading order, towards equal sizes near the budget's aim: a section that needs n fragments
is cut near every n-th part of it instead of leaving a stub at its end. The budget's limit is for
what must not be parted (a list, a table, a sentence); prose that would fit the limit but is far
above the aim is cut between sentences.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise

from corpus_pipeline.chunking.layout import Child, Layout
from corpus_pipeline.chunking.pieces import Grain, Piece, finer

__all__ = ["overlapped", "pack", "within_budget"]

STUB_SHARE = 4
"""A last fragment smaller than this part of the target is joined to the one before, if it fits."""

_PROSE = (Grain.PROSE, Grain.PARAGRAPH)


def pack(pieces: list[Piece], layout: Layout, section: int, *, balanced: bool = True) -> list[Child]:
    """Fragments of a section, tiling the span of its pieces.

    Args:
        pieces: In order, each beginning where the one before ends.
        layout: The document.
        section: Whose context path the fragments carry.
        balanced: Aim at equal sizes instead of full ones.
    """
    if not pieces:
        return []
    room = layout.room(section)
    aim = min(room, layout.budget.target_tokens) if balanced else room
    packer = _Packer(layout, section, room, aim, balanced)
    if balanced:
        packer.target = packer.even(layout.tokens(pieces[0].char_start, pieces[-1].char_end), room, aim)
    for piece in pieces:
        packer.add(piece)
    return packer.finish()


@dataclass
class _Packer:
    layout: Layout
    section: int
    room: int
    aim: int
    balanced: bool
    target: int = 0
    done: list[list[Piece]] = field(default_factory=list)
    current: list[Piece] = field(default_factory=list)
    used: int = 0

    def __post_init__(self) -> None:
        self.target = self.aim

    @staticmethod
    def even(tokens: int, room: int, aim: int) -> int:
        """Size of the parts when so many tokens are cut into equal ones near the aim, none larger than the room."""
        parts = max(1, -(-tokens // max(1, room)), round(tokens / max(1, aim)))
        return -(-tokens // parts)

    def add(self, piece: Piece) -> None:
        """Adds a piece, or its finer pieces when it fits nowhere whole."""
        stack: list[Piece | int] = [piece]
        while stack:
            top = stack.pop()
            if isinstance(top, int):
                self.target = top
            else:
                stack.extend(reversed(self._place(top)))

    def _place(self, piece: Piece) -> tuple[Piece | int, ...]:
        """Places a piece and returns nothing, or returns the pieces (and targets for them) to place instead."""
        cost = self._tokens(piece)
        if self._opening(piece) + cost > self.room or self._is_long(piece, cost):
            return self._apart(piece, cost)
        if not self.current:
            self._start(piece, cost)
            return ()
        if self.used + cost <= self.room and self._nearer(cost):
            self.current.append(piece)
            self.used += cost
            return ()
        if all(held.sticky for held in self.current):
            return self._finer(piece) or self._close(piece)
        if self._carried(cost) + self._opening(piece) <= self.room or self.used >= self.target:
            return self._close(piece)
        return self._finer(piece) or self._close(piece)

    def _apart(self, piece: Piece, cost: int) -> tuple[Piece | int, ...]:
        """The finer pieces of one that fits nowhere whole: of its own kind, in parts of about equal size.

        What stands before it is a fragment of its own, unless that is a stub or only leads in to it.
        """
        if self.used * STUB_SHARE > self.target and not all(held.sticky for held in self.current):
            return self._close(piece)
        parts = self._finer(piece)
        if not parts:
            return self._close(piece) if self.current else self._force(piece)
        if not self.balanced:
            return parts
        opening = self._opening(piece)
        room = self.room - opening
        part = self.even(self.used + cost, room, min(room, self.aim) if piece.grain in _PROSE else room)
        return (min(self.room, opening + part), *parts, self.target)

    def _is_long(self, piece: Piece, cost: int) -> bool:
        """Whether prose comes nearer to the aim in two parts than whole."""
        return self.balanced and piece.grain in _PROSE and 2 * cost > 3 * self.aim

    def _nearer(self, cost: int) -> bool:
        """Whether the fragment ends nearer to the target with the piece than without it; a heading takes any."""
        if all(held.sticky for held in self.current):
            return True
        return self.used + cost - self.target <= self.target - self.used

    def _carried(self, cost: int) -> int:
        return cost + sum(self._tokens(held) for held in self._trailing_sticky())

    def _trailing_sticky(self) -> list[Piece]:
        at = len(self.current)
        while at and self.current[at - 1].sticky:
            at -= 1
        return self.current[at:] if at else []

    def _close(self, piece: Piece) -> tuple[Piece, ...]:
        """Ends the current fragment before its trailing sticky pieces; those begin the next one."""
        carried = self._trailing_sticky()
        self.done.append(self.current[: len(self.current) - len(carried)])
        self.current, self.used = [], 0
        return (*carried, piece)

    def _start(self, piece: Piece, cost: int) -> None:
        self.current, self.used = [piece], self._opening(piece) + cost

    def _force(self, piece: Piece) -> tuple[Piece, ...]:
        """A piece that cannot come apart is placed as it is; the exact count decides later."""
        self._start(piece, self._tokens(piece))
        return ()

    def _finer(self, piece: Piece) -> tuple[Piece, ...]:
        return finer(piece, self.layout.text, self.layout.marks.between)

    def _tokens(self, piece: Piece) -> int:
        return self.layout.tokens(piece.char_start, piece.char_end)

    def _opening(self, piece: Piece) -> int:
        return self.layout.opening_tokens(piece, self.section)

    def finish(self) -> list[Child]:
        """The fragments, a stub at the end joined to the one before."""
        if self.current:
            self.done.append(self.current)
        if len(self.done) > 1:
            last, before = self.done[-1], self.done[-2]
            size = self.layout.tokens(last[0].char_start, last[-1].char_end)
            joined = self.layout.tokens(before[0].char_start, last[-1].char_end) + self._opening(before[0])
            if size * STUB_SHARE <= self.target and joined <= self.room:
                self.done[-2:] = [before + last]
        return [self._child(group) for group in self.done]

    def _child(self, group: list[Piece]) -> Child:
        first = group[0]
        prefix, _ = self.layout.prefix(first.prefix, self.section)
        return Child(first.char_start, first.char_start, group[-1].char_end, self.section, prefix, first.lead)


def overlapped(children: list[Child], layout: Layout, *, across_sections: bool = False) -> list[Child]:
    """Extends each fragment back into the one before it in its section by the spec's overlap.

    A fragment that begins inside a table repeats the header instead. Headings are a border unless
    ``across_sections``.
    """
    overlap = layout.budget.overlap_tokens
    if not overlap:
        return children
    result = children[:1]
    for before, child in pairwise(children):
        if child.prefix or (child.section != before.section and not across_sections):
            result.append(child)
            continue
        start = max(before.own_start, layout.marks.back(child.own_start, overlap))
        result.append(replace(child, char_start=min(start, child.own_start)))
    return result


def within_budget(children: list[Child], layout: Layout) -> list[tuple[Child, str, int]]:
    """Each fragment with the string to embed and its exact tokens; those over budget are halved until they fit.

    With tokenizers that split at white space first nothing is ever over budget here; for others
    the packing above worked with close estimates.
    """
    waiting = list(children)
    fitting: list[tuple[Child, str, int]] = []
    while waiting:
        strings = [embedded_text(child, layout) for child in waiting]
        over: list[Child] = []
        for child, string, tokens in zip(waiting, strings, layout.counter.counts(strings), strict=True):
            if tokens <= layout.budget.child_tokens or (not child.prefix and child.char_end - child.char_start <= 1):
                fitting.append((child, string, tokens))
            else:
                over.extend(_smaller(child, layout))
        waiting = over
    return sorted(fitting, key=lambda item: item[0].own_start)


def embedded_text(child: Child, layout: Layout) -> str:
    """Context path, newline, repeated header if any, and the text without the white space at its end."""
    context, _ = layout.context(child.section, child.lead)
    own = child.prefix + layout.text[child.char_start : child.char_end].rstrip()
    return f"{context}\n{own}" if context else own


def _smaller(child: Child, layout: Layout) -> list[Child]:
    if child.char_start < child.own_start:
        return [replace(child, char_start=child.own_start)]
    if child.char_end - child.own_start <= 1:
        return [replace(child, prefix="", lead="")]
    middle = _middle(child, layout)
    return [
        replace(child, char_end=middle),
        replace(child, own_start=middle, char_start=middle),
    ]


def _middle(child: Child, layout: Layout) -> int:
    """A white-space boundary near the middle of a fragment, else the middle itself."""
    start, end = child.own_start, child.char_end
    words = finer(Piece(start, end, Grain.WORDS), layout.text, lambda _a, _b: [])
    half = (start + end) // 2
    cuts = [piece.char_start for piece in words if piece.char_start > start]
    near = min(cuts, key=lambda cut: abs(cut - half), default=half)
    return near if abs(near - half) <= (end - start) // 4 else max(start + 1, half)
