"""A generation against the published one, question by question. Pure functions.

Both answered the same questions, so their difference is taken for each question and its mean has
a paired interval: how hard the questions are cancels out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from corpus_pipeline.evaluation.bootstrap import interval
from corpus_pipeline.evaluation.metrics import query_values
from corpus_pipeline.evaluation.outcome import QueryOutcome
from corpus_pipeline.records import Record

__all__ = ["Comparison", "Drop", "compare"]

COMPARED = ("recall_at_5", "passage_recall")
ALL_QUERIES = ""
MAX_QUERIES_NAMED = 6
MAX_DOCUMENTS_NAMED = 5
MAX_DOCUMENTS_KEPT = 200
_NAMES = {"recall_at_5": "recall", "passage_recall": "recall of passages"}


class Drop(Record):
    """One figure of one domain that fell.

    Attributes:
        domain: Empty for all queries together.
        queries: How many both generations were asked.
        low: Lower end of the 95 % interval of the mean difference; ``None`` for fewer than three
            queries.
        high: Its upper end; below 0 when the drop is significant.
        lost: Ids of the queries that fell, in order.
        above: Documents that now stand before an expected one and did not, new ones first.
        above_count: How many there are; ``above`` holds at most 200.
        new_count: How many of them the published generation does not have.
        classes: Why the expected documents of those queries are missing, by miss class.
    """

    domain: str
    measure: str
    queries: int
    before: float
    after: float
    low: float | None
    high: float | None
    lost: tuple[str, ...]
    above: tuple[str, ...]
    above_count: int
    new_count: int
    classes: dict[str, int]

    @property
    def size(self) -> float:
        """By how much it fell."""
        return self.before - self.after

    @property
    def is_significant(self) -> bool:
        """Whether the whole interval of the difference lies below 0."""
        return self.high is not None and self.high < 0

    @property
    def sentence(self) -> str:
        """What fell, by how much, which queries, and what stands above the expected documents now."""
        count = f"{self.queries} {'query' if self.queries == 1 else 'queries'}"
        sure = (
            count if self.low is None else f"{count}; 95 % interval of the difference {self.low:.2f} to {self.high:.2f}"
        )
        where = f"for {self.domain}" if self.domain else "over all queries"
        parts = [f"{_NAMES[self.measure]} {where} fell from {self.before:.2f} to {self.after:.2f} ({sure})"]
        named = "this query" if len(self.lost) == 1 else f"these {len(self.lost)} queries"
        parts.append(f"{named}: {_some(self.lost, MAX_QUERIES_NAMED)}")
        if self.above:
            documents = (
                "this document now ranks" if self.above_count == 1 else f"these {self.above_count} documents now rank"
            )
            new = f" ({self.new_count} of them new)" if self.new_count else ""
            parts.append(f"{documents} above the expected ones{new}: {_some(self.above, MAX_DOCUMENTS_NAMED)}")
        if self.classes:
            reasons = ", ".join(f"{name.replace('_', ' ')} {number}" for name, number in self.classes.items())
            parts.append(f"the expected ones are missing because: {reasons}")
        return "; ".join(parts)


def _some(names: Sequence[str], most: int) -> str:
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


class Comparison(Record):
    """How a generation compares with the one that was published when it was evaluated.

    Attributes:
        base_root_sha256: Root of that generation.
        queries: How many both were asked.
        documents: Current documents of the generation.
        new_documents: How many of them the published one does not have.
        off_topic: New documents unlike anything published, at most 200.
        off_topic_count: How many there are.
        drops: All figures that fell, the largest drop first.
    """

    base_generation: int
    base_root_sha256: str
    queries: int
    documents: int
    new_documents: int
    off_topic: tuple[str, ...] = ()
    off_topic_count: int = 0
    drops: tuple[Drop, ...] = ()

    @property
    def off_topic_ratio(self) -> float:
        """Share of the documents that are new and unlike anything published."""
        return self.off_topic_count / self.documents if self.documents else 0.0

    def beyond(self, max_drop: float) -> tuple[Drop, ...]:
        """The drops larger than that."""
        return tuple(drop for drop in self.drops if drop.size > max_drop)


def compare(base: Sequence[QueryOutcome], now: Sequence[QueryOutcome], new: frozenset[str]) -> tuple[Drop, ...]:
    """Every figure that fell, over all queries and in each domain, largest drop first.

    Args:
        base: Outcomes of the published generation.
        now: Outcomes of the generation that is judged.
        new: Documents that the published one does not have.
    """
    before, after = query_values(base), query_values(now)
    was, asked = {one.query_id: one for one in base}, {one.query_id: one for one in now}
    domains = (ALL_QUERIES, *sorted({one.domain for one in now}))
    drops = []
    for domain in domains:
        for measure in COMPARED:
            ids = [
                query_id
                for query_id in after.get(measure, {})
                if query_id in before.get(measure, {}) and domain in {ALL_QUERIES, asked[query_id].domain}
            ]
            pairs = {query_id: (before[measure][query_id], after[measure][query_id]) for query_id in ids}
            drop = _drop(domain, measure, pairs, was, asked, new)
            if drop is not None:
                drops.append(drop)
    return tuple(sorted(drops, key=lambda drop: (-drop.size, drop.domain, drop.measure)))


def _drop(
    domain: str,
    measure: str,
    pairs: Mapping[str, tuple[float, float]],
    was: Mapping[str, QueryOutcome],
    asked: Mapping[str, QueryOutcome],
    new: frozenset[str],
) -> Drop | None:
    differences = [after - before for before, after in pairs.values()]
    if not differences or sum(differences) >= 0:
        return None
    bounds = interval(differences)
    lost = tuple(query_id for query_id, (before, after) in sorted(pairs.items()) if after < before)
    above = {one for query_id in lost for one in _newly_above(was[query_id], asked[query_id])}
    ordered = sorted(above, key=lambda one: (one not in new, one))
    classes = Counter(miss.miss_class.value for query_id in lost for miss in asked[query_id].misses)
    return Drop(
        domain=domain,
        measure=measure,
        queries=len(pairs),
        before=sum(before for before, _ in pairs.values()) / len(pairs),
        after=sum(after for _, after in pairs.values()) / len(pairs),
        low=bounds[0] if bounds else None,
        high=bounds[1] if bounds else None,
        lost=lost,
        above=tuple(ordered[:MAX_DOCUMENTS_KEPT]),
        above_count=len(above),
        new_count=len(above & new),
        classes=dict(sorted(classes.items(), key=lambda item: (-item[1], item[0]))),
    )


def _newly_above(was: QueryOutcome, now: QueryOutcome) -> set[str]:
    """Documents before the first missed expected one that were not there in the published generation."""
    missed = {miss.document_id for miss in now.misses}
    return set(_before(now, missed)) - set(_before(was, missed)) - set(now.expected)


def _before(outcome: QueryOutcome, documents: set[str]) -> Sequence[str]:
    """What stands before the first of the documents; where none is a candidate, what was accepted instead."""
    places = [position for position, one in enumerate(outcome.ranked) if one in documents]
    return outcome.ranked[: places[0]] if places else outcome.ranked_documents
