"""The stage on a real database, from files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from corpus_pipeline.chunking import chunker_fingerprint, fragment_corpus, fragments, parents
from corpus_pipeline.conversion import convert_corpus, converted_documents, documents
from corpus_pipeline.deduplication import cluster_corpus
from corpus_pipeline.errors import UpstreamMissingError
from corpus_pipeline.inventory import take_inventory
from corpus_pipeline.records import Fragment, Parent
from corpus_pipeline.registry import ChunkingSpec, ConversionSpec
from corpus_pipeline.store import StageContext
from corpus_pipeline.versions import resolve_corpus

PARAGRAPH = "Customers may return goods within {days} days. However, gift cards are excluded from that rule.\n\n"


@pytest.fixture
def plain(context: StageContext) -> StageContext:
    """The corpus read by the plain converter, which starts fastest."""
    return replace(context, spec=context.spec.model_copy(update={"conversion": ConversionSpec(converter="plain")}))


@pytest.fixture
def upstream() -> Callable[[StageContext], None]:
    """Runs the stages before this one."""

    def run(context: StageContext) -> None:
        take_inventory(context)
        convert_corpus(context)
        cluster_corpus(context)
        resolve_corpus(context)

    return run


@pytest.fixture
def files(corpus_folder: Path) -> Path:
    """Three texts, one of them a copy of another."""
    for name, days in (("refunds.txt", 30), ("copy of refunds.txt", 30), ("limits.txt", 14)):
        (corpus_folder / name).write_text(PARAGRAPH.format(days=days) * 20)
    return corpus_folder


def stored(context: StageContext) -> tuple[list[Fragment], list[Parent]]:
    corpus = context.spec.slug
    with context.database.connection() as connection:
        return list(fragments(connection, corpus)), parents(connection, corpus)


def written_at(context: StageContext) -> dict[str, object]:
    with context.database.connection() as connection:
        rows = connection.execute("SELECT document_id, chunked_at FROM corpus.chunked_documents").fetchall()
    return {row["document_id"]: row["chunked_at"] for row in rows}


def test_the_versions_must_have_been_resolved(context: StageContext) -> None:
    with pytest.raises(UpstreamMissingError):
        fragment_corpus(context)


def test_every_document_is_cut_copies_included(
    plain: StageContext, files: Path, upstream: Callable[[StageContext], None]
) -> None:
    upstream(plain)
    result = fragment_corpus(plain)
    kept, sections = stored(plain)
    assert result.counts["documents"] == result.counts["chunked"] == 3
    assert result.counts["fragments"] == len(kept)
    assert result.counts["parents"] == len(sections)
    assert result.counts["tokens"] == sum(fragment.token_count for fragment in kept)
    assert result.counts["max_tokens"] == max(fragment.token_count for fragment in kept)
    assert {fragment.document_id for fragment in kept} == {f"handbook/{path.name}" for path in files.iterdir()}
    assert [f.fragment_id for f in kept] == [
        f.fragment_id for f in sorted(kept, key=lambda f: (f.document_id, f.ordinal))
    ]
    with plain.database.connection() as connection:
        texts = {d.document_id: c.text for d, c in converted_documents(connection, documents(connection, "handbook"))}
    for fragment in kept:
        assert fragment.text == texts[fragment.document_id][fragment.char_start : fragment.char_end]
    for parent in sections:
        assert parent.text == texts[parent.document_id][parent.char_start : parent.char_end]


def test_only_changed_documents_are_cut_again(
    plain: StageContext, files: Path, upstream: Callable[[StageContext], None]
) -> None:
    upstream(plain)
    first = fragment_corpus(plain)
    before = written_at(plain)
    again = fragment_corpus(plain)
    assert (again.unchanged, again.counts["chunked"], again.counts["reused"]) == (True, 0, 3)
    assert written_at(plain) == before

    (files / "limits.txt").write_text(PARAGRAPH.format(days=15) * 20)
    (files / "copy of refunds.txt").unlink()
    upstream(plain)
    changed = fragment_corpus(plain)
    assert (changed.counts["chunked"], changed.counts["reused"]) == (1, changed.counts["documents"] - 1)
    assert changed.output_sha256 != first.output_sha256
    after = written_at(plain)
    assert after["handbook/refunds.txt"] == before["handbook/refunds.txt"]
    assert after["handbook/limits.txt"] != before["handbook/limits.txt"]


def test_a_new_chunker_cuts_everything_and_the_old_one_gives_the_old_output_again(
    plain: StageContext, files: Path, upstream: Callable[[StageContext], None]
) -> None:
    upstream(plain)
    first = fragment_corpus(plain)
    spec = plain.spec.model_copy(update={"chunking": ChunkingSpec(child_tokens=32)})
    other = fragment_corpus(replace(plain, spec=spec))
    assert other.counts["chunked"] == 3
    assert other.output_sha256 != first.output_sha256
    assert chunker_fingerprint(spec) != chunker_fingerprint(plain.spec)
    assert fragment_corpus(plain).output_sha256 == first.output_sha256


def test_a_run_that_dies_before_its_commit_leaves_the_rows_as_they_were(
    plain: StageContext, files: Path, upstream: Callable[[StageContext], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    from corpus_pipeline.chunking import stage

    upstream(plain)
    fragment_corpus(plain)
    before = stored(plain)

    def die(*_args: object, **_options: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(stage, "replace_documents", die)
        with pytest.raises(KeyboardInterrupt):
            fragment_corpus(
                replace(plain, spec=plain.spec.model_copy(update={"chunking": ChunkingSpec(child_tokens=32)}))
            )
    assert stored(plain) == before


def test_parents_are_found_by_id(plain: StageContext, files: Path, upstream: Callable[[StageContext], None]) -> None:
    upstream(plain)
    fragment_corpus(plain)
    _, sections = stored(plain)
    with plain.database.connection() as connection:
        assert parents(connection, "handbook", [sections[1].parent_id]) == [sections[1]]
        assert parents(connection, "handbook", []) == []
        assert parents(connection, "other") == []
