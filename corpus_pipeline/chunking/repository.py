"""The tables of this room."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from psycopg.rows import dict_row

from corpus_pipeline.chunking.documents import ChunkedDocument
from corpus_pipeline.records import Fragment, Parent
from corpus_pipeline.store import Connection, load_queries

__all__ = [
    "ChunkSpool",
    "DocumentState",
    "FragmentMark",
    "chunked_documents",
    "fragment_marks",
    "fragments",
    "parents",
    "replace_documents",
    "replace_marks",
]

_SPOOL_MEMORY_BYTES = 64_000_000
_FETCH_ROWS = 1000


@dataclass(frozen=True, slots=True)
class DocumentState:
    """What a document was cut from and into.

    Attributes:
        input_sha256: Covers its text, its title and the chunker.
        content_sha256: Covers its parents and fragments.
    """

    document_id: str
    input_sha256: str
    content_sha256: str
    parent_count: int
    fragment_count: int
    token_count: int
    max_token_count: int

    @classmethod
    def of(cls, chunked: ChunkedDocument, input_sha256: str) -> DocumentState:
        """The state of a document just cut."""
        tokens = [fragment.token_count for fragment in chunked.fragments]
        return cls(
            chunked.document_id,
            input_sha256,
            chunked.content_sha256,
            len(chunked.parents),
            len(chunked.fragments),
            sum(tokens),
            max(tokens, default=0),
        )


@dataclass(frozen=True, slots=True)
class FragmentMark:
    """What a fragment has in common with others of its corpus.

    Attributes:
        copy_of: The first of the fragments that nothing but their place tells apart; ``None`` for the first.
        also_in: Of a first one, the others: ``fragment_id``, ``document_id``, ``title``,
            ``page_number``, ``char_start``, ``char_end``.
        is_boilerplate: Its text is current in many version families.
    """

    fragment_id: str
    copy_of: str | None
    also_in: list[dict[str, Any]]
    is_boilerplate: bool


class ChunkSpool:
    """Documents cut and not yet stored, on disk beyond 64 MB, until the stage commits them all."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=_SPOOL_MEMORY_BYTES)  # noqa: SIM115 - closed in __exit__
        self.states: dict[str, DocumentState] = {}

    def add(self, chunked: ChunkedDocument, input_sha256: str) -> None:
        """Keeps a document."""
        self.states[chunked.document_id] = DocumentState.of(chunked, input_sha256)
        pickle.dump(chunked, self._file, protocol=pickle.HIGHEST_PROTOCOL)

    def __iter__(self) -> Iterator[ChunkedDocument]:
        self._file.seek(0)
        for _ in self.states:
            yield pickle.load(self._file)  # noqa: S301 - this process wrote it

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


def chunked_documents(connection: Connection, corpus: str) -> dict[str, DocumentState]:
    """State of every document of a corpus that has been cut, by document id."""
    rows = load_queries("chunking").chunked_documents(connection, corpus=corpus)
    return {row["document_id"]: DocumentState(**row) for row in rows}


def replace_documents(
    connection: Connection, corpus: str, *, removed: Sequence[str], spool: ChunkSpool, fingerprint: str
) -> None:
    """Removes documents and (re)places the spooled ones, in the caller's transaction."""
    queries = load_queries("chunking")
    gone = sorted({*removed, *spool.states})
    if gone:
        queries.delete_documents(connection, corpus=corpus, document_ids=gone)
    if not spool.states:
        return
    with connection.cursor().copy(queries.copy_documents.sql) as copy:
        for state in spool.states.values():
            copy.write_row(_document_row(state, corpus, fingerprint))
    with connection.cursor().copy(queries.copy_parents.sql) as copy:
        for chunked in spool:
            for ordinal, parent in enumerate(chunked.parents, start=1):
                copy.write_row(_parent_row(parent, ordinal))
    with connection.cursor().copy(queries.copy_fragments.sql) as copy:
        for chunked in spool:
            for fragment in chunked.fragments:
                copy.write_row(_fragment_row(fragment))


def replace_marks(connection: Connection, corpus: str, *, min_documents: int, min_share: float) -> dict[str, int]:
    """Finds copies and boilerplate anew, in the caller's transaction.

    Args:
        connection: In the transaction that has placed the fragments.
        corpus: Slug.
        min_documents: Version families that boilerplate is current in, at the least.
        min_share: The same as a share of all families that are current.

    Returns:
        How many fragments are ``copies`` and ``boilerplate``.
    """
    queries = load_queries("chunking")
    queries.delete_marks(connection, corpus=corpus)
    queries.mark_fragments(connection, corpus=corpus, min_documents=min_documents, min_share=min_share)
    return {name: int(value) for name, value in queries.mark_counts(connection, corpus=corpus).items()}


def fragment_marks(connection: Connection, corpus: str) -> list[FragmentMark]:
    """The marks of a corpus, ordered by document id and place; fragments like no other have none."""
    return [FragmentMark(**row) for row in load_queries("chunking").fragment_marks(connection, corpus=corpus)]


def fragments(connection: Connection, corpus: str) -> Iterator[Fragment]:
    """All fragments of a corpus ordered by document id and ordinal, streamed.

    The connection must stay in its transaction until the iterator ends.
    """
    with connection.cursor("chunking_fragments", row_factory=dict_row) as cursor:
        cursor.itersize = _FETCH_ROWS
        cursor.execute(load_queries("chunking").fragments.sql, {"corpus": corpus})
        for row in cursor:
            yield Fragment.model_construct(**_with_path(row))


def parents(connection: Connection, corpus: str, parent_ids: Sequence[str] | None = None) -> list[Parent]:
    """Parents of a corpus ordered by document id and place; all, or those named."""
    wanted = None if parent_ids is None else list(parent_ids)
    rows = load_queries("chunking").parents(connection, corpus=corpus, parent_ids=wanted)
    return [Parent.model_construct(**_with_path(row)) for row in rows]


def _with_path(row: Mapping[str, Any]) -> dict[str, Any]:
    return {**row, "section_path": tuple(row["section_path"])}


def _document_row(state: DocumentState, corpus: str, fingerprint: str) -> tuple[Any, ...]:
    return (
        state.document_id,
        corpus,
        state.input_sha256,
        state.content_sha256,
        fingerprint,
        state.parent_count,
        state.fragment_count,
        state.token_count,
        state.max_token_count,
    )


def _parent_row(parent: Parent, ordinal: int) -> tuple[Any, ...]:
    return (
        parent.parent_id,
        parent.corpus,
        parent.document_id,
        ordinal,
        list(parent.section_path),
        parent.text,
        parent.text_sha256,
        parent.token_count,
        parent.char_start,
        parent.char_end,
        parent.page_number,
    )


def _fragment_row(fragment: Fragment) -> tuple[Any, ...]:
    return (
        fragment.fragment_id,
        fragment.parent_id,
        fragment.corpus,
        fragment.document_id,
        fragment.ordinal,
        fragment.text,
        fragment.text_sha256,
        fragment.embedded_text,
        fragment.embedded_sha256,
        fragment.token_count,
        list(fragment.section_path),
        fragment.page_number,
        fragment.char_start,
        fragment.char_end,
    )
