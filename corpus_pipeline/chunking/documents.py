"""One document cut: parents and fragments as records, checked for coverage and budget."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from corpus_pipeline.chunking.layout import Budget, Child, Layout
from corpus_pipeline.chunking.packing import overlapped, within_budget
from corpus_pipeline.chunking.parents import common_path, parent_text
from corpus_pipeline.chunking.sections import one_line
from corpus_pipeline.chunking.strategies import Strategy
from corpus_pipeline.chunking.tokens import TokenCounter
from corpus_pipeline.errors import StageError
from corpus_pipeline.records import ConvertedDocument, Document, Fragment, Parent, canonical_json, sha256_hex

__all__ = ["ChunkedDocument", "chunk_document", "document_title"]


@dataclass(frozen=True)
class ChunkedDocument:
    """Parents and fragments of one document, in reading order."""

    document_id: str
    parents: tuple[Parent, ...]
    fragments: tuple[Fragment, ...]

    @cached_property
    def content_sha256(self) -> str:
        """Hash of everything that was decided about the document; equal rows have equal hashes."""
        parents = [parent.model_dump(mode="json", exclude={"text"}) for parent in self.parents]
        fragments = [f.model_dump(mode="json", exclude={"text", "embedded_text"}) for f in self.fragments]
        return sha256_hex(canonical_json({"parents": parents, "fragments": fragments}))


def document_title(document: Document) -> str:
    """The title that context paths begin with: declared, found by conversion, or made from the file's name.

    >>> PurePosixPath("faq/sla_enterprise-v2.md").stem.replace("_", " ")
    'sla enterprise-v2'
    """
    title = one_line(document.metadata.title or document.title or "")
    if title:
        return title
    stem = PurePosixPath(document.relative_path).stem
    return one_line(stem.replace("_", " ").replace("-", " "))


def chunk_document(
    document: Document, converted: ConvertedDocument, *, counter: TokenCounter, budget: Budget, strategy: Strategy
) -> ChunkedDocument:
    """Cuts a document.

    Raises:
        StageError: The strategy left characters out or put them into two fragments of the same
            document; this names the document and is a fault of the strategy.
    """
    layout = Layout.of(converted, document_title(document), counter, budget)
    children = strategy.children(layout)
    _demand_tiling(document, [(child.own_start, child.char_end) for child in children], len(layout.text))
    fitting, groups = _fitted(layout, strategy, strategy.parents(layout, children))
    _demand_tiling(document, [(group[0].own_start, group[-1].char_end) for group in groups], len(layout.text))
    pages = _Pages(converted)
    parents = _parents(document, layout, groups, pages)
    owner = {
        child.own_start: parent.parent_id for parent, group in zip(parents, groups, strict=True) for child in group
    }
    fragments = tuple(
        _fragment(document, layout, ordinal, child, string, tokens, owner[child.own_start], pages)
        for ordinal, (child, string, tokens) in enumerate(fitting, start=1)
    )
    return ChunkedDocument(document.document_id, parents, fragments)


def _demand_tiling(document: Document, spans: Sequence[tuple[int, int]], length: int) -> None:
    at = 0
    for start, end in spans:
        if start != at or end <= start:
            break
        at = end
    if at != length:
        raise StageError(
            f"the fragments of {document.document_id} do not tile its text: gap or overlap at {at} of {length}",
            remedy="This is a fault of the chunking strategy; report it with the document, or use another strategy.",
        )


def _fitted(
    layout: Layout, strategy: Strategy, groups: list[list[Child]]
) -> tuple[list[tuple[Child, str, int]], list[list[Child]]]:
    """Every fragment and every parent within its exact budget, then overlaps added inside each parent."""
    fitting = within_budget([child for group in groups for child in group], layout)
    ends = [group[-1].char_end for group in groups]
    regrouped: list[list[Child]] = [[] for _ in groups]
    for child, _, _ in fitting:
        regrouped[bisect_right(ends, child.own_start)].append(child)
    parents = _parents_within_budget(layout, regrouped)
    if layout.budget.overlap_tokens:
        across = strategy.overlaps_headings
        spread = [child for group in parents for child in overlapped(group, layout, across_sections=across)]
        fitting = within_budget(spread, layout)
    return fitting, parents


def _parents_within_budget(layout: Layout, groups: list[list[Child]]) -> list[list[Child]]:
    """Halves groups whose exact count is over the budget, until they are single fragments."""
    result: list[list[Child]] = []
    waiting = groups
    while waiting:
        counts = layout.counter.plain_counts([parent_text(layout, group) for group in waiting])
        over: list[list[Child]] = []
        for group, tokens in zip(waiting, counts, strict=True):
            if len(group) == 1 or tokens <= layout.budget.parent_tokens:
                result.append(group)
            else:
                over.extend((group[: len(group) // 2], group[len(group) // 2 :]))
        waiting = over
    return sorted(result, key=lambda group: group[0].own_start)


class _Pages:
    """Page of a place in the text."""

    def __init__(self, converted: ConvertedDocument) -> None:
        self._starts = [block.char_start for block in converted.blocks]
        self._pages = [block.page for block in converted.blocks]

    def at(self, char_position: int) -> int | None:
        position = bisect_right(self._starts, char_position) - 1
        return self._pages[max(position, 0)] if self._pages else None


def _parents(document: Document, layout: Layout, groups: list[list[Child]], pages: _Pages) -> tuple[Parent, ...]:
    texts = [parent_text(layout, group) for group in groups]
    counts = layout.counter.plain_counts(texts)
    return tuple(
        Parent(
            parent_id=f"{document.document_id}::p{ordinal:04d}",
            corpus=document.corpus,
            document_id=document.document_id,
            section_path=common_path([layout.sections[child.section].path for child in group]),
            text=text,
            text_sha256=sha256_hex(text),
            token_count=tokens,
            char_start=group[0].own_start,
            char_end=group[-1].char_end,
            page_number=pages.at(group[0].own_start),
        )
        for ordinal, (group, text, tokens) in enumerate(zip(groups, texts, counts, strict=True), start=1)
    )


def _fragment(
    document: Document,
    layout: Layout,
    ordinal: int,
    child: Child,
    string: str,
    tokens: int,
    parent_id: str,
    pages: _Pages,
) -> Fragment:
    text = child.prefix + layout.text[child.char_start : child.char_end]
    return Fragment(
        fragment_id=f"{document.document_id}::f{ordinal:04d}",
        parent_id=parent_id,
        corpus=document.corpus,
        document_id=document.document_id,
        ordinal=ordinal,
        text=text,
        text_sha256=sha256_hex(text),
        embedded_text=string,
        embedded_sha256=sha256_hex(string),
        token_count=tokens,
        section_path=layout.sections[child.section].path,
        page_number=pages.at(child.char_start),
        char_start=child.char_start,
        char_end=child.char_end,
    )
