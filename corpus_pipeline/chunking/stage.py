"""The asset ``fragments``."""

from __future__ import annotations

from collections.abc import Iterable

from corpus_pipeline.chunking.documents import chunk_document, document_title
from corpus_pipeline.chunking.fingerprint import chunker_fingerprint
from corpus_pipeline.chunking.layout import budget_for
from corpus_pipeline.chunking.repository import (
    ChunkSpool,
    DocumentState,
    chunked_documents,
    replace_documents,
    replace_marks,
)
from corpus_pipeline.chunking.strategies import strategy_named
from corpus_pipeline.chunking.tokens import token_counter
from corpus_pipeline.conversion import converted_documents, documents
from corpus_pipeline.records import Document, Stage, canonical_json, sha256_hex
from corpus_pipeline.store import StageContext, StageResult, open_stage

__all__ = ["fragment_corpus"]


def fragment_corpus(context: StageContext) -> StageResult:
    """Cuts every document whose text, title or chunker changed; the others keep their rows.

    Superseded documents and duplicates are cut too: their fragments explain what was kept out.

    Raises:
        UpstreamMissingError: The versions have not been resolved yet.
        CorpusBusyError: Another run works on this corpus.
        ModelUnavailableError: The embedding model's tokenizer is not there.
        ConfigurationError: The budget leaves no room for text.
    """
    corpus = context.spec.slug
    with open_stage(context, Stage.FRAGMENTS) as run, ChunkSpool() as spool:
        fingerprint = chunker_fingerprint(context.spec)
        with context.database.connection() as connection:
            known = chunked_documents(connection, corpus)
            present = documents(connection, corpus)
        inputs = {document.document_id: _input_sha256(document, fingerprint) for document in present}
        changed = [
            document
            for document in present
            if document.document_id not in known
            or known[document.document_id].input_sha256 != inputs[document.document_id]
        ]
        _chunk(context, changed, inputs, spool)
        removed = sorted(known.keys() - inputs.keys())
        states = [spool.states.get(document_id) or known[document_id] for document_id in sorted(inputs)]
        counts: dict[str, int | float | str] = {
            "documents": len(states),
            "chunked": len(changed),
            "reused": len(states) - len(changed),
            "removed": len(removed),
            **_totals(states),
        }
        chunking = context.spec.chunking
        limits = (chunking.boilerplate_documents, chunking.boilerplate_share)
        output = _output_sha256(run.input_sha256, limits, states)
        with run.commit(output_sha256=output, counts=counts) as connection:
            replace_documents(connection, corpus, removed=removed, spool=spool, fingerprint=fingerprint)
            counts.update(replace_marks(connection, corpus, min_documents=limits[0], min_share=limits[1]))
    return run.result


def _chunk(context: StageContext, changed: list[Document], inputs: dict[str, str], spool: ChunkSpool) -> None:
    context.progress.start(Stage.FRAGMENTS, len(changed), "documents")
    if not changed:
        return
    counter = token_counter(context.spec.embedding)
    budget = budget_for(context.spec.chunking, counter)
    strategy = strategy_named(context.spec.chunking.strategy)
    with context.database.connection() as connection:
        for document, converted in converted_documents(connection, changed):
            chunked = chunk_document(document, converted, counter=counter, budget=budget, strategy=strategy)
            spool.add(chunked, inputs[document.document_id])
            context.progress.advance()


def _input_sha256(document: Document, fingerprint: str) -> str:
    return sha256_hex(canonical_json([document.document_sha256, document_title(document), fingerprint]))


def _output_sha256(input_sha256: str, limits: tuple[int, float], states: Iterable[DocumentState]) -> str:
    # With the input, which covers metadata and decisions: marks depend on them, and what follows must not pass for
    # up to date. Marks are a function of these three.
    return sha256_hex(
        canonical_json([input_sha256, limits, [(state.document_id, state.content_sha256) for state in states]])
    )


def _totals(states: list[DocumentState]) -> dict[str, int]:
    return {
        "parents": sum(state.parent_count for state in states),
        "fragments": sum(state.fragment_count for state in states),
        "tokens": sum(state.token_count for state in states),
        "max_tokens": max((state.max_token_count for state in states), default=0),
    }
