"""Removing documents for good: text, vectors, caches, history, served rows of all generations, packs that cite them.

Everything happens in one transaction, while no run works on any corpus: caches are shared by content, so what another
document still needs can only be told while nobody adds to them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

from psycopg import sql
from psycopg.types.json import Jsonb

from corpus_pipeline.deduplication import delete_abandoned_signatures
from corpus_pipeline.errors import CorpusBusyError, PurgeRefusedError
from corpus_pipeline.index import (
    DOCUMENT_COLUMNS,
    PARENTS_TABLE,
    Generation,
    clear_above,
    drop_postings,
    generation,
    locked_publication,
    qualified,
    rebuild_postings,
    root_of_served_rows,
)
from corpus_pipeline.records import canonical_json, sha256_hex
from corpus_pipeline.store import Connection, Database, load_queries
from corpus_pipeline.trust.receipt import ChangedRoot, PurgedDocument, PurgeReceipt
from corpus_pipeline.trust.repository import all_rows, completed, copy_heads, one_value, row_values
from corpus_pipeline.trust.verification import document_heads

__all__ = ["purge_documents"]

_DOCUMENT_NAMES = tuple(column.name for column in DOCUMENT_COLUMNS)
_FIRST = (
    "purge_evidence_packs", "purge_evaluation_queries", "purge_gate_verdicts", "purge_version_conflicts",
    "purge_version_relations", "purge_comparison_states", "purge_duplicate_edges", "purge_cross_corpus_edges",
    "purge_duplicate_cluster_members", "purge_fragment_marks", "purge_fragments", "purge_parents",
    "purge_chunked_documents", "purge_compared_documents", "purge_document_versions",
    "purge_document_version_history", "purge_documents", "purge_published_documents", "purge_quarantine",
    "purge_removal_holds", "purge_source_files", "purge_source_changes", "purge_source_readings",
    "purge_container_readings", "purge_conversions", "purge_conversion_routes", "purge_version_evidence",
    "purge_text_profiles",
)  # fmt: skip
"""Queries named after the table they remove rows from, in an order in which each still finds what it asks for."""

_BY_TEXT = ("purge_embeddings", "purge_analysed_texts")
_REDACTED = {
    "document_versions": "redact_versions",
    "document_version_history": "redact_version_history",
    "source_changes": "redact_renames",
}


def purge_documents(
    database: Database,
    document_ids: Sequence[str],
    *,
    reason: str,
    who: str,
    force: bool = False,
    allow_again: bool = False,
) -> PurgeReceipt:
    """Removes documents for good and keeps a receipt; all of them, or none.

    Args:
        database: Of the pipeline.
        document_ids: Ids as ``<corpus>/<path>``.
        reason: For the receipt; it is kept for ever and must name nobody.
        who: Name of the person.
        force: Also documents that are in the source or served: they vanish from the published generation now, whose
            root is another afterwards.
        allow_again: Their files may be taken in again; otherwise the inventory leaves them out.

    Raises:
        PurgeRefusedError: Nothing is known of a document, or it is still in its source or served.
        CorpusBusyError: A run works on a corpus.
    """
    ids = sorted(set(document_ids))
    with _all_corpora(database):
        with database.connection() as connection:
            tables = _traced(connection, ids)
            found = _hashes(connection, ids)
            _demand_known(ids, found)
            changed = _generations(connection, tables)
            _demand_gone(connection, changed, force=force)
            receipt = _purge(connection, tables, found, changed, (reason, who), allow_again=allow_again)
            _keep(connection, receipt, allow_again=allow_again)
        _vacuum(database, receipt, tables)
    return receipt


@contextmanager
def _all_corpora(database: Database) -> Iterator[None]:
    """Keeps runs away from every corpus; the session's end frees them all."""
    queries = load_queries("store")
    with database.session() as session:
        corpora = [row["corpus"] for row in load_queries("trust").known_corpora(session)]
        try:
            for corpus in corpora:
                if not queries.try_corpus_lock(session, corpus=corpus):
                    raise CorpusBusyError(
                        f"a run is working on corpus {corpus!r}, and what is purged may be shared with it",
                        remedy="Wait for it to end (see `corpus-pipeline status`), then purge again.",
                    )
            yield
        finally:
            session.execute("SELECT pg_advisory_unlock_all()")


def _traced(connection: Connection, ids: list[str]) -> list[str]:
    """Names the documents and their hashes in temporary tables; returns the serving tables there are."""
    queries = load_queries("trust")
    queries.name_documents(connection, document_ids=ids)
    queries.trace_documents(connection)
    tables = [row["serving_table"] for row in queries.all_serving_tables(connection)]
    for table in tables:
        connection.execute(completed("trace_serving", table=qualified(table)))
    return tables


def _hashes(connection: Connection, ids: list[str]) -> dict[str, dict[str, list[str]]]:
    found: dict[str, dict[str, list[str]]] = {document_id: {} for document_id in ids}
    for row in load_queries("trust").traced_hashes(connection):
        found[row["document_id"]][row["kind"]] = row["sha256s"]
    return found


def _demand_known(ids: list[str], found: dict[str, dict[str, list[str]]]) -> None:
    unknown = [document_id for document_id in ids if not found[document_id]]
    if unknown:
        raise PurgeRefusedError(
            f"nothing is kept of {', '.join(map(repr, unknown))}; nothing was purged",
            remedy="Give ids as `corpus-pipeline versions` and `search --json` print them, such as handbook/refund.md.",
        )


def _generations(connection: Connection, tables: list[str]) -> list[tuple[Generation, bool]]:
    """Generations that serve one of the documents, and whether readers see them."""
    affected = []
    corpora = set()
    for row in list(load_queries("trust").generations_with_rows(connection)):
        if row["corpus"] not in corpora:
            locked_publication(connection, row["corpus"])
            corpora.add(row["corpus"])
        known = generation(connection, row["corpus"], row["generation"])
        if known is None or known.serving_table not in tables:
            continue
        scope = {"corpus": known.corpus, "generation": known.generation}
        count = sum(
            one_value(connection, completed("rows_of_documents", table=qualified(table)), scope)
            for table in (known.serving_table, PARENTS_TABLE)
        )
        if count:
            affected.append((known, bool(row["is_published"])))
    return affected


def _demand_gone(connection: Connection, changed: list[tuple[Generation, bool]], *, force: bool) -> None:
    at_work = [row["document_id"] for row in load_queries("trust").documents_at_work(connection)]
    published = sorted({known.corpus for known, is_published in changed if is_published})
    if force or not (at_work or published):
        return
    where = [f"{document_id!r} is in its source" for document_id in at_work]
    where += [f"corpus {corpus!r} serves one of the documents" for corpus in published]
    raise PurgeRefusedError(
        f"{'; '.join(where)}; nothing was purged",
        remedy="Take the files out of the source and ingest, then purge. Or purge with --force: what is served "
        "changes at once, and the files are left out from now on.",
    )


def _purge(
    connection: Connection,
    tables: list[str],
    found: dict[str, dict[str, list[str]]],
    changed: list[tuple[Generation, bool]],
    why: tuple[str, str],
    *,
    allow_again: bool,
) -> PurgeReceipt:
    queries = load_queries("trust")
    # A staged generation would be published under a root that its rows no longer have.
    published = {known.corpus: known.generation for known, is_published in changed if is_published}
    for corpus, number in published.items():
        clear_above(connection, corpus, number)
    changed = [one for one in changed if one[0].generation <= published.get(one[0].corpus, one[0].generation)]
    intact = {
        (known.corpus, known.generation): root_of_served_rows(connection, known) == known.root_sha256
        for known, _ in changed
    }
    connection.execute(completed("spare_files", served=_union(tables)))
    queries.trace_conversions(connection)
    hidden = int(queries.hidden_copies(connection)) if published else 0
    removed, redacted = _remove(connection, tables)
    for row in list(queries.posting_indexes_of_documents(connection)):
        if row["generation"] is None:
            drop_postings(connection, row["serving_table"], row["corpus"])
        else:
            rebuild_postings(connection, row["serving_table"], row["corpus"], row["generation"])
    files = _hashes(connection, list(found))
    documents = tuple(
        PurgedDocument(
            sha256_hex(document_id),
            tuple(files[document_id].get("file", ())),
            len(kinds.get("file", ())) - len(files[document_id].get("file", ())),
        )
        for document_id, kinds in found.items()
    )
    return PurgeReceipt(
        reason=why[0],
        purged_by=why[1],
        purged_at=datetime.now(UTC),
        documents=documents,
        removed={table: count for table, count in removed.items() if count},
        redacted={table: count for table, count in redacted.items() if count},
        roots=tuple(_new_roots(connection, changed, intact)),
        hidden_copies=hidden,
        refused_files=0 if allow_again else len({sha for one in documents for sha in one.file_sha256s}),
    )


def _remove(connection: Connection, tables: list[str]) -> tuple[dict[str, int], dict[str, int]]:
    """Removes everything that was traced; how many rows were removed, and emptied of a reason, by table."""
    queries, served = load_queries("trust"), _union(tables)
    removed = {_table(query): int(getattr(queries, query)(connection)) for query in _FIRST}
    redacted = {table: int(getattr(queries, query)(connection)) for table, query in _REDACTED.items()}
    for table in (*tables, PARENTS_TABLE):
        query = completed("purge_served", table=qualified(table))
        removed[f"serving.{table}"] = connection.execute(query).rowcount
    for table in tables:
        redacted[f"serving.{table}"] = _forget_sources(connection, table)
    for name in _BY_TEXT:
        removed[_table(name)] = connection.execute(completed(name, served=served)).rowcount
    queries.release_signatures(connection)
    removed["document_signatures"] = delete_abandoned_signatures(connection, days=0)
    return removed, redacted


def _table(query: str) -> str:
    return query.removeprefix("purge_")


def _union(tables: list[str]) -> sql.Composed:
    """All serving tables as one, with what says which files and texts are still needed."""
    columns = sql.SQL("SELECT document_id, source_sha256, embedded_sha256 FROM ")
    empty = sql.SQL("SELECT NULL::text AS document_id, NULL::text AS source_sha256, NULL::text AS embedded_sha256")
    return sql.SQL(" UNION ALL ").join([empty, *(columns + qualified(table) for table in tables)])


def _forget_sources(connection: Connection, table: str) -> int:
    """Takes the documents out of what other rows cite, with new digests for rows whose old one held."""
    if not load_queries("trust").knows_other_sources(connection, table_name=table):
        return 0
    names = row_values(_DOCUMENT_NAMES)
    rows = all_rows(connection, completed("citing_values", table=qualified(table), columns=names), {})
    if not rows:
        return 0
    connection.execute("DROP TABLE IF EXISTS pg_temp.citing_heads")
    copy_heads(connection, "citing_heads", (head for row in rows for head in document_heads(row)))
    own = row_values(_DOCUMENT_NAMES, "s0")
    return connection.execute(completed("forget_sources", table=qualified(table), columns=own)).rowcount


def _new_roots(
    connection: Connection, changed: list[tuple[Generation, bool]], intact: dict[tuple[str, int], bool]
) -> Iterator[ChangedRoot]:
    queries = load_queries("trust")
    for known, is_published in changed:
        if not intact[known.corpus, known.generation]:
            # Something else had changed its rows before: a new root would hide that.
            yield ChangedRoot(known.corpus, known.generation, known.root_sha256, known.root_sha256, is_published)
            continue
        scope = {"corpus": known.corpus, "generation": known.generation}
        root = root_of_served_rows(connection, known)
        rows = one_value(connection, completed("count_rows", table=qualified(known.serving_table)), scope)
        queries.set_root(connection, **scope, root_sha256=root, rows=rows)
        queries.set_published_root(connection, **scope, root_sha256=root)
        yield ChangedRoot(known.corpus, known.generation, known.root_sha256, root, is_published)


def _keep(connection: Connection, receipt: PurgeReceipt, *, allow_again: bool) -> None:
    queries = load_queries("trust")
    queries.add_receipt(
        connection,
        purge_id=receipt.purge_id,
        reason=receipt.reason,
        purged_by=receipt.purged_by,
        purged_at=receipt.purged_at,
        receipt=Jsonb(receipt.as_json(), dumps=canonical_json),
    )
    files = sorted({sha for one in receipt.documents for sha in one.file_sha256s})
    if not allow_again:
        queries.refuse_files(connection, file_sha256s=files, purge_id=receipt.purge_id)
    for root in receipt.roots:
        if root.is_published:
            queries.log_change(
                connection,
                corpus=root.corpus,
                action="purge",
                generation=root.generation,
                who=receipt.purged_by,
                reason=f"purge {receipt.purge_id}",
            )


def _vacuum(database: Database, receipt: PurgeReceipt, tables: list[str]) -> None:
    """Rows that were deleted are on disk until a vacuum; the leaves follow their table."""
    names = [name for name in receipt.removed if not name.startswith("serving.")]
    touched = [sql.Identifier("corpus", name) for name in (*names, "posting_blocks", "posting_places")]
    touched += [qualified(table) for table in (*tables, PARENTS_TABLE) if f"serving.{table}" in receipt.removed]
    with database.session() as session:
        for table in touched:
            session.execute(sql.SQL("VACUUM {}").format(table))
