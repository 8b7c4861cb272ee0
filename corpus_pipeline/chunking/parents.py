"""Parents: consecutive fragments that can be read alone, within the parent's budget.

A parent is made of whole fragments, so every character of a parent lies in a fragment of it.
"""

from __future__ import annotations

from dataclasses import dataclass

from corpus_pipeline.chunking.layout import Child, Layout

__all__ = ["common_path", "group_by_section", "group_in_order", "parent_text"]

SMALL_SHARE = 4
"""A section smaller than this part of the budget is joined to its neighbour, if both fit."""


def group_in_order(layout: Layout, children: list[Child]) -> list[list[Child]]:
    """Fills parents in reading order, towards equal sizes."""
    if not children:
        return []
    limit = layout.budget.parent_tokens
    total = sum(_size(layout, child) for child in children)
    target = -(-total // max(1, -(-total // limit)))
    groups: list[list[Child]] = [[]]
    used = 0
    for child in children:
        size = _size(layout, child)
        if groups[-1] and (used + size > limit or used + size - target > target - used):
            groups.append([])
            used = 0
        groups[-1].append(child)
        used += size
    return groups


def group_by_section(layout: Layout, children: list[Child]) -> list[list[Child]]:
    """One parent a section with its subsections where they fit; else parts of it, each by the same rule.

    Small neighbours below the same heading are joined, so that a run of three-line sections
    reads as one.
    """
    by_section: dict[int, list[Child]] = {}
    for child in children:
        by_section.setdefault(child.section, []).append(child)
    below: dict[int, list[int]] = {}
    for section in layout.sections:
        if section.parent is not None:
            below.setdefault(section.parent, []).append(section.index)
    return [group.children for group in _Grouping(layout, by_section, below).groups(0)]


def parent_text(layout: Layout, group: list[Child]) -> str:
    """The group's slice of the text; one that begins inside a table has caption and header before it."""
    return group[0].prefix + layout.text[group[0].own_start : group[-1].char_end]


def common_path(paths: list[tuple[str, ...]]) -> tuple[str, ...]:
    """The headings that all paths begin with.

    >>> common_path([("a", "b"), ("a", "c")])
    ('a',)
    """
    shared: list[str] = []
    for names in zip(*paths, strict=False):
        if len(set(names)) > 1:
            break
        shared.append(names[0])
    return tuple(shared)


def _size(layout: Layout, child: Child) -> int:
    return layout.tokens(child.own_start, child.char_end)


@dataclass
class _Group:
    children: list[Child]
    tokens: int
    whole: bool
    """A whole section or a part of its own text: may be joined to a small neighbour."""


@dataclass
class _Grouping:
    layout: Layout
    by_section: dict[int, list[Child]]
    below: dict[int, list[int]]

    def groups(self, section: int) -> list[_Group]:
        """Parents of a section and everything below it."""
        own = [
            _Group(children, sum(_size(self.layout, child) for child in children), whole=True)
            for children in group_in_order(self.layout, self.by_section.get(section, []))
        ]
        parts = own + [group for inner in self.below.get(section, []) for group in self._inner(inner)]
        total = sum(part.tokens for part in parts)
        if total <= self.layout.budget.parent_tokens:
            children = [child for part in parts for child in part.children]
            return [_Group(children, total, whole=True)] if children else []
        return self._joined(parts)

    def _inner(self, section: int) -> list[_Group]:
        groups = self.groups(section)
        for group in groups:
            group.whole = len(groups) == 1
        return groups

    def _joined(self, parts: list[_Group]) -> list[_Group]:
        limit = self.layout.budget.parent_tokens
        joined: list[_Group] = []
        for part in parts:
            last = joined[-1] if joined else None
            small = last is not None and min(last.tokens, part.tokens) * SMALL_SHARE < limit
            if last and small and last.whole and part.whole and last.tokens + part.tokens <= limit:
                joined[-1] = _Group(last.children + part.children, last.tokens + part.tokens, whole=True)
            else:
                joined.append(part)
        return joined
