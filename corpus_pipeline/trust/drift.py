"""Audit of the serving tables against what the published generation must hold, and its repair.

What it must hold is made from the working state and the caches, as staging makes it. Only while those still make up
the root that was published is the difference known row by row, and only then can it be repaired honestly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from psycopg import sql

from corpus_pipeline.errors import StageError
from corpus_pipeline.index import (
    DOCUMENT_COLUMNS,
    FRAGMENT_COLUMNS,
    PARENT_COLUMNS,
    PARENTS_TABLE,
    Generation,
    Plan,
    clear_above,
    locked_publication,
    make_plan,
    qualified,
    rebuild_postings,
    root_of_served_rows,
)
from corpus_pipeline.records import Stage
from corpus_pipeline.store import Connection, StageContext, corpus_lock, load_queries
from corpus_pipeline.trust.repository import all_rows, completed, one_row
from corpus_pipeline.trust.verification import VECTOR_TOLERANCE, published_generation

__all__ = ["Drift", "DriftedRow", "audit_drift", "repair_drift"]

MOST_LISTED = 1000
_FRAGMENT_NAMES = tuple(column.name for column in (*FRAGMENT_COLUMNS, *DOCUMENT_COLUMNS))
_PARENT_NAMES = tuple(column.name for column in PARENT_COLUMNS)
_DOCUMENT_NAMES = frozenset(column.name for column in DOCUMENT_COLUMNS)
_DRIFT = {
    "fragments": sql.Identifier("pg_temp", "fragment_drift"),
    "parents": sql.Identifier("pg_temp", "parent_drift"),
}


@dataclass(frozen=True)
class DriftedRow:
    """A row of a serving table that is not what it must be.

    Attributes:
        table: ``fragments`` or ``parents``.
        kind: ``missing``, ``altered`` or ``extra``.
        row_id: Id of the fragment or parent.
        columns: Names of the altered columns.
    """

    table: str
    kind: str
    row_id: str
    document_id: str
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class Drift:
    """The difference between what is served and what must be.

    Attributes:
        counts: ``missing``, ``altered`` and ``extra`` rows of both tables.
        rows: The first :data:`MOST_LISTED` of each table.
        found_root: Root of the rows as they are; after a repair, of the repaired ones.
        repaired: The rows were put right.
        uncached: Rows that cannot be restored, for their vector or terms are not cached.
        abandoned: Staged generations that the repair has removed.
    """

    corpus: str
    generation: int
    root_sha256: str
    found_root: str
    counts: dict[str, int]
    rows: tuple[DriftedRow, ...]
    repaired: bool = False
    uncached: int = 0
    abandoned: bool = False

    @property
    def is_empty(self) -> bool:
        """What is served is what must be."""
        return not any(self.counts.values()) and self.found_root == self.root_sha256


def audit_drift(context: StageContext) -> Drift:
    """Compares every row that readers see of a corpus with what it must be; changes nothing.

    Raises:
        NothingPublishedError: There is nothing to compare.
        StageError: The working state has moved on since the publication, so that rows cannot be compared.
    """
    with context.database.connection() as connection:
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ WRITE")
        known = published_generation(connection, context.spec.slug)
        return _found(connection, context, known)[0]


def repair_drift(context: StageContext, who: str) -> Drift:
    """Restores missing and altered rows and removes extra ones, in one transaction.

    Rows that earlier generations serve as well keep serving those. A staged generation is removed, for it was staged
    on rows that were other than it took them for.

    Args:
        context: Of the corpus.
        who: For the log of publications.

    Returns:
        What was found, with the root as it is afterwards.

    Raises:
        NothingPublishedError: There is nothing to repair.
        StageError: The working state has moved on since the publication, or vectors or terms are no longer cached.
        CorpusBusyError: Another run works on this corpus.
    """
    corpus = context.spec.slug
    with corpus_lock(context.database, corpus):
        found = audit_drift(context)
        if found.is_empty:
            return found
        with context.database.connection() as connection:
            locked_publication(connection, corpus)
            known = published_generation(connection, corpus)
            abandoned = clear_above(connection, corpus, known.generation) > 0
            found, plan = _found(connection, context, known)
            if found.uncached:
                raise StageError(
                    f"{found.uncached} rows of {corpus!r} cannot be restored: their vectors or terms are not cached",
                    remedy=f"Make and publish them anew: corpus-pipeline ingest {corpus}.",
                )
            _put_right(connection, known, plan)
            root = root_of_served_rows(connection, known)
            if root != known.root_sha256:
                raise StageError(
                    f"the repaired rows of {corpus!r} make up {root[:12]}, not {known.root_sha256[:12]}: nothing kept",
                    remedy=f"Publish a new generation: corpus-pipeline ingest {corpus}.",
                )
            summary = ", ".join(f"{count} {kind}" for kind, count in found.counts.items())
            load_queries("trust").log_change(
                connection, corpus=corpus, action="repair", generation=known.generation, who=who, reason=summary
            )
    return Drift(
        corpus, known.generation, known.root_sha256, root, found.counts, found.rows, repaired=True, abandoned=abandoned
    )


def _found(connection: Connection, context: StageContext, known: Generation) -> tuple[Drift, Plan]:
    plan = make_plan(connection, context)
    context.progress.start(Stage.PUBLISHED_CORPUS, 2, "parts of the audit")
    if (plan.root_sha256, plan.table) != (known.root_sha256, known.serving_table):
        raise StageError(
            f"what generation {known.generation} of {known.corpus!r} must hold is no longer known row by row: "
            f"documents, decisions or configuration have changed since it was published "
            f"(they make up {plan.root_sha256[:12]}, it is {known.root_sha256[:12]})",
            remedy=f"`corpus-pipeline verify {known.corpus}` still tells altered rows from sound ones; to have "
            f"sound ones only, publish the present state: corpus-pipeline ingest {known.corpus}.",
        )
    values = _values(known, plan)
    _compare(connection, known, values)
    context.progress.advance()
    counts: dict[str, int] = {"missing": 0, "altered": 0, "extra": 0, "uncached": 0}
    rows: list[DriftedRow] = []
    for table, name in _DRIFT.items():
        found = one_row(connection, completed("drift_counts", drift=name), {}) or {}
        counts = {kind: count + int(found[kind]) for kind, count in counts.items()}
        for row in all_rows(connection, completed("drifted_rows", drift=name), {"most": MOST_LISTED}):
            columns = tuple(row["columns"] or ()) if row["kind"] == "altered" else ()
            rows.append(DriftedRow(table, row["kind"], row["row_id"], row["document_id"], columns))
    uncached = counts.pop("uncached")
    root = root_of_served_rows(connection, known)
    context.progress.advance()
    drift = Drift(known.corpus, known.generation, known.root_sha256, root, counts, tuple(rows), uncached=uncached)
    return drift, plan


def _values(known: Generation, plan: Plan) -> dict[str, Any]:
    return {
        "corpus": known.corpus,
        "generation": known.generation,
        "fingerprint": known.embedding_fingerprint,
        "analyser": plan.analyser.fingerprint,
        "tolerance": VECTOR_TOLERANCE,
    }


def _compare(connection: Connection, known: Generation, values: dict[str, Any]) -> None:
    fragments = completed(
        "fragment_drift",
        table=qualified(known.serving_table),
        values=_selected(_FRAGMENT_NAMES, "f"),
        differences=_differences((*_FRAGMENT_NAMES, "also_in", "is_boilerplate", "row_sha256")),
    )
    parents = completed(
        "parent_drift", values=_selected(_PARENT_NAMES, "p"), differences=_differences((*_PARENT_NAMES, "row_sha256"))
    )
    connection.execute(fragments, values)
    connection.execute(parents, values)


def _put_right(connection: Connection, known: Generation, plan: Plan) -> None:
    values, table = _values(known, plan), qualified(known.serving_table)
    for name, of in (("fragments", table), ("parents", qualified(PARENTS_TABLE))):
        for query in ("retire_extra_rows", "remove_drifted_rows"):
            connection.execute(completed(query, table=of, drift=_DRIFT[name]), values)
    connection.execute(
        completed(
            "restore_fragments", table=table, columns=_listed(_FRAGMENT_NAMES), values=_selected(_FRAGMENT_NAMES, "f")
        ),
        values,
    )
    connection.execute(
        completed("restore_parents", columns=_listed(_PARENT_NAMES), values=_selected(_PARENT_NAMES, "p")), values
    )
    rebuild_postings(connection, known.serving_table, known.corpus, known.generation)


def _listed(names: tuple[str, ...]) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, names))


def _selected(names: tuple[str, ...], own: str) -> sql.Composed:
    """Columns as staging takes them: what is of the document from there, the rest from the row's own table."""
    return sql.SQL(", ").join(sql.Identifier("d" if name in _DOCUMENT_NAMES else own, name) for name in names)


def _differences(names: tuple[str, ...]) -> sql.Composed:
    one = sql.SQL("CASE WHEN w.{name} IS DISTINCT FROM s.{name} THEN {text} END")
    return sql.SQL(", ").join(one.format(name=sql.Identifier(name), text=sql.Literal(name)) for name in names)
