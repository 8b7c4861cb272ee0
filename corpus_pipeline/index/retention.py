"""Retention: rows that no kept generation serves are removed; the records of generations stay."""

from __future__ import annotations

from psycopg import sql

from corpus_pipeline.index.loading import completed
from corpus_pipeline.index.postings import drop_postings
from corpus_pipeline.index.repository import locked_publication, serving_table, staged_generation
from corpus_pipeline.index.tables import PARENTS_TABLE, leaves, parents_partition, qualified
from corpus_pipeline.store import Database, forget_documents_before, load_queries

__all__ = ["KEPT_DAYS", "KEPT_GENERATIONS", "remove_old_rows"]

KEPT_GENERATIONS = 5
KEPT_DAYS = 30


def remove_old_rows(
    database: Database, corpus: str, *, kept_generations: int = KEPT_GENERATIONS, kept_days: int = KEPT_DAYS
) -> int:
    """Removes the rows of generations that are neither recent in number nor in days.

    Rollback and as-of answers reach as far back as generations are kept. Tables of a former
    embedding fingerprint are emptied of this corpus once no kept generation is served from them.

    Args:
        database: Of the pipeline.
        corpus: Slug.
        kept_generations: The published generation and those before it, at least 1.
        kept_days: A generation that served within so many days is kept in any case.

    Returns:
        How many rows were removed.
    """
    queries = load_queries("index")
    removed: dict[str, int] = {}
    with database.connection() as connection:
        published = locked_publication(connection, corpus)
        if published is None:
            return 0
        kept = list(queries.kept_generations(connection, corpus=corpus, keep=max(kept_generations, 1), days=kept_days))
        numbers = [row["generation"] for row in kept]
        given_up = queries.mark_rows_removed(connection, corpus=corpus, kept=numbers)
        if not given_up:
            return 0
        queries.remove_unneeded_term_statistics(connection, corpus=corpus, published=published.generation, kept=numbers)
        forget_documents_before(connection, corpus, min(numbers))
        staged = staged_generation(connection, corpus)
        staged_table = serving_table(connection, corpus, staged) if staged else None
        tables = [row["serving_table"] for row in queries.serving_tables(connection, corpus=corpus)]
        for table in (*tables, PARENTS_TABLE):
            served = [row["generation"] for row in kept if table in (PARENTS_TABLE, row["serving_table"])]
            if not served and table != staged_table:
                drop_postings(connection, table, corpus)
            removed[table] = connection.execute(
                completed("remove_unneeded_rows", table=qualified(table)),
                {"corpus": corpus, "published": published.generation, "kept": served},
            ).rowcount
    _vacuum(database, corpus, [table for table, count in removed.items() if count])
    return sum(removed.values())


def _vacuum(database: Database, corpus: str, tables: list[str]) -> None:
    # Dead rows would stay in the HNSW graph until autovacuum comes round. The leaves of this corpus
    # only: a vacuum of the whole table waits for other corpora that are building an index.
    with database.session() as connection:
        for table in tables:
            names = [leaf.name for leaf in leaves(table, corpus)]
            for name in [parents_partition(corpus)] if table == PARENTS_TABLE else names:
                connection.execute(sql.SQL("VACUUM (ANALYZE) {}").format(qualified(name)))
