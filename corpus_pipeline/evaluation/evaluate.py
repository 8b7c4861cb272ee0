"""The stage: golden queries against the generation that is about to be published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from corpus_pipeline.conversion import quarantined_files
from corpus_pipeline.embedding import load_model
from corpus_pipeline.errors import UpstreamMissingError
from corpus_pipeline.evaluation import repository
from corpus_pipeline.evaluation.golden import GoldenQuery, GoldenSet, load_golden_queries
from corpus_pipeline.evaluation.judgement import ChainFacts, judge, missed_documents, unknown_sources
from corpus_pipeline.evaluation.metrics import EVALUATED_DEPTH, metrics, metrics_by
from corpus_pipeline.evaluation.outcome import QueryOutcome
from corpus_pipeline.evaluation.repository import Evaluation
from corpus_pipeline.index import Generation, GenerationStatus, generations, read_session
from corpus_pipeline.inventory import source_files
from corpus_pipeline.records import Stage, canonical_json, sha256_hex
from corpus_pipeline.retrieval import (
    Question,
    Ranking,
    Reason,
    SearchRequest,
    SearchTarget,
    explain_documents,
    prepare_question,
    rank_fragments,
)
from corpus_pipeline.store import Connection, StageContext, StageResult, open_stage
from corpus_pipeline.versions import version_decisions

__all__ = ["evaluate_generation"]

EVALUATION_FORMAT = "corpus_pipeline evaluation 1"
COUNTED = ("hit_at_1", "hit_at_3", "hit_at_5", "recall_at_5", "mrr", "abstention_accuracy")


def evaluate_generation(context: StageContext) -> StageResult:
    """Runs the golden queries against the staged generation, or the published one when nothing is staged.

    Each query is asked as a reader with its groups would ask it, with the limits search has by
    default. Without golden queries the stage passes with ``queries`` 0. An evaluation whose
    inputs are unchanged is not run again. ``output_sha256`` rests on ranks and ids: scores
    differ in their last bits between machines.

    Raises:
        GoldenQueriesError: The file of golden queries has faults.
        UpstreamMissingError: There is no generation to evaluate.
    """
    corpus = context.spec.slug
    path = context.spec.golden_queries_path
    golden = load_golden_queries(path) if path else GoldenSet(())
    with open_stage(context, Stage.RETRIEVAL_EVALUATION) as run:
        with context.database.connection() as connection:
            subject = _subject(connection, corpus, run.input_sha256)
            known = repository.evaluation(connection, corpus, subject.generation)
            facts = _facts(connection, corpus)
        inputs_sha256 = _inputs_sha256(context, subject, golden, facts)
        if known is not None and known.inputs_sha256 == inputs_sha256:
            with run.commit(output_sha256=known.output_sha256, counts=_counts(known, evaluated=0)):
                pass
            return run.result
        outcomes = _ask(context, subject, golden.queries, facts)
        evaluated = Evaluation(
            corpus=corpus,
            generation=subject.generation,
            is_staged=subject.status is GenerationStatus.STAGED,
            inputs_sha256=inputs_sha256,
            output_sha256=_output_sha256(subject, golden, outcomes),
            root_sha256=subject.root_sha256,
            golden_sha256=golden.sha256,
            as_of=context.as_of,
            metrics=_metrics(facts, golden, outcomes),
        )
        counts = _counts(evaluated, evaluated=len(outcomes))
        with run.commit(output_sha256=evaluated.output_sha256, counts=counts) as connection:
            repository.replace_evaluation(connection, evaluated, outcomes)
    return run.result


def _subject(connection: Connection, corpus: str, root_sha256: str) -> Generation:
    """The generation that the index stage ended with: staged, or still the published one."""
    servable = (GenerationStatus.STAGED, GenerationStatus.PUBLISHED)
    found = [
        generation
        for generation in generations(connection, corpus)
        if generation.root_sha256 == root_sha256
        and generation.status in servable
        and generation.rows_removed_at is None
    ]
    if not found:
        raise UpstreamMissingError(
            f"corpus {corpus!r} has no staged or published generation with the root that index_generation reported",
            remedy=f"Run the whole chain: corpus-pipeline ingest {corpus}.",
        )
    return max(found, key=lambda generation: generation.generation)


def _facts(connection: Connection, corpus: str) -> ChainFacts:
    return ChainFacts(
        corpus=corpus,
        inventory=frozenset(file.document_id for file in source_files(connection, corpus)),
        quarantined={file.document_id: file.reason.value for file in quarantined_files(connection, corpus)},
        decisions={decision.document_id: decision for decision in version_decisions(connection, corpus)},
    )


def _inputs_sha256(context: StageContext, subject: Generation, golden: GoldenSet, facts: ChainFacts) -> str:
    """All that decides the outcome. Decisions are in the root; what was never converted is not."""
    return sha256_hex(
        canonical_json(
            [
                EVALUATION_FORMAT,
                subject.root_sha256,
                subject.generation,
                golden.sha256,
                context.as_of,
                context.spec.access_groups,
                context.spec.retrieval,
                sorted(facts.inventory),
                facts.quarantined,
            ]
        )
    )


def _output_sha256(subject: Generation, golden: GoldenSet, outcomes: Sequence[QueryOutcome]) -> str:
    found = [
        [
            outcome.query_id,
            outcome.passed,
            [
                position
                for position, document_id in enumerate(outcome.ranked_documents, start=1)
                if document_id in outcome.expected
            ],
            [[miss.document_id, miss.miss_class] for miss in outcome.misses],
            outcome.forbidden_hits,
            outcome.stale_hits,
        ]
        for outcome in outcomes
    ]
    return sha256_hex(canonical_json([EVALUATION_FORMAT, subject.root_sha256, golden.sha256, found]))


def _metrics(facts: ChainFacts, golden: GoldenSet, outcomes: Sequence[QueryOutcome]) -> dict[str, object]:
    return {
        "overall": metrics(outcomes),
        "domains": metrics_by(outcomes, lambda outcome: outcome.domain),
        "categories": metrics_by(outcomes, lambda outcome: outcome.category),
        "unknown_sources": unknown_sources(facts, golden.queries),
    }


def _counts(known: Evaluation, *, evaluated: int) -> dict[str, int | float | str]:
    overall = known.metrics["overall"]
    whole = ("queries", "passed_queries", "forbidden_hits", "stale_hits")
    return {
        **{name: int(overall[name]) for name in whole},
        **{name: float(overall[name]) for name in COUNTED if name in overall},
        "unknown_sources": len(known.metrics["unknown_sources"]),
        "evaluated": evaluated,
        "generation": known.generation,
    }


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


def _ask(
    context: StageContext, subject: Generation, queries: tuple[GoldenQuery, ...], facts: ChainFacts
) -> list[QueryOutcome]:
    """The outcome of each query in order of id; queries of the same reader share a session."""
    if not queries:
        return []
    context.progress.start(Stage.RETRIEVAL_EVALUATION, len(queries), "golden queries")
    target = SearchTarget(
        subject.corpus, subject.generation, subject.serving_table, subject.embedding_fingerprint, subject.analyser
    )
    asked = sorted(_prepare(context, subject, queries), key=lambda one: (one.session_key, one.query.query_id))
    outcomes: list[QueryOutcome] = []
    for (groups, as_of), shared in groupby(asked, key=lambda one: one.session_key):
        with read_session(
            context.database,
            groups=groups,
            as_evaluator=(subject.corpus, subject.generation),
            as_of=as_of,
            show_archived=False,
        ) as reader:
            rankings = [(one, *_rank(reader, context, target, one)) for one in shared]
        for one, question, ranking in rankings:
            explained = _explain_misses(context, target, one, question, ranking)
            outcomes.append(judge(one.query, ranking, explained, facts, as_of))
            context.progress.advance()
    return sorted(outcomes, key=lambda outcome: outcome.query_id)


def _rank(reader: Connection, context: StageContext, target: SearchTarget, asked: _Asked) -> tuple[Question, Ranking]:
    """As search does it, of the generation this session sees."""
    question, _ = prepare_question(
        reader,
        [target],
        asked.request,
        vectors={target.space: asked.vector},
        as_of=asked.as_of,
        specs={target.corpus: context.spec.retrieval},
    )
    return question, rank_fragments(reader, [target], question)


def _prepare(context: StageContext, subject: Generation, queries: tuple[GoldenQuery, ...]) -> list[_Asked]:
    vectors = load_model(subject.embedding).encode_queries([query.query for query in queries])
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


def _explain_misses(
    context: StageContext, target: SearchTarget, asked: _Asked, question: Question, ranking: Ranking
) -> dict[str, Reason]:
    missed = missed_documents(asked.query, target.corpus, ranking)
    if not missed:
        return {}
    with context.database.connection() as operator:
        return explain_documents(operator, target, question, ranking, missed)
