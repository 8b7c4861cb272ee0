"""The resolver: documents, their evidence and their copies in; one decision a document out.

Pure: the same input gives the same output in any order of documents, clusters and edges.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from corpus_pipeline.records import (
    Document,
    DuplicateCluster,
    DuplicateEdge,
    ExclusionReason,
    Lifecycle,
    ServingState,
    VersionDecision,
    VersionRelation,
)
from corpus_pipeline.registry import CorpusSpec
from corpus_pipeline.versions.candidates import declared_candidates
from corpus_pipeline.versions.canonical import Suppression, suppressions
from corpus_pipeline.versions.claims import DocumentEvidence
from corpus_pipeline.versions.clashes import flagged, two_current
from corpus_pipeline.versions.conflicts import VersionConflict
from corpus_pipeline.versions.copies import StaleCopy, contains_superseded, stale_copies
from corpus_pipeline.versions.editions import Edition, editions
from corpus_pipeline.versions.families import Family, declared_and_named_families, families_of, family_candidates
from corpus_pipeline.versions.grouping import Grouping
from corpus_pipeline.versions.members import Member, make_members
from corpus_pipeline.versions.names import Readiness
from corpus_pipeline.versions.neighbours import Neighbour
from corpus_pipeline.versions.references import ReferenceIndex
from corpus_pipeline.versions.similarity import alike_pairs, similarity_candidates, unnamed_candidates, unnamed_pairs
from corpus_pipeline.versions.speakers import Speakers
from corpus_pipeline.versions.state import Exclusion, own_exclusion, own_lifecycle
from corpus_pipeline.versions.texts import TextGroups, cluster_sets
from corpus_pipeline.versions.weighing import Weighed, weigh

__all__ = ["Resolution", "resolve"]


@dataclass(frozen=True)
class Resolution:
    """Everything decided about one corpus on one day, sorted."""

    decisions: tuple[VersionDecision, ...]
    relations: tuple[VersionRelation, ...]
    conflicts: tuple[VersionConflict, ...]

    def current_of(self, document_id: str) -> str:
        """The end of the chain of successors that starts at a document; itself when nothing replaced it."""
        successors = {one.document_id: one.superseded_by for one in self.decisions}
        return terminal(document_id, successors)


def terminal(document_id: str, successors: Mapping[str, str | None]) -> str:
    """Follows successors to the last; a ring, which the resolver never makes, ends where it began."""
    seen = {document_id}
    while (following := successors.get(document_id)) is not None and following not in seen:
        seen.add(following)
        document_id = following
    return document_id


def resolve(
    documents: Sequence[Document],
    evidence: Mapping[str, DocumentEvidence],
    clusters: Sequence[DuplicateCluster],
    edges: Sequence[DuplicateEdge],
    spec: CorpusSpec,
    as_of: date,
    *,
    neighbours: Sequence[Neighbour] = (),
) -> Resolution:
    """Decides versions, copies and states.

    Args:
        documents: All converted documents of one corpus.
        evidence: By ``document_sha256``; a document without an entry counts as saying nothing.
        clusters: Clusters of copies, within the corpus.
        edges: Verified pairs behind them.
        spec: Overrides, thresholds, policy.
        as_of: The day decided for.
        neighbours: Texts that other corpora's published generations have too, superseded there or current.
    """
    members = make_members(documents, evidence, spec.versions)
    index = ReferenceIndex(members)
    texts = TextGroups(members, edges)
    speakers = Speakers(members)
    families, unnamed, weighed = _relations(members, index, edges, spec, as_of, speakers)
    grouping = Grouping(members)
    grouping.join_relations(weighed)
    grouping.join_families(families)
    grouping.join_alike([*alike_pairs(members, edges, families_of(families), speakers), *unnamed])
    stale = stale_copies(members, texts, weighed, grouping.families(), neighbours)
    for one, original in contains_superseded(members, texts, weighed, stale).items():
        weighed.review.setdefault(one, f"contains most of the superseded {original}")
    states = _states(members, families, weighed, stale, spec, as_of)
    numbered = [ids for _, ids in index.numbered()]
    suppressed = _suppress(
        members, texts, weighed, families, states, cluster_sets(clusters, members, numbered), speakers
    )
    of_editions = editions(members, families, lambda one: _in_force(states[one].exclusion))
    for one, edition in of_editions.items():
        if edition.doubt:
            weighed.review.setdefault(one, edition.doubt)
    for copy in stale.values():
        if not copy.original_corpus:
            grouping.join(copy.document_id, copy.original_id)
    for suppression in suppressed.values():
        grouping.join(suppression.document_id, suppression.canonical_id)
    family_of = grouping.families()
    decisions = tuple(
        _decision(member, states[one], weighed, stale, suppressed, family_of, members, of_editions.get(one, Edition()))
        for one, member in members.items()
    )
    clashes = two_current(decisions, members, families)
    conflicts = _sorted([*weighed.conflicts, *clashes])
    return Resolution(flagged(decisions, clashes), tuple(weighed.relations), conflicts)


def _relations(
    members: Mapping[str, Member],
    index: ReferenceIndex,
    edges: Sequence[DuplicateEdge],
    spec: CorpusSpec,
    as_of: date,
    speakers: Speakers,
) -> tuple[list[Family], list[tuple[str, str]], Weighed]:
    """Families by name, pairs that are one family by content, and all relations weighed."""
    near = frozenset((edge.left_id, edge.right_id) for edge in edges)
    candidates, conflicts = declared_candidates(members, index, spec.versions)
    families = declared_and_named_families(members, near)
    for family in families:
        candidates.extend(family_candidates(family, near))
    related = {
        (min(one.source, one.target), max(one.source, one.target))
        for one in candidates
        if one.source is not None and one.target is not None
    }
    family_of = families_of(families)
    alike = list(similarity_candidates(members, edges, related, family_of, speakers))
    unnamed = unnamed_pairs(members, family_of, speakers)
    candidates.extend([*alike, *unnamed_candidates(members, unnamed, related | near)])
    weighed = weigh(candidates, members, spec.versions, as_of)
    weighed.conflicts[:0] = conflicts
    for conflict in conflicts:
        for one in conflict.documents:
            weighed.review.setdefault(one, conflict.message)
    return families, unnamed, weighed


@dataclass(frozen=True)
class _State:
    lifecycle: Lifecycle
    exclusion: Exclusion | None


def _states(
    members: Mapping[str, Member],
    families: Sequence[Family],
    weighed: Weighed,
    stale: Mapping[str, StaleCopy],
    spec: CorpusSpec,
    as_of: date,
) -> dict[str, _State]:
    unreleased = _unreleased(families)
    recorded = {target for _, target in weighed.accepted}
    states = {}
    for one, member in members.items():
        lifecycle, said = own_lifecycle(member, spec.versions, unreleased=unreleased.get(one, ""))
        exclusion = own_exclusion(member, lifecycle, said, as_of, has_successor=one in recorded)
        if one in weighed.effective:
            best = weighed.effective[one][0]
            exclusion = Exclusion(ExclusionReason.SUPERSEDED, best.evidence, best.source)
        elif one in stale and (exclusion is None or exclusion.reason is not ExclusionReason.SUPERSEDED):
            exclusion = _stale_exclusion(stale[one], weighed)
        states[one] = _State(lifecycle, exclusion)
    return states


def _stale_exclusion(copy: StaleCopy, weighed: Weighed) -> Exclusion:
    if copy.original_corpus:
        by = f" by {copy.successor_id}" if copy.successor_id else ""
        said = (
            f"{copy.score:.0%} alike to {copy.original_id}, which the published corpus {copy.original_corpus} holds "
            f"superseded{by}"
        )
    else:
        successor = weighed.effective[copy.original_id][0]
        said = (
            f"{copy.score:.0%} alike to {copy.original_id}, which is superseded by {successor.source} "
            f"({successor.evidence})"
        )
    return Exclusion(ExclusionReason.COPY_OF_SUPERSEDED, said, copy.original_id)


def _unreleased(families: Sequence[Family]) -> dict[str, str]:
    """Members that count as drafts because their family has a released member."""
    found: dict[str, str] = {}
    for family in families:
        released = [m for m in family.members if m.name.readiness is not Readiness.DRAFT and not m.name.copy]
        newest = any(member.name.tree == "newest" for member in family.members)
        for member in family.members:
            if member.name.readiness is Readiness.DRAFT and released:
                found[member.id] = f"name of {member.path} says draft, beside {released[0].path}"
            elif member.name.tree == "development" and newest:
                found[member.id] = f"folder of {member.path} holds unreleased text, beside a released tree"
    return found


def _suppress(
    members: Mapping[str, Member],
    texts: TextGroups,
    weighed: Weighed,
    families: Sequence[Family],
    states: Mapping[str, _State],
    clusters: Iterable[Sequence[str]],
    speakers: Speakers,
) -> dict[str, Suppression]:
    series = families_of(families, series_only=True)
    ordered = weighed.doubted | {(min(pair), max(pair)) for pair in weighed.accepted}

    def apart(left: str, right: str) -> bool:
        """Alike, yet different works, editions or versions whose order is open."""
        one, other = members[left], members[right]
        names = one.document.metadata.family, other.document.metadata.family
        return (
            (min(left, right), max(left, right)) in ordered
            or (left in series and series[left] == series.get(right))
            or (one.number is not None and other.number is not None and one.number != other.number)
            or (None not in names and names[0] != names[1])
            or speakers.speak_for_others(left, right)
            or one.independent
            or other.independent
        )

    found: dict[str, Suppression] = {}
    for cluster in clusters:
        eligible = [one for one in cluster if states[one].exclusion is None]
        found.update({one.document_id: one for one in suppressions(eligible, members, texts, apart)})
    return found


def _decision(
    member: Member,
    state: _State,
    weighed: Weighed,
    stale: Mapping[str, StaleCopy],
    suppressed: Mapping[str, Suppression],
    family_of: Mapping[str, str],
    members: Mapping[str, Member],
    edition: Edition,
) -> VersionDecision:
    one = member.id
    exclusion, suppression = state.exclusion, suppressed.get(one)
    duplicate_of = None
    if suppression is not None:
        duplicate_of = suppression.canonical_id
        said = f"says the same as {duplicate_of}, which is canonical by {suppression.reason}"
        exclusion = Exclusion(ExclusionReason.DUPLICATE, said, duplicate_of)
    superseded_by = _successor(one, weighed, suppressed)
    if superseded_by is None and one in stale and not stale[one].original_corpus:
        superseded_by = _successor(stale[one].original_id, weighed, suppressed)
        duplicate_of = stale[one].original_id
    reference = exclusion.reference if exclusion else None
    if exclusion is not None and exclusion.reason is ExclusionReason.SUPERSEDED:
        reference = superseded_by
    successor = members.get(superseded_by or "")
    valid_until = member.valid_until
    if valid_until is None and successor is not None and successor.valid_from is not None:
        valid_until = successor.valid_from - timedelta(days=1)
    return VersionDecision(
        corpus=member.document.corpus,
        document_id=one,
        family=family_of[one],
        version=member.version,
        lifecycle=state.lifecycle,
        valid_from=member.valid_from,
        valid_until=valid_until,
        superseded_by=superseded_by,
        duplicate_of=duplicate_of,
        is_canonical=exclusion is None,
        is_current=_in_force(exclusion),
        serving_state=ServingState.CURRENT if exclusion is None else ServingState.ARCHIVED,
        exclusion_reason=exclusion.reason if exclusion else None,
        exclusion_ref=reference,
        evidence=_evidence(one, exclusion, weighed),
        needs_review=one in weighed.review,
        series_key=edition.series_key,
        period_label=edition.period_label,
        period_end=edition.period_end,
        is_latest=edition.is_latest,
        organisation=member.organisation,
    )


def _in_force(exclusion: Exclusion | None) -> bool:
    """The text counts: nothing keeps it out, or only that it is not served twice or not to customers."""
    return exclusion is None or exclusion.reason in (ExclusionReason.DUPLICATE, ExclusionReason.NEVER_ANSWER)


def _successor(one: str, weighed: Weighed, suppressed: Mapping[str, Suppression]) -> str | None:
    """The direct successor, by its canonical copy."""
    if one not in weighed.effective:
        return None
    source = weighed.effective[one][0].source or ""
    return suppressed[source].canonical_id if source in suppressed else source


def _evidence(one: str, exclusion: Exclusion | None, weighed: Weighed) -> str:
    parts = [exclusion.evidence] if exclusion else []
    if one in weighed.review:
        parts.append(f"review: {weighed.review[one]}")
    return "; ".join(parts)


def _sorted(conflicts: Sequence[VersionConflict]) -> tuple[VersionConflict, ...]:
    unique = {(one.kind, one.documents, one.message): one for one in conflicts}
    return tuple(unique[key] for key in sorted(unique))
