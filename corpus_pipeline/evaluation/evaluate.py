"""The stage: golden queries against the generation that is about to be published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from corpus_pipeline.errors import UpstreamMissingError
from corpus_pipeline.evaluation import repository
from corpus_pipeline.evaluation.asking import ask_queries
from corpus_pipeline.evaluation.comparison import Comparison, compare
from corpus_pipeline.evaluation.facts import ChainFacts, read_facts, unknown_sources
from corpus_pipeline.evaluation.golden import GoldenSet, load_golden_queries
from corpus_pipeline.evaluation.metrics import grouped, intervals, metrics
from corpus_pipeline.evaluation.novelty import off_topic, references
from corpus_pipeline.evaluation.outcome import QueryOutcome
from corpus_pipeline.evaluation.repository import Evaluation
from corpus_pipeline.index import Generation, GenerationStatus, generations
from corpus_pipeline.records import Stage, canonical_json, sha256_hex
from corpus_pipeline.store import Connection, StageContext, StageResult, open_stage

__all__ = ["evaluate_generation", "golden_set", "published_outcomes"]

EVALUATION_FORMAT = "corpus_pipeline evaluation 2"
MAX_OFF_TOPIC_KEPT = 200
WHOLE = (
    "queries",
    "passed_queries",
    "forbidden_hits",
    "stale_hits",
    "authorisation_hits",
    "authority_violations",
    "metadata_mismatches",
)
COUNTED = (
    "hit_at_1",
    "hit_at_3",
    "hit_at_5",
    "hit_at_50",
    "recall_at_5",
    "passage_recall",
    "precision",
    "mrr",
    "ndcg_at_10",
    "abstention_recall",
    "abstention_precision",
)


@dataclass(frozen=True)
class _Inputs:
    """What an evaluation starts from.

    Attributes:
        base: The published generation, where another one is judged.
        known: The stored evaluation of the subject.
        base_known: The stored evaluation of the base.
    """

    subject: Generation
    base: Generation | None
    known: Evaluation | None
    base_known: Evaluation | None
    facts: ChainFacts

    @property
    def is_compared(self) -> bool:
        """Whether the stored evaluation was compared with the generation that is published now."""
        if self.base is None:
            return True
        compared = self.known.comparison if self.known else None
        return compared is not None and compared.base_root_sha256 == self.base.root_sha256


def golden_set(context: StageContext) -> GoldenSet:
    """The golden queries of a corpus; empty when it names none.

    Raises:
        GoldenQueriesError: The file has faults.
    """
    path = context.spec.golden_queries_path
    return load_golden_queries(path) if path else GoldenSet(())


def evaluate_generation(context: StageContext) -> StageResult:
    """Runs the golden queries against the staged generation, or the published one when nothing is staged.

    Each query is asked as a reader with its groups would ask it, with the limits search has by
    default. A staged generation is compared with the published one, query by query; where the
    stored evaluation of that one rests on other queries, another search configuration or another
    day, it is asked again. Without golden queries the stage passes with ``queries`` 0. An
    evaluation whose inputs are unchanged is not run again. ``output_sha256`` rests on ranks and
    ids of the generation alone: scores differ in their last bits between machines.

    Raises:
        GoldenQueriesError: The file of golden queries has faults.
        UpstreamMissingError: There is no generation to evaluate.
    """
    golden = golden_set(context)
    with open_stage(context, Stage.RETRIEVAL_EVALUATION) as run:
        with context.database.connection() as connection:
            inputs = _inputs(connection, context, run.input_sha256)
        inputs_sha256 = _inputs_sha256(context, inputs, golden)
        known = inputs.known
        if known is not None and known.inputs_sha256 == inputs_sha256 and inputs.is_compared:
            with run.commit(output_sha256=known.output_sha256, counts=_counts(known, evaluated=0)):
                pass
            return run.result
        outcomes = ask_queries(context, inputs.subject, golden.queries, inputs.facts)
        evaluated = _evaluation(context, inputs.subject, golden, outcomes, inputs.facts)
        evaluated = replace(evaluated, inputs_sha256=inputs_sha256)
        base_outcomes, asked_again = _base_outcomes(context, inputs, golden)
        if inputs.base is not None:
            compared = _compare(context, inputs, base_outcomes, outcomes)
            evaluated = replace(evaluated, comparison=compared)
        elif known is not None:  # published in the meantime: what it was compared with then
            evaluated = replace(evaluated, comparison=known.comparison)
        counts = _counts(evaluated, evaluated=len(outcomes))
        with run.commit(output_sha256=evaluated.output_sha256, counts=counts) as connection:
            repository.replace_evaluation(connection, evaluated, outcomes)
            if asked_again is not None:
                repository.replace_evaluation(connection, asked_again, base_outcomes)
    return run.result


def published_outcomes(context: StageContext) -> tuple[Generation, list[QueryOutcome]]:
    """The golden queries against the published generation: the stored outcomes, or asked now and not stored.

    Raises:
        UpstreamMissingError: Nothing of the corpus is published.
    """
    corpus = context.spec.slug
    golden = golden_set(context)
    with context.database.connection() as connection:
        published = _published(connection, corpus)
        if published is None:
            raise UpstreamMissingError(
                f"nothing of corpus {corpus!r} is published yet",
                remedy=f"Run the whole chain: corpus-pipeline ingest {corpus}.",
            )
        stored = repository.evaluation(connection, corpus, published.generation)
        if stored is not None and stored.search_sha256 == _search_sha256(context, golden):
            return published, repository.evaluation_results(connection, corpus, published.generation)
        facts = read_facts(connection, corpus, context.spec.access_groups)
    return published, ask_queries(context, published, golden.queries, facts)


def _inputs(connection: Connection, context: StageContext, root_sha256: str) -> _Inputs:
    corpus = context.spec.slug
    subject = _subject(connection, corpus, root_sha256)
    published = _published(connection, corpus)
    base = published if published and published.generation != subject.generation else None
    return _Inputs(
        subject=subject,
        base=base,
        known=repository.evaluation(connection, corpus, subject.generation),
        base_known=repository.evaluation(connection, corpus, base.generation) if base else None,
        facts=read_facts(connection, corpus, context.spec.access_groups),
    )


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


def _published(connection: Connection, corpus: str) -> Generation | None:
    known = generations(connection, corpus)
    return next((one for one in known if one.status is GenerationStatus.PUBLISHED), None)


def _base_outcomes(
    context: StageContext, inputs: _Inputs, golden: GoldenSet
) -> tuple[list[QueryOutcome], Evaluation | None]:
    """The outcomes of the published generation, and its evaluation where it had to be asked again."""
    if inputs.base is None:
        return [], None
    known = inputs.base_known
    if known is not None and known.search_sha256 == _search_sha256(context, golden):
        with context.database.connection() as connection:
            return repository.evaluation_results(connection, inputs.base.corpus, inputs.base.generation), None
    outcomes = ask_queries(context, inputs.base, golden.queries, inputs.facts)
    again = _evaluation(context, inputs.base, golden, outcomes, inputs.facts)
    return outcomes, replace(again, comparison=known.comparison if known else None)


def _compare(
    context: StageContext, inputs: _Inputs, before: Sequence[QueryOutcome], now: Sequence[QueryOutcome]
) -> Comparison | None:
    if inputs.base is None:
        return None
    with context.database.connection() as connection:
        published = repository.current_documents(connection, inputs.base)
        current = repository.current_documents(connection, inputs.subject)
        new = current - published
        # Both in the space of the new generation: the vectors of another model say nothing of these.
        known = repository.document_vectors(connection, inputs.subject, references(sorted(published & current)))
        strange = off_topic(repository.document_vectors(connection, inputs.subject, sorted(new)), known) if new else []
    return Comparison(
        base_generation=inputs.base.generation,
        base_root_sha256=inputs.base.root_sha256,
        queries=len({one.query_id for one in before} & {one.query_id for one in now}),
        documents=len(current),
        new_documents=len(new),
        off_topic=tuple(strange[:MAX_OFF_TOPIC_KEPT]),
        off_topic_count=len(strange),
        drops=compare(before, now, new),
    )


def _evaluation(
    context: StageContext,
    subject: Generation,
    golden: GoldenSet,
    outcomes: Sequence[QueryOutcome],
    facts: ChainFacts,
) -> Evaluation:
    """The record of one evaluation; without ``inputs_sha256`` it is never taken for that of the stage."""
    return Evaluation(
        corpus=subject.corpus,
        generation=subject.generation,
        is_staged=subject.status is GenerationStatus.STAGED,
        inputs_sha256="",
        output_sha256=_output_sha256(subject, golden, outcomes),
        root_sha256=subject.root_sha256,
        golden_sha256=golden.sha256,
        search_sha256=_search_sha256(context, golden),
        as_of=context.as_of,
        metrics=_metrics(facts, golden, outcomes),
    )


def _search_sha256(context: StageContext, golden: GoldenSet) -> str:
    """What must be equal for two generations to be compared."""
    return sha256_hex(
        canonical_json(
            [EVALUATION_FORMAT, golden.sha256, context.as_of, context.spec.access_groups, context.spec.retrieval]
        )
    )


def _inputs_sha256(context: StageContext, inputs: _Inputs, golden: GoldenSet) -> str:
    """All that decides the outcome. Decisions are in the root; what was never converted is not."""
    return sha256_hex(
        canonical_json(
            [
                _search_sha256(context, golden),
                inputs.subject.root_sha256,
                inputs.subject.generation,
                sorted(inputs.facts.inventory),
                inputs.facts.quarantined,
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
            [[miss.document_id, miss.miss_class, miss.passage] for miss in outcome.misses],
            outcome.forbidden_hits,
            outcome.stale_hits,
            outcome.authorisation_hits,
            outcome.observed.metadata_mismatches,
        ]
        for outcome in outcomes
    ]
    return sha256_hex(canonical_json([EVALUATION_FORMAT, subject.root_sha256, golden.sha256, found]))


def _metrics(facts: ChainFacts, golden: GoldenSet, outcomes: Sequence[QueryOutcome]) -> dict[str, object]:
    domains = grouped(outcomes, lambda outcome: outcome.domain)
    categories = grouped(outcomes, lambda outcome: outcome.category)
    return {
        "overall": metrics(outcomes),
        "domains": {name: metrics(group) for name, group in domains.items()},
        "categories": {name: metrics(group) for name, group in categories.items()},
        "intervals": {
            "overall": intervals(outcomes),
            "domains": {name: intervals(group) for name, group in domains.items()},
            "categories": {name: intervals(group) for name, group in categories.items()},
        },
        "unknown_sources": unknown_sources(facts, golden.queries),
    }


def _counts(known: Evaluation, *, evaluated: int) -> dict[str, int | float | str]:
    overall = known.metrics["overall"]
    return {
        **{name: int(overall.get(name, 0)) for name in WHOLE},
        **{name: float(overall[name]) for name in COUNTED if name in overall},
        "unknown_sources": len(known.metrics["unknown_sources"]),
        "evaluated": evaluated,
        "generation": known.generation,
    }
