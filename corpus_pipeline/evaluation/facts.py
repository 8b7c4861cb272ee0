"""What the chain knows of the documents of a corpus, for judging what search found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date

from corpus_pipeline.conversion import converted_documents, documents, quarantined_files
from corpus_pipeline.evaluation.golden import GoldenQuery
from corpus_pipeline.inventory import source_files
from corpus_pipeline.records import Document, ServingState, VersionDecision
from corpus_pipeline.store import Connection
from corpus_pipeline.versions import version_decisions

__all__ = ["ChainFacts", "document_ids", "read_facts", "texts_of", "unknown_sources"]


@dataclass(frozen=True)
class ChainFacts:
    """What the stages before know of the documents of a corpus.

    Attributes:
        inventory: Ids of all files found.
        quarantined: Reason by id of those that could not be converted.
        decisions: Version decision by id of those that could.
        groups: By id, the groups that may see a document, as its metadata say.
    """

    corpus: str
    inventory: frozenset[str]
    quarantined: Mapping[str, str]
    decisions: Mapping[str, VersionDecision]
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def is_stale(self, document_id: str, as_of: date) -> bool:
        """Whether a document should answer nothing on that day, by the decisions of the chain."""
        decision = self.decisions.get(document_id)
        if document_id not in self.inventory or decision is None:
            return True
        if not decision.is_current or decision.serving_state is ServingState.ARCHIVED:
            return True
        started = decision.valid_from is None or decision.valid_from <= as_of
        ended = decision.valid_until is not None and decision.valid_until < as_of
        return ended or not started

    def is_hidden_from(self, document_id: str, groups: Iterable[str]) -> bool:
        """Whether none of the groups may see a document, by its metadata and not by the index."""
        allowed = self.groups.get(document_id)
        return allowed is not None and not set(allowed) & set(groups)

    def family(self, document_id: str) -> str | None:
        """The version family of a document; ``None`` when nothing was decided about it."""
        decision = self.decisions.get(document_id)
        return decision.family if decision else None


def read_facts(connection: Connection, corpus: str, default_groups: tuple[str, ...]) -> ChainFacts:
    """The facts as the chain stands.

    Args:
        connection: Of the pipeline.
        corpus: Slug.
        default_groups: Who may see a document that names nobody.
    """
    return ChainFacts(
        corpus=corpus,
        inventory=frozenset(file.document_id for file in source_files(connection, corpus)),
        quarantined={file.document_id: file.reason.value for file in quarantined_files(connection, corpus)},
        decisions={decision.document_id: decision for decision in version_decisions(connection, corpus)},
        groups={one.document_id: one.metadata.acl_groups or default_groups for one in documents(connection, corpus)},
    )


def document_ids(corpus: str, sources: Iterable[str]) -> tuple[str, ...]:
    """Ids of the documents a golden query names by relative path.

    >>> document_ids("handbook", ("refunds.md",))
    ('handbook/refunds.md',)
    """
    return tuple(f"{corpus}/{source}" for source in sources)


def unknown_sources(facts: ChainFacts, queries: Iterable[GoldenQuery]) -> list[str]:
    """Documents named by queries that the inventory does not have: a slip, or a file that went."""
    named = {
        document_id
        for query in queries
        for document_id in document_ids(
            facts.corpus,
            (
                *query.expected,
                *query.forbidden_sources,
                *query.conflicting_sources,
                *(passage.source for passage in query.forbidden_passages),
            ),
        )
    }
    return sorted(named - facts.inventory)


def texts_of(connection: Connection, corpus: str, wanted: Iterable[str]) -> dict[str, str]:
    """The converted text of each named document that has one, by id."""
    chosen = set(wanted)
    if not chosen:
        return {}
    known: list[Document] = [one for one in documents(connection, corpus) if one.document_id in chosen]
    return {one.document_id: content.text for one, content in converted_documents(connection, known)}
