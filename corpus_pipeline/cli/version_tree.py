"""A family of versions as a tree: what replaced what, on which words, and what a person should look at."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from rich.console import Group
from rich.text import Text
from rich.tree import Tree

from corpus_pipeline.cli.decisions import is_served, reason_in_words
from corpus_pipeline.cli.output import safe
from corpus_pipeline.records import VersionDecision, VersionRelation

__all__ = ["family_tree", "is_notable"]

Differences = Callable[[str, str], Text | None]
"""The word diff between an older and a newer document, by their ids; ``None`` where there is no text."""
RELATION_WORDS = {"supersedes": "replaced by", "amends": "amended by", "series": "followed by"}


def is_notable(members: Sequence[VersionDecision]) -> bool:
    """A family worth showing: several members, or one that is kept out, for review or of a series."""
    return len(members) > 1 or any(not is_served(one) or one.needs_review or one.series_key for one in members)


def family_tree(
    name: str,
    members: Sequence[VersionDecision],
    relations: Mapping[str, Sequence[VersionRelation]],
    differences: Differences | None = None,
) -> Tree:
    """The tree of one family: under each document those it replaced, newest first; a series by its periods.

    Args:
        relations: By the id of the older document.
        differences: Shown below a document that has a newer neighbour, where given.
    """
    tree = Tree(f"[bold]{safe(name)}[/]")
    newer = _newer_neighbours(members)
    below: dict[str | None, list[VersionDecision]] = defaultdict(list)
    for member in members:
        below[newer.get(member.document_id)].append(member)
    waiting: list[tuple[Tree, VersionDecision]] = [(tree, member) for member in reversed(_ordered(below[None]))]
    while waiting:
        parent, member = waiting.pop()
        lines: list[Text] = [Text.from_markup(_text(member, relations.get(member.document_id, ())))]
        neighbour = newer.get(member.document_id) or _earlier_edition(member, members)
        if differences and neighbour and (shown := differences(member.document_id, neighbour)) is not None:
            lines.append(shown)
        node = parent.add(Group(*lines))
        waiting.extend((node, child) for child in reversed(_ordered(below[member.document_id])))
    return tree


def _newer_neighbours(members: Sequence[VersionDecision]) -> dict[str, str]:
    """What each document hangs under: its successor, else what it is a copy of, within the family."""
    known = {member.document_id for member in members}
    found: dict[str, str] = {}
    for member in members:
        wanted = (member.superseded_by, member.duplicate_of)
        if member.exclusion_reason and member.exclusion_reason.value == "copy_of_superseded":
            wanted = (member.duplicate_of, member.superseded_by)
        above = next((one for one in wanted if one in known and one != member.document_id), None)
        if above is not None and not _leads(above, member.document_id, found):
            found[member.document_id] = above
    return found


def _leads(start: str, end: str, found: Mapping[str, str]) -> bool:
    while start != end and start in found:
        start = found[start]
    return start == end


def _earlier_edition(member: VersionDecision, members: Sequence[VersionDecision]) -> str | None:
    """The next newer edition of a series, for the difference between neighbours."""
    if member.series_key is None or member.period_label is None:
        return None
    later = [one for one in members if one.series_key == member.series_key and _after(one, member)]
    return min(later, key=lambda one: (one.period_label or "", one.document_id)).document_id if later else None


def _after(one: VersionDecision, other: VersionDecision) -> bool:
    return (one.period_label or "") > (other.period_label or "")


def _ordered(members: Sequence[VersionDecision]) -> list[VersionDecision]:
    """Editions newest first, then the served before the others, then by id."""
    by_id = sorted(members, key=lambda one: (not is_served(one), one.document_id))
    return sorted(by_id, key=lambda one: one.period_label or "", reverse=True)


def _text(entry: VersionDecision, relations: Sequence[VersionRelation]) -> str:
    mark = "[green]served[/]" if is_served(entry) else "[yellow]kept out[/]"
    text = f"{mark}  {safe(entry.document_id)}"
    if details := _details(entry):
        text += f"  [dim]{safe(', '.join(details))}[/]"
    if entry.needs_review:
        text += "  [red](review)[/]"
    for line in (reason_in_words(entry), entry.evidence):
        if line:
            text += f"\n    [dim]{safe(line)}[/]"
    for relation in relations:
        text += f"\n    [dim]{safe(_relation_text(relation, entry.evidence))}[/]"
    return text


def _details(entry: VersionDecision) -> list[str]:
    details = [f"version {entry.version}"] if entry.version and entry.period_label is None else []
    if entry.period_label:
        details.append(f"period {entry.period_label}")
    if entry.period_end:
        details.append(f"ended {entry.period_end}")
    if entry.is_latest:
        details.append("latest")
    if is_served(entry) and entry.lifecycle.value != "active":
        details.append(entry.lifecycle.value)
    if is_served(entry) and entry.valid_from:
        details.append(f"valid from {entry.valid_from}")
    if is_served(entry) and entry.valid_until:
        details.append(f"valid until {entry.valid_until}")
    return details


def _relation_text(relation: VersionRelation, shown: str) -> str:
    """One line: to what, by which rule, how sure, on which words (unless they stand above already)."""
    other = relation.source_id or relation.source_reference
    quote = "" if relation.evidence and relation.evidence in shown else f": {relation.evidence}"
    effect = "" if relation.applied else f" — not applied: {relation.note}"
    words = RELATION_WORDS[relation.relation]
    return f"{words} {other} ({relation.rule.replace('_', ' ')}, {relation.confidence:.2f}{quote}){effect}"
