"""Asks the golden queries of one generation, each as a reader with its groups would ask it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from corpus_pipeline.embedding import load_model_of
from corpus_pipeline.evaluation import repository
from corpus_pipeline.evaluation.facts import ChainFacts, texts_of
from corpus_pipeline.evaluation.golden import GoldenQuery
from corpus_pipeline.evaluation.judgement import Found, judge, missed_documents, missed_passages
from corpus_pipeline.evaluation.metrics import EVALUATED_DEPTH
from corpus_pipeline.evaluation.outcome import QueryOutcome
from corpus_pipeline.index import Generation, read_session
from corpus_pipeline.records import Stage
from corpus_pipeline.registry import RetrievalSpec
from corpus_pipeline.retrieval import (
    NO_RERANKER,
    Candidate,
    Question,
    Ranking,
    SearchRequest,
    SearchTarget,
    explain_documents,
    prepare_question,
    rank_fragments,
)
from corpus_pipeline.store import Connection, StageContext

__all__ = ["ask_queries"]

DEEP_FETCH = 50
"""Candidates fetched of each kind for the ranks beyond what a reader gets."""


@dataclass(frozen=True)
class _Asked:
    """A golden query made ready, with the groups and the day it is asked with."""

    query: GoldenQuery
    request: SearchRequest
    vector: NDArray[np.float32]
    as_of: date

    @property
    def session_key(self) -> tuple[tuple[str, ...], date]:
        return self.request.groups, self.as_of


@dataclass(frozen=True)
class _Answered:
    asked: _Asked
    question: Question
    ranking: Ranking
    deep: Sequence[Candidate]


def ask_queries(
    context: StageContext, subject: Generation, queries: Sequence[GoldenQuery], facts: ChainFacts
) -> list[QueryOutcome]:
    """The outcome of each query in order of id; queries of the same reader share a session.

    Args:
        context: Of the corpus.
        subject: Any generation whose rows are there, published or not.
        queries: What is asked.
        facts: What the chain knows now.

    Raises:
        ModelUnavailableError: The model that the generation was embedded with is not installed.
    """
    if not queries:
        return []
    context.progress.start(Stage.RETRIEVAL_EVALUATION, len(queries), "golden queries")
    with context.database.connection() as connection:
        texts = texts_of(connection, subject.corpus, _quoted_documents(subject.corpus, queries))
    target = SearchTarget(
        subject.corpus,
        subject.generation,
        subject.serving_table,
        subject.embedding_fingerprint,
        subject.analyser,
        is_evaluated=True,
    )
    anchored = [_with_anchors(query, subject.corpus, texts) for query in queries]
    asked = sorted(_prepare(context, subject, anchored), key=lambda one: (one.session_key, one.query.query_id))
    outcomes: list[QueryOutcome] = []
    for (groups, as_of), shared in groupby(asked, key=lambda one: one.session_key):
        with read_session(
            context.database,
            groups=groups,
            as_evaluator=(subject.corpus, subject.generation),
            as_of=as_of,
            show_archived=False,
        ) as reader:
            answered = [_answer(reader, context.spec.retrieval, target, one) for one in shared]
        for one in answered:
            outcomes.append(judge(one.asked.query, _explain(context, subject, target, one, texts), facts, as_of))
            context.progress.advance()
    return sorted(outcomes, key=lambda outcome: outcome.query_id)


def _quoted_documents(corpus: str, queries: Iterable[GoldenQuery]) -> set[str]:
    return {f"{corpus}/{passage.source}" for query in queries for passage in query.passages}


def _with_anchors(query: GoldenQuery, corpus: str, texts: Mapping[str, str]) -> GoldenQuery:
    """The query with every passage as words: spans hold for one text only, words for every generation."""
    if all(passage.anchor is not None for passage in query.passages):
        return query
    changed = {
        key: tuple(
            passage.model_copy(update={"anchor": passage.words_in(texts.get(f"{corpus}/{passage.source}"))})
            for passage in getattr(query, key)
        )
        for key in ("expected_passages", "forbidden_passages")
    }
    return query.model_copy(update=changed)


def _answer(reader: Connection, spec: RetrievalSpec, target: SearchTarget, asked: _Asked) -> _Answered:
    """As search does it, of the generation this session sees; then once more for the ranks below."""
    question, _ = prepare_question(
        reader,
        [target],
        asked.request,
        vectors={target.space: asked.vector},
        as_of=asked.as_of,
        specs={target.corpus: spec},
    )
    ranking = rank_fragments(reader, [target], question)
    if not asked.query.expected:
        return _Answered(asked, question, ranking, ())
    deeper = asked.request.model_copy(
        update={"top_k": 1, "fetch_multiplier": DEEP_FETCH, "reranker": NO_RERANKER, "evidence_tokens": None}
    )
    below = rank_fragments(
        reader, [target], replace(question, request=deeper, limits={target.corpus: deeper.limits(spec)})
    )
    return _Answered(asked, question, ranking, below.candidates)


def _prepare(context: StageContext, subject: Generation, queries: Sequence[GoldenQuery]) -> list[_Asked]:
    model = load_model_of(subject.embedding, subject.embedding_fingerprint, context.settings.state_folder)
    vectors = model.encode_queries([query.query for query in queries])
    asked = []
    for query, vector in zip(queries, vectors, strict=True):
        groups = tuple(sorted(query.groups if query.groups is not None else context.spec.access_groups))
        as_of = query.as_of or context.as_of
        request = SearchRequest(
            query=query.query,
            corpora=(subject.corpus,),
            groups=groups,
            top_k=EVALUATED_DEPTH,
            filters=query.filters,
            as_of=as_of,
        )
        asked.append(_Asked(query, request, vector, as_of))
    return asked


def _explain(
    context: StageContext, subject: Generation, target: SearchTarget, one: _Answered, texts: Mapping[str, str]
) -> Found:
    """What was found, with what is needed to say why the rest was not."""
    query, ranking = one.asked.query, one.ranking
    missed = missed_documents(query, target.corpus, ranking)
    quoted = sorted({owner for owner, _ in missed_passages(query, target.corpus, ranking)})
    found = Found(ranking, deep=one.deep, texts=texts, groups=one.asked.request.groups)
    if not missed and not quoted:
        return found
    with context.database.connection() as operator:
        return replace(
            found,
            explained=explain_documents(operator, target, one.question, ranking, missed) if missed else {},
            fragment_texts=repository.fragment_texts(operator, subject, quoted) if quoted else {},
        )
