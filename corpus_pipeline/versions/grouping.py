"""Which documents belong to one family, once relations are weighed."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping, Sequence

from corpus_pipeline.records import VersionRelation
from corpus_pipeline.versions.families import Family
from corpus_pipeline.versions.members import Member
from corpus_pipeline.versions.names import Readiness
from corpus_pipeline.versions.weighing import Weighed

__all__ = ["Grouping"]


class Grouping:
    """Families as sets that are joined; each has a stable, readable key."""

    def __init__(self, members: Mapping[str, Member]) -> None:
        self._members = members
        self._parent = {one: one for one in members}
        self._names: dict[str, tuple[int, str]] = {}

    def join(self, left: str, right: str) -> None:
        """Puts two documents into one family."""
        one, other = self._root(left), self._root(right)
        if one == other:
            return
        keep, drop = min(one, other), max(one, other)
        self._parent[drop] = keep
        if drop in self._names:
            self._names[keep] = min(self._names.pop(drop), self._names.get(keep, (9, "")))

    def join_relations(self, weighed: Weighed) -> None:
        """Joins what accepted supersessions and series relate; amending joins nothing."""
        for source, target in sorted(weighed.accepted):
            self.join(source, target)
        for relation in weighed.relations:
            if _is_series(relation):
                self.join(relation.source_id or "", relation.target_id or "")

    def join_families(self, families: Sequence[Family]) -> None:
        """Joins declared families whole, named ones as far as relations hold, with their drafts and copies."""
        for family in families:
            first = family.members[0].id
            for member in family.members:
                if family.declared or member.name.copy or member.name.readiness is Readiness.DRAFT:
                    self.join(first, member.id)
            for member in family.members:
                root = self._root(member.id)
                self._names[root] = min((0 if family.declared else 1, family.key), self._names.get(root, (9, "")))

    def join_alike(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Joins near-identical texts under one title: versions of one thing, though their order may be open."""
        for left, right in pairs:
            self.join(left, right)

    def families(self) -> dict[str, str]:
        """Family key by document id."""
        sizes: dict[str, int] = {}
        for one in self._parent:
            root = self._root(one)
            sizes[root] = sizes.get(root, 0) + 1
        return {one: self._key(self._root(one), sizes) for one in self._parent}

    def _key(self, root: str, sizes: Mapping[str, int]) -> str:
        if root in self._names and sizes[root] > 1:
            return self._names[root][1]
        declared = self._members[root].document.metadata.family
        return declared or posixpath.splitext(self._members[root].path)[0]

    def _root(self, one: str) -> str:
        while self._parent[one] != one:
            self._parent[one] = self._parent[self._parent[one]]
            one = self._parent[one]
        return one


def _is_series(relation: VersionRelation) -> bool:
    return relation.relation == "series" and relation.applied and bool(relation.source_id and relation.target_id)
