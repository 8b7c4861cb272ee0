"""Comparing the texts of a corpus: profiles, signatures, verified pairs, each only for what is new.

Every step stores its results by content in a transaction of its own, so that a run that is
killed loses at most one batch, and the next one goes on from there to the same end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from corpus_pipeline.deduplication import repository
from corpus_pipeline.deduplication.boilerplate import TextProfile, boilerplate_lines, removed_lines
from corpus_pipeline.deduplication.candidates import pair_blocks, verified_pairs
from corpus_pipeline.deduplication.clusters import ComparedDocument, SignaturePair, duplicate_classes
from corpus_pipeline.deduplication.computation import SigningTask, in_batches, profile_batch, sign_batch
from corpus_pipeline.deduplication.kernels import UInt64
from corpus_pipeline.deduplication.parameters import ComparisonParameters
from corpus_pipeline.records import Stage, sha256_hex
from corpus_pipeline.store import Database, Progress

__all__ = ["Comparison", "TextSource", "compare_documents"]

SEARCH_SIGNATURES = 1000
SEARCH_SHINGLES = 1_000_000
_STAGE = Stage.NEAR_DUPLICATE_CLUSTERS


class TextSource(Protocol):
    """Where texts come from."""

    def __call__(self, text_sha256s: Sequence[str], /) -> Iterator[tuple[str, str]]:
        """``(text_sha256, text)`` of each text asked for, in any order."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the comparison of a corpus found.

    Attributes:
        documents: In the order given.
        pairs: Verified pairs of their signatures.
        computed: Signatures computed now.
        reused: Signatures that were stored already.
        boilerplate: Lines taken for boilerplate.
    """

    documents: list[ComparedDocument]
    pairs: list[SignaturePair]
    computed: int
    reused: int
    boilerplate: int


@dataclass(frozen=True, slots=True)
class _Work:
    database: Database
    texts: TextSource
    workers: int
    progress: Progress


def compare_documents(
    database: Database,
    documents: Sequence[tuple[str, str]],
    texts: TextSource,
    parameters: ComparisonParameters,
    *,
    remove_boilerplate: bool,
    workers: int,
    progress: Progress,
) -> Comparison:
    """Compares documents with each other and with everything stored under the same parameters.

    Args:
        database: Holds profiles, signatures and pairs of earlier runs.
        documents: ``(document_id, text_sha256)`` of a whole corpus.
        texts: Gives the texts that have to be read.
        parameters: Shingles, signature, thresholds.
        remove_boilerplate: Take out lines the corpus repeats before shingles are made.
        workers: Processes for many new texts.
        progress: Where work is reported.
    """
    work = _Work(database, texts, workers, progress)
    profiles = _profiles(work, sorted({text_sha256 for _, text_sha256 in documents}))
    compared = [
        ComparedDocument(document_id, text_sha256, profiles[text_sha256].normalised_sha256)
        for document_id, text_sha256 in documents
    ]
    lines = boilerplate_lines(list(profiles.values())) if remove_boilerplate else None
    representatives = duplicate_classes(compared)
    removed = {
        item.text_sha256: _removed(profiles[item.text_sha256], lines)
        for item in compared
        if item.document_id in representatives and profiles[item.text_sha256].word_count >= parameters.shingle_words
    }
    ids, computed = _signatures(work, removed, parameters)
    _search(work, ids, parameters)
    with database.connection() as connection:
        pairs = repository.pairs_within(connection, sorted(ids.values()))
    return Comparison(
        documents=[
            ComparedDocument(
                item.document_id,
                item.text_sha256,
                item.normalised_sha256,
                ids.get(item.text_sha256) if item.document_id in representatives else None,
            )
            for item in compared
        ],
        pairs=pairs,
        computed=computed,
        reused=len(ids) - computed,
        boilerplate=0 if lines is None else lines.size,
    )


def _removed(profile: TextProfile, lines: UInt64 | None) -> bytes:
    return b"" if lines is None else removed_lines(profile, lines).astype("<u8").tobytes()


def _profiles(work: _Work, text_sha256s: Sequence[str]) -> dict[str, TextProfile]:
    """Profiles of all texts; those not stored are computed and stored."""
    with work.database.connection() as connection:
        profiles = repository.known_profiles(connection, text_sha256s)
    missing = [key for key in text_sha256s if key not in profiles]
    if not missing:
        return profiles
    work.progress.start(_STAGE, len(missing), "texts to profile")
    for batch in in_batches(profile_batch, work.texts(missing), length=_length, workers=work.workers):
        with work.database.connection() as connection:
            repository.store_profiles(connection, batch)
        profiles.update((item.text_sha256, item) for item in batch)
        work.progress.advance(len(batch))
    return profiles


def _length(item: tuple[str, str]) -> int:
    return len(item[1])


def _task_length(task: SigningTask) -> int:
    return len(task[1])


def _signatures(
    work: _Work, removed: Mapping[str, bytes], parameters: ComparisonParameters
) -> tuple[dict[str, int], int]:
    """Ids of the signatures by text, and how many were computed; ``removed`` is the lines to take out by text."""
    keys = {text: sha256_hex(f"{parameters.sha256} {text} {lines.hex()}") for text, lines in removed.items()}
    with work.database.connection() as connection:
        stored = repository.stored_signatures(connection, sorted(keys.values()))
    missing = sorted(text for text, key in keys.items() if key not in stored)
    if missing:
        work.progress.start(_STAGE, len(missing), "signatures to compute")
        _register(work, missing, keys, removed, parameters)
        with work.database.connection() as connection:
            stored |= repository.stored_signatures(connection, [keys[text] for text in missing])
    return {text: stored[key] for text, key in keys.items()}, len(missing)


def _register(
    work: _Work,
    missing: Sequence[str],
    keys: Mapping[str, str],
    removed: Mapping[str, bytes],
    parameters: ComparisonParameters,
) -> None:
    text_of = {keys[text]: text for text in missing}
    tasks = ((keys[sha], text, removed[sha], parameters) for sha, text in work.texts(missing))
    for batch in in_batches(sign_batch, tasks, length=_task_length, workers=work.workers):
        with work.database.connection() as connection:
            signatures = {key: (text_of[key], signature) for key, signature in batch}
            repository.register_signatures(connection, signatures, parameters)
        work.progress.advance(len(batch))


def _search(work: _Work, ids: Mapping[str, int], parameters: ComparisonParameters) -> None:
    """Finds and verifies the pairs of every signature that was not searched yet."""
    with work.database.connection() as connection:
        sizes = repository.unsearched_sizes(connection, sorted(set(ids.values())))
    if not sizes:
        return
    pending = set(sizes)
    work.progress.start(_STAGE, len(pending), "signatures to compare")
    for batch in _search_batches(sizes):
        with work.database.connection() as connection:
            searched = repository.unsearched_signatures(connection, batch)
            pairs, pair_sizes = repository.candidate_pairs(connection, searched, pending, parameters)
            for block in pair_blocks(sorted(pairs), pair_sizes):
                sets = repository.shingle_sets(connection, {side for pair in block for side in pair})
                repository.store_pairs(connection, verified_pairs(block, sets, parameters))
            repository.mark_searched(connection, batch)
        pending.difference_update(batch)
        work.progress.advance(len(batch))


def _search_batches(sizes: Mapping[int, int]) -> Iterator[list[int]]:
    """Signatures in order, in lists of bounded number and total shingles."""
    batch: list[int] = []
    total = 0
    for signature_id in sorted(sizes):
        batch.append(signature_id)
        total += sizes[signature_id]
        if len(batch) >= SEARCH_SIGNATURES or total >= SEARCH_SHINGLES:
            yield batch
            batch, total = [], 0
    if batch:
        yield batch
