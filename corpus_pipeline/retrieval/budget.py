"""The evidence that fits: sections of accepted fragments within a number of tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from corpus_pipeline.retrieval.candidate import Candidate

__all__ = ["BudgetedEvidence", "SectionText", "within_budget"]


@dataclass(frozen=True, slots=True)
class SectionText:
    """The section around a fragment; ``token_count`` by the embedding model's tokenizer."""

    text: str
    token_count: int


@dataclass(frozen=True, slots=True)
class BudgetedEvidence:
    """What fits.

    Attributes:
        kept: Fragments that fit, best first.
        sections: Text to read for each kept fragment, by parent id; a fragment whose section is
            too long stands alone and has none.
        left_out: Fragments that fit neither with their section nor alone.
        tokens: Tokens of all that is kept, each section once.
    """

    kept: tuple[Candidate, ...]
    sections: Mapping[str, str]
    left_out: tuple[Candidate, ...]
    tokens: int


def within_budget(
    selected: Sequence[Candidate], sections: Mapping[str, SectionText], most_tokens: int | None
) -> BudgetedEvidence:
    """Takes fragments in order while their sections, or else they themselves, fit.

    Args:
        selected: Best first.
        sections: By parent id; a section that the reader may not see is absent.
        most_tokens: The budget; ``None`` keeps all.
    """
    kept: list[Candidate] = []
    left_out: list[Candidate] = []
    shown: dict[str, str] = {}
    used = 0
    for candidate in selected:
        section = sections.get(candidate.parent_id)
        if candidate.parent_id in shown:
            kept.append(candidate)
        elif section is not None and (most_tokens is None or used + section.token_count <= most_tokens):
            kept.append(candidate)
            shown[candidate.parent_id] = section.text
            used += section.token_count
        elif most_tokens is None or used + candidate.token_count <= most_tokens:
            kept.append(candidate)
            used += candidate.token_count
        else:
            left_out.append(candidate)
    return BudgetedEvidence(tuple(kept), shown, tuple(left_out), used)
