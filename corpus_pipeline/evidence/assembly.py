"""From the accepted fragments of a search to a pack."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence

from corpus_pipeline.conversion import text_of
from corpus_pipeline.errors import EvidenceError
from corpus_pipeline.evidence import repository
from corpus_pipeline.evidence.pack import (
    MAX_SOURCES,
    EvidenceLocator,
    EvidencePack,
    EvidenceSource,
    evidence_hash,
    source_id,
)
from corpus_pipeline.evidence.repository import CitedRow
from corpus_pipeline.index import Publication, publications, read_session
from corpus_pipeline.records import SourceType, TrustLevel, sha256_hex
from corpus_pipeline.registry import Registry
from corpus_pipeline.retrieval import AcceptedFragment, SearchRequest, SearchResult, search
from corpus_pipeline.store import Connection, Database

__all__ = ["build_pack", "gather_evidence", "line_range"]


def gather_evidence(database: Database, registry: Registry, request: SearchRequest) -> EvidencePack:
    """Searches the published corpora and makes a pack of what was accepted.

    A search that finds not enough evidence gives a pack that says so, without sources or with too few.

    Raises:
        EvidenceError: The corpora were published anew while the pack was made.
        SearchError: As :func:`corpus_pipeline.retrieval.search`.
    """
    return build_pack(database, registry, request, search(database, registry, request))


def build_pack(database: Database, registry: Registry, request: SearchRequest, result: SearchResult) -> EvidencePack:
    """Makes a pack of a search result, reading each cited row again under the permissions of the request.

    Args:
        database: An open pool.
        registry: For the source type of corpora whose documents declare none.
        request: As it was given to the search.
        result: What the search gave back.

    Raises:
        EvidenceError: A row is no longer as it was found, or there are too many sources.
    """
    found: dict[str, list[AcceptedFragment]] = {}
    for hit in result.accepted:
        found.setdefault(hit.document_id, []).append(hit)
    if len(found) > MAX_SOURCES:
        raise EvidenceError(
            f"{len(found)} documents were found; a pack holds at most {MAX_SOURCES}", remedy="Ask for a smaller top_k."
        )
    with read_session(database, groups=request.groups, as_of=result.as_of, show_archived=False) as reader:
        published = {publication.corpus: publication for publication in publications(reader)}
        rows = _rows(reader, result, published)
    with database.connection() as connection:
        sources = tuple(
            _source(connection, registry, source_id(position), hits, rows, published)
            for position, hits in enumerate(found.values(), start=1)
        )
    return EvidencePack(
        request=request,
        as_of=result.as_of,
        sufficient=result.sufficient,
        reason=result.reason,
        sources=sources,
        evidence_hash=evidence_hash(sources),
    )


def line_range(text: str, char_start: int, char_end: int) -> tuple[int, int]:
    r"""First and last line, 1-based and inclusive, of the half-open span in a text.

    >>> line_range("a\nbc\nd", 2, 5)
    (2, 2)
    """
    starts = [0, *(index + 1 for index, character in enumerate(text) if character == "\n")]
    last = max(char_start, char_end - 1)
    return bisect_right(starts, char_start), bisect_right(starts, last)


def _rows(reader: Connection, result: SearchResult, published: Mapping[str, Publication]) -> dict[str, CitedRow]:
    rows: dict[str, CitedRow] = {}
    for corpus in sorted({hit.corpus for hit in result.accepted}):
        publication = published.get(corpus)
        if publication is None or publication.generation != result.generations.get(corpus):
            raise _moved(corpus)
        wanted = [hit.fragment_id for hit in result.accepted if hit.corpus == corpus]
        rows |= repository.cited_rows(reader, publication, wanted)
    for hit in result.accepted:
        if hit.fragment_id not in rows or rows[hit.fragment_id].text_sha256 != sha256_hex(hit.text):
            raise _moved(hit.corpus)
    return rows


def _moved(corpus: str) -> EvidenceError:
    return EvidenceError(f"{corpus} was published anew while the evidence was gathered", remedy="Ask again.")


def _source(
    connection: Connection,
    registry: Registry,
    name: str,
    hits: Sequence[AcceptedFragment],
    rows: Mapping[str, CitedRow],
    published: Mapping[str, Publication],
) -> EvidenceSource:
    first, row = hits[0], rows[hits[0].fragment_id]
    publication = published[first.corpus]
    text = text_of(connection, row.source_sha256, row.document_text_sha256)
    declared = row.source_type or registry.corpus(first.corpus).source_type
    return EvidenceSource(
        source_id=name,
        corpus=first.corpus,
        document_id=first.document_id,
        source_uri=first.source_uri,
        title=first.title,
        version=row.version,
        source_type=SourceType(declared),
        trust_level=TrustLevel(row.trust_level),
        dated=row.last_reviewed_at or row.valid_from,
        source_sha256=row.source_sha256,
        text_sha256=row.document_text_sha256,
        embedding_fingerprint=publication.embedding_fingerprint,
        generation=publication.generation,
        generation_root=publication.root_sha256,
        locators=tuple(_locator(hit, text) for hit in hits),
    )


def _locator(hit: AcceptedFragment, text: str | None) -> EvidenceLocator:
    lines = line_range(text, hit.char_start, hit.char_end) if text is not None else (None, None)
    return EvidenceLocator(
        fragment_id=hit.fragment_id,
        section=" > ".join(hit.section_path),
        page_number=hit.page_number,
        line_start=lines[0],
        line_end=lines[1],
        char_start=hit.char_start,
        char_end=hit.char_end,
        excerpt=hit.text,
        excerpt_hash=sha256_hex(hit.text),
        score=hit.score,
    )
