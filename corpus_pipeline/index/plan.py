"""What the next generation would be: the rows a corpus should serve, against those it serves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from psycopg import sql
from psycopg.rows import scalar_row

from corpus_pipeline.chunking import chunker_fingerprint
from corpus_pipeline.conversion import documents
from corpus_pipeline.embedding import embedding_fingerprint
from corpus_pipeline.errors import UpstreamMissingError
from corpus_pipeline.index.analyser import Analyser, analyser_for
from corpus_pipeline.index.history import Generation, GenerationStatus, Publication
from corpus_pipeline.index.loading import completed, copy_documents, served_locations, table_exists
from corpus_pipeline.index.repository import generation, generations, publication
from corpus_pipeline.index.rows import (
    DocumentPart,
    document_part,
    generation_root,
    neighbour_corpora,
)
from corpus_pipeline.index.tables import PARENTS_TABLE, qualified, serving_table_name
from corpus_pipeline.records import Stage
from corpus_pipeline.store import Connection, StageContext, load_queries
from corpus_pipeline.versions import version_decisions

__all__ = ["Difference", "Plan", "make_plan"]

_NO_ROWS = sql.SQL(
    "(SELECT NULL::text AS corpus, NULL::text AS row_sha256, 0 AS generation_from, 0 AS generation_to WHERE false)"
)


@dataclass(frozen=True)
class Difference:
    """Rows to add to what is served and to retire from it.

    Attributes:
        added: Number of rows to add, by document.
        retired: Digests of the rows to retire.
    """

    added: dict[str, int]
    retired: list[str]

    @property
    def added_count(self) -> int:
        """Number of rows to add."""
        return sum(self.added.values())

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
    counts_terms_anew: bool
    inputs: dict[str, Any]
    moved: dict[str, str] = field(repr=False)
    reusable: Generation | None


def make_plan(connection: Connection, context: StageContext) -> Plan:
    """Compares what the stages before have made with what is served; the database does the work on rows.

    Until the transaction ends ``pg_temp`` has wanted_documents, wanted_fragments and wanted_parents.

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
    expected = _want_rows(connection, context, parts)
    root = generation_root(
        embedding_fingerprint=embedding,
        chunker_fingerprint=chunker,
        analyser_fingerprint=analyser.fingerprint,
        fragment_digests=_digests(connection, "wanted_fragments"),
        parent_digests=_digests(connection, "wanted_parents"),
    )
    differences = _differences(connection, corpus, table, base)
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
        expected=expected,
        counts_terms_anew=published is None or published.serving_table != table,
        inputs=_inputs(connection, context, parts),
        moved=_moved(connection, corpus, table, base, parts),
        reusable=_reusable(connection, corpus, published, (table, root), differences),
    )


def _document_parts(connection: Connection, corpus: str) -> dict[str, DocumentPart]:
    decisions = {decision.document_id: decision for decision in version_decisions(connection, corpus)}
    return {
        document.document_id: document_part(document, decisions.get(document.document_id))
        for document in documents(connection, corpus)
    }


def _want_rows(connection: Connection, context: StageContext, parts: dict[str, DocumentPart]) -> dict[str, int]:
    """Fills the temporary tables of wanted rows and returns the expected counts."""
    queries = load_queries("index")
    corpus = context.spec.slug
    context.progress.start(Stage.INDEX_GENERATION, None, "fragments compared")
    copy_documents(connection, parts.values())
    unknown = queries.unknown_document(connection, corpus=corpus)
    if unknown is not None:
        raise UpstreamMissingError(
            f"there are fragments of {unknown}, which is no longer a document of its corpus",
            remedy="Run the fragments stage of this corpus again.",
        )
    queries.want_fragments(connection, corpus=corpus)
    queries.want_parents(connection, corpus=corpus)
    connection.execute("ANALYZE pg_temp.wanted_fragments; ANALYZE pg_temp.wanted_parents")
    expected = {key: int(value) for key, value in queries.wanted_counts(connection).items()}
    context.progress.advance(expected["row_count"])
    return expected


def _digests(connection: Connection, wanted: str) -> list[str]:
    with connection.cursor(row_factory=scalar_row) as cursor:
        query = sql.SQL("SELECT row_sha256 FROM {}").format(sql.Identifier("pg_temp", wanted))
        return cursor.execute(query).fetchall()


def _differences(connection: Connection, corpus: str, table: str, generation: int) -> tuple[Difference, Difference]:
    """From what a generation serves to the wanted fragments and parents."""
    return (
        _difference(connection, corpus, table, "wanted_fragments", generation),
        _difference(connection, corpus, PARENTS_TABLE, "wanted_parents", generation),
    )


def _difference(connection: Connection, corpus: str, table: str, wanted: str, generation: int) -> Difference:
    served = qualified(table) if table_exists(connection, table) else _NO_ROWS
    values = {"corpus": corpus, "generation": generation}
    names = {"table": served, "wanted": sql.Identifier("pg_temp", wanted)}
    added = connection.execute(completed("added_rows", **names), values).fetchall()
    with connection.cursor(row_factory=scalar_row) as cursor:
        retired = cursor.execute(completed("retired_rows", **names), values).fetchall()
    return Difference({row["document_id"]: int(row["row_count"]) for row in added}, retired)


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
    wanted: tuple[str, str],
    differences: tuple[Difference, Difference],
) -> Generation | None:
    table, root = wanted
    base = published.generation if published else 0
    if published and published.serving_table == table and published.root_sha256 == root:
        # Served rows that differ from their own root were changed by something else: stage them again.
        return generation(connection, corpus, base) if all(each.is_empty for each in differences) else None
    for known in reversed(generations(connection, corpus)):
        if known.status is GenerationStatus.STAGED and known.generation > base:
            same = (known.root_sha256, known.serving_table, known.base_generation) == (root, table, base)
            complete = same and all(each.is_empty for each in _differences(connection, corpus, table, known.generation))
            return known if complete else None
    return None
