"""What evidence must have: how fresh, how many primary sources, which categories; and a score from 0 to 100."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from corpus_pipeline.evidence.pack import EvidencePack
from corpus_pipeline.records import SourceType
from corpus_pipeline.registry import PRIMARY_CATEGORIES, SUPPORTING_CATEGORIES, EvidenceSpec

__all__ = ["EvidenceScore", "Finding", "check_policy", "score_pack", "score_types", "strictest"]

MISSING_PRIMARY = 12
MISSING_SUPPORTING = 6
LOW_DIVERSITY = 10
OFF_TOPIC = 10
MIN_DISTINCT_SOURCES = 2
MAX_OFF_TOPIC_RATIO = 0.3


@dataclass(frozen=True, slots=True)
class Finding:
    """Something about a pack that its policy does not allow.

    Attributes:
        rule: ``freshness``, ``undated``, ``primary_sources`` or ``coverage``.
        sources: Ids of the sources it is about; empty for the pack as a whole.
        blocking: False for what is only worth knowing.
    """

    rule: str
    message: str
    sources: tuple[str, ...] = ()
    blocking: bool = True


@dataclass(frozen=True, slots=True)
class EvidenceScore:
    """Quality from 0 to 100, with what was taken off and why, in points."""

    score: int
    deductions: Mapping[str, int]


def strictest(specs: Sequence[EvidenceSpec]) -> EvidenceSpec:
    """The policy of a pack over several corpora: each limit as strict as the strictest of theirs."""
    if not specs:
        return EvidenceSpec()
    categories = {category for spec in specs for category in spec.expected_categories}
    return EvidenceSpec(
        freshness_days=min(spec.freshness_days for spec in specs),
        min_primary_sources=max(spec.min_primary_sources for spec in specs),
        min_coverage=max(spec.min_coverage for spec in specs),
        expected_categories=tuple(category for category in SourceType if category in categories),
        allow_undated=all(spec.allow_undated for spec in specs),
    )


def check_policy(pack: EvidencePack, policy: EvidenceSpec, today: date) -> list[Finding]:
    """What the policy finds wrong with a pack.

    Args:
        pack: Any pack; one without sources lacks primary sources.
        policy: From the registry, see :func:`strictest`.
        today: The day freshness is counted to.
    """
    findings = _date_findings(pack, policy, today)
    primary = [source for source in pack.sources if source.source_type in PRIMARY_CATEGORIES]
    if len(primary) < policy.min_primary_sources:
        findings.append(
            Finding(
                "primary_sources", f"{len(primary)} primary sources; expected at least {policy.min_primary_sources}"
            )
        )
    expected = policy.expected_categories
    missing = [category.value for category in expected if category not in {s.source_type for s in pack.sources}]
    coverage = 1.0 - len(missing) / len(expected) if expected else 1.0
    if coverage < policy.min_coverage:
        findings.append(
            Finding(
                "coverage",
                f"covers {coverage:.2f} of the expected categories; expected at least {policy.min_coverage:.2f}; "
                f"without: {', '.join(missing)}",
            )
        )
    return findings


def score_pack(pack: EvidencePack, policy: EvidenceSpec) -> EvidenceScore:
    """Quality of a pack, see :func:`score_types`."""
    return score_types({source.source_id: source.source_type for source in pack.sources}, policy.expected_categories)


def score_types(types: Mapping[str, SourceType], expected: Collection[SourceType]) -> EvidenceScore:
    """Quality of a set of sources by where they come from.

    100, less 12 for each expected primary category that is missing (market data, user feedback,
    competitor analysis, internal data), 6 for each expected supporting one (technical research,
    expert opinion), 10 for fewer than two sources, 10 when more than 30 % of the sources are of
    no expected category.

    Args:
        types: Source type by source.
        expected: Categories an answer should rest on.

    >>> score_types({"src_001": SourceType.INTERNAL_DATA}, [SourceType.INTERNAL_DATA, SourceType.EXPERT_OPINION])
    EvidenceScore(score=84, deductions={'no EXPERT_OPINION': 6, 'fewer than 2 sources': 10})
    """
    present = set(types.values())
    deductions: dict[str, int] = {}
    for categories, points in ((PRIMARY_CATEGORIES, MISSING_PRIMARY), (SUPPORTING_CATEGORIES, MISSING_SUPPORTING)):
        deductions |= {f"no {name.value}": points for name in categories if name in expected and name not in present}
    if len(types) < MIN_DISTINCT_SOURCES:
        deductions[f"fewer than {MIN_DISTINCT_SOURCES} sources"] = LOW_DIVERSITY
    off_topic = sum(source_type not in expected for source_type in types.values())
    if types and off_topic / len(types) > MAX_OFF_TOPIC_RATIO:
        deductions[f"{off_topic} of {len(types)} sources of no expected category"] = OFF_TOPIC
    return EvidenceScore(max(0, 100 - sum(deductions.values())), deductions)


def _date_findings(pack: EvidencePack, policy: EvidenceSpec, today: date) -> list[Finding]:
    findings = []
    for source in pack.sources:
        if source.dated is None:
            continue
        age = (today - source.dated).days
        if age > policy.freshness_days:
            findings.append(
                Finding(
                    "freshness",
                    f"{source.document_id} was last reviewed {age} days ago; expected at most {policy.freshness_days}",
                    (source.source_id,),
                )
            )
    undated = tuple(source.source_id for source in pack.sources if source.dated is None)
    if undated:
        findings.append(
            Finding(
                "undated",
                f"{len(undated)} sources without last_reviewed_at or valid_from: their age is unknown",
                undated,
                blocking=not policy.allow_undated,
            )
        )
    return findings
