"""The stages of a search inside one read session: candidates, acceptance, merge, diversity, parents.

The same stages serve published and staged generations: what a session may see is decided by
its role and settings, not here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from corpus_pipeline.records import ServingState
from corpus_pipeline.retrieval import repository
from corpus_pipeline.retrieval.candidate import Candidate, rank
from corpus_pipeline.retrieval.explanation import Reason, explain_candidate, explain_kept_out
from corpus_pipeline.retrieval.repository import SearchTarget, Vector
from corpus_pipeline.retrieval.request import SearchRequest
from corpus_pipeline.retrieval.result import KeptOut
from corpus_pipeline.retrieval.selection import Dropped, Selection, select_diverse
from corpus_pipeline.retrieval.sufficiency import assess
from corpus_pipeline.retrieval.trace import Trace
from corpus_pipeline.store import Connection

__all__ = ["Question", "Ranking", "explain_documents", "explain_ranking", "rank_fragments"]

EXPLAINED_FRAGMENTS = 200
"""Fragments of each state looked at for explanations: several may belong to one document."""


@dataclass(frozen=True)
class Question:
    """A request made ready: embedded and dated.

    Attributes:
        vectors: The query's vector by vector space, float32, shape (dimensions,), L2-normalised.
        as_of: The day on which documents must be in force.
    """

    request: SearchRequest
    vectors: Mapping[str, Vector]
    as_of: date


@dataclass(frozen=True)
class Ranking:
    """What came of the stages.

    Attributes:
        candidates: All that the session may see and that meet the filters, best first.
        parents: Text of the parent of each selected fragment, by parent id.
    """

    candidates: tuple[Candidate, ...]
    selection: Selection
    parents: Mapping[str, str]
    sufficient: bool
    reason: str

    @property
    def accepted(self) -> tuple[Candidate, ...]:
        """The selected fragments, best first."""
        return self.selection.selected

    @property
    def accepted_documents(self) -> frozenset[str]:
        """Documents with an accepted fragment."""
        return frozenset(candidate.document_id for candidate in self.accepted)

    @property
    def dropped(self) -> dict[str, Dropped]:
        """What selection left out, by fragment id."""
        return {dropped.candidate.fragment_id: dropped for dropped in self.selection.dropped}


def rank_fragments(
    connection: Connection, targets: Sequence[SearchTarget], question: Question, trace: Trace | None = None
) -> Ranking:
    """Finds the fragments that answer, in a read session.

    Args:
        connection: A read session whose role and groups decide what is seen.
        targets: Where to look, one for each corpus.
        question: What is asked.
        trace: Where the stages report.
    """
    trace = trace or Trace()
    request = question.request
    with trace.stage("candidates") as counts:
        fetched = [
            found
            for target in targets
            for found in repository.nearest_fragments(
                connection, target, question.vectors[target.space], request, question.as_of
            )
        ]
        counts.update({"corpora": len(targets), "fragments": len(fetched)})
    with trace.stage("acceptance") as counts:
        above = [candidate for candidate, accepted in fetched if accepted]
        counts.update({"accepted": len(above), "below_score": len(fetched) - len(above)})
    with trace.stage("merge") as counts:
        merged = rank(above)
        counts |= {
            "corpora": len({candidate.corpus for candidate in merged}),
            "documents": len({candidate.document_id for candidate in merged}),
            "fragments": len(merged),
        }
    with trace.stage("diversity") as counts:
        selection = select_diverse(merged, top_k=request.top_k, max_similarity=request.max_similarity)
        counts.update(_selection_counts(selection))
    with trace.stage("parents") as counts:
        parents = repository.parent_texts(connection, selection.selected)
        counts["parents"] = len(parents)
    candidates = tuple(rank([candidate for candidate, _ in fetched]))
    sufficient, reason = assess(candidates, selection.selected, request.min_score)
    return Ranking(candidates, selection, parents, sufficient, reason)


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
    return explain_kept_out(
        matches,
        accepted=ranking.accepted_documents,
        dropped=ranking.dropped,
        request=question.request,
        as_of=question.as_of,
    )


def explain_documents(
    connection: Connection, target: SearchTarget, question: Question, ranking: Ranking, document_ids: Sequence[str]
) -> dict[str, Reason]:
    """For each named document why its best fragment was not accepted; reads past permissions.

    Documents without a fragment in the generation are absent from the answer.
    """
    best = repository.best_of_documents(connection, target, question.vectors[target.space], document_ids)
    return {
        document_id: explain_candidate(
            candidate, dropped=ranking.dropped, request=question.request, as_of=question.as_of
        )
        for document_id, candidate in best.items()
    }


def _selection_counts(selection: Selection) -> dict[str, int]:
    identical = sum(dropped.identical for dropped in selection.dropped)
    outranked = sum(dropped.blocked_by is None for dropped in selection.dropped)
    return {
        "selected": len(selection.selected),
        "identical": identical,
        "near_copies": len(selection.dropped) - identical - outranked,
        "outranked": outranked,
    }
