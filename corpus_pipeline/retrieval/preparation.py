"""A request made ready to be ranked: its scope read, its limits set for each corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date

from corpus_pipeline.registry import RetrievalSpec
from corpus_pipeline.retrieval.facets import published_facets
from corpus_pipeline.retrieval.ranking import Question
from corpus_pipeline.retrieval.request import SearchRequest
from corpus_pipeline.retrieval.rows import SearchTarget, Vector
from corpus_pipeline.retrieval.scope import ScopeReading, read_scope
from corpus_pipeline.store import Connection

__all__ = ["prepare_question"]


def prepare_question(
    reader: Connection,
    targets: Sequence[SearchTarget],
    request: SearchRequest,
    *,
    vectors: Mapping[str, Vector],
    as_of: date,
    specs: Mapping[str, RetrievalSpec],
    is_routed: bool = True,
) -> tuple[Question, ScopeReading]:
    """Reads what the question says about its scope, with the vocabulary that this reader may see.

    Args:
        reader: A read session of the groups and the day of the request.
        targets: The corpora that are searched.
        request: As asked.
        vectors: Of the query, by vector space.
        as_of: The day on which documents must be in force.
        specs: How each corpus is searched, by slug.
        is_routed: The corpora were named or chosen, so that the question is not vague.
    """
    reading = ScopeReading((request.filters,))
    if request.read_scope:
        reading = read_scope(request.query, published_facets(reader, targets, request.groups, as_of), request.filters)
    question = Question(
        request=request,
        vectors=vectors,
        as_of=as_of,
        limits={corpus: request.limits(spec) for corpus, spec in specs.items()},
        alternatives=reading.alternatives,
        is_scoped=is_routed or bool(reading.read) or bool(request.filters.as_json()),
    )
    return question, reading
