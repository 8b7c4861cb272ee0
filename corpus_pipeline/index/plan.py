"""What the next generation would be: the rows a corpus should serve, against those it serves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from corpus_pipeline.chunking import chunker_fingerprint, fragments, parents
from corpus_pipeline.conversion import documents
from corpus_pipeline.embedding import embedding_fingerprint
from corpus_pipeline.errors import UpstreamMissingError
from corpus_pipeline.index.analyser import Analyser, analyser_for
from corpus_pipeline.index.history import Generation, GenerationStatus, Publication
from corpus_pipeline.index.loading import Row, served_digests, served_locations
from corpus_pipeline.index.repository import generation, generations, publication
from corpus_pipeline.index.rows import (
    DocumentPart,
    document_part,
    fragment_digest,
    fragment_row,
    generation_root,
    neighbour_corpora,
    parent_row,
)
from corpus_pipeline.index.tables import PARENTS_TABLE, serving_table_name
from corpus_pipeline.records import ServingState, Stage
from corpus_pipeline.store import Connection, StageContext
from corpus_pipeline.versions import version_decisions

__all__ = ["Difference", "Plan", "added_fragments", "added_parents", "make_plan"]


@dataclass(frozen=True)
class Difference:
    """Row digests to add to what is served and to retire from it."""

    added: frozenset[str]
    retired: frozenset[str]

    @classmethod
    def between(cls, desired: set[str], served: set[str]) -> Difference:
        """From what is served to what should be.

        >>> Difference.between({"a", "b"}, {"b", "c"})
        Difference(added=frozenset({'a'}), retired=frozenset({'c'}))
        """
        return cls(frozenset(desired - served), frozenset(served - desired))

    @property
    def is_empty(self) -> bool:
        """Nothing to do."""
        return not self.added and not self.retired


@dataclass(frozen=True)
class Plan:
    """The generation a corpus should serve, and how far from it the published one is.

    Attributes:
        base_generation: The published generation, 0 when there is none.
        table: Serving table of the embedding fingerprint.
        expected: Counts by serving state and of current documents, for validation.
        counts_terms_anew: The published generation has no statistics of this table.
        changed_documents: Those with rows to add.
        reusable: The published or staged generation that already is this one.
        moved: ``source_uri`` of documents that lie elsewhere than the served rows say.
    """

    corpus: str
    base_generation: int
    table: str
    embedding_fingerprint: str
    chunker_fingerprint: str
    analyser: Analyser
    root_sha256: str
    fragments: Difference
    parents: Difference
    expected: dict[str, int]
    changed_documents: frozenset[str] = field(repr=False)
    counts_terms_anew: bool
    inputs: dict[str, Any]
    parts: dict[str, DocumentPart] = field(repr=False)
    moved: dict[str, str] = field(repr=False)
    reusable: Generation | None


@dataclass(frozen=True)
class _Desired:
    fragments: set[str]
    parents: set[str]
    expected: dict[str, int]
    changed_documents: frozenset[str]


def make_plan(connection: Connection, context: StageContext) -> Plan:
    """Reads what the stages before have made and compares it with what is served.

    Raises:
        UpstreamMissingError: A document has fragments but no decision, or is not known at all.
    """
    corpus = context.spec.slug
    published = publication(connection, corpus)
    base = published.generation if published else 0
    embedding, chunker = embedding_fingerprint(context.spec.embedding), chunker_fingerprint(context.spec)
    analyser = analyser_for(context.spec.lexical.language)
    table = serving_table_name(embedding, analyser.fingerprint)
    parts = _document_parts(connection, corpus)
    served = served_digests(connection, table, corpus, base)
    desired = _desired(connection, context, parts, served)
    root = generation_root(
        embedding_fingerprint=embedding,
        chunker_fingerprint=chunker,
        analyser_fingerprint=analyser.fingerprint,
        fragment_digests=desired.fragments,
        parent_digests=desired.parents,
    )
    differences = (
        Difference.between(desired.fragments, served),
        Difference.between(desired.parents, served_digests(connection, PARENTS_TABLE, corpus, base)),
    )
    return Plan(
        corpus=corpus,
        base_generation=base,
        table=table,
        embedding_fingerprint=embedding,
        chunker_fingerprint=chunker,
        analyser=analyser,
        root_sha256=root,
        fragments=differences[0],
        parents=differences[1],
        expected=desired.expected,
        changed_documents=desired.changed_documents,
        counts_terms_anew=published is None or published.serving_table != table,
        inputs=_inputs(connection, context, parts),
        parts=parts,
        moved=_moved(connection, corpus, table, base, parts),
        reusable=_reusable(connection, corpus, published, (table, root, desired), differences),
    )


def added_fragments(connection: Connection, plan: Plan) -> Iterator[Row]:
    """The fragment rows to add, ordered by document and position."""
    if not plan.fragments.added:
        return
    for fragment in fragments(connection, plan.corpus):
        if fragment.document_id in plan.changed_documents:
            row = fragment_row(plan.parts[fragment.document_id], fragment)
            if row[0] in plan.fragments.added:
                yield row


def added_parents(connection: Connection, plan: Plan) -> Iterator[Row]:
    """The parent rows to add, in reading order."""
    if not plan.parents.added:
        return
    for parent in parents(connection, plan.corpus):
        row = parent_row(plan.parts[parent.document_id], parent)
        if row[0] in plan.parents.added:
            yield row


def _document_parts(connection: Connection, corpus: str) -> dict[str, DocumentPart]:
    decisions = {decision.document_id: decision for decision in version_decisions(connection, corpus)}
    return {
        document.document_id: document_part(document, decisions.get(document.document_id))
        for document in documents(connection, corpus)
    }


def _part(parts: dict[str, DocumentPart], document_id: str) -> DocumentPart:
    part = parts.get(document_id)
    if part is None:
        raise UpstreamMissingError(
            f"there are fragments of {document_id}, which is no longer a document of its corpus",
            remedy="Run the fragments stage of this corpus again.",
        )
    return part


def _desired(
    connection: Connection, context: StageContext, parts: dict[str, DocumentPart], served: set[str]
) -> _Desired:
    corpus = context.spec.slug
    digests: set[str] = set()
    current: set[str] = set()
    changed: set[str] = set()
    counts = {ServingState.CURRENT.value: 0, ServingState.ARCHIVED.value: 0}
    context.progress.start(Stage.INDEX_GENERATION, None, "fragments compared")
    for fragment in fragments(connection, corpus):
        part = _part(parts, fragment.document_id)
        digest = fragment_digest(part, fragment)
        digests.add(digest)
        if digest not in served:
            changed.add(fragment.document_id)
        counts[part.values["serving_state"]] += 1
        if part.is_current:
            current.add(fragment.document_id)
        context.progress.advance()
    expected = {
        "row_count": counts[ServingState.CURRENT.value] + counts[ServingState.ARCHIVED.value],
        "current_count": counts[ServingState.CURRENT.value],
        "archived_count": counts[ServingState.ARCHIVED.value],
        "documents_current": len(current),
        "without_vector": 0,
    }
    parent_digests = {parent_row(_part(parts, each.document_id), each)[0] for each in parents(connection, corpus)}
    return _Desired(digests, parent_digests, expected, frozenset(changed))


def _differences(
    connection: Connection, corpus: str, table: str, base: int, desired: _Desired
) -> tuple[Difference, Difference]:
    return (
        Difference.between(desired.fragments, served_digests(connection, table, corpus, base)),
        Difference.between(desired.parents, served_digests(connection, PARENTS_TABLE, corpus, base)),
    )


def _inputs(connection: Connection, context: StageContext, parts: dict[str, DocumentPart]) -> dict[str, Any]:
    neighbours = {}
    for corpus in neighbour_corpora(parts.values(), context.spec.slug):
        known = publication(connection, corpus)
        neighbours[corpus] = {"generation": known.generation, "root_sha256": known.root_sha256} if known else None
    return {"documents": len(parts), "neighbours": neighbours}


def _moved(
    connection: Connection, corpus: str, table: str, base: int, parts: dict[str, DocumentPart]
) -> dict[str, str]:
    served = served_locations(connection, table, corpus, base)
    present = {key: str(parts[key].values["source_uri"]) for key in served if key in parts}
    return {key: uri for key, uri in present.items() if uri != served[key]}


def _reusable(
    connection: Connection,
    corpus: str,
    published: Publication | None,
    wanted: tuple[str, str, _Desired],
    differences: tuple[Difference, Difference],
) -> Generation | None:
    table, root, desired = wanted
    base = published.generation if published else 0
    if published and published.serving_table == table and published.root_sha256 == root:
        # Served rows that differ from their own root were changed by something else: stage them again.
        return generation(connection, corpus, base) if all(each.is_empty for each in differences) else None
    for known in reversed(generations(connection, corpus)):
        if known.status is GenerationStatus.STAGED and known.generation > base:
            same = (known.root_sha256, known.serving_table, known.base_generation) == (root, table, base)
            complete = same and all(
                each.is_empty for each in _differences(connection, corpus, table, known.generation, desired)
            )
            return known if complete else None
    return None
