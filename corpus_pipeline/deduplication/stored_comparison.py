"""What the last comparison of a corpus left: documents, edges, clusters."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from corpus_pipeline.deduplication.binary_format import Bigints, pass_bigints
from corpus_pipeline.deduplication.boilerplate import TextProfile
from corpus_pipeline.deduplication.clusters import ComparedDocument
from corpus_pipeline.deduplication.combination import Combination
from corpus_pipeline.deduplication.kernels import Int64, UInt64
from corpus_pipeline.deduplication.normalisation import NORMALISATION_VERSION
from corpus_pipeline.deduplication.signature_store import profile_of, slices
from corpus_pipeline.deduplication.sketches import Keys
from corpus_pipeline.records import DuplicateCluster, DuplicateEdge, DuplicateKind
from corpus_pipeline.store import Connection, load_queries

__all__ = ["StoredComparison", "clusters_of_rows"]

_NO_LINES = np.empty(0, dtype=np.uint64)


def _queries() -> Any:
    return load_queries("deduplication")


def clusters_of_rows(corpus: str, rows: Iterable[dict[str, Any]]) -> list[DuplicateCluster]:
    """Clusters from the rows of their members, which are in the order of their ids."""
    members: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        members[row["cluster_id"]].append(row)
    return [
        DuplicateCluster(
            corpus=corpus,
            cluster_id=cluster_id,
            members=tuple(row["document_id"] for row in found),
            similarity={row["document_id"]: row["similarity"] for row in found},
            kind=DuplicateKind(found[0]["kind"]),
            centre_id=next(row["document_id"] for row in found if row["is_centre"]),
        )
        for cluster_id, found in members.items()
    ]


@dataclass(frozen=True)
class StoredComparison:
    """Looks up what the last comparison of a corpus left; finds nothing when that no longer counts.

    Attributes:
        counts: Whether it was made with the present settings.
        boilerplate: The lines it took out, sorted.
        combination: The hash over its edges and clusters.
    """

    connection: Connection
    corpus: str
    counts: bool
    boilerplate: UInt64
    combination: Combination

    @classmethod
    def read(cls, connection: Connection, corpus: str, settings_sha256: str) -> StoredComparison:
        """What is stored of a corpus; it counts when it was made with the same settings."""
        pass_bigints(connection)
        row = _queries().comparison_state(connection, corpus=corpus)
        if row is None or row["settings_sha256"] != settings_sha256:
            return cls(connection, corpus, False, _NO_LINES, Combination())
        lines = np.frombuffer(row["boilerplate"], dtype="<u8").astype(np.uint64)
        return cls(connection, corpus, True, lines, Combination(row["combination"]))

    def _rows(self, query: Callable[..., Iterable[dict[str, Any]]], name: str, keys: Collection[Any]) -> Iterator[Any]:
        if self.counts:
            for some in slices(keys):
                yield from query(self.connection, corpus=self.corpus, **{name: some})

    def documents(self, document_ids: Collection[str]) -> list[ComparedDocument]:
        """These documents as they were compared."""
        return [ComparedDocument(**row) for row in self._rows(_queries().compared_by_id, "document_ids", document_ids)]

    def with_words(self, normalised_sha256s: Collection[str]) -> list[ComparedDocument]:
        """All documents with these words."""
        rows = self._rows(_queries().compared_by_class, "normalised_sha256s", normalised_sha256s)
        return [ComparedDocument(**row) for row in rows]

    def signed(self, signature_ids: Collection[int]) -> list[ComparedDocument]:
        """The documents that these signatures stand for."""
        rows = self._rows(_queries().compared_by_signature, "signature_ids", signature_ids)
        return [ComparedDocument(**row) for row in rows]

    def smallest_classes(self, excluded: Collection[str], most: int) -> list[tuple[str, str]]:
        """``(normalised_sha256, text_sha256)`` of the first words by hash, with the first text that has them."""
        if not self.counts:
            return []
        rows = _queries().smallest_classes(self.connection, corpus=self.corpus, excluded=list(excluded), most=most)
        return [(row["normalised_sha256"], row["text_sha256"]) for row in rows]

    def profiles(self) -> Iterator[TextProfile]:
        """Profiles of all documents that have a signature."""
        if self.counts:
            with self.connection.cursor() as cursor:
                for row in cursor.stream(
                    _queries().compared_profiles.sql, {"corpus": self.corpus, "normaliser": NORMALISATION_VERSION}
                ):
                    yield profile_of(row)

    def band_members(self, keys: Int64) -> Keys:
        """Signatures that have one of these band keys."""
        if not self.counts or not keys.size:
            return Keys.none()
        return Keys.of(list(_queries().band_members(self.connection, corpus=self.corpus, keys=Bigints(keys))))

    def sample_members(self, keys: Int64, most: int) -> Keys:
        """Signatures that have one of these sampled shingles, at most so many a shingle."""
        if not self.counts or not keys.size:
            return Keys.none()
        rows = _queries().containment_members(self.connection, corpus=self.corpus, keys=Bigints(keys), most=most)
        return Keys.of(list(rows))

    def edges_of(self, document_ids: Collection[str]) -> list[DuplicateEdge]:
        """Edges with one of these documents, each once."""
        rows = self._rows(_queries().edges_of, "document_ids", document_ids)
        found = {(row["left_id"], row["right_id"]): row for row in rows}
        return [DuplicateEdge(**row) for _, row in sorted(found.items())]

    def clusters_of(self, document_ids: Collection[str]) -> list[DuplicateCluster]:
        """The whole clusters of these documents."""
        rows = self._rows(_queries().clusters_of, "document_ids", document_ids)
        found = {row["document_id"]: row for row in rows}
        return clusters_of_rows(self.corpus, [row for _, row in sorted(found.items())])
