"""Copies of superseded texts: stale too, wherever they lie and whatever their own metadata claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from corpus_pipeline.versions.members import Member
from corpus_pipeline.versions.neighbours import Neighbour
from corpus_pipeline.versions.texts import Likeness, TextGroups
from corpus_pipeline.versions.weighing import Weighed

__all__ = ["StaleCopy", "contains_superseded", "stale_copies"]

LARGEST_COPY = 2.0
"""A document this many times as long as the superseded text it contains is a work of its own."""


@dataclass(frozen=True)
class StaleCopy:
    """A document that repeats a superseded one.

    Attributes:
        original_id: The superseded document, or its id in another corpus.
        original_corpus: Empty when it is the same corpus.
        successor_id: What that other corpus names as the successor; empty when it is the same corpus.
        score: How alike they are.
    """

    document_id: str
    original_id: str
    score: float
    original_corpus: str = ""
    successor_id: str = ""


def stale_copies(
    members: Mapping[str, Member],
    texts: TextGroups,
    weighed: Weighed,
    family_of: Mapping[str, str],
    neighbours: Sequence[Neighbour],
) -> dict[str, StaleCopy]:
    """Documents closer to a superseded text than to anything that came after it, by id.

    Members of the same version family are judged by their relations, not by likeness.
    """
    found: dict[str, StaleCopy] = {}
    for original in sorted(weighed.effective):
        newer = weighed.newer_than(original)
        for one, likeness in texts.alike(original):
            if not _may_be_copy(one, original, newer, members, weighed, family_of):
                continue
            if not _is_copy(members[one], members[original], likeness, texts):
                continue
            if likeness.score > _closest(one, newer, texts) and (one not in found or likeness.score > found[one].score):
                found[one] = StaleCopy(one, original, likeness.score)
    for one, copy in _copies_of_neighbours(members, weighed, neighbours).items():
        found.setdefault(one, copy)
    return found


def _copies_of_neighbours(
    members: Mapping[str, Member], weighed: Weighed, neighbours: Sequence[Neighbour]
) -> dict[str, StaleCopy]:
    """Documents closer to a text that another corpus publishes as superseded than to any it publishes as current."""
    current: dict[str, float] = {}
    for one in neighbours:
        if not one.published.superseded:
            current[one.document_id] = max(one.score, current.get(one.document_id, 0.0))
    found: dict[str, StaleCopy] = {}
    for one in neighbours:
        known = found.get(one.document_id)
        if (
            one.published.superseded
            and one.document_id in members
            and not members[one.document_id].independent
            and one.document_id not in weighed.effective
            and one.score > current.get(one.document_id, 0.0)
            and (known is None or one.score > known.score)
        ):
            published = one.published
            found[one.document_id] = StaleCopy(
                one.document_id, published.document_id, one.score, published.corpus, published.superseded_by or ""
            )
    return found


def contains_superseded(
    members: Mapping[str, Member], texts: TextGroups, weighed: Weighed, stale: Mapping[str, StaleCopy]
) -> dict[str, str]:
    """Larger documents that contain a superseded text among much else: id to that text's id, for review."""
    found: dict[str, str] = {}
    for original in sorted(weighed.effective):
        newer = weighed.newer_than(original)
        for one, likeness in texts.alike(original):
            if one in newer or one in stale or one in weighed.effective or not likeness.contained:
                continue
            is_whole = not texts.is_part(one, likeness)
            if is_whole and not members[one].independent and likeness.score > _closest(one, newer, texts):
                found.setdefault(one, original)
    return found


def _may_be_copy(
    one: str,
    original: str,
    newer: set[str],
    members: Mapping[str, Member],
    weighed: Weighed,
    family_of: Mapping[str, str],
) -> bool:
    if one in newer or one in weighed.effective or members[one].independent:
        return False
    same_family = one in family_of and family_of[one] == family_of.get(original)
    twin = members[one].key == members[original].key and members[one].name.stem == members[original].name.stem
    return not same_family or twin or members[one].name.copy


def _is_copy(one: Member, original: Member, likeness: Likeness, texts: TextGroups) -> bool:
    if not likeness.contained or texts.is_part(one.id, likeness):
        return True
    return one.document.char_count <= LARGEST_COPY * original.document.char_count


def _closest(one: str, newer: set[str], texts: TextGroups) -> float:
    found = [texts.likeness(one, later) for later in newer]
    return max((likeness.score for likeness in found if likeness is not None), default=0.0)
