"""What holds for every document, every strategy and every size."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corpus_pipeline.chunking import ChunkedDocument, TokenCounter
from corpus_pipeline.records import Block, BlockKind, ConvertedDocument, TableData, sha256_hex

STRATEGIES = ("markdown_heading", "docling_hybrid", "token_window")
PROFILE = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)

words = st.one_of(
    st.sampled_from(
        [
            "refund",
            "Refunds",
            "However,",
            "limit.",
            "e.g.",
            "See",
            "above:",
            "5.2",
            "日本語の文。",
            "naïve",
            "🙂",
            "ﬁnal",
        ]
    ),
    st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\x00"), min_size=1, max_size=5),
    st.sampled_from([60, 101, 700]).map(lambda length: "x" * length),
    st.sampled_from([60]).map(lambda length: "a1-" * length),
)
separators = st.sampled_from([" ", " ", " ", "\n", "  ", "\n\n", "\t"])


@st.composite
def prose(draw: st.DrawFn) -> str:
    parts = draw(st.lists(st.tuples(words, separators), min_size=1, max_size=6))
    repeat = draw(st.sampled_from([1, 1, 1, 1, 8]))
    return "".join(word + separator for word, separator in parts * repeat)


@st.composite
def table(draw: st.DrawFn) -> Block:
    columns = draw(st.integers(1, 3))
    cell = st.one_of(st.sampled_from(["Plan", "99.9 %", "", "a | b"]), prose().map(lambda text: " ".join(text.split())))
    rows = draw(st.lists(st.tuples(*[cell] * columns), min_size=1, max_size=8))
    header_rows = draw(st.integers(0, min(2, len(rows))))
    caption = draw(st.sampled_from(["", "Limits of each plan"]))
    text = "\n".join(" | ".join(row) for row in rows)
    return Block(
        kind=BlockKind.TABLE, text=text, table=TableData(rows=tuple(rows), header_rows=header_rows, caption=caption)
    )


blocks = st.one_of(
    st.builds(
        Block,
        kind=st.sampled_from([kind for kind in BlockKind if kind is not BlockKind.TABLE]),
        text=prose(),
        level=st.integers(0, 4),
        page=st.one_of(st.none(), st.integers(1, 9)),
    ),
    table(),
)
documents = st.lists(blocks, max_size=6).map(ConvertedDocument.from_blocks)
options = st.fixed_dictionaries(
    {
        "strategy": st.sampled_from(STRATEGIES),
        "child_tokens": st.integers(16, 320),
        "target_tokens": st.sampled_from([8, 40, 80, 2048]),
        "parent_tokens": st.integers(64, 700),
        "overlap_tokens": st.sampled_from([0, 0, 12, 400]),
    }
)


@given(document=documents, options=options, title=st.one_of(st.none(), prose()))
@PROFILE
def test_every_character_is_in_a_parent_and_in_a_fragment_of_it(
    chunk: Any, document: ConvertedDocument, options: dict[str, Any], title: str | None
) -> None:
    cut: ChunkedDocument = chunk(document, title=title, **options)
    at = 0
    for parent in cut.parents:
        assert parent.char_start == at
        at = parent.char_end
        inside = 0
        mine = [fragment for fragment in cut.fragments if fragment.parent_id == parent.parent_id]
        covered = parent.char_start
        for fragment in mine:
            assert parent.char_start <= fragment.char_start <= covered < fragment.char_end <= parent.char_end
            covered = fragment.char_end
            inside += 1
        assert inside
        assert covered == parent.char_end
    assert at == len(document.text)


@given(document=documents, options=options, title=st.one_of(st.none(), prose()))
@PROFILE
def test_counts_are_exact_and_within_every_budget(
    chunk: Any, counter: TokenCounter, document: ConvertedDocument, options: dict[str, Any], title: str | None
) -> None:
    cut: ChunkedDocument = chunk(document, title=title, **options)
    limit = min(options["child_tokens"], options["parent_tokens"], counter.model_tokens)
    assert [f.token_count for f in cut.fragments] == counter.counts([f.embedded_text for f in cut.fragments])
    assert all(fragment.token_count <= limit for fragment in cut.fragments)
    assert all(parent.token_count <= options["parent_tokens"] for parent in cut.parents)


@given(document=documents, options=options)
@PROFILE
def test_spans_hashes_and_ids_are_those_of_the_text(
    chunk: Any, document: ConvertedDocument, options: dict[str, Any]
) -> None:
    cut: ChunkedDocument = chunk(document, **options)
    for ordinal, fragment in enumerate(cut.fragments, start=1):
        own = document.text[fragment.char_start : fragment.char_end]
        assert fragment.text.endswith(own)
        assert fragment.embedded_text.endswith(fragment.text.rstrip())
        assert fragment.fragment_id == f"handbook/a.md::f{ordinal:04d}"
        assert fragment.ordinal == ordinal
        assert fragment.text_sha256 == sha256_hex(fragment.text)
        assert fragment.embedded_sha256 == sha256_hex(fragment.embedded_text)
    for ordinal, parent in enumerate(cut.parents, start=1):
        assert parent.text.endswith(document.text[parent.char_start : parent.char_end])
        assert parent.parent_id == f"handbook/a.md::p{ordinal:04d}"


@given(document=documents, options=options)
@PROFILE
def test_the_same_document_is_cut_the_same_way_twice(
    chunk: Any, document: ConvertedDocument, options: dict[str, Any]
) -> None:
    once = chunk(document, **options)
    again = chunk(document, **options)
    assert once == again
    assert once.content_sha256 == again.content_sha256


@given(several=st.lists(documents, min_size=2, max_size=4), options=options, order=st.randoms(use_true_random=False))
@PROFILE
def test_documents_are_cut_the_same_way_in_any_order(
    chunk: Any, several: list[ConvertedDocument], options: dict[str, Any], order: Any
) -> None:
    cut = [chunk(document, **options).content_sha256 for document in several]
    shuffled = list(range(len(several)))
    order.shuffle(shuffled)
    assert {at: chunk(several[at], **options).content_sha256 for at in shuffled} == dict(enumerate(cut))


@pytest.mark.slow
@pytest.mark.timeout(1200)
@given(document=documents, options=options, title=st.one_of(st.none(), prose()))
@settings(PROFILE, max_examples=1500)
def test_coverage_and_budgets_hold_thoroughly(
    chunk: Any, counter: TokenCounter, document: ConvertedDocument, options: dict[str, Any], title: str | None
) -> None:
    cut: ChunkedDocument = chunk(document, title=title, **options)
    limit = min(options["child_tokens"], options["parent_tokens"], counter.model_tokens)
    assert all(count <= limit for count in counter.counts([f.embedded_text for f in cut.fragments]))
    assert all(parent.token_count <= options["parent_tokens"] for parent in cut.parents)
    for spans in (cut.parents, cut.fragments):
        covered = 0
        for span in spans:
            assert span.char_start <= covered < span.char_end
            covered = span.char_end
        assert covered == len(document.text)


PROCESS = """
from corpus_pipeline.chunking import budget_for, chunk_document, strategy_named, token_counter
from corpus_pipeline.records import Block, BlockKind, ConvertedDocument, Document
from corpus_pipeline.registry import ChunkingSpec, EmbeddingSpec
kinds = list(BlockKind)
texts = [f"Part {n} has words. However, not all. " * (n % 7 + 1) for n in range(60)]
blocks = [Block(kind=kinds[n % len(kinds)], text=texts[n], level=n % 3 + 1)
          for n in range(60) if kinds[n % len(kinds)] is not BlockKind.TABLE]
converted = ConvertedDocument.from_blocks(blocks)
fields = {name: "x" for name in ("source_uri", "source_sha256", "source_extension", "requested_converter",
          "effective_converter", "processor_version", "converter_fingerprint", "document_sha256", "text_sha256")}
document = Document(corpus="c", document_id="c/a.md", relative_path="a.md", size_bytes=1, char_count=1, **fields)
counter = token_counter(EmbeddingSpec())
for name in ("markdown_heading", "docling_hybrid", "token_window"):
    spec = ChunkingSpec(strategy=name, child_tokens=64)
    print(chunk_document(document, converted, counter=counter, budget=budget_for(spec, counter),
                         strategy=strategy_named(name)).content_sha256)
"""


@pytest.mark.slow
def test_another_process_with_other_threads_cuts_the_same_way() -> None:
    outputs = set()
    for seed, threads in (("1", "1"), ("2", "4")):
        variables = {
            **os.environ,
            "PYTHONHASHSEED": seed,
            "RAYON_NUM_THREADS": threads,
            "TOKENIZERS_PARALLELISM": "true",
        }
        done = subprocess.run(
            [sys.executable, "-c", PROCESS], capture_output=True, text=True, check=True, env=variables
        )
        outputs.add(done.stdout)
    assert len(outputs) == 1
    assert len(outputs.pop().split()) == 3


@given(document=documents, strategy=st.sampled_from(["markdown_heading", "docling_hybrid"]))
@PROFILE
def test_text_before_a_slice_is_only_ever_a_repeated_table_head(
    chunk: Any, document: ConvertedDocument, strategy: str
) -> None:
    tables = [block for block in document.blocks if block.kind is BlockKind.TABLE]
    for fragment in chunk(document, strategy=strategy, child_tokens=64).fragments:
        if len(fragment.text) > fragment.char_end - fragment.char_start:
            assert any(block.char_start < fragment.char_start < block.char_end + 2 for block in tables)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_document_without_text_has_neither_parents_nor_fragments(chunk: Any, strategy: str) -> None:
    cut = chunk([], strategy=strategy)
    assert (cut.parents, cut.fragments) == ((), ())


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("text", ["x" * 50_000, "word " * 20_000, "\n" * 5 + "a" + " " * 9_000 + "b", "。" * 9_000])
def test_pathological_text_is_cut_in_linear_time(chunk: Any, strategy: str, text: str) -> None:
    cut = chunk([Block(kind=BlockKind.PARAGRAPH, text=text)], strategy=strategy)
    assert sum(fragment.char_end - fragment.char_start for fragment in cut.fragments) == len(text)
