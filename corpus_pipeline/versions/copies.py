"""Copies of superseded texts: stale too, wherever they lie and whatever their own metadata claims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from corpus_pipeline.versions.members import Member
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
        score: How alike they are.
    """

    document_id: str
    original_id: str
    score: float
    original_corpus: str = ""


def stale_copies(
    members: Mapping[str, Member],
    texts: TextGroups,
    weighed: Weighed,
    family_of: Mapping[str, str],
    published_superseded: Mapping[str, tuple[str, str]],
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
    for one, member in members.items():
        if one in found or member.independent or one in weighed.effective:
            continue
        known = published_superseded.get(member.evidence.normalised_sha256) or published_superseded.get(
            member.document.text_sha256
        )
        if known is not None and known[0] != member.document.corpus:
            found[one] = StaleCopy(one, known[1], 1.0, known[0])
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
