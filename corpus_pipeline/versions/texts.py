"""How alike two documents are, by the verified edges and exact copies of the deduplication room."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from corpus_pipeline.records import DuplicateCluster, DuplicateEdge, DuplicateKind
from corpus_pipeline.versions.members import Member

__all__ = ["Likeness", "TextGroups", "cluster_sets"]


@dataclass(frozen=True)
class Likeness:
    """Likeness of two documents.

    Attributes:
        score: 1.0 for exact copies, else the larger of Jaccard and containment.
        exact: Same normalised text.
        contained: Group of the document that is a part of the other; empty when they are alike as wholes.
    """

    score: float
    exact: bool = False
    contained: str = ""


class TextGroups:
    """Exact copies as groups, and likeness between groups.

    An edge of one member of a group holds for all of them, so that it does not matter which
    copy the deduplication room compared.
    """

    def __init__(self, members: Mapping[str, Member], edges: Sequence[DuplicateEdge]) -> None:
        self._group_of = _exact_groups(members, edges)
        self.members_of: dict[str, list[str]] = defaultdict(list)
        for one in sorted(members):
            self.members_of[self._group_of[one]].append(one)
        self._char_count = {one: member.document.char_count for one, member in members.items()}
        self._neighbours: dict[str, dict[str, Likeness]] = defaultdict(dict)
        for edge in edges:
            if edge.left_id in members and edge.right_id in members:
                self._add(edge)

    def _add(self, edge: DuplicateEdge) -> None:
        left, right = self._group_of[edge.left_id], self._group_of[edge.right_id]
        if left == right:
            return
        part = edge.contained_id or min((edge.left_id, edge.right_id), key=lambda one: self._char_count[one])
        found = Likeness(
            max(edge.jaccard, edge.containment),
            contained=self._group_of[part] if edge.kind is DuplicateKind.CONTAINED else "",
        )
        known = self._neighbours[left].get(right)
        if known is None or (found.score, not found.contained) > (known.score, not known.contained):
            self._neighbours[left][right] = self._neighbours[right][left] = found

    def is_part(self, document_id: str, likeness: Likeness) -> bool:
        """The document is the smaller side of a contained pair."""
        return bool(likeness.contained) and likeness.contained == self._group_of[document_id]

    def likeness(self, left: str, right: str) -> Likeness | None:
        """Likeness of two documents; ``None`` when no edge was verified."""
        one, other = self._group_of[left], self._group_of[right]
        return Likeness(1.0, exact=True) if one == other else self._neighbours[one].get(other)

    def alike(self, document_id: str) -> list[tuple[str, Likeness]]:
        """All other documents with a likeness to this one, in order of id."""
        group = self._group_of[document_id]
        found = [(one, Likeness(1.0, exact=True)) for one in self.members_of[group] if one != document_id]
        for other, likeness in self._neighbours.get(group, {}).items():
            found.extend((one, likeness) for one in self.members_of[other])
        return sorted(found, key=lambda item: item[0])


def _exact_groups(members: Mapping[str, Member], edges: Sequence[DuplicateEdge]) -> dict[str, str]:
    by_hash: dict[str, str] = {}
    group_of: dict[str, str] = {}
    for one in sorted(members):
        member = members[one]
        key = member.evidence.normalised_sha256 or member.document.text_sha256
        group_of[one] = by_hash.setdefault(key, one)
    for edge in edges:
        if edge.kind is DuplicateKind.EXACT and edge.left_id in group_of and edge.right_id in group_of:
            left, right = group_of[edge.left_id], group_of[edge.right_id]
            if left != right:
                keep, drop = min(left, right), max(left, right)
                group_of.update({one: keep for one, group in group_of.items() if group == drop})
    return group_of


def cluster_sets(
    clusters: Sequence[DuplicateCluster], members: Mapping[str, Member], numbered: Sequence[Sequence[str]]
) -> list[list[str]]:
    """Clusters joined with the documents that carry one number, as sorted lists of ids."""
    parent: dict[str, str] = {}

    def root(one: str) -> str:
        while parent.setdefault(one, one) != one:
            one = parent[one]
        return one

    for group in [*(cluster.members for cluster in clusters), *numbered]:
        present = [one for one in group if one in members]
        for one in present[1:]:
            left, right = root(present[0]), root(one)
            parent[max(left, right)] = min(left, right)
    joined: dict[str, list[str]] = defaultdict(list)
    for one in sorted(parent):
        joined[root(one)].append(one)
    return [group for _, group in sorted(joined.items()) if len(group) > 1]
