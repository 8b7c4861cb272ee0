"""Is the evidence enough to answer, and if not, what is the right thing to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from corpus_pipeline.retrieval.candidate import Candidate

__all__ = ["Assessment", "Verdict", "assess"]

AMBIGUOUS_WORDS = 2
"""A question of at most so many telling words may mean several things."""

AMBIGUOUS_MARGIN = 0.1
"""Meanings whose best cosines lie within this of each other are told apart by the asker only."""

_EMPTY_WORDS = frozenset((
    "a", "an", "and", "are", "be", "can", "could", "do", "does", "for", "how", "i", "in", "is", "it", "me", "my",
    "of", "on", "or", "our", "show", "tell", "that", "the", "their", "there", "this", "to", "us", "was", "we", "what",
    "whats", "when", "where", "which", "who", "why", "will", "with", "you", "your", "about", "current", "latest",
    "please",
))  # fmt: skip


class Verdict(StrEnum):
    """What to do with the evidence."""

    ANSWER = "answer"
    ABSTAIN = "abstain"
    CLARIFY = "clarify"
    ROUTE = "route"


@dataclass(frozen=True, slots=True)
class Assessment:
    """The verdict on a search.

    Attributes:
        reason: In words that name the numbers. What the reader may not see leaves no trace in it.
        options: For ``clarify`` the meanings to choose from, for ``route`` the corpora to ask.
    """

    verdict: Verdict
    reason: str
    options: tuple[str, ...] = ()

    @property
    def is_sufficient(self) -> bool:
        """Whether a reader has evidence to answer from."""
        return self.verdict is Verdict.ANSWER


def assess(
    candidates: Sequence[Candidate],
    accepted: Sequence[Candidate],
    min_scores: Mapping[str, float],
    *,
    query: str = "",
    is_scoped: bool = True,
    elsewhere: Mapping[str, float] | None = None,
) -> Assessment:
    """Says whether a reader has evidence, and otherwise what to do.

    Args:
        candidates: All that the reader may see and that meet the filters, whatever their score.
        accepted: Those selected in the end, best first.
        min_scores: Least cosine of an accepted fragment, by corpus.
        query: The question, for telling a vague one.
        is_scoped: The corpus, or a filter, was given or read from the question.
        elsewhere: Best cosine, at or above its limit, in corpora that were not searched.

    >>> assess([], [], {}).reason
    'not enough evidence: no current fragment within this scope'
    """
    if accepted:
        meanings = [] if is_scoped else _meanings(accepted, query)
        if len(meanings) > 1:
            shown = ", ".join(meanings)
            return Assessment(Verdict.CLARIFY, f"the question may mean several things: {shown}", tuple(meanings))
        documents = len({candidate.document_id for candidate in accepted})
        limits = {f"{min_scores[candidate.corpus]:.2f}" for candidate in accepted}
        return Assessment(
            Verdict.ANSWER,
            f"{_count(len(accepted), 'fragment')} of {_count(documents, 'document')} "
            f"at or above {min(limits)}; best score {max(candidate.score for candidate in accepted):.2f}",
        )
    missing = _missing(candidates, min_scores)
    if elsewhere:
        corpora = tuple(sorted(elsewhere, key=lambda corpus: (-elsewhere[corpus], corpus)))
        shown = ", ".join(f"{corpus} ({elsewhere[corpus]:.2f})" for corpus in corpora)
        return Assessment(Verdict.ROUTE, f"{missing}; there is some in {shown}", corpora)
    return Assessment(Verdict.ABSTAIN, missing)


def _missing(candidates: Sequence[Candidate], min_scores: Mapping[str, float]) -> str:
    if not candidates:
        return "not enough evidence: no current fragment within this scope"
    best = max(candidates, key=lambda candidate: (candidate.score, candidate.fragment_id))
    limit = min_scores[best.corpus]
    if best.score >= limit:
        return "not enough evidence: none of the candidates stands up to a second look"
    return f"not enough evidence: best score {_below(best.score, limit)} below {limit:.2f}"


def _meanings(accepted: Sequence[Candidate], query: str) -> list[str]:
    """Subjects of nearly equal standing that a question of very few words may be about."""
    words = [word for word in query.lower().replace("?", " ").split() if word not in _EMPTY_WORDS]
    if len(words) > AMBIGUOUS_WORDS:
        return []
    best: dict[str, float] = {}
    for candidate in accepted:
        subject = str(candidate.metadata.get("domain") or candidate.metadata.get("product") or candidate.corpus)
        best[subject] = max(best.get(subject, -1.0), candidate.score)
    top = max(best.values())
    return sorted(
        (name for name, score in best.items() if score >= top - AMBIGUOUS_MARGIN), key=lambda n: (-best[n], n)
    )


def _below(score: float, limit: float) -> str:
    """Two places, more where two would show the limit itself."""
    shown = f"{score:.2f}"
    return shown if shown != f"{limit:.2f}" else f"{score:.6f}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
