"""Which corpora a question is meant for: routers, each with the reason for its choice."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np
import numpy.typing as npt

from corpus_pipeline.registry import RoutingSpec

__all__ = ["CentroidRouter", "Router", "Routing", "RuleRouter"]


@dataclass(frozen=True, slots=True)
class Routing:
    """A choice of corpora.

    Attributes:
        corpora: Those to search, sorted.
        reason: What the choice rests on.
        is_fallback: Nothing spoke for any of them, so all are searched.
    """

    corpora: tuple[str, ...]
    reason: str
    is_fallback: bool = False


class Router(Protocol):
    """Chooses among corpora by the words of a question and, where it wants to, its vector."""

    def route(self, question: str, vector: npt.NDArray[np.float32] | None, corpora: Sequence[str]) -> Routing:
        """The corpora to search.

        Args:
            question: As asked.
            vector: float32, shape (dimensions,), L2-normalised; ``None`` when not yet embedded.
            corpora: Those there are; never empty.

        Returns:
            A choice that is not empty.
        """
        ...


@dataclass(frozen=True)
class RuleRouter:
    """Deterministic: the corpora one of whose keywords or patterns is in the question; else all.

    >>> rules = {"billing": RoutingSpec(keywords=("refund",)), "api": RoutingSpec(keywords=("rate limit",))}
    >>> RuleRouter(rules).route("How are refunds paid?", None, ["api", "billing"])
    Routing(corpora=('billing',), reason="billing by 'refund'", is_fallback=False)
    """

    rules: Mapping[str, RoutingSpec]

    def route(self, question: str, vector: npt.NDArray[np.float32] | None, corpora: Sequence[str]) -> Routing:
        """See :class:`Router`."""
        del vector
        claims = {corpus: claim for corpus in sorted(corpora) if (claim := self._claim(corpus, question))}
        if claims:
            return Routing(tuple(claims), "; ".join(f"{corpus} by {claim}" for corpus, claim in claims.items()))
        named = "the only corpus" if len(corpora) == 1 else f"no rule claims it: all {len(corpora)} corpora"
        return Routing(tuple(sorted(corpora)), named, is_fallback=True)

    def _claim(self, corpus: str, question: str) -> str:
        rule = self.rules.get(corpus, RoutingSpec())
        word = next((word for word in rule.keywords if _keyword(word).search(question)), None)
        if word is not None:
            return repr(word)
        pattern = next((one for one in rule.patterns if _pattern(one).search(question)), None)
        return f"/{pattern}/" if pattern is not None else ""


@dataclass(frozen=True)
class CentroidRouter:
    """Learned: the corpora whose mean vector is nearest to the question's, and those nearly as near.

    Attributes:
        centroids: Mean vector of a corpus's served fragments, shape (dimensions,), L2-normalised.
        margin: A corpus whose cosine is at most this far below the best is searched too.
    """

    centroids: Mapping[str, npt.NDArray[np.float32]]
    margin: float = 0.1

    def route(self, question: str, vector: npt.NDArray[np.float32] | None, corpora: Sequence[str]) -> Routing:
        """See :class:`Router`."""
        del question
        known = {
            corpus: float(self.centroids[corpus] @ vector)
            for corpus in sorted(corpora)
            if vector is not None and corpus in self.centroids and self.centroids[corpus].shape == vector.shape
        }
        if not known:
            return Routing(tuple(sorted(corpora)), "no centroid is known: all corpora", is_fallback=True)
        best = max(known.values())
        # A corpus without a centroid of this space cannot be judged, so it is not left out.
        near = [corpus for corpus in sorted(corpora) if known.get(corpus, best) >= best - self.margin]
        shown = ", ".join(f"{corpus} {known[corpus]:.2f}" for corpus in near if corpus in known)
        return Routing(tuple(near), f"nearest centroids: {shown}")


@lru_cache(maxsize=4096)
def _keyword(word: str) -> re.Pattern[str]:
    """Whole words, whatever their case; a plural s may follow."""
    parts = r"\s+".join(re.escape(part) for part in word.split())
    return re.compile(rf"(?<!\w){parts}(?:s|es)?(?!\w)", re.IGNORECASE)


@lru_cache(maxsize=4096)
def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)
