"""What has become of the sources of a pack since, and a new pack in its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from enum import StrEnum

from corpus_pipeline.errors import EvidenceError
from corpus_pipeline.evidence import repository
from corpus_pipeline.evidence.assembly import gather_evidence
from corpus_pipeline.evidence.pack import EvidencePack, EvidenceSource
from corpus_pipeline.evidence.policy import EvidenceScore, Finding, check_policy, score_pack, score_types, strictest
from corpus_pipeline.evidence.repository import DocumentState, StoredPack
from corpus_pipeline.evidence.validation import IntegrityFault, validate_pack
from corpus_pipeline.index import publications
from corpus_pipeline.records import SourceType
from corpus_pipeline.registry import Registry
from corpus_pipeline.store import Database

__all__ = [
    "PackReport",
    "SourceState",
    "SourceStatus",
    "keep_pack",
    "propose_pack",
    "review_pack",
    "review_packs",
    "score_corpus",
]


class SourceState(StrEnum):
    """State of a cited document in what is published now."""

    CURRENT = "current"
    REVISED = "revised"
    CHANGED = "changed"
    KEPT_OUT = "kept_out"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """One source of a pack against what is published now.

    Attributes:
        detail: The state in words.
        successor: The document that is served in its place, where one is known.
    """

    source_id: str
    document_id: str
    state: SourceState
    detail: str
    successor: str | None = None

    @property
    def is_stale(self) -> bool:
        """Whether an answer may no longer rest on it as it was cited."""
        return self.state not in {SourceState.CURRENT, SourceState.REVISED}


@dataclass(frozen=True)
class PackReport:
    """All that is wrong with a pack.

    Attributes:
        integrity: Hashes that do not hold; empty when the pack is as it was made.
        sources: What has become of each source.
        findings: What the policy of the cited corpora does not allow.
    """

    pack_id: str
    integrity: list[IntegrityFault]
    sources: list[SourceStatus]
    findings: list[Finding]
    score: EvidenceScore = field(repr=False)

    @property
    def is_stale(self) -> bool:
        """Whether a source no longer says what was cited, or may no longer answer."""
        return any(source.is_stale for source in self.sources)

    @property
    def is_sound(self) -> bool:
        """Unchanged, not stale, and within its policy."""
        return not self.integrity and not self.is_stale and not any(finding.blocking for finding in self.findings)


def review_pack(database: Database, registry: Registry, pack: EvidencePack, *, today: date | None = None) -> PackReport:
    """Validates a pack, compares it with what is published now and holds it against its policy.

    Args:
        database: An open pool; it is read past permissions, the report names documents but no text.
        registry: Policies of the cited corpora; one that is gone from it counts with the defaults.
        pack: Any pack, kept or not.
        today: The day freshness is counted to; today in UTC when absent.
    """
    return review_packs(database, registry, [pack], today=today)[0]


def review_packs(
    database: Database, registry: Registry, packs: Sequence[EvidencePack], *, today: date | None = None
) -> list[PackReport]:
    """As :func:`review_pack`, of many packs with one query for each corpus that they cite.

    Returns:
        A report of each pack, in the order given.
    """
    today = today or datetime.now(UTC).date()
    cited: dict[str, set[str]] = {}
    for pack in packs:
        for source in pack.sources:
            cited.setdefault(source.corpus, set()).add(source.document_id)
    with database.connection() as connection:
        kept = repository.kept_packs(connection, [pack.pack_id for pack in packs])
        states: dict[str, DocumentState] = {}
        for publication in publications(connection):
            if publication.corpus in cited:
                wanted = sorted(cited[publication.corpus])
                states |= repository.document_states(connection, publication, wanted)
    return [_report(registry, pack, kept.get(pack.pack_id), states, today) for pack in packs]


def _report(
    registry: Registry,
    pack: EvidencePack,
    kept: StoredPack | None,
    states: Mapping[str, DocumentState],
    today: date,
) -> PackReport:
    specs = [
        registry.corpora[slug].evidence for slug in sorted({s.corpus for s in pack.sources} & set(registry.corpora))
    ]
    policy = strictest(specs)
    return PackReport(
        pack_id=pack.pack_id,
        integrity=validate_pack(pack, kept.pack if kept else None),
        sources=[_status(source, states, today) for source in pack.sources],
        findings=check_policy(pack, policy, today),
        score=score_pack(pack, policy),
    )


def propose_pack(database: Database, registry: Registry, pack: EvidencePack) -> EvidencePack | None:
    """Asks the question of a pack again, of what is published now.

    A question that was asked for a fixed day is asked for that day again.

    Returns:
        The pack to keep in its place; ``None`` when the evidence is the same.
    """
    proposed = gather_evidence(database, registry, pack.request)
    same = [_cited(source) for source in proposed.sources] == [_cited(source) for source in pack.sources]
    return None if same else proposed.model_copy(update={"replaces": pack.pack_id})


def keep_pack(database: Database, pack: EvidencePack, who: str) -> None:
    """Stores a pack for good; the same pack again changes nothing.

    Raises:
        EvidenceError: Its hashes do not hold.
    """
    faults = validate_pack(pack)
    if faults:
        where = faults[0].source_id or "the pack"
        raise EvidenceError(
            f"{pack.pack_id}: {where}: {faults[0].what}", remedy="Gather the evidence again instead of editing a pack."
        )
    with database.connection() as connection:
        repository.save(connection, pack, who)


def score_corpus(database: Database, registry: Registry, corpus: str) -> tuple[EvidenceScore, dict[str, int]]:
    """Quality of a published corpus as evidence, and how many documents of each source type it serves.

    Raises:
        UnknownCorpusError: The registry does not have it.
        EvidenceError: It is not published.
    """
    spec = registry.corpus(corpus)
    with database.connection() as connection:
        found = [publication for publication in publications(connection) if publication.corpus == corpus]
        if not found:
            raise EvidenceError(f"{corpus} is not published", remedy=f"Run `corpus-pipeline ingest {corpus}` first.")
        types = repository.served_types(connection, found[0])
    typed = {name: SourceType(value or spec.source_type) for name, value in types.items()}
    counts = {kind.value: sum(value is kind for value in typed.values()) for kind in SourceType}
    return score_types(typed, spec.evidence.expected_categories), {name: n for name, n in counts.items() if n}


def _status(source: EvidenceSource, states: Mapping[str, DocumentState], today: date) -> SourceStatus:
    found = states.get(source.document_id)
    if found is None:
        return _as(source, SourceState.REMOVED, "no longer published")
    if found.exclusion_reason is not None:
        reason = found.exclusion_reason.replace("_", " ")
        by = f" by {found.exclusion_ref}" if found.exclusion_ref and found.exclusion_reason == "superseded" else ""
        return _as(source, SourceState.KEPT_OUT, f"{reason}{by}", found.exclusion_ref)
    if found.valid_until is not None and found.valid_until < today:
        return _as(source, SourceState.KEPT_OUT, f"expired, valid until {found.valid_until}")
    lost = [locator for locator in source.locators if locator.excerpt_hash not in found.fragment_sha256s]
    if lost:
        return _as(source, SourceState.CHANGED, f"{len(lost)} of {len(source.locators)} excerpts are no longer in it")
    if (found.source_sha256, found.text_sha256) != (source.source_sha256, source.text_sha256):
        return _as(source, SourceState.REVISED, "the file changed elsewhere; every excerpt is still in it")
    return _as(source, SourceState.CURRENT, "as cited")


def _as(source: EvidenceSource, state: SourceState, detail: str, successor: str | None = None) -> SourceStatus:
    return SourceStatus(source.source_id, source.document_id, state, detail, successor)


def _cited(source: EvidenceSource) -> tuple[str, str, tuple[str, ...]]:
    return source.document_id, source.source_sha256, tuple(locator.excerpt_hash for locator in source.locators)
