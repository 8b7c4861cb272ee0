"""Profiles and signatures by content, shared by all corpora, and the indexes signatures are found by."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from corpus_pipeline.deduplication.binary_format import Bigints, copy_bigint_pairs, copy_rows, pass_bigints
from corpus_pipeline.deduplication.boilerplate import TextProfile
from corpus_pipeline.deduplication.kernels import Int64, UInt64
from corpus_pipeline.deduplication.normalisation import NORMALISATION_VERSION
from corpus_pipeline.deduplication.signatures import SignedText
from corpus_pipeline.deduplication.sketches import Sketches
from corpus_pipeline.store import Connection, load_queries

__all__ = [
    "Words",
    "delete_abandoned_signatures",
    "known_words",
    "profile_of",
    "profiles_of",
    "register_signatures",
    "shingle_sets",
    "sketches_of",
    "slices",
    "store_profiles",
    "stored_signatures",
]

LOOKUP_ROWS = 10_000
ABANDONED_DAYS = 30


class Words(NamedTuple):
    """What is known of a text without reading it: the hash of its words, and how many in its lines."""

    normalised_sha256: str
    word_count: int


def _queries() -> Any:
    return load_queries("deduplication")


def slices(keys: Iterable[Any]) -> Iterator[list[Any]]:
    """Keys in lists short enough for one query."""
    listed = list(keys)
    for start in range(0, len(listed), LOOKUP_ROWS):
        yield listed[start : start + LOOKUP_ROWS]


def _uint64(stored: bytes) -> UInt64:
    return np.frombuffer(stored, dtype="<u8").astype(np.uint64, copy=False)


def known_words(connection: Connection, text_sha256s: Iterable[str]) -> dict[str, Words]:
    """The words of the texts that have a stored profile."""
    return {
        row["text_sha256"]: Words(row["normalised_sha256"], row["word_count"])
        for keys in slices(text_sha256s)
        for row in _queries().known_words(connection, normaliser=NORMALISATION_VERSION, text_sha256s=keys)
    }


def profiles_of(connection: Connection, text_sha256s: Iterable[str]) -> Iterator[TextProfile]:
    """Stored profiles of texts, in no order."""
    for keys in slices(text_sha256s):
        for row in _queries().text_profiles(connection, normaliser=NORMALISATION_VERSION, text_sha256s=keys):
            yield profile_of(row)


def profile_of(row: dict[str, Any]) -> TextProfile:
    """A profile from its row."""
    return TextProfile(
        text_sha256=row["text_sha256"],
        normalised_sha256=row["normalised_sha256"],
        word_count=row["word_count"],
        line_digests=_uint64(row["line_digests"]),
        line_words=np.frombuffer(row["line_words"], dtype="<u4"),
    )


def store_profiles(connection: Connection, profiles: Sequence[TextProfile]) -> None:
    """Stores profiles; those already there stay."""
    _queries().lock_registration(connection)
    known = known_words(connection, [item.text_sha256 for item in profiles])
    copy_rows(
        connection,
        _queries().copy_profiles.sql,
        (
            (
                item.text_sha256.encode(),
                NORMALISATION_VERSION.encode(),
                item.normalised_sha256.encode(),
                struct.pack("!i", item.word_count),
                item.line_digests.astype("<u8", copy=False).tobytes(),
                item.line_words.astype("<u4", copy=False).tobytes(),
            )
            for item in sorted(profiles, key=lambda item: item.text_sha256)
            if item.text_sha256 not in known
        ),
    )


def stored_signatures(connection: Connection, keys: Iterable[bytes]) -> dict[bytes, int]:
    """Ids of the stored signatures by key; they will not be removed while this run lasts."""
    ids: dict[bytes, int] = {}
    for some in slices(keys):
        found = {
            bytes(row["signature_sha256"]): row["signature_id"]
            for row in _queries().stored_signatures(connection, signature_sha256s=some)
        }
        _queries().claim_signatures(connection, signature_ids=list(found.values()))
        ids |= found
    return ids


def register_signatures(connection: Connection, signed: Sequence[SignedText]) -> dict[bytes, int]:
    """Stores signatures and puts them into both candidate indexes; those already there stay.

    Args:
        connection: In a transaction of its own.
        signed: Computed signatures; any number, the more at once the cheaper.

    Returns:
        Their ids by key.
    """
    _queries().lock_registration(connection)
    ids = stored_signatures(connection, [item.key for item in signed])
    new = sorted((item for item in signed if item.key not in ids), key=lambda item: item.key)
    if not new:
        return ids
    numbers = [row["signature_id"] for row in _queries().next_signature_ids(connection, count=len(new))]
    copy_rows(connection, _queries().copy_signatures.sql, map(_signature_row, numbers, new))
    repeated = np.array(numbers, dtype=np.int64)
    for statement, keys in (
        (_queries().copy_bands.sql, [item.band_keys for item in new]),
        (_queries().copy_containment_keys.sql, [item.shingle_keys for item in new]),
    ):
        owners = np.repeat(repeated, [len(found) // 8 for found in keys])
        copy_bigint_pairs(connection, statement, np.frombuffer(b"".join(keys), dtype="<i8").astype(np.int64), owners)
    _queries().insert_unused(connection, signature_ids=numbers)
    return ids | dict(zip((item.key for item in new), numbers, strict=True))


def _signature_row(number: int, item: SignedText) -> tuple[bytes, ...]:
    return (
        struct.pack("!q", number),
        item.key,
        struct.pack("!i", len(item.shingles) // 8),
        struct.pack("!i", item.dense_count),
        struct.pack("!i", item.sparse_count),
        item.band_keys,
        item.shingle_keys,
        item.shingles,
    )


def sketches_of(connection: Connection, signature_ids: Int64, *, with_keys: bool) -> Sketches:
    """What signatures are found by; without keys, only sizes and order."""
    query = _queries().sketches if with_keys else _queries().sketch_sizes
    rows = [row for ids in slices(np.unique(signature_ids).tolist()) for row in query(connection, signature_ids=ids)]
    return Sketches.of(rows, with_keys=with_keys)


def shingle_sets(connection: Connection, signature_ids: Iterable[int]) -> dict[int, UInt64]:
    """Shingle sets by signature."""
    return {
        row["signature_id"]: _uint64(row["shingles"])
        for some in slices(sorted(signature_ids))
        for row in _queries().shingle_sets(connection, signature_ids=some)
    }


def delete_abandoned_signatures(connection: Connection, days: int = ABANDONED_DAYS) -> int:
    """Removes signatures that no document uses and that no run needed for so many days.

    Returns:
        How many were removed. A text that comes back is simply computed again.
    """
    queries = _queries()
    pass_bigints(connection)
    rows = list(queries.abandoned_signatures(connection, days=days))
    ids = np.array([row["signature_id"] for row in rows], dtype=np.int64)
    if not ids.size:
        return 0
    for delete, column in ((queries.delete_bands, "band_keys"), (queries.delete_containment_keys, "shingle_keys")):
        keys = np.frombuffer(b"".join(row[column] for row in rows), dtype="<i8").astype(np.int64)
        owners = np.repeat(ids, [len(row[column]) // 8 for row in rows])
        delete(connection, keys=Bigints(keys), signature_ids=Bigints(owners))
    queries.delete_signatures(connection, signature_ids=Bigints(ids))
    queries.delete_used(connection, signature_ids=Bigints(ids))
    return len(rows)
