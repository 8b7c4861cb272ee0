"""The front door: one question to the published corpora."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from corpus_pipeline.embedding import EmbeddingModel, load_model_of
from corpus_pipeline.errors import NothingPublishedError
from corpus_pipeline.index import Publication, publications, read_session
from corpus_pipeline.registry import Registry
from corpus_pipeline.retrieval.candidate import Candidate
from corpus_pipeline.retrieval.encoding import encoding
from corpus_pipeline.retrieval.preparation import prepare_question
from corpus_pipeline.retrieval.ranking import Question, Ranking, explain_ranking, look_elsewhere, rank_fragments
from corpus_pipeline.retrieval.request import SearchRequest
from corpus_pipeline.retrieval.result import AcceptedFragment, KeptOut, SearchResult, SearchScope, SkippedCorpus
from corpus_pipeline.retrieval.routing import Router, Routing, RuleRouter
from corpus_pipeline.retrieval.rows import SearchTarget, Vector
from corpus_pipeline.retrieval.scope import ScopeReading
from corpus_pipeline.retrieval.trace import Trace
from corpus_pipeline.store import Connection, Database

__all__ = ["accepted_fragments", "search"]

_UNSHOWN_METADATA = frozenset({"acl_groups"})  # names of groups the reader need not be in


def search(
    database: Database, registry: Registry, request: SearchRequest, *, router: Router | None = None
) -> SearchResult:
    """Answers a question from the published generations, as a reader with these groups would see them.

    Everything but the explanations is read in a session of the role of readers, under
    row-level security, in one snapshot.

    Args:
        database: An open pool.
        registry: Names the corpora that may be searched.
        request: What is asked, by whom, of what.
        router: Chooses among the corpora when none is named; by the rules of the registry when absent.

    Raises:
        SearchError: The query is empty.
        UnknownCorpusError: The registry has no such corpus.
        NothingPublishedError: None of the corpora, or one that was named, is published.
        ModelUnavailableError: The model that a generation was embedded with is not installed.
    """
    request.demand_query()
    as_of = request.as_of or datetime.now(UTC).date()
    trace = Trace()
    # A pipeline: only those answers are waited for that something depends on.
    session = read_session(database, groups=request.groups, as_of=as_of, show_archived=False)
    with session as reader, reader.pipeline():
        found = _find(database, reader, registry, request, as_of, router, trace)
        reader.execute("COMMIT", prepare=False)  # waited for at the end of the pipeline
    kept_out = _explain(database, found, trace) if request.explain else []
    assessment, question = found.ranking.assessment, found.question
    return SearchResult(
        query=request.query,
        as_of=as_of,
        groups=request.groups,
        generations={target.corpus: target.generation for target in found.targets},
        sufficient=assessment.is_sufficient,
        verdict=assessment.verdict.value,
        reason=assessment.reason,
        options=assessment.options,
        scope=SearchScope(
            corpora=found.routing.corpora,
            reason=found.routing.reason,
            filters=tuple(filters.as_json() for filters in question.filters if filters.as_json()),
            read=found.reading.read,
        ),
        accepted=accepted_fragments(found.ranking),
        kept_out=tuple(kept_out),
        skipped=tuple(found.skipped),
        trace=trace.stages,
    )


@dataclass(frozen=True)
class _Found:
    """What came of a search inside its session."""

    targets: list[SearchTarget]
    skipped: list[SkippedCorpus]
    routing: Routing
    question: Question
    reading: ScopeReading
    ranking: Ranking


def _find(
    database: Database,
    reader: Connection,
    registry: Registry,
    request: SearchRequest,
    as_of: date,
    router: Router | None,
    trace: Trace,
) -> _Found:
    with trace.stage("scope") as counts:
        available, skipped = _available(reader, registry, request)
        counts.update({"corpora": len(available), "skipped": len(skipped)})
    with trace.stage("models") as counts:
        models = _models(available, database.state_folder)
        counts["models"] = len(models)
    with encoding(models, request.query, trace) as vectors:
        with trace.stage("routing") as counts:
            routing = _route(registry, request, available, vectors, router)
            counts.update({"corpora": len(routing.corpora), "fallback": int(routing.is_fallback)})
        targets = [_target(publication) for publication in available if publication.corpus in routing.corpora]
        with trace.stage("reading") as counts:
            question, reading = prepare_question(
                reader,
                targets,
                request,
                vectors=vectors,
                as_of=as_of,
                specs={one.corpus: registry.corpus(one.corpus).retrieval for one in available},
                is_routed=not routing.is_fallback,
            )
            counts.update({"alternatives": len(question.filters), "read": len(reading.read)})
        ranking = rank_fragments(reader, targets, question, trace, meanwhile=vectors.begin)
    others = [_target(publication) for publication in available if publication.corpus not in routing.corpora]
    if others:
        ranking = look_elsewhere(reader, others, question, ranking)
    return _Found(targets, skipped, routing, question, reading, ranking)


def _route(
    registry: Registry,
    request: SearchRequest,
    available: Sequence[Publication],
    vectors: Mapping[str, Vector],
    router: Router | None,
) -> Routing:
    corpora = [publication.corpus for publication in available]
    if request.corpora or not request.route or len(corpora) == 1:
        reason = "named" if request.corpora else "routing was not asked for" if not request.route else "the only corpus"
        return Routing(tuple(corpora), reason, is_fallback=not request.corpora)
    if router is None:
        rules = RuleRouter({slug: registry.corpus(slug).retrieval.routing for slug in corpora})
        return rules.route(request.query, None, corpora)
    only = next(iter(vectors.values())) if len(vectors) == 1 else None
    return router.route(request.query, only, corpora)


def accepted_fragments(ranking: Ranking) -> tuple[AcceptedFragment, ...]:
    """The accepted fragments with the text of their parents, best first."""
    return tuple(_accepted(candidate, ranking.sections.get(candidate.parent_id, "")) for candidate in ranking.accepted)


def _accepted(candidate: Candidate, parent_text: str) -> AcceptedFragment:
    return AcceptedFragment(
        fragment_id=candidate.fragment_id,
        corpus=candidate.corpus,
        document_id=candidate.document_id,
        source_uri=candidate.source_uri,
        title=candidate.title,
        score=candidate.score,
        lexical_score=candidate.lexical_score,
        rerank_score=candidate.rerank_score,
        char_start=candidate.char_start,
        char_end=candidate.char_end,
        page_number=candidate.page_number,
        section_path=candidate.section_path,
        text=candidate.text,
        parent_id=candidate.parent_id,
        parent_text=parent_text,
        also_in=candidate.also_in,
        metadata={key: value for key, value in candidate.metadata.items() if key not in _UNSHOWN_METADATA},
    )


def _available(
    reader: Connection, registry: Registry, request: SearchRequest
) -> tuple[list[Publication], list[SkippedCorpus]]:
    """Which published corpora to search; a corpus that was named must be published."""
    named = [registry.corpus(slug).slug for slug in dict.fromkeys(request.corpora)]
    wanted = named or sorted(registry.corpora)
    known = {publication.corpus: publication for publication in publications(reader, with_holds=False)}
    missing = [slug for slug in wanted if slug not in known]
    if len(missing) == len(wanted) or (missing and named):
        shown = ", ".join(missing) or "none is configured"
        raise NothingPublishedError(
            f"nothing is published yet of: {shown}",
            remedy=f"Run `corpus-pipeline ingest {' '.join(missing) or '--all'}`, then search again.",
        )
    skipped = [SkippedCorpus(corpus=slug, reason="nothing is published yet") for slug in missing]
    return [known[slug] for slug in sorted(set(wanted) - set(missing))], skipped


def _models(published: Sequence[Publication], state_folder: Path | None) -> dict[str, EmbeddingModel]:
    """For each vector space the model that its generations were embedded with; loaded once a process."""
    specs = {publication.embedding_fingerprint: publication.embedding for publication in published}
    return {space: load_model_of(spec, space, state_folder) for space, spec in specs.items()}


def _target(publication: Publication) -> SearchTarget:
    return SearchTarget(
        publication.corpus,
        publication.generation,
        publication.serving_table,
        publication.embedding_fingerprint,
        publication.analyser,
    )


def _explain(database: Database, found: _Found, trace: Trace) -> list[KeptOut]:
    with trace.stage("explanation") as counts, database.connection() as operator:
        kept_out = explain_ranking(operator, found.targets, found.question, found.ranking)
        counts["kept_out"] = len(kept_out)
    return kept_out
