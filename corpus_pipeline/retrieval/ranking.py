"""The stages of a search inside one read session, from candidates to what is worth reading.

The same stages serve published and staged generations: what a session may see is decided by
its role and settings, not here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

from corpus_pipeline.records import ServingState
from corpus_pipeline.retrieval import repository
from corpus_pipeline.retrieval.budget import within_budget
from corpus_pipeline.retrieval.candidate import Candidate, rank
from corpus_pipeline.retrieval.explanation import Asked, Reason, explain_candidate, explain_kept_out
from corpus_pipeline.retrieval.fusion import fuse
from corpus_pipeline.retrieval.leaf_sizes import leaf_sizes
from corpus_pipeline.retrieval.request import SearchFilters, SearchLimits, SearchRequest
from corpus_pipeline.retrieval.reranking import load_reranker, readers_of, rerank
from corpus_pipeline.retrieval.result import KeptOut
from corpus_pipeline.retrieval.rows import SearchTarget, Vector, found_by_vector, found_by_words
from corpus_pipeline.retrieval.selection import DropCause, Dropped, Selection, select_diverse
from corpus_pipeline.retrieval.sufficiency import Assessment, Verdict, assess
from corpus_pipeline.retrieval.trace import Trace
from corpus_pipeline.store import Connection

__all__ = ["Question", "Ranking", "explain_documents", "explain_ranking", "look_elsewhere", "rank_fragments"]

EXPLAINED_FRAGMENTS = 200
"""Fragments of each state looked at for explanations: several may belong to one document."""


@dataclass(frozen=True)
class Question:
    """A request made ready: embedded, dated and scoped.

    Attributes:
        vectors: The query's vector by vector space, float32, shape (dimensions,), L2-normalised.
        as_of: The day on which documents must be in force.
        limits: By corpus; one that is absent has those of the request alone.
        alternatives: Filters read from the question; a fragment meets all of one of them. Empty
            means the filters of the request.
        is_scoped: Corpus, product or the like was given, so that a short question is not vague.
    """

    request: SearchRequest
    vectors: Mapping[str, Vector]
    as_of: date
    limits: Mapping[str, SearchLimits] = field(default_factory=dict)
    alternatives: tuple[SearchFilters, ...] = ()
    is_scoped: bool = True

    def limits_of(self, corpus: str) -> SearchLimits:
        """The limits for one corpus."""
        return self.limits.get(corpus) or self.request.limits()

    @property
    def filters(self) -> tuple[SearchFilters, ...]:
        """The alternatives; never empty."""
        return self.alternatives or (self.request.filters,)

    @property
    def asked(self) -> Asked:
        """What explanations compare with."""
        return Asked(self.request.groups, self.filters, self.as_of, self.limits_of, self.request.kept_out_limit)


@dataclass(frozen=True)
class Ranking:
    """What came of the stages.

    Attributes:
        candidates: All that the session may see and that meet the filters, best first.
        sections: Text of the section around selected fragments, by parent id.
    """

    candidates: tuple[Candidate, ...]
    selection: Selection
    sections: Mapping[str, str]
    assessment: Assessment

    @property
    def accepted(self) -> tuple[Candidate, ...]:
        """The selected fragments, best first."""
        return self.selection.selected

    @property
    def accepted_documents(self) -> frozenset[str]:
        """Documents with an accepted fragment, those with the same text among them."""
        others = (str(other["document_id"]) for candidate in self.accepted for other in candidate.also_in)
        return frozenset(candidate.document_id for candidate in self.accepted).union(others)

    @property
    def dropped(self) -> dict[str, Dropped]:
        """What selection left out, by fragment id."""
        return {dropped.candidate.fragment_id: dropped for dropped in self.selection.dropped}


def rank_fragments(
    connection: Connection,
    targets: Sequence[SearchTarget],
    question: Question,
    trace: Trace | None = None,
    *,
    meanwhile: Callable[[], None] | None = None,
) -> Ranking:
    """Finds the fragments that answer, in a read session.

    Args:
        connection: A read session whose role and groups decide what is seen.
        targets: Where to look, one for each corpus.
        question: What is asked.
        trace: Where the stages report.
        meanwhile: Called once the server has been told of the words, and looks for them.
    """
    trace = trace or Trace()
    limits = {target.corpus: question.limits_of(target.corpus) for target in targets}
    candidates = _candidates(connection, targets, question, trace, meanwhile)
    with trace.stage("acceptance") as counts:
        above = [one for one in candidates if one.score >= limits[one.corpus].min_score]
        counts.update({"accepted": len(above), "below_score": len(candidates) - len(above)})
    ranked, removed = _second_look(above, question, trace)
    with trace.stage("diversity") as counts:
        selection = _select(ranked, removed, question, limits)
        counts.update(_selection_counts(selection))
    with trace.stage("parents") as counts:
        sections = repository.parent_texts(connection, selection.selected)
        counts["parents"] = len(sections)
    with trace.stage("budget") as counts:
        evidence = within_budget(selection.selected, sections, _tightest(limits, "evidence_tokens"))
        counts.update({"kept": len(evidence.kept), "left_out": len(evidence.left_out), "tokens": evidence.tokens})
        over = tuple(Dropped(one, DropCause.OVER_BUDGET, 0) for one in evidence.left_out)
    with trace.stage("sufficiency") as counts:
        assessment = assess(
            candidates,
            evidence.kept,
            {corpus: one.min_score for corpus, one in limits.items()},
            query=question.request.query,
            is_scoped=question.is_scoped,
        )
        counts["sufficient"] = int(assessment.is_sufficient)
    return Ranking(
        tuple(candidates), Selection(evidence.kept, (*selection.dropped, *over)), evidence.sections, assessment
    )


def look_elsewhere(
    connection: Connection, others: Sequence[SearchTarget], question: Question, ranking: Ranking
) -> Ranking:
    """A ranking without evidence is told where there is some, among corpora that were not searched."""
    if ranking.assessment.verdict is not Verdict.ABSTAIN:
        return ranking
    best: dict[str, float] = {}
    rows = leaf_sizes(connection, others)
    with repository.pipelined(connection):
        lookups = [
            _nearest(connection, target, rows[target.corpus], question.request.filters, question) for target in others
        ]
        with repository.graph_scans(connection) as prefer:
            asked = [
                one.send(question.vectors[target.space], prefer) for one, target in zip(lookups, others, strict=True)
            ]
        for target, sent in zip(others, asked, strict=True):
            nearest = found_by_vector(sent.rows(), target)
            if nearest and nearest[0].score >= question.limits_of(target.corpus).min_score:
                best[target.corpus] = nearest[0].score
    searched = {one.corpus: question.limits_of(one.corpus).min_score for one in ranking.candidates}
    assessment = assess(ranking.candidates, ranking.accepted, searched, elsewhere=best)
    return replace(ranking, assessment=assessment)


def explain_ranking(
    connection: Connection, targets: Sequence[SearchTarget], question: Question, ranking: Ranking
) -> list[KeptOut]:
    """The best matching documents that were not accepted, and why; reads past permissions.

    Args:
        connection: An operator's connection. Never give a reader what comes back.
        targets: As for :func:`rank_fragments`.
        question: As for :func:`rank_fragments`.
        ranking: What it returned.
    """
    repository.widen_scan(connection, EXPLAINED_FRAGMENTS)
    matches = [
        candidate
        for target in targets
        for state in ServingState
        for candidate in repository.nearest_of_state(
            connection, target, question.vectors[target.space], state, EXPLAINED_FRAGMENTS
        )
    ]
    return explain_kept_out(matches, accepted=ranking.accepted_documents, dropped=ranking.dropped, asked=question.asked)


def explain_documents(
    connection: Connection, target: SearchTarget, question: Question, ranking: Ranking, document_ids: Sequence[str]
) -> dict[str, Reason]:
    """For each named document why its best fragment was not accepted; reads past permissions.

    Documents without a fragment in the generation are absent from the answer.
    """
    best = repository.best_of_documents(connection, target, question.vectors[target.space], document_ids)
    # A fragment that selection saw is explained by what selection did, nearest or not.
    seen = {one.candidate.document_id: one.candidate for one in reversed(ranking.selection.dropped)}
    return {
        document_id: explain_candidate(seen.get(document_id, candidate), dropped=ranking.dropped, asked=question.asked)
        for document_id, candidate in best.items()
    }


def _nearest(
    connection: Connection, target: SearchTarget, leaf_rows: int | None, filters: SearchFilters, question: Question
) -> repository.NearestLookup:
    limits = question.limits_of(target.corpus)
    return repository.NearestLookup(connection, target, leaf_rows, filters, limits, question.as_of)


def _candidates(
    connection: Connection,
    targets: Sequence[SearchTarget],
    question: Question,
    trace: Trace,
    meanwhile: Callable[[], None] | None,
) -> list[Candidate]:
    """Nearest vectors and best words of each corpus in one order, each fragment once."""
    by_words = [(one, each) for one in targets if _mode(one, question) != "dense" for each in question.filters]
    by_vector = [(one, each) for one in targets if _mode(one, question) != "sparse" for each in question.filters]
    rows = leaf_sizes(connection, targets)
    with repository.pipelined(connection):
        worded = trace.begin("sparse")
        words = [
            repository.send_words(
                connection, target, question.request.query, filters, question.limits_of(target.corpus)
            )
            for target, filters in by_words
        ]
        # The server looks for words while the vector is made, which they do not need.
        if meanwhile is not None:
            meanwhile()
        if not words:
            worded({"corpora": 0, "fragments": 0})
        lookups = [
            _nearest(connection, target, rows[target.corpus], filters, question) for target, filters in by_vector
        ]
        with repository.graph_scans(connection) as prefer:
            if lookups:
                prefer(lookups[0].width)
            # Fetching waits for all that was sent: rows of words are read while the server looks for neighbours.
            for sent in words:
                sent.wait()
            vectors = {target.space: question.vectors[target.space] for target in targets}
            neared = trace.begin("dense")
            neighbours = [
                one.send(vectors[target.space], prefer) for one, (target, _) in zip(lookups, by_vector, strict=True)
            ]
        if not neighbours:
            neared({"corpora": 0, "fragments": 0})
        sparse: dict[str, Candidate] = {}
        for (target, _), sent in zip(by_words, words, strict=True):
            found = found_by_words(sent.rows(), target, vectors[target.space])
            sparse.update({candidate.fragment_id: candidate for candidate in found})
        if words:
            worded({"corpora": len({target.corpus for target, _ in by_words}), "fragments": len(sparse)})
        dense: dict[str, Candidate] = {}
        for (target, _), sent in zip(by_vector, neighbours, strict=True):
            found = found_by_vector(sent.rows(), target)
            dense.update({candidate.fragment_id: candidate for candidate in found})
        if neighbours:
            neared({"corpora": len(targets), "fragments": len(dense)})
    with trace.stage("fusion") as counts:
        merged = fuse(dense.values(), sparse.values()) if by_words else rank(list(dense.values()))
        counts |= {
            "documents": len({candidate.document_id for candidate in merged}),
            "fragments": len(merged),
            "found_both_ways": len(dense.keys() & sparse.keys()),
        }
    return merged


def _mode(target: SearchTarget, question: Question) -> str:
    """How a corpus is searched: one that is served without lexical ranking has only vectors."""
    return "dense" if target.analyser is None else question.limits_of(target.corpus).mode


def _second_look(
    candidates: list[Candidate], question: Question, trace: Trace
) -> tuple[list[Candidate], list[Dropped]]:
    """The candidates a cross-encoder leaves, and those it removed; all of them where none is asked for."""
    asked = {corpus: question.limits_of(corpus) for corpus in sorted({candidate.corpus for candidate in candidates})}
    readers = readers_of({corpus: limits.reranker for corpus, limits in asked.items()})
    if not readers:
        return candidates, []
    with trace.stage("rerank") as counts:
        most = max(limits.rerank_candidates for limits in asked.values())
        stay, removed = rerank(
            {corpus: load_reranker(name) for corpus, name in readers.items()},
            question.request.query,
            candidates,
            most=most,
            min_scores={corpus: limits.rerank_min_score for corpus, limits in asked.items()},
        )
        counts.update({"read": len(stay) + len(removed), "removed": len(removed)})
        for name in sorted(set(readers.values())):
            trace.note(f"{name} reads {', '.join(corpus for corpus in asked if readers[corpus] == name)}")
    unread = [Dropped(one, DropCause.OUTRANKED, place) for place, one in enumerate(candidates[most:], start=most + 1)]
    return stay, [*(Dropped(one, DropCause.RERANKED_OUT, 0) for one in removed), *unread]


def _select(
    ranked: list[Candidate], removed: list[Dropped], question: Question, limits: Mapping[str, SearchLimits]
) -> Selection:
    selection = select_diverse(
        ranked,
        top_k=question.request.top_k,
        max_similarity=min((one.max_similarity for one in limits.values()), default=1.0),
        max_per_source=_tightest(limits, "max_per_source"),
        max_per_section=_tightest(limits, "max_per_section"),
    )
    return Selection(selection.selected, (*selection.dropped, *removed))


def _tightest(limits: Mapping[str, SearchLimits], name: str) -> int | None:
    """The strictest of the corpora's limits that are set; the accepted are one list over all of them."""
    return min((value for one in limits.values() if (value := getattr(one, name)) is not None), default=None)


def _selection_counts(selection: Selection) -> dict[str, int]:
    causes = [dropped.cause for dropped in selection.dropped]
    return {
        "selected": len(selection.selected),
        "identical": causes.count(DropCause.IDENTICAL),
        "near_copies": causes.count(DropCause.NEAR_COPY),
        "same_source": causes.count(DropCause.SAME_SOURCE) + causes.count(DropCause.SAME_SECTION),
        "outranked": causes.count(DropCause.OUTRANKED),
    }
