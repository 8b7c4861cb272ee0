"""Is the evidence enough to answer, and if not, why not."""

from __future__ import annotations

from collections.abc import Sequence

from corpus_pipeline.retrieval.candidate import Candidate

__all__ = ["assess"]


def assess(candidates: Sequence[Candidate], accepted: Sequence[Candidate], min_score: float) -> tuple[bool, str]:
    """Says whether a reader has evidence, in words that name the numbers.

    Args:
        candidates: All that the reader may see and that meet the filters, whatever their score.
        accepted: Those selected in the end.
        min_score: Least score of an accepted fragment.

    Returns:
        Whether it is sufficient, and the reason. What the reader may not see leaves no trace in it.

    >>> assess([], [], 0.3)
    (False, 'not enough evidence: no current fragment within this scope')
    """
    if accepted:
        documents = len({candidate.document_id for candidate in accepted})
        return True, (
            f"{_count(len(accepted), 'fragment')} of {_count(documents, 'document')} "
            f"at or above {min_score:.2f}; best score {accepted[0].score:.2f}"
        )
    if not candidates:
        return False, "not enough evidence: no current fragment within this scope"
    best = max(candidate.score for candidate in candidates)
    return False, f"not enough evidence: best score {_below(best, min_score)} below {min_score:.2f}"


def _below(score: float, limit: float) -> str:
    """Two places, more where two would show the limit itself."""
    shown = f"{score:.2f}"
    return shown if shown != f"{limit:.2f}" else f"{score:.6f}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
