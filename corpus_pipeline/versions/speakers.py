"""Documents that speak for one issuer: families of documents whose file names tell nothing.

Candidates come from the names and addresses that texts share, weighted by how rare they are in
the corpus. Two such documents are versions of one thing when they agree in names and in kind.
Nearly identical texts of different services do not agree in names and are kept apart.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from corpus_pipeline.versions.members import Member

__all__ = ["Speakers"]

SAME_SPEAKER = 0.7
"""Cosine of name profiles from which two documents of one kind are one family; measured in benchmarks/versions."""
OTHER_SPEAKER = 0.4
"""Below it the names speak against one family, however alike the texts are."""
FEWEST_NAMES = 2
COMMONEST = 200
"""A name in more documents than this is no candidate's reason."""


class Speakers:
    """Name profiles of the documents of a corpus, compared."""

    def __init__(self, members: Mapping[str, Member]) -> None:
        self._members = members
        self._documents = Counter(name for member in members.values() for name, _ in member.evidence.profile)
        self._vectors: dict[str, dict[str, float]] = {}

    def agreement(self, left: str, right: str) -> float:
        """Cosine of two profiles, from 0 to 1."""
        one, other = self._vector(left), self._vector(right)
        return round(math.fsum(one[name] * other[name] for name in one.keys() & other.keys()), 6)

    def speak_for_others(self, left: str, right: str) -> bool:
        """Both texts name enough, and different things."""
        profiles = [self._members[one].evidence.profile for one in (left, right)]
        return min(map(len, profiles)) >= FEWEST_NAMES and self.agreement(left, right) < OTHER_SPEAKER

    def one_speaker(self, left: str, right: str) -> bool:
        """The two agree in kind and in the names they use."""
        kinds = {self._members[one].evidence.kind for one in (left, right)}
        return len(kinds) == 1 and "" not in kinds and self.agreement(left, right) >= SAME_SPEAKER

    def pairs(self, candidates: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Pairs among ``candidates`` that agree in kind and names, smaller id first, sorted."""
        by_name: dict[tuple[str, str], list[str]] = defaultdict(list)
        for one in sorted(candidates):
            evidence = self._members[one].evidence
            if evidence.kind:
                for name, _ in evidence.profile:
                    if self._documents[name] <= COMMONEST:
                        by_name[evidence.kind, name].append(one)
        together = {pair for sharing in by_name.values() for pair in combinations(sharing, 2)}
        for left, right in sorted(together):
            if self._one_work(left, right) and self.one_speaker(left, right):
                yield left, right

    def _one_work(self, left: str, right: str) -> bool:
        one, other = self._members[left], self._members[right]
        if one.independent or other.independent:
            return False
        return one.number is None or other.number is None or one.number == other.number

    def _vector(self, one: str) -> dict[str, float]:
        if one not in self._vectors:
            total = len(self._members)
            weighted = {
                name: math.sqrt(share) * math.log(1 + total / self._documents[name])
                for name, share in self._members[one].evidence.profile
            }
            length = math.sqrt(math.fsum(value * value for value in weighted.values())) or 1.0
            self._vectors[one] = {name: value / length for name, value in weighted.items()}
        return self._vectors[one]
