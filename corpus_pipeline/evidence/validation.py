"""Is a pack still what it was when it was made? Needs the pack alone."""

from __future__ import annotations

from dataclasses import dataclass

from corpus_pipeline.evidence.pack import EvidencePack, EvidenceSource, evidence_hash
from corpus_pipeline.records import sha256_hex

__all__ = ["IntegrityFault", "validate_pack"]


@dataclass(frozen=True, slots=True)
class IntegrityFault:
    """Something in a pack that its hashes do not allow.

    Attributes:
        source_id: The source it is in; ``None`` for the pack as a whole.
    """

    source_id: str | None
    what: str


def validate_pack(pack: EvidencePack, known: EvidencePack | None = None) -> list[IntegrityFault]:
    """Recomputes every hash of a pack.

    Args:
        pack: From wherever it was kept.
        known: The pack of that id as the store has it: with it, a source that was changed
            together with its own hashes is named too.

    Returns:
        The faults; none when the pack is as it was made.
    """
    faults = [fault for source in pack.sources for fault in _source_faults(source)]
    if [source.source_id for source in pack.sources] != sorted({source.source_id for source in pack.sources}):
        faults.append(IntegrityFault(None, "source ids are not unique and in order"))
    if evidence_hash(pack.sources) != pack.evidence_hash:
        faults.append(
            IntegrityFault(None, f"the sources do not hash to {pack.evidence_hash}: one was changed, added or removed")
        )
    return faults + (_differences(pack, known) if known is not None else [])


def _source_faults(source: EvidenceSource) -> list[IntegrityFault]:
    faults = []
    for locator in source.locators:
        if sha256_hex(locator.excerpt) != locator.excerpt_hash:
            faults.append(IntegrityFault(source.source_id, f"the excerpt of {locator.fragment_id} was changed"))
        if locator.line_start and locator.line_end and locator.line_end < locator.line_start:
            faults.append(IntegrityFault(source.source_id, f"{locator.fragment_id} ends before it starts"))
    return faults


def _differences(pack: EvidencePack, known: EvidencePack) -> list[IntegrityFault]:
    found = {source.source_id: source for source in pack.sources}
    kept = {source.source_id: source for source in known.sources}
    faults = []
    for name in sorted(found.keys() | kept.keys()):
        if name not in kept:
            faults.append(IntegrityFault(name, "was added"))
        elif name not in found:
            faults.append(IntegrityFault(name, "was removed"))
        elif found[name] != kept[name]:
            changed = [
                key for key in EvidenceSource.model_fields if getattr(found[name], key) != getattr(kept[name], key)
            ]
            faults.append(IntegrityFault(name, f"differs from what was stored in: {', '.join(changed)}"))
    return faults
