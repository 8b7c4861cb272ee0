"""Comparing a corpus: from the documents that changed to the edges and clusters that change with them.

Profiles and signatures are stored by content, batch by batch, so that a run that is killed loses at
most one batch. What belongs to the corpus is only read here; :class:`ComparisonChange` says what is
to be written. Everything is a function of the documents the corpus holds: a run that starts from what
the last one left ends where a run from nothing ends.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from corpus_pipeline.deduplication.boilerplate import SAMPLE_DOCUMENTS, TextProfile, boilerplate_lines, removed_lines
from corpus_pipeline.deduplication.change import ComparisonChange, changed_result
from corpus_pipeline.deduplication.clusters import ComparedDocument, duplicate_classes
from corpus_pipeline.deduplication.computation import SigningTask, in_batches, profile_batch, sign_batch
from corpus_pipeline.deduplication.kernels import UInt64
from corpus_pipeline.deduplication.parameters import ComparisonParameters
from corpus_pipeline.deduplication.search import find_pairs
from corpus_pipeline.deduplication.signature_store import (
    Words,
    known_words,
    profiles_of,
    register_signatures,
    store_profiles,
    stored_signatures,
)
from corpus_pipeline.deduplication.signatures import SignedText
from corpus_pipeline.deduplication.stored_comparison import StoredComparison
from corpus_pipeline.records import Stage, canonical_json, sha256_hex
from corpus_pipeline.store import Connection, Database, Progress

__all__ = ["Changes", "DocumentText", "TextSource", "compare_corpus", "settings_digest"]

SETTINGS_VERSION = "2"
"""Goes up when the same documents and settings give another result."""
WAVE_BYTES = 64_000_000
"""Shingles that are stored at once: index pages are written once for many signatures."""
WAVE_PROFILES = 20_000
_STAGE = Stage.NEAR_DUPLICATE_CLUSTERS


DocumentText = tuple[str, str]
"""``(document_id, text_sha256)``."""


class TextSource(Protocol):
    """Where texts come from."""

    def __call__(self, wanted: Sequence[DocumentText], /) -> Iterator[tuple[str, str]]:
        """``(text_sha256, text)`` of each text asked for, in any order; each is named with a document that has it."""


@dataclass(frozen=True, slots=True)
class Changes:
    """How the documents of a corpus differ from those last compared.

    Attributes:
        new: Documents that are new or have another text.
        gone: Documents that are no longer there.
    """

    new: list[DocumentText]
    gone: list[str]


@dataclass(frozen=True, slots=True)
class _Work:
    database: Database
    texts: TextSource
    parameters: ComparisonParameters
    workers: int
    progress: Progress


@dataclass(frozen=True, slots=True)
class _Classes:
    """Documents by the hash of their words, for the words whose documents changed.

    Attributes:
        before: As they were compared.
        after: ``(document_id, text_sha256)`` of those there are now.
    """

    before: list[ComparedDocument]
    after: dict[str, list[DocumentText]]


def settings_digest(parameters: ComparisonParameters, *, remove_boilerplate: bool) -> str:
    """What decides the result besides the documents."""
    return sha256_hex(canonical_json([SETTINGS_VERSION, parameters.sha256, remove_boilerplate]))


def compare_corpus(
    database: Database,
    corpus: str,
    changes_of: Callable[[Connection, bool], Changes],
    texts: TextSource,
    parameters: ComparisonParameters,
    *,
    remove_boilerplate: bool,
    workers: int,
    progress: Progress,
) -> ComparisonChange:
    """Compares what changed in a corpus with everything it holds.

    Args:
        database: Holds what the last run left.
        corpus: Slug.
        changes_of: Reads the changes; its second argument asks for all documents as new ones, because
            the corpus was never compared or was compared by other settings.
        texts: Gives the texts that have to be read.
        parameters: Shingles, signature, thresholds.
        remove_boilerplate: Take out lines the corpus repeats before shingles are made.
        workers: Processes for many new texts, threads for many pairs.
        progress: Where work is reported.
    """
    work = _Work(database, texts, parameters, workers, progress)
    settings = settings_digest(parameters, remove_boilerplate=remove_boilerplate)
    with database.connection() as connection:
        stored = StoredComparison.read(connection, corpus, settings)
        changes = changes_of(connection, not stored.counts)
        words = _words(work, connection, changes.new)
        classes = _changed_classes(stored, changes, words)
        lines = _boilerplate(connection, stored, classes) if remove_boilerplate else stored.boilerplate[:0]
        _add_holders(stored, classes, lines)
        signed, computed = _signatures(work, connection, classes, lines)
        after = _compared(classes, signed)
        found = find_pairs(connection, stored, classes.before, after, parameters, workers)
        return changed_result(
            stored, classes.before, after, found, parameters,
            settings_sha256=settings, boilerplate=lines, computed=computed,
        )  # fmt: skip


def _words(work: _Work, connection: Connection, documents: Iterable[DocumentText]) -> dict[str, Words]:
    """The words of all texts; profiles that are not stored are computed and stored."""
    holder = {text: document_id for document_id, text in documents}
    words = known_words(connection, holder)
    missing = sorted((document_id, text) for text, document_id in holder.items() if text not in words)
    if not missing:
        return words
    work.progress.start(_STAGE, len(missing), "texts to profile")
    wave: list[TextProfile] = []
    for batch in in_batches(profile_batch, work.texts(missing), length=_length, workers=work.workers):
        wave += batch
        if len(wave) >= WAVE_PROFILES:
            _store_profiles(work, wave)
            wave = []
        words.update((item.text_sha256, Words(item.normalised_sha256, item.word_count)) for item in batch)
        work.progress.advance(len(batch))
    _store_profiles(work, wave)
    return words


def _store_profiles(work: _Work, wave: Sequence[TextProfile]) -> None:
    with work.database.connection() as connection:
        store_profiles(connection, wave)


def _length(item: tuple[str, str]) -> int:
    return len(item[1])


def _task_length(task: SigningTask) -> int:
    return len(task[1])


def _changed_classes(stored: StoredComparison, changes: Changes, words: Mapping[str, Words]) -> _Classes:
    left = {*changes.gone, *(document_id for document_id, _ in changes.new)}
    by_words: dict[str, list[DocumentText]] = defaultdict(list)
    for document_id, text in changes.new:
        by_words[words[text].normalised_sha256].append((document_id, text))
    touched = {*by_words, *(row.normalised_sha256 for row in stored.documents(left))}
    before = stored.with_words(touched)
    for row in before:
        if row.document_id not in left:
            by_words[row.normalised_sha256].append((row.document_id, row.text_sha256))
    return _Classes(before, dict(by_words))


def _boilerplate(connection: Connection, stored: StoredComparison, classes: _Classes) -> UInt64:
    """The lines to take out, decided from the first documents of the corpus by the hash of their words."""
    touched = {*classes.after, *(row.normalised_sha256 for row in classes.before)}
    firsts = stored.smallest_classes(touched, SAMPLE_DOCUMENTS)
    firsts += [(words, min(text for _, text in documents)) for words, documents in classes.after.items()]
    sample = [text for _, text in sorted(firsts)[:SAMPLE_DOCUMENTS]]
    return boilerplate_lines(list(profiles_of(connection, sample)))


def _add_holders(stored: StoredComparison, classes: _Classes, lines: UInt64) -> None:
    """Adds the documents from which other lines are to be taken out than before.

    They are found by reading the lines of all documents. That is only done when a line has become
    boilerplate or ceased to be, and then a fair share of all documents has to be signed anew.
    """
    flipped = np.setxor1d(stored.boilerplate, lines)
    if not flipped.size:
        return
    touched = {*classes.after, *(row.normalised_sha256 for row in classes.before)}
    holders = {
        item.normalised_sha256
        for item in stored.profiles()
        if item.normalised_sha256 not in touched
        and np.isin(item.line_digests, flipped).any()
        and not np.array_equal(removed_lines(item, stored.boilerplate), removed_lines(item, lines))
    }
    rows = stored.with_words(holders)
    classes.before.extend(rows)
    for row in rows:
        classes.after.setdefault(row.normalised_sha256, []).append((row.document_id, row.text_sha256))


def _signatures(work: _Work, connection: Connection, classes: _Classes, lines: UInt64) -> tuple[dict[str, int], int]:
    """Signature of the text of each representative that has enough words, and how many were computed."""
    holder = {text: document_id for document_id, text in map(min, classes.after.values())}
    found = known_words(connection, holder)
    enough = [text for text in holder if found[text].word_count >= work.parameters.shingle_words]
    removed = dict.fromkeys(enough, b"")
    if lines.size:
        for item in profiles_of(connection, enough):
            removed[item.text_sha256] = removed_lines(item, lines).astype("<u8").tobytes()
    prefix = work.parameters.sha256
    keys = {text: bytes.fromhex(sha256_hex(f"{prefix} {text} {out.hex()}")) for text, out in removed.items()}
    with work.database.connection() as other:
        ids = stored_signatures(other, keys.values())
    missing = sorted((holder[text], text) for text, key in keys.items() if key not in ids)
    if missing:
        work.progress.start(_STAGE, len(missing), "signatures to compute")
        for wave in _signed_waves(work, missing, keys, removed):
            with work.database.connection() as other:
                ids |= register_signatures(other, wave)
    return {text: ids[key] for text, key in keys.items()}, len(missing)


def _signed_waves(
    work: _Work, missing: Sequence[DocumentText], keys: Mapping[str, bytes], removed: Mapping[str, bytes]
) -> Iterator[list[SignedText]]:
    tasks = ((keys[sha], text, removed[sha], work.parameters) for sha, text in work.texts(missing))
    wave: list[SignedText] = []
    size = 0
    for batch in in_batches(sign_batch, tasks, length=_task_length, workers=work.workers):
        wave += batch
        size += sum(len(item.shingles) for item in batch)
        work.progress.advance(len(batch))
        if size >= WAVE_BYTES:
            yield wave
            wave, size = [], 0
    yield wave


def _compared(classes: _Classes, signed: Mapping[str, int]) -> list[ComparedDocument]:
    rows = [
        ComparedDocument(document_id, text, words)
        for words, documents in classes.after.items()
        for document_id, text in documents
    ]
    representatives = duplicate_classes(rows)
    return [
        ComparedDocument(
            row.document_id,
            row.text_sha256,
            row.normalised_sha256,
            signed.get(row.text_sha256) if row.document_id in representatives else None,
        )
        for row in rows
    ]
