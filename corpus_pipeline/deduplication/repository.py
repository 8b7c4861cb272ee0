"""Reads and writes of the deduplication tables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from corpus_pipeline.deduplication.binary_format import Bigints, copy_bigint_pairs, pass_bigints
from corpus_pipeline.deduplication.boilerplate import TextProfile
from corpus_pipeline.deduplication.candidates import SketchSize, may_contain
from corpus_pipeline.deduplication.clusters import ComparedDocument, SignaturePair, pair_kind
from corpus_pipeline.deduplication.kernels import UInt32, UInt64
from corpus_pipeline.deduplication.normalisation import NORMALISATION_VERSION
from corpus_pipeline.deduplication.parameters import ComparisonParameters
from corpus_pipeline.deduplication.signatures import Signature, band_keys, containment_sketch
from corpus_pipeline.records import DuplicateCluster, DuplicateEdge, DuplicateKind
from corpus_pipeline.store import Connection, load_queries

__all__ = [
    "CrossCorpusEdge",
    "UnsearchedSignature",
    "candidate_pairs",
    "compared_documents",
    "cross_corpus_edges",
    "delete_abandoned_signatures",
    "duplicate_clusters",
    "duplicate_edges",
    "known_profiles",
    "mark_searched",
    "pairs_within",
    "register_signatures",
    "replace_comparison",
    "replace_cross_corpus_edges",
    "shingle_sets",
    "signature_sizes",
    "store_pairs",
    "store_profiles",
    "stored_signatures",
    "unsearched_signatures",
    "unsearched_sizes",
]

LOOKUP_ROWS = 10_000
ABANDONED_DAYS = 30
_CROSS_CORPUS_LOCK = "corpus_pipeline:cross_corpus_edges"


class CrossCorpusEdge(NamedTuple):
    """A verified pair between two corpora, ``left_corpus < right_corpus``; never a reason to suppress a document."""

    left_corpus: str
    left_document_id: str
    right_corpus: str
    right_document_id: str
    kind: DuplicateKind
    jaccard: float
    containment: float


class UnsearchedSignature(NamedTuple):
    """A registered signature whose pairs are not known yet."""

    signature_id: int
    minima: UInt32
    shingles: UInt64


def _queries() -> Any:
    return load_queries("deduplication")


def _slices(keys: Sequence[Any]) -> Iterator[list[Any]]:
    for start in range(0, len(keys), LOOKUP_ROWS):
        yield list(keys[start : start + LOOKUP_ROWS])


def _uint64(stored: bytes) -> UInt64:
    return np.frombuffer(stored, dtype="<u8").astype(np.uint64, copy=False)


def known_profiles(connection: Connection, text_sha256s: Sequence[str]) -> dict[str, TextProfile]:
    """Stored profiles by text."""
    found = {}
    for keys in _slices(text_sha256s):
        for row in _queries().text_profiles(connection, normaliser=NORMALISATION_VERSION, text_sha256s=keys):
            found[row["text_sha256"]] = TextProfile(
                text_sha256=row["text_sha256"],
                normalised_sha256=row["normalised_sha256"],
                word_count=row["word_count"],
                line_digests=_uint64(row["line_digests"]),
                line_words=np.frombuffer(row["line_words"], dtype="<u4"),
            )
    return found


def store_profiles(connection: Connection, profiles: Iterable[TextProfile]) -> None:
    """Stores profiles; those already there stay."""
    rows = [
        {
            "text_sha256": item.text_sha256,
            "normaliser": NORMALISATION_VERSION,
            "normalised_sha256": item.normalised_sha256,
            "word_count": item.word_count,
            "line_digests": item.line_digests.astype("<u8").tobytes(),
            "line_words": item.line_words.astype("<u4").tobytes(),
        }
        for item in sorted(profiles, key=lambda item: item.text_sha256)
    ]
    _queries().insert_profiles(connection, rows)


def stored_signatures(connection: Connection, keys: Sequence[str]) -> dict[str, int]:
    """Ids of the stored signatures by key; they will not be removed while this run lasts."""
    ids: dict[str, int] = {}
    for some in _slices(keys):
        found = {
            row["signature_sha256"]: row["signature_id"]
            for row in _queries().stored_signatures(connection, signature_sha256s=some)
        }
        _queries().claim_signatures(connection, signature_ids=list(found.values()))
        ids |= found
    return ids


def register_signatures(
    connection: Connection,
    signatures: Mapping[str, tuple[str, Signature]],
    parameters: ComparisonParameters,
) -> None:
    """Stores signatures and puts them into both candidate indexes; those already there stay.

    Args:
        connection: In a transaction of its own.
        signatures: ``(text_sha256, signature)`` by key.
        parameters: What they were computed with.
    """
    keys = sorted(signatures)
    sketches = {key: containment_sketch(signatures[key][1].shingles, parameters) for key in keys}
    rows = _queries().insert_signatures(
        connection,
        parameters_sha256=parameters.sha256,
        signature_sha256s=keys,
        text_sha256s=[signatures[key][0] for key in keys],
        shingle_counts=[signatures[key][1].shingles.size for key in keys],
        dense_keys=[sketches[key].dense_count for key in keys],
        sparse_keys=[sketches[key].sparse_count for key in keys],
        signatures=[signatures[key][1].minima.astype("<u4").tobytes() for key in keys],
        shingles=[signatures[key][1].shingles.astype("<u8").tobytes() for key in keys],
    )
    added = {row["signature_sha256"]: row["signature_id"] for row in rows}
    if not added:
        return
    bands = band_keys(np.stack([signatures[key][1].minima for key in added]), parameters)
    ids = np.array(list(added.values()), dtype=np.int64)
    copy_bigint_pairs(connection, _queries().copy_bands.sql, bands.reshape(-1), np.repeat(ids, bands.shape[1]))
    stored = [sketches[key].keys for key in added]
    copy_bigint_pairs(
        connection,
        _queries().copy_containment_keys.sql,
        np.concatenate(stored),
        np.repeat(ids, [array.size for array in stored]),
    )


def unsearched_sizes(connection: Connection, signature_ids: Sequence[int]) -> dict[int, int]:
    """Distinct shingles of those of the signatures whose candidates were never searched."""
    return {
        row["signature_id"]: row["shingle_count"]
        for some in _slices(signature_ids)
        for row in _queries().unsearched_sizes(connection, signature_ids=some)
    }


def unsearched_signatures(connection: Connection, signature_ids: Sequence[int]) -> list[UnsearchedSignature]:
    """These signatures, in order of registration."""
    return [
        UnsearchedSignature(row["signature_id"], np.frombuffer(row["signature"], dtype="<u4"), _uint64(row["shingles"]))
        for row in _queries().unsearched_signatures(connection, signature_ids=list(signature_ids))
    ]


def candidate_pairs(
    connection: Connection,
    searched: Sequence[UnsearchedSignature],
    pending: Collection[int],
    parameters: ComparisonParameters,
) -> tuple[set[tuple[int, int]], dict[int, SketchSize]]:
    """Candidates of these signatures among all registered ones, from both indexes.

    A pair of two pending signatures is left to the search of the one registered later.

    Args:
        connection: Sees what is registered.
        searched: The signatures to look up.
        pending: All signatures of this run that are not searched yet, these included.
        parameters: What they were computed with.

    Returns:
        ``(left, right)`` with ``left < right``, and the sizes of all signatures in them.
    """
    pass_bigints(connection)
    bands = band_keys(np.stack([item.minima for item in searched]), parameters)
    ids = np.array([item.signature_id for item in searched], dtype=np.int64)
    near = _queries().band_candidates(
        connection, band_keys=Bigints(bands.reshape(-1)), signature_ids=Bigints(np.repeat(ids, bands.shape[1]))
    )
    pairs = {(row["searched"], row["found"]) for row in near if not _left_for_later(row, pending)}
    probes = [containment_sketch(item.shingles, parameters).keys for item in searched]
    containing = _queries().containment_candidates(
        connection,
        shingle_keys=Bigints(np.concatenate(probes)),
        signature_ids=Bigints(np.repeat(ids, [array.size for array in probes])),
    )
    sharing = [row for row in containing if not _left_for_later(row, pending)]
    known = {side for pair in pairs for side in pair}
    known |= {row[side] for row in sharing for side in ("searched", "found")}
    sizes = signature_sizes(connection, sorted(known))
    pairs |= {
        (row["searched"], row["found"])
        for row in sharing
        if may_contain(sizes[row["searched"]], sizes[row["found"]], row["shared"])
    }
    return {(min(pair), max(pair)) for pair in pairs}, sizes


def _left_for_later(row: Mapping[str, int], pending: Collection[int]) -> bool:
    return row["found"] > row["searched"] and row["found"] in pending


def signature_sizes(connection: Connection, signature_ids: Sequence[int]) -> dict[int, SketchSize]:
    """Sizes of shingle sets and samples by signature."""
    return {
        row["signature_id"]: SketchSize(row["shingle_count"], row["dense_keys"], row["sparse_keys"])
        for some in _slices(signature_ids)
        for row in _queries().signature_sizes(connection, signature_ids=some)
    }


def shingle_sets(connection: Connection, signature_ids: Iterable[int]) -> dict[int, UInt64]:
    """Shingle sets by signature."""
    return {
        row["signature_id"]: _uint64(row["shingles"])
        for some in _slices(sorted(signature_ids))
        for row in _queries().shingle_sets(connection, signature_ids=some)
    }


def store_pairs(connection: Connection, pairs: Sequence[SignaturePair]) -> None:
    """Stores verified pairs; those already there stay."""
    ordered = sorted(pairs, key=lambda pair: (pair.left, pair.right))
    _queries().insert_pairs(
        connection,
        lefts=[pair.left for pair in ordered],
        rights=[pair.right for pair in ordered],
        shared=[pair.shared for pair in ordered],
    )


def mark_searched(connection: Connection, signature_ids: Sequence[int]) -> None:
    """Notes that all pairs of these signatures are stored."""
    _queries().mark_searched(connection, signature_ids=list(signature_ids))


def pairs_within(connection: Connection, signature_ids: Sequence[int]) -> list[SignaturePair]:
    """Verified pairs with both sides among these signatures."""
    return [
        SignaturePair(
            row["left_signature"],
            row["right_signature"],
            row["left_shingles"],
            row["right_shingles"],
            row["shared_shingles"],
        )
        for row in _queries().pairs_within(connection, signature_ids=list(signature_ids))
    ]


def compared_documents(connection: Connection, corpus: str) -> list[ComparedDocument]:
    """The documents of a corpus as the last run compared them."""
    return [
        ComparedDocument(row["document_id"], row["text_sha256"], row["normalised_sha256"], row["signature_id"])
        for row in _queries().compared_documents(connection, corpus=corpus)
    ]


def replace_comparison(
    connection: Connection,
    corpus: str,
    documents: Sequence[ComparedDocument],
    edges: Sequence[DuplicateEdge],
    clusters: Sequence[DuplicateCluster],
) -> None:
    """Writes documents, edges and clusters of a corpus; rows of documents that did not change stay."""
    queries = _queries()
    before = set(compared_documents(connection, corpus))
    after = set(documents)
    queries.delete_compared(connection, corpus=corpus, document_ids=[item.document_id for item in before - after])
    new = sorted(after - before, key=lambda item: item.document_id)
    _copy_rows(
        connection,
        queries.copy_compared.sql,
        ((corpus, i.document_id, i.text_sha256, i.normalised_sha256, i.signature_id) for i in new),
    )
    queries.delete_edges(connection, corpus=corpus)
    _copy_rows(
        connection,
        queries.copy_edges.sql,
        ((corpus, e.left_id, e.right_id, e.kind.value, e.jaccard, e.containment, e.contained_id) for e in edges),
    )
    queries.delete_members(connection, corpus=corpus)
    _copy_rows(
        connection,
        queries.copy_members.sql,
        (
            (corpus, c.cluster_id, member, c.kind.value, c.similarity[member], member == c.centre_id)
            for c in clusters
            for member in c.members
        ),
    )


def _copy_rows(connection: Connection, statement: str, rows: Iterable[tuple[Any, ...]]) -> None:
    with connection.cursor().copy(statement) as copy:
        for row in rows:
            copy.write_row(row)


def replace_cross_corpus_edges(connection: Connection, corpus: str, parameters: ComparisonParameters) -> int:
    """Writes the edges between a corpus and what other corpora held at their last run.

    One corpus at a time, so that of two that finish together the later sees the earlier.

    Returns:
        How many there are.
    """
    queries = _queries()
    connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (_CROSS_CORPUS_LOCK,))
    queries.delete_cross_corpus_edges(connection, corpus=corpus)
    queries.insert_exact_cross_corpus_edges(connection, corpus=corpus)
    rows = []
    for row in queries.cross_corpus_pairs(connection, corpus=corpus):
        pair = SignaturePair(0, 1, row["left_shingles"], row["right_shingles"], row["shared_shingles"])
        kind = pair_kind(pair, parameters)
        if kind is not None:
            mine, theirs = (corpus, row["document_id"]), (row["other_corpus"], row["other_document_id"])
            rows.append(CrossCorpusEdge(*min(mine, theirs), *max(mine, theirs), kind, pair.jaccard, pair.containment))
    queries.insert_cross_corpus_edges(connection, [row._asdict() | {"kind": row.kind.value} for row in rows])
    return int(queries.count_cross_corpus_edges(connection, corpus=corpus))


def cross_corpus_edges(connection: Connection, corpus: str) -> list[CrossCorpusEdge]:
    """Verified pairs between this corpus and others, sorted; equal documents are represented by the smallest id."""
    return [
        CrossCorpusEdge(**(row | {"kind": DuplicateKind(row["kind"])}))
        for row in _queries().cross_corpus_edges(connection, corpus=corpus)
    ]


def duplicate_edges(connection: Connection, corpus: str) -> list[DuplicateEdge]:
    """Verified pairs of a corpus, sorted; equal documents are represented by the smallest id."""
    return [DuplicateEdge(**row) for row in _queries().duplicate_edges(connection, corpus=corpus)]


def duplicate_clusters(connection: Connection, corpus: str) -> list[DuplicateCluster]:
    """Clusters of a corpus, sorted by their smallest member."""
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in _queries().duplicate_cluster_members(connection, corpus=corpus):
        rows[row["cluster_id"]].append(row)
    return [
        DuplicateCluster(
            corpus=corpus,
            cluster_id=cluster_id,
            members=tuple(row["document_id"] for row in members),
            similarity={row["document_id"]: row["similarity"] for row in members},
            kind=DuplicateKind(members[0]["kind"]),
            centre_id=next(row["document_id"] for row in members if row["is_centre"]),
        )
        for cluster_id, members in rows.items()
    ]


def delete_abandoned_signatures(connection: Connection, days: int = ABANDONED_DAYS) -> int:
    """Removes signatures that no document uses and that no run needed for so many days.

    Returns:
        How many were removed. A text that comes back is simply computed again.
    """
    queries = _queries()
    ids = [row["signature_id"] for row in queries.abandoned_signatures(connection, days=days)]
    if ids:
        queries.delete_bands(connection, signature_ids=ids)
        queries.delete_containment_keys(connection, signature_ids=ids)
        queries.delete_signatures(connection, signature_ids=ids)
    return len(ids)
