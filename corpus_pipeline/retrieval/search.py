"""The front door: one question to the published corpora."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from corpus_pipeline.embedding import EmbeddingModel, load_model
from corpus_pipeline.errors import NothingPublishedError, SearchError
from corpus_pipeline.index import Publication, publications, read_session
from corpus_pipeline.registry import Registry
from corpus_pipeline.retrieval.candidate import Candidate
from corpus_pipeline.retrieval.ranking import Question, Ranking, explain_ranking, rank_fragments
from corpus_pipeline.retrieval.repository import SearchTarget
from corpus_pipeline.retrieval.request import SearchRequest
from corpus_pipeline.retrieval.result import AcceptedFragment, KeptOut, SearchResult, SkippedCorpus
from corpus_pipeline.retrieval.trace import Trace
from corpus_pipeline.store import Database

__all__ = ["accepted_fragments", "search"]

POINTER_MOVES = 5
"""How often a publication may move the pointer under one search before it gives up."""

_UNSHOWN_METADATA = frozenset({"acl_groups"})  # names of groups the reader need not be in


def search(database: Database, registry: Registry, request: SearchRequest) -> SearchResult:
    """Answers a question from the published generations, as a reader with these groups would see them.

    Everything but the explanations is read in a session of the role of readers, under
    row-level security, in one snapshot.

    Args:
        database: An open pool.
        registry: Names the corpora that may be searched.
        request: What is asked, by whom, of what.

    Raises:
        SearchError: The query is empty.
        UnknownCorpusError: The registry has no such corpus.
        NothingPublishedError: None of the corpora, or one that was named, is published.
        ModelUnavailableError: The model that a generation was embedded with is not installed.
    """
    request.demand_query()
    as_of = request.as_of or datetime.now(UTC).date()
    for _ in range(POINTER_MOVES):
        trace = Trace()
        with trace.stage("scope") as counts:
            published, skipped = _scope(database, registry, request)
            counts.update({"corpora": len(published), "skipped": len(skipped)})
        with trace.stage("models") as counts:
            models = _models(published)
            counts["models"] = len(models)
        with trace.stage("encode") as counts:
            vectors = {space: model.encode_queries([request.query])[0] for space, model in models.items()}
            question = Question(request, vectors, as_of)
            counts["vectors"] = len(vectors)
        with read_session(database, groups=request.groups, as_of=as_of, show_archived=False) as reader:
            if not _same_pointers(published, publications(reader)):
                continue
            targets = [_target(publication) for publication in published]
            ranking = rank_fragments(reader, targets, question, trace)
        kept_out = _explain(database, targets, question, ranking, trace) if request.explain else []
        return SearchResult(
            query=request.query,
            as_of=as_of,
            groups=request.groups,
            generations={publication.corpus: publication.generation for publication in published},
            sufficient=ranking.sufficient,
            reason=ranking.reason,
            accepted=accepted_fragments(ranking),
            kept_out=tuple(kept_out),
            skipped=tuple(skipped),
            trace=trace.stages,
        )
    raise SearchError(
        f"the published generation changed {POINTER_MOVES} times during one search", remedy="Ask again in a moment."
    )


def accepted_fragments(ranking: Ranking) -> tuple[AcceptedFragment, ...]:
    """The accepted fragments with the text of their parents, best first."""
    return tuple(_accepted(candidate, ranking.parents.get(candidate.parent_id, "")) for candidate in ranking.accepted)


def _accepted(candidate: Candidate, parent_text: str) -> AcceptedFragment:
    return AcceptedFragment(
        fragment_id=candidate.fragment_id,
        corpus=candidate.corpus,
        document_id=candidate.document_id,
        source_uri=candidate.source_uri,
        title=candidate.title,
        score=candidate.score,
        char_start=candidate.char_start,
        char_end=candidate.char_end,
        page_number=candidate.page_number,
        section_path=candidate.section_path,
        text=candidate.text,
        parent_id=candidate.parent_id,
        parent_text=parent_text,
        metadata={key: value for key, value in candidate.metadata.items() if key not in _UNSHOWN_METADATA},
    )


def _scope(
    database: Database, registry: Registry, request: SearchRequest
) -> tuple[list[Publication], list[SkippedCorpus]]:
    """Which published corpora to search; a corpus that was named must be published."""
    named = [registry.corpus(slug).slug for slug in dict.fromkeys(request.corpora)]
    wanted = named or sorted(registry.corpora)
    with database.connection() as connection:
        known = {publication.corpus: publication for publication in publications(connection)}
    missing = [slug for slug in wanted if slug not in known]
    if len(missing) == len(wanted) or (missing and named):
        shown = ", ".join(missing) or "none is configured"
        raise NothingPublishedError(
            f"nothing is published yet of: {shown}",
            remedy=f"Run `corpus-pipeline ingest {' '.join(missing) or '--all'}`, then search again.",
        )
    skipped = [SkippedCorpus(corpus=slug, reason="nothing is published yet") for slug in missing]
    return [known[slug] for slug in sorted(set(wanted) - set(missing))], skipped


def _models(published: Sequence[Publication]) -> dict[str, EmbeddingModel]:
    """For each vector space the model that its generations were embedded with; loaded once a process."""
    specs = {publication.embedding_fingerprint: publication.embedding for publication in published}
    return {space: load_model(spec) for space, spec in specs.items()}


def _target(publication: Publication) -> SearchTarget:
    return SearchTarget(
        publication.corpus, publication.generation, publication.serving_table, publication.embedding_fingerprint
    )


def _same_pointers(expected: Sequence[Publication], found: Sequence[Publication]) -> bool:
    """The pointers as they were when the query was embedded: another one may need another vector."""
    now = {publication.corpus: (publication.generation, publication.serving_table) for publication in found}
    return all(
        now.get(publication.corpus) == (publication.generation, publication.serving_table) for publication in expected
    )


def _explain(
    database: Database, targets: Sequence[SearchTarget], question: Question, ranking: Ranking, trace: Trace
) -> list[KeptOut]:
    with trace.stage("explanation") as counts, database.connection() as operator:
        kept_out = explain_ranking(operator, targets, question, ranking)
        counts["kept_out"] = len(kept_out)
    return kept_out
