"""Counting."""

from __future__ import annotations

import pytest

from corpus_pipeline.chunking import TokenCounter, budget_for, chunker_fingerprint, strategy_named, token_counter
from corpus_pipeline.errors import ConfigurationError, ModelUnavailableError
from corpus_pipeline.model_files import model_folder
from corpus_pipeline.registry import ChunkingSpec, CorpusSpec, EmbeddingSpec, SourceSpec

TEXTS = ["", "Refunds take 5 days.", "naïve ﬁnal 日本語 🙂 \u200b\u0301", "x" * 150, "a " * 400, "  \n\tspaced \n"]


def test_counts_are_those_of_the_model_itself(counter: TokenCounter) -> None:
    from transformers import AutoTokenizer

    reference = AutoTokenizer.from_pretrained(str(model_folder("all-MiniLM-L6-v2")), local_files_only=True)
    expected = [len(reference(text, truncation=False)["input_ids"]) for text in TEXTS]
    assert counter.counts(TEXTS) == expected


def test_the_prompt_is_counted() -> None:
    plain, prompted = token_counter(EmbeddingSpec()), token_counter(EmbeddingSpec(passage_prompt="passage: "))
    assert prompted.counts(["text"])[0] == plain.counts(["passage: text"])[0]
    assert prompted.overhead_tokens == plain.overhead_tokens + 2


def test_marks_count_any_span_between_words_exactly(counter: TokenCounter) -> None:
    text = "Refunds take five days; uncharacteristically long words too."
    marks = counter.marks(text, [(0, 24), (24, len(text))])
    for start in range(0, len(text), 1):
        if start == 0 or text[start - 1] == " ":
            assert marks.count(start, len(text)) == counter.plain_counts([text[start:]])[0]


def test_a_shortened_text_fits_and_says_so(counter: TokenCounter) -> None:
    short = counter.shortened("one two three four five six", 4)
    assert short == "one two three…"
    assert counter.shortened("one two", 4) == "one two"


def test_no_room_for_text_is_a_configuration_error() -> None:
    counter = token_counter(EmbeddingSpec(passage_prompt="a prompt of many words that fills it all up " * 2))
    with pytest.raises(ConfigurationError, match="leaves 0 tokens"):
        budget_for(ChunkingSpec(child_tokens=20), counter)


def test_the_budget_never_exceeds_what_the_model_reads(counter: TokenCounter) -> None:
    assert budget_for(ChunkingSpec(child_tokens=2048, parent_tokens=4096), counter).child_tokens == 256


def test_an_unknown_strategy_is_named_with_those_that_exist() -> None:
    with pytest.raises(ConfigurationError, match="docling_hybrid, markdown_heading, token_window"):
        strategy_named("semantic")


def spec_with(tmp_path: object, **changes: object) -> CorpusSpec:
    return CorpusSpec(slug="a", base_folder=tmp_path, owner="o", source=SourceSpec(url="docs"), **changes)


def test_the_fingerprint_changes_with_what_changes_fragments_only(tmp_path: object) -> None:
    base = chunker_fingerprint(spec_with(tmp_path))
    same = chunker_fingerprint(spec_with(tmp_path, embedding=EmbeddingSpec(backend="openvino", batch_size=8)))
    others = {
        chunker_fingerprint(spec_with(tmp_path, chunking=ChunkingSpec(child_tokens=100))),
        chunker_fingerprint(spec_with(tmp_path, chunking=ChunkingSpec(strategy="token_window"))),
        chunker_fingerprint(spec_with(tmp_path, embedding=EmbeddingSpec(passage_prompt="p "))),
    }
    assert same == base
    assert len(others | {base}) == 4


def test_a_damaged_tokenizer_is_named(tmp_path: object) -> None:
    folder = tmp_path / "broken"  # type: ignore[operator]
    folder.mkdir()
    (folder / "config.json").write_text('{"max_position_embeddings": 512}')
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(ModelUnavailableError, match="cannot be read"):
        token_counter(EmbeddingSpec(model=str(folder)))
