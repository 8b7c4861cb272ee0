"""Generations and pointers in the database: the named queries of ``sql/queries/index.sql``."""

from __future__ import annotations

from typing import Any

from psycopg.types.json import Jsonb

from corpus_pipeline.index.history import Generation, GenerationStatus, LogEntry, Publication
from corpus_pipeline.records import canonical_json
from corpus_pipeline.store import Connection, load_queries

__all__ = [
    "add_generation",
    "cached_dimensions",
    "generation",
    "generations",
    "locked_publication",
    "next_generation",
    "publication",
    "publication_log",
    "publications",
    "serving_table",
    "staged_generation",
]


def publication(connection: Connection, corpus: str) -> Publication | None:
    """What readers of a corpus see; ``None`` while nothing is published.

    Works for the pipeline, which is also told of holds, and inside a read session.
    """
    return next((known for known in publications(connection) if known.corpus == corpus), None)


def publications(connection: Connection, *, with_holds: bool = True) -> list[Publication]:
    """The pointers of all published corpora, sorted by corpus.

    Args:
        connection: Of the pipeline, or a read session.
        with_holds: Also who holds publication and why, as far as the session may know.
    """
    queries = load_queries("index")
    if with_holds and queries.may_see_holds(connection):
        return [Publication(**row) for row in queries.publications(connection)]
    return [Publication(**row) for row in queries.publications_for_readers(connection)]


def locked_publication(connection: Connection, corpus: str) -> Publication | None:
    """The pointer of a corpus; nobody else moves it until the transaction ends."""
    queries = load_queries("index")
    list(queries.lock_corpus_pointer(connection, corpus=corpus))
    row = queries.lock_publication(connection, corpus=corpus)
    return Publication(**row) if row else None


def generations(connection: Connection, corpus: str) -> list[Generation]:
    """All generations ever staged of a corpus, oldest first."""
    return [_generation(row) for row in load_queries("index").generations(connection, corpus=corpus)]


def generation(connection: Connection, corpus: str, number: int) -> Generation | None:
    """One generation of a corpus."""
    row = load_queries("index").generation(connection, corpus=corpus, generation=number)
    return _generation(row) if row else None


def staged_generation(connection: Connection, corpus: str) -> int | None:
    """Number of the generation that waits for evaluation and publication; ``None`` when there is none."""
    staged = [known.generation for known in generations(connection, corpus) if known.status is GenerationStatus.STAGED]
    return max(staged, default=None)


def serving_table(connection: Connection, corpus: str, number: int | None = None) -> str | None:
    """Table in schema serving that has a generation's rows; without a number, the published one's."""
    if number is None:
        published = publication(connection, corpus)
        return published.serving_table if published else None
    known = generation(connection, corpus, number)
    return known.serving_table if known else None


def publication_log(connection: Connection, corpus: str) -> list[LogEntry]:
    """All moves of a corpus's pointer, oldest first."""
    return [LogEntry(**row) for row in load_queries("index").publication_log(connection, corpus=corpus)]


def add_generation(connection: Connection, values: dict[str, Any]) -> None:
    """Records a staged generation; ``values`` are the columns of corpus.generations up to ``run_id``."""
    as_json = {key: Jsonb(values[key], dumps=canonical_json) for key in ("model", "analyser", "counts", "inputs")}
    load_queries("index").add_generation(connection, **{**values, **as_json})


def next_generation(connection: Connection, corpus: str) -> int:
    """A number that no generation of this corpus has had."""
    return int(load_queries("index").next_generation(connection, corpus=corpus))


def cached_dimensions(connection: Connection, fingerprint: str) -> int | None:
    """Dimensions of the cached vectors of an embedding fingerprint; ``None`` when there are none."""
    dimensions = load_queries("index").cached_dimensions(connection, fingerprint=fingerprint)
    return int(dimensions) if dimensions else None


def _generation(row: dict[str, Any]) -> Generation:
    return Generation(**{**row, "status": GenerationStatus(row["status"])})
