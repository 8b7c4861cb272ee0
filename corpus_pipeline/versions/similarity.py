"""The weakest evidence: near-identical texts under one title with different dates."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from corpus_pipeline.records import DuplicateEdge, DuplicateKind
from corpus_pipeline.versions.candidates import Candidate, Strength
from corpus_pipeline.versions.canonical import authority
from corpus_pipeline.versions.families import DOUBTFUL, REPLACED_WORDS
from corpus_pipeline.versions.members import Member
from corpus_pipeline.versions.speakers import Speakers

__all__ = ["alike_pairs", "similarity_candidates", "unnamed_candidates", "unnamed_pairs"]

SIMILAR_AND_DATED = 0.72
UNLIKELY = 0.4
GENERIC_WORDS = REPLACED_WORDS | frozenset(
    ["of", "use", "service", "services", "user", "and", "the", "for", "notice", "statement", "general", "website"]
)


def similarity_candidates(
    members: Mapping[str, Member],
    edges: Sequence[DuplicateEdge],
    related: set[tuple[str, str]],
    family_of: Mapping[str, str],
    speakers: Speakers,
) -> Iterator[Candidate]:
    """Candidates for near-duplicate pairs that no stronger evidence relates.

    Two services may use one text under the title "Terms of Service", so a title of generic words
    alone, or two telling names that differ, leave the pair for review; both together, or different
    names with versions of their own, make it unlikely. Where the names tell nothing, one kind and
    one speaker count as one title does. A later copy of less authority, such as a wiki page, does
    not replace a policy: it is a copy.

    Args:
        related: Pairs of ids, smaller first, that stronger evidence relates already.
        family_of: Declared or named family by id, where there are several members: its own rules order it.
    """
    for edge in edges:
        if not _may_be_versions(edge, members, family_of) or (edge.left_id, edge.right_id) in related:
            continue
        left, right = members[edge.left_id], members[edge.right_id]
        unnamed = not _telling(left.name.stem) and not _telling(right.name.stem)
        spoken = unnamed and speakers.one_speaker(left.id, right.id)
        if not spoken and (not left.title or left.title != right.title):
            continue
        made = _later(left, right)
        if made is None:
            continue
        old, new = made
        share = "come from one issuer and share" if spoken else "share their title and"
        confidence = _confidence(left, right, apart=bool({left.id, right.id} & family_of.keys()))
        if spoken:
            confidence = SIMILAR_AND_DATED
        elif speakers.speak_for_others(left.id, right.id):
            confidence = UNLIKELY
        yield Candidate(
            Strength.SIMILARITY,
            new.id,
            old.id,
            "supersedes",
            "similar_and_dated",
            f"{new.path} ({new.dated}) and {old.path} ({old.dated}) {share} {edge.jaccard:.0%} of their word sequences",
            confidence,
        )


def _later(left: Member, right: Member) -> tuple[Member, Member] | None:
    """The older and the newer one; ``None`` when dates or authority do not tell."""
    if left.dated is None or right.dated is None or left.dated == right.dated:
        return None
    old, new = (left, right) if left.dated < right.dated else (right, left)
    return None if authority(new) > authority(old) else (old, new)


def unnamed_pairs(
    members: Mapping[str, Member], family_of: Mapping[str, str], speakers: Speakers
) -> list[tuple[str, str]]:
    """Documents of one kind from one issuer, among those whose names tell nothing: one family."""
    unnamed = [one for one, member in members.items() if one not in family_of and not _telling(member.name.stem)]
    return list(speakers.pairs(unnamed))


def unnamed_candidates(
    members: Mapping[str, Member], pairs: Sequence[tuple[str, str]], related: set[tuple[str, str]]
) -> Iterator[Candidate]:
    """What the dates of such documents say of their order where the texts are not alike: for review."""
    for pair in pairs:
        made = _later(members[pair[0]], members[pair[1]]) if pair not in related else None
        if made is not None:
            old, new = made
            yield Candidate(
                Strength.SIMILARITY,
                new.id,
                old.id,
                "supersedes",
                "one_issuer_and_dated",
                f"{new.path} ({new.dated}) and {old.path} ({old.dated}) are of one kind ({new.evidence.kind}) and come "
                "from one issuer by the names they use",
                DOUBTFUL,
            )


def alike_pairs(
    members: Mapping[str, Member], edges: Sequence[DuplicateEdge], family_of: Mapping[str, str], speakers: Speakers
) -> Iterator[tuple[str, str]]:
    """Near-duplicates that neither titles nor names tell apart: one family, in whatever order.

    Names are those of the files and those that the texts use: texts of two services stay apart.
    """
    for edge in edges:
        if not _may_be_versions(edge, members, family_of):
            continue
        left, right = members[edge.left_id], members[edge.right_id]
        titled = left.title == right.title or not left.title or not right.title
        if titled and not _names_differ(left, right) and not speakers.speak_for_others(left.id, right.id):
            yield edge.left_id, edge.right_id


def _may_be_versions(edge: DuplicateEdge, members: Mapping[str, Member], family_of: Mapping[str, str]) -> bool:
    if edge.kind is not DuplicateKind.NEAR or edge.left_id not in members or edge.right_id not in members:
        return False
    left, right = members[edge.left_id], members[edge.right_id]
    if left.independent or right.independent:
        return False
    if left.number and right.number and left.number != right.number:
        return False
    return left.id not in family_of or family_of[left.id] != family_of.get(right.id)


def _confidence(left: Member, right: Member, *, apart: bool) -> float:
    """Confidence; ``apart`` when one of them has versions of its own under its own name."""
    generic, differ = not set(left.title.split()) - GENERIC_WORDS, _names_differ(left, right)
    if differ and (generic or apart):
        return UNLIKELY
    return DOUBTFUL if generic or differ else SIMILAR_AND_DATED


def _names_differ(left: Member, right: Member) -> bool:
    return left.name.stem != right.name.stem and _telling(left.name.stem) and _telling(right.name.stem)


def _telling(stem: str) -> bool:
    """The stem has words a person would read, not a hash or a number."""
    return bool(re.search(r"\b[a-z]{3,}\b", stem)) and not re.search(r"\b(?=\w*\d)[0-9a-f]{6,}\b", stem)
