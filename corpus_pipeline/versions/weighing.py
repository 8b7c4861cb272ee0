"""Weighing candidates: what is accepted, what contradicts, what takes effect.

A relation is recorded as soon as either document says it. It takes effect, and makes the older
document stale, only when the newer one is in force on the day decided for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from corpus_pipeline.records import VersionRelation
from corpus_pipeline.registry import VersionsSpec
from corpus_pipeline.versions import conflicts as kinds
from corpus_pipeline.versions.candidates import Candidate, Strength
from corpus_pipeline.versions.conflicts import VersionConflict
from corpus_pipeline.versions.members import Member

__all__ = ["Weighed", "weigh"]

REVIEW_FLOOR = 0.5
"""Below it a relation that rests on likeness is not worth a person's time: it is stored, and the two stay apart."""


class _Graph:
    """Accepted edges from newer to older."""

    def __init__(self) -> None:
        self.older: dict[str, set[str]] = defaultdict(set)
        self.newer: dict[str, set[str]] = defaultdict(set)

    def add(self, candidate: Candidate) -> None:
        if candidate.source is not None and candidate.target is not None:
            self.older[candidate.source].add(candidate.target)
            self.newer[candidate.target].add(candidate.source)

    def comes_after(self, newer: str, older: str) -> bool:
        return older in _reach(newer, self.older)


@dataclass
class Weighed:
    """The outcome.

    Attributes:
        accepted: Supersession candidates that hold, by ``(source, target)``.
        effective: Those of them whose source is in force, by target, direct successor first.
        review: What a person should look at, by document id.
        doubted: Pairs of ids, smaller first, whose order is open.
        graph: The accepted relations, for questions of order.
    """

    relations: list[VersionRelation] = field(default_factory=list)
    conflicts: list[VersionConflict] = field(default_factory=list)
    accepted: dict[tuple[str, str], Candidate] = field(default_factory=dict)
    effective: dict[str, list[Candidate]] = field(default_factory=dict)
    review: dict[str, str] = field(default_factory=dict)
    doubted: set[tuple[str, str]] = field(default_factory=set)
    graph: _Graph = field(default_factory=_Graph)

    def newer_than(self, document_id: str) -> set[str]:
        """All documents that come after this one by accepted relations."""
        return set(_reach(document_id, self.graph.newer))


def _reach(start: str, graph: Mapping[str, Iterable[str]]) -> dict[str, None]:
    seen: dict[str, None] = {}
    waiting = list(graph.get(start, ()))
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen[node] = None
            waiting.extend(graph.get(node, ()))
    return seen


def weigh(candidates: Sequence[Candidate], members: Mapping[str, Member], spec: VersionsSpec, as_of: date) -> Weighed:
    """Accepts candidates, strongest first, and says which take effect."""
    weighed = Weighed()
    graph = weighed.graph
    supersessions: list[Candidate] = []
    for candidate in _strongest(candidates):
        if candidate.source is None or candidate.target is None:
            _record(weighed, candidate, members, note="not in this corpus")
        elif candidate.relation != "supersedes":
            certain = candidate.confidence >= spec.min_confidence
            _record(weighed, candidate, members, applied=certain, note="" if certain else "below min_confidence")
        elif candidate.confidence < spec.min_confidence:
            _doubt(weighed, candidate, members, f"confidence {candidate.confidence:.2f} is below min_confidence")
        else:
            supersessions.append(candidate)
    for strength in Strength:
        level = [candidate for candidate in supersessions if candidate.strength is strength]
        _accept_level(level, graph, weighed, members, spec)
    _take_effect(weighed, graph, members, as_of)
    weighed.relations.sort(
        key=lambda one: (one.target_id or "", one.source_id or "", one.relation, one.rule, one.evidence)
    )
    return weighed


def _strongest(candidates: Sequence[Candidate]) -> list[Candidate]:
    best: dict[tuple[str, ...], Candidate] = {}
    for candidate in candidates:
        ends = (
            candidate.source or f"?{candidate.source_reference}",
            candidate.target or f"?{candidate.target_reference}",
        )
        key = (*ends, candidate.relation)
        known = best.get(key)
        if known is None or _order(candidate) < _order(known):
            best[key] = candidate
    # A pair that one supersedes is not amended as well.
    superseded = {key[:2] for key, one in best.items() if key[2] == "supersedes"}
    kept = [one for key, one in best.items() if key[2] != "amends" or key[:2] not in superseded]
    return sorted(kept, key=lambda one: (_order(one), one.source or "", one.target or "", one.relation))


def _order(candidate: Candidate) -> tuple[int, float, str, str]:
    return candidate.strength, -candidate.confidence, candidate.rule, candidate.evidence


def _accept_level(
    level: list[Candidate], graph: _Graph, weighed: Weighed, members: Mapping[str, Member], spec: VersionsSpec
) -> None:
    standing = []
    for candidate in level:
        source, target = _ends(candidate)
        if graph.comes_after(target, source):
            stronger = weighed.accepted.get((target, source))
            said = stronger.evidence if stronger else "through other documents"
            weighed.conflicts.append(kinds.contradiction(members[source], members[target], candidate.evidence, said))
            _record(weighed, candidate, members, note="contradicted by stronger evidence")
        elif candidate.strength is Strength.SIMILARITY and graph.newer.get(target):
            _record(weighed, candidate, members, note="stronger evidence names another successor")
        else:
            standing.append(candidate)
    trial = _Graph()
    for candidate in [*weighed.accepted.values(), *standing]:
        trial.add(candidate)
    ring = [one for one in standing if trial.comes_after(_ends(one)[1], _ends(one)[0])]
    settled = _report_rings(ring, trial, weighed, members, newest=spec.conflicts == "newest")
    for candidate in standing:
        if candidate not in ring or candidate in settled:
            weighed.accepted[_ends(candidate)] = candidate
            graph.add(candidate)
        else:
            _doubt(weighed, candidate, members, "part of a conflict")


def _report_rings(
    ring: list[Candidate], trial: _Graph, weighed: Weighed, members: Mapping[str, Member], *, newest: bool
) -> set[Candidate]:
    """Reports each ring once; with ``newest`` returns the candidates that follow the dates."""
    settled: set[Candidate] = set()
    reported: set[str] = set()
    for candidate in ring:
        source = _ends(candidate)[0]
        if source in reported:
            continue
        in_ring = sorted({source} | {one for one in _reach(source, trial.older) if trial.comes_after(one, source)})
        reported |= set(in_ring)
        of_ring = [one for one in ring if set(_ends(one)) <= set(in_ring)]
        dated = [members[one].dated for one in in_ring]
        resolved = newest and None not in dated and len(set(dated)) == len(dated)
        if resolved:
            settled |= {one for one in of_ring if _dates_agree(one, members)}
        ordered = [members[one] for one in in_ring]
        if len(in_ring) == 2:  # noqa: PLR2004 - a ring of two is a pair
            evidence = "; ".join(one.evidence for one in of_ring)
            weighed.conflicts.append(kinds.both_directions(ordered[0], ordered[1], evidence, resolved=resolved))
        else:
            weighed.conflicts.append(kinds.cycle(ordered, resolved=resolved))
    return settled


def _dates_agree(candidate: Candidate, members: Mapping[str, Member]) -> bool:
    source, target = _ends(candidate)
    newer, older = members[source].dated, members[target].dated
    return newer is not None and older is not None and newer > older


def _take_effect(weighed: Weighed, graph: _Graph, members: Mapping[str, Member], as_of: date) -> None:
    effective: dict[str, list[Candidate]] = defaultdict(list)
    for (source, target), candidate in sorted(weighed.accepted.items()):
        missing = members[source].adoption(as_of)
        _record(
            weighed,
            candidate,
            members,
            applied=not missing,
            note=f"recorded, without effect: {members[source].path} is not in force: {missing}" if missing else "",
        )
        if not missing:
            effective[target].append(candidate)
    for target, successors in sorted(effective.items()):
        weighed.effective[target] = sorted(successors, key=lambda one: _preference(one, successors, graph, members))


def _preference(
    candidate: Candidate, successors: Sequence[Candidate], graph: _Graph, members: Mapping[str, Member]
) -> tuple[bool, int, float, int, str]:
    """The direct successor first: one that replaces another successor comes later."""
    source = _ends(candidate)[0]
    indirect = any(graph.comes_after(source, _ends(other)[0]) for other in successors if other is not candidate)
    dated = members[source].dated
    return indirect, candidate.strength, -candidate.confidence, -(dated.toordinal() if dated else 0), source


def _doubt(weighed: Weighed, candidate: Candidate, members: Mapping[str, Member], note: str) -> None:
    source, target = _ends(candidate)
    weighed.doubted.add((min(source, target), max(source, target)))
    if candidate.strength is Strength.SIMILARITY and candidate.confidence < REVIEW_FLOOR:
        _record(weighed, candidate, members, note="unlikely; the two are kept apart")
        return
    weighed.review.setdefault(target, f"may be superseded by {source}: {note} ({candidate.evidence})")
    _record(weighed, candidate, members, note=f"needs review: {note}")


def _ends(candidate: Candidate) -> tuple[str, str]:
    return candidate.source or "", candidate.target or ""


def _record(
    weighed: Weighed, candidate: Candidate, members: Mapping[str, Member], *, applied: bool = False, note: str = ""
) -> None:
    corpus = members[candidate.source or candidate.target or ""].document.corpus
    weighed.relations.append(
        VersionRelation(
            corpus=corpus,
            source_id=candidate.source,
            target_id=candidate.target,
            source_reference=candidate.source_reference,
            target_reference=candidate.target_reference,
            relation=candidate.relation,
            rule=candidate.rule,
            evidence=candidate.evidence,
            confidence=candidate.confidence,
            applied=applied,
            note=note,
        )
    )
