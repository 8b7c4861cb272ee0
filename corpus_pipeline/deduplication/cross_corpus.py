"""Copies in other corpora, for collapsing them at query time; never a reason to suppress a document."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from corpus_pipeline.deduplication.binary_format import Bigints, pass_bigints
from corpus_pipeline.deduplication.candidates import BAND_LIMIT, LEADERS, SAMPLE_LIMIT, sharing_pairs
from corpus_pipeline.deduplication.change import ComparisonChange
from corpus_pipeline.deduplication.clusters import ComparedDocument, duplicate_classes, pair_kind
from corpus_pipeline.deduplication.kernels import Int64
from corpus_pipeline.deduplication.parameters import ComparisonParameters
from corpus_pipeline.deduplication.signature_store import shingle_sets, sketches_of, slices
from corpus_pipeline.deduplication.sketches import Keys, Sketches
from corpus_pipeline.deduplication.verification import Verifier
from corpus_pipeline.records import DuplicateKind
from corpus_pipeline.store import Connection, load_queries

__all__ = ["CrossCorpusEdge", "cross_corpus_edges", "update_cross_corpus_edges"]

Side = tuple[str, str]
"""Corpus and document."""


class CrossCorpusEdge(NamedTuple):
    """A verified pair between two corpora, ``left_corpus < right_corpus``; never a reason to suppress a document."""

    left_corpus: str
    left_document_id: str
    right_corpus: str
    right_document_id: str
    kind: DuplicateKind
    jaccard: float
    containment: float


def _queries() -> Any:
    return load_queries("deduplication")


def cross_corpus_edges(connection: Connection, corpus: str) -> list[CrossCorpusEdge]:
    """Verified pairs between this corpus and others, sorted; equal documents are represented by the smallest id."""
    return [
        CrossCorpusEdge(**(row | {"kind": DuplicateKind(row["kind"])}))
        for row in _queries().cross_corpus_edges(connection, corpus=corpus)
    ]


def update_cross_corpus_edges(
    connection: Connection, change: ComparisonChange, parameters: ComparisonParameters, workers: int = 1
) -> int:
    """Writes the edges between the changed documents of a corpus and what others held at their last run.

    One corpus at a time, so that of two that finish together the later sees the earlier. Exact edges
    lead to every other corpus, near and contained ones to those that compare by the same settings.
    A band so full in another corpus that it has leaders there is looked up by its leaders alone.

    Args:
        connection: In the transaction that has written the change.
        change: What was written.
        parameters: The thresholds.
        workers: Threads to count with.

    Returns:
        How many the corpus has.
    """
    queries = _queries()
    corpus = change.corpus
    queries.lock_cross_corpus(connection)
    pass_bigints(connection)
    if change.touched or change.from_nothing:
        queries.delete_cross_corpus_edges(
            connection, corpus=corpus, document_ids=list(change.touched), everything=change.from_nothing
        )
        mine = _representatives(connection, corpus, change.touched)
        edges: list[CrossCorpusEdge] = []
        for other in list(queries.other_corpora(connection, corpus=corpus)):
            edges += _exact(connection, corpus, other["corpus"], mine)
            edges += _alike(connection, corpus, other["corpus"], mine, change.searched, parameters, workers)
        queries.insert_cross_corpus_edges(connection, [edge._asdict() | {"kind": edge.kind.value} for edge in edges])
    return int(queries.count_cross_corpus_edges(connection, corpus=corpus))


def _compared(connection: Connection, query: Any, corpus: str, **keys: Iterable[Any]) -> list[ComparedDocument]:
    ((name, wanted),) = keys.items()
    rows = [row for some in slices(wanted) for row in query(connection, corpus=corpus, **{name: some})]
    return [ComparedDocument(**row) for row in rows]


def _representatives(connection: Connection, corpus: str, document_ids: Iterable[str]) -> list[ComparedDocument]:
    """One document for each of the words of these documents: the smallest id the corpus has."""
    queries = _queries()
    touched = _compared(connection, queries.compared_by_id, corpus, document_ids=document_ids)
    words = {row.normalised_sha256 for row in touched}
    return _smallest(_compared(connection, queries.compared_by_class, corpus, normalised_sha256s=words))


def _smallest(rows: Sequence[ComparedDocument]) -> list[ComparedDocument]:
    representatives = duplicate_classes(rows)
    return [row for row in rows if row.document_id in representatives]


def _edge(mine: Side, theirs: Side, kind: DuplicateKind, jaccard: float, containment: float) -> CrossCorpusEdge:
    return CrossCorpusEdge(*min(mine, theirs), *max(mine, theirs), kind, jaccard, containment)


def _exact(
    connection: Connection, corpus: str, other: str, mine: Sequence[ComparedDocument]
) -> Iterator[CrossCorpusEdge]:
    by_words = {row.normalised_sha256: row.document_id for row in mine}
    theirs = _compared(connection, _queries().compared_by_class, other, normalised_sha256s=by_words)
    for row in _smallest(theirs):
        copy = by_words[row.normalised_sha256]
        yield _edge((corpus, copy), (other, row.document_id), DuplicateKind.EXACT, 1.0, 1.0)


def _alike(
    connection: Connection,
    corpus: str,
    other: str,
    mine: Sequence[ComparedDocument],
    searched: Int64,
    parameters: ComparisonParameters,
    workers: int,
) -> Iterator[CrossCorpusEdge]:
    queries = _queries()
    own = sketches_of(connection, searched, with_keys=True)
    if not own.ids.size:
        return
    bands = Keys.of(list(queries.band_members(connection, corpus=other, keys=Bigints(np.unique(own.bands.keys)))))
    samples = Keys.of(
        list(
            queries.containment_members(
                connection, corpus=other, keys=Bigints(np.unique(own.samples.keys)), most=SAMPLE_LIMIT + 1
            )
        )
    )
    present = np.unique(np.concatenate((own.ids, bands.signature_ids, samples.signature_ids)))
    sketches = sketches_of(connection, present, with_keys=False)
    sizes = dict(zip(sketches.ids.tolist(), sketches.shingles.tolist(), strict=True))
    verifier = Verifier(lambda ids: shingle_sets(connection, ids), sizes, parameters, workers)
    pairs = sharing_pairs(own, sketches, _of_leaders(bands, sketches), samples, np.zeros(present.size, dtype=np.bool_))
    documents = {row.signature_id: row for row in mine}
    theirs = {
        row.signature_id: row
        for row in _compared(connection, queries.compared_by_signature, other, signature_ids=present.tolist())
    }
    yield from _edges_between(corpus, other, verifier, pairs, documents, theirs)


def _of_leaders(bands: Keys, sketches: Sketches) -> Keys:
    """Entries of small bands, and of large ones only those of their leaders."""
    by_key: dict[int, list[int]] = defaultdict(list)
    for key, signature in zip(bands.keys.tolist(), bands.signature_ids.tolist(), strict=True):
        by_key[key].append(signature)
    rank = dict(zip(sketches.ids.tolist(), sketches.ranks, strict=True))
    kept = [
        {"key": key, "signature_id": signature}
        for key, members in by_key.items()
        for signature in (members if len(members) <= BAND_LIMIT else sorted(members, key=rank.__getitem__)[:LEADERS])
    ]
    return Keys.of(kept)


def _edges_between(
    corpus: str,
    other: str,
    verifier: Verifier,
    pairs: Iterable[tuple[int, int]],
    mine: Mapping[int | None, ComparedDocument],
    theirs: Mapping[int | None, ComparedDocument],
) -> Iterator[CrossCorpusEdge]:
    crossing = {
        pair for pair in pairs if (pair[0] in mine and pair[1] in theirs) or (pair[1] in mine and pair[0] in theirs)
    }
    for pair in verifier.alike(crossing):
        kind = pair_kind(pair, verifier.parameters)
        for one, two in ((pair.left, pair.right), (pair.right, pair.left)):
            if one in mine and two in theirs and kind is not None:
                left, right = mine[one], theirs[two]
                if left.normalised_sha256 != right.normalised_sha256:
                    sides = (corpus, left.document_id), (other, right.document_id)
                    yield _edge(*sides, kind, pair.jaccard, pair.containment)
