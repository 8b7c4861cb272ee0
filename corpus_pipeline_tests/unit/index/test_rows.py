"""Row digests and the generation root depend on content, metadata, decisions and configuration alone."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_pipeline.errors import UpstreamMissingError
from corpus_pipeline.index.rows import (
    DOCUMENT_COLUMNS,
    PARENT_COLUMNS,
    document_part,
    document_row,
    fragment_digest,
    generation_root,
    neighbour_corpora,
    parent_digest,
)
from corpus_pipeline.records import (
    Document,
    DocumentMetadata,
    ExclusionReason,
    Fragment,
    Lifecycle,
    Parent,
    ServingState,
    VersionDecision,
    sha256_hex,
)

DIGESTS = st.lists(st.text("0123456789abcdef", min_size=64, max_size=64), unique=True, max_size=20)


def a_document(**changes: Any) -> Document:
    values: dict[str, Any] = {
        "corpus": "handbook",
        "document_id": "handbook/refunds.md",
        "relative_path": "refunds.md",
        "source_uri": "/data/refunds.md",
        "source_sha256": "s1",
        "source_extension": "md",
        "size_bytes": 10,
        "modified_at": datetime(2026, 1, 1, tzinfo=UTC),
        "requested_converter": "auto",
        "effective_converter": "docling",
        "processor_version": "2.143.0",
        "converter_fingerprint": "c1",
        "document_sha256": "d1",
        "text_sha256": "t1",
        "char_count": 10,
        "metadata": DocumentMetadata(acl_groups=("everyone",), plan_tiers=("pro", "free"), attributes={"team": "a"}),
    }
    return Document(**{**values, **changes})


def a_decision(**changes: Any) -> VersionDecision:
    values: dict[str, Any] = {
        "corpus": "handbook",
        "document_id": "handbook/refunds.md",
        "family": "refunds",
        "lifecycle": Lifecycle.ACTIVE,
    }
    return VersionDecision(**{**values, **changes})


def a_fragment(**changes: Any) -> Fragment:
    values: dict[str, Any] = {
        "fragment_id": "handbook/refunds.md::f0001",
        "parent_id": "handbook/refunds.md::p0001",
        "corpus": "handbook",
        "document_id": "handbook/refunds.md",
        "ordinal": 0,
        "text": "Refunds take 30 days.",
        "text_sha256": sha256_hex("Refunds take 30 days."),
        "embedded_text": "Refunds\nRefunds take 30 days.",
        "embedded_sha256": sha256_hex("Refunds\nRefunds take 30 days."),
        "token_count": 9,
        "section_path": ("Refunds",),
        "char_start": 0,
        "char_end": 21,
    }
    return Fragment(**{**values, **changes})


def digest(document: Document | None = None, decision: VersionDecision | None = None, **fragment: Any) -> str:
    part = document_part(document or a_document(), decision or a_decision())
    return fragment_digest(part, a_fragment(**fragment))


@pytest.mark.parametrize(
    "other",
    [
        digest(text_sha256="x"),
        digest(embedded_sha256="x"),
        digest(char_end=22),
        digest(section_path=("Other",)),
        digest(a_document(source_sha256="s2")),
        digest(a_document(converter_fingerprint="c2")),
        digest(a_document(metadata=DocumentMetadata(acl_groups=("hr",)))),
        digest(decision=a_decision(valid_until=date(2027, 1, 1))),
        digest(
            decision=a_decision(
                serving_state=ServingState.ARCHIVED,
                is_current=False,
                exclusion_reason=ExclusionReason.SUPERSEDED,
                exclusion_ref="handbook/new.md",
            )
        ),
    ],
)
def test_content_metadata_and_decisions_change_the_digest(other: str) -> None:
    assert other != digest()


@pytest.mark.parametrize(
    "same",
    [
        digest(a_document(source_uri="/elsewhere/refunds.md")),
        digest(a_document(modified_at=datetime(2026, 5, 5, tzinfo=UTC))),
        digest(
            a_document(
                metadata=DocumentMetadata(
                    acl_groups=("everyone",), plan_tiers=("free", "pro"), attributes={"team": "a"}
                )
            )
        ),
    ],
)
def test_location_times_and_order_of_groups_do_not(same: str) -> None:
    assert same == digest()


def test_documents_have_a_value_for_every_column() -> None:
    part = document_part(a_document(), a_decision())
    assert tuple(part.values) == tuple(column.name for column in DOCUMENT_COLUMNS)
    assert len(document_row(part)) == len(DOCUMENT_COLUMNS) + 2
    assert {column.name for column in PARENT_COLUMNS[:6]} <= set(part.values)


def test_parents_follow_the_decision_about_their_document() -> None:
    parent = Parent(
        parent_id="p",
        corpus="handbook",
        document_id="d",
        section_path=(),
        text="t",
        text_sha256="t",
        token_count=1,
        char_start=0,
        char_end=1,
    )
    current = document_part(a_document(), a_decision())
    archived = document_part(a_document(), a_decision(serving_state=ServingState.ARCHIVED))
    assert parent_digest(current, parent) != parent_digest(archived, parent)


def test_a_document_without_a_decision_is_refused() -> None:
    with pytest.raises(UpstreamMissingError, match=r"no version decision for handbook/refunds\.md"):
        document_part(a_document(), None)


@given(DIGESTS, DIGESTS, st.randoms())
def test_the_root_does_not_depend_on_order(fragments: list[str], parents: list[str], random: Any) -> None:
    def root(some: list[str], others: list[str]) -> str:
        return generation_root(
            embedding_fingerprint="e",
            chunker_fingerprint="c",
            analyser_fingerprint="a",
            fragment_digests=some,
            parent_digests=others,
        )

    shuffled, shuffled_parents = list(fragments), list(parents)
    random.shuffle(shuffled)
    random.shuffle(shuffled_parents)
    assert root(fragments, parents) == root(shuffled, shuffled_parents)
    if fragments:
        assert root(fragments, parents) != root(fragments[1:], parents)
        assert root(fragments, []) != root([], fragments)


@pytest.mark.parametrize("changed", ["embedding_fingerprint", "chunker_fingerprint", "analyser_fingerprint"])
def test_configuration_changes_the_root(changed: str) -> None:
    configuration = {"embedding_fingerprint": "e", "chunker_fingerprint": "c", "analyser_fingerprint": "a"}
    first = generation_root(**configuration, fragment_digests=["a"], parent_digests=[])
    second = generation_root(**{**configuration, changed: "other"}, fragment_digests=["a"], parent_digests=[])
    assert first != second


def test_the_root_of_a_generation_from_before_the_terms_stays_what_it_was() -> None:
    root = generation_root(
        embedding_fingerprint="e",
        chunker_fingerprint="c",
        analyser_fingerprint=None,
        fragment_digests=["b", "a"],
        parent_digests=["p"],
    )
    assert root == sha256_hex("corpus_pipeline generation 1\ne\nc\nfragments\nabparents\np")


def test_only_references_to_other_corpora_are_inputs() -> None:
    parts = [
        document_part(a_document(), a_decision(exclusion_ref=reference))
        for reference in ("legal/old.md", "handbook/new.md", None, "legal/older.md")
    ]
    assert neighbour_corpora(parts, "handbook") == ["legal"]
