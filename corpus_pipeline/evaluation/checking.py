"""Holds a golden set against the corpus as it is: do its sources and passages still exist and still answer?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from corpus_pipeline.evaluation.facts import ChainFacts, read_facts, texts_of
from corpus_pipeline.evaluation.golden import GoldenQuery, GoldenSet
from corpus_pipeline.evaluation.passage import Passage, locate, normalised
from corpus_pipeline.records import VersionDecision
from corpus_pipeline.registry import CorpusSpec
from corpus_pipeline.store import Connection

__all__ = ["Finding", "FindingKind", "check_golden_set"]


class FindingKind(StrEnum):
    """What is wrong with one thing that a query names."""

    UNKNOWN_SOURCE = "unknown_source"
    NOT_CONVERTED = "not_converted"
    KEPT_OUT = "kept_out"
    ANCHOR_LOST = "anchor_lost"
    ANCHOR_REPEATED = "anchor_repeated"
    SPAN_OUTSIDE = "span_outside"
    NOT_REVIEWED = "not_reviewed"


ADVISORY = frozenset({FindingKind.ANCHOR_REPEATED, FindingKind.NOT_REVIEWED})
"""Kinds that leave the set usable."""


@dataclass(frozen=True)
class Finding:
    """One thing to correct in a golden set.

    Attributes:
        key: Key of the query that names it.
        source: Relative path; empty where no document is meant.
        successor: Document that answers now, where the chain knows one.
        before: Converted text of a document that was superseded; empty without a successor.
        after: Converted text of the successor.
        in_successor: For a passage, whether the successor says it too.
    """

    query_id: str
    kind: FindingKind
    key: str
    source: str
    detail: str
    successor: str | None = None
    before: str = ""
    after: str = ""
    in_successor: bool | None = None

    @property
    def is_fault(self) -> bool:
        """Whether the query cannot be answered as it stands."""
        return self.kind not in ADVISORY


@dataclass(frozen=True)
class _Corpus:
    facts: ChainFacts
    texts: Mapping[str, str]


def check_golden_set(connection: Connection, spec: CorpusSpec, golden: GoldenSet) -> list[Finding]:
    """Everything that the corpus, as last ingested, no longer bears out, in order of query id."""
    facts = read_facts(connection, spec.slug, spec.access_groups)
    named = {f"{spec.slug}/{source}" for query in golden.queries for source in _named(query)}
    successors = {one for name in named if (one := _successor(facts.decisions.get(name))) is not None}
    corpus = _Corpus(facts, texts_of(connection, spec.slug, named | successors))
    return [finding for query in golden.queries for finding in _of_query(query, corpus)]


def _named(query: GoldenQuery) -> set[str]:
    sources = (*query.expected, *query.forbidden_sources, *query.conflicting_sources)
    return {*sources, *(passage.source for passage in query.passages)}


def _successor(decision: VersionDecision | None) -> str | None:
    return (decision.superseded_by or decision.exclusion_ref) if decision else None


def _of_query(query: GoldenQuery, corpus: _Corpus) -> Iterator[Finding]:
    for key in ("expected_sources", "forbidden_sources", "conflicting_sources"):
        for source in getattr(query, key):
            yield from _of_source(query, key, source, corpus)
    for key in ("expected_passages", "forbidden_passages"):
        for passage in getattr(query, key):
            if key == "expected_passages" and passage.source not in query.expected_sources:
                yield from _of_source(query, key, passage.source, corpus)
            yield from _of_passage(query, key, passage, corpus)
    if query.review_status == "proposed":
        yield Finding(query.query_id, FindingKind.NOT_REVIEWED, "review_status", "", "nobody has reviewed this query")


def _of_source(query: GoldenQuery, key: str, source: str, corpus: _Corpus) -> Iterator[Finding]:
    document_id = f"{corpus.facts.corpus}/{source}"
    if document_id not in corpus.facts.inventory:
        yield Finding(query.query_id, FindingKind.UNKNOWN_SOURCE, key, source, "the corpus has no such file")
        return
    if document_id in corpus.facts.quarantined:
        why = f"in quarantine: {corpus.facts.quarantined[document_id]}"
        yield Finding(query.query_id, FindingKind.NOT_CONVERTED, key, source, why)
        return
    decision = corpus.facts.decisions.get(document_id)
    if key.startswith("expected") and decision is not None and decision.exclusion_reason is not None:
        successor = _successor(decision)
        yield Finding(
            query.query_id,
            FindingKind.KEPT_OUT,
            key,
            source,
            f"kept out as {decision.exclusion_reason.value.replace('_', ' ')}",
            successor=successor,
            before=corpus.texts.get(document_id, "") if successor else "",
            after=corpus.texts.get(successor, "") if successor else "",
        )


def _of_passage(query: GoldenQuery, key: str, passage: Passage, corpus: _Corpus) -> Iterator[Finding]:
    document_id = f"{corpus.facts.corpus}/{passage.source}"
    text = corpus.texts.get(document_id)
    if text is None:
        return
    words = passage.words_in(text)
    if words is None:
        detail = f"the converted text has {len(text)} characters"
        yield Finding(query.query_id, FindingKind.SPAN_OUTSIDE, key, passage.source, detail)
        return
    places = locate(text, words)
    if len(places) > 1:
        detail = f"is said {len(places)} times: {words}"
        yield Finding(query.query_id, FindingKind.ANCHOR_REPEATED, key, passage.source, detail)
    successor = _successor(corpus.facts.decisions.get(document_id))
    follows = words in normalised(corpus.texts.get(successor, "")) if successor else None
    if not places:
        yield Finding(
            query.query_id, FindingKind.ANCHOR_LOST, key, passage.source, words, successor, in_successor=follows
        )
    elif key == "expected_passages" and successor is not None:
        yield Finding(query.query_id, FindingKind.KEPT_OUT, key, passage.source, words, successor, in_successor=follows)
