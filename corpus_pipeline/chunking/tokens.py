"""Exact token counts by the embedding model's own tokenizer, and estimates for any span of a text."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from corpus_pipeline.errors import ModelUnavailableError
from corpus_pipeline.model_files import file_sha256, model_folder, model_max_tokens, tokenizer_file
from corpus_pipeline.registry import EmbeddingSpec

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["TokenCounter", "TokenMarks", "token_counter"]

LONGEST_TOKEN_CHARS = 20
"""A token that covers more characters than this (a giant "word" that becomes one unknown token) is
counted once every so many characters when text is cut, so that such a word is cut too."""


class TokenMarks:
    """Where the tokens of one text begin; counts the tokens of any span in logarithmic time.

    For tokenizers that split at white space first (BERT's does) the count of a span between two
    white spaces is exact; for others it is close, and the exact count afterwards decides.
    """

    __slots__ = ("starts",)

    def __init__(self, starts: list[int]) -> None:
        self.starts = starts

    def count(self, char_start: int, char_end: int) -> int:
        """Tokens that begin in ``[char_start, char_end)``, without special tokens."""
        return bisect_left(self.starts, char_end) - bisect_left(self.starts, char_start)

    def between(self, char_start: int, char_end: int) -> list[int]:
        """Beginnings of the tokens of ``[char_start, char_end)``, ascending and distinct."""
        return sorted(set(self.starts[bisect_left(self.starts, char_start) : bisect_left(self.starts, char_end)]))

    def back(self, char_position: int, tokens: int) -> int:
        """The beginning of the token that lies ``tokens`` before ``char_position``, 0 at the least."""
        at = bisect_left(self.starts, char_position) - tokens
        return self.starts[at] if at > 0 else 0


class TokenCounter:
    """Counts tokens as the model will see them: no truncation, no padding, prompt included.

    Attributes:
        tokenizer_sha256: Of ``tokenizer.json``.
        model_tokens: Longest input of the model, special tokens included.
        prompt: What the model puts before every passage.
        overhead_tokens: Special tokens and prompt: what an empty text costs.
    """

    def __init__(self, tokenizer: Tokenizer, *, tokenizer_sha256: str, model_tokens: int, prompt: str = "") -> None:
        self._tokenizer = tokenizer
        self.tokenizer_sha256 = tokenizer_sha256
        self.model_tokens = model_tokens
        self.prompt = prompt
        self.overhead_tokens = self.counts([""])[0]

    def counts(self, texts: Sequence[str]) -> list[int]:
        """Tokens of ``prompt + text`` for each text, special tokens included."""
        prompted = [self.prompt + text for text in texts] if self.prompt else list(texts)
        return [len(encoding.ids) for encoding in self._tokenizer.encode_batch_fast(prompted)]

    def plain_counts(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text by itself, without prompt and special tokens."""
        return [len(e.ids) for e in self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)]

    def marks(self, text: str, spans: Sequence[tuple[int, int]]) -> TokenMarks:
        """Marks of a text whose ascending, disjoint ``spans`` are tokenised one by one."""
        starts: list[int] = []
        encodings = self._tokenizer.encode_batch([text[a:b] for a, b in spans], add_special_tokens=False)
        for (offset, _), encoding in zip(spans, encodings, strict=True):
            for start, end in encoding.offsets:
                starts.append(offset + start)
                if end - start > LONGEST_TOKEN_CHARS:
                    starts.extend(range(offset + start + LONGEST_TOKEN_CHARS, offset + end, LONGEST_TOKEN_CHARS))
        starts.sort()
        return TokenMarks(starts)

    def shortened(self, text: str, max_tokens: int) -> str:
        """The text, or as many of its first tokens as fit with an ellipsis; empty below two tokens."""
        if self.plain_counts([text])[0] <= max_tokens:
            return text
        kept = max_tokens
        starts = self.marks(text, [(0, len(text))]).starts
        while kept > 1:
            kept -= 1
            shorter = text[: starts[kept]].rstrip() + "…" if kept < len(starts) else text
            if self.plain_counts([shorter])[0] <= max_tokens:
                return shorter
        return ""


def token_counter(spec: EmbeddingSpec) -> TokenCounter:
    """The counter of an embedding model, one a process.

    Raises:
        ModelUnavailableError: The model is not there, has no fast tokenizer, or its tokenizer cannot be read.
    """
    folder = model_folder(spec.tokenizer_model, None if spec.endpoint else spec.revision)
    path = tokenizer_file(folder)
    limit = spec.endpoint.max_tokens if spec.endpoint else model_max_tokens(folder)
    return _load(str(path), file_sha256(path), limit, spec.passage_prompt)


@lru_cache(maxsize=8)
def _load(path: str, sha256: str, model_tokens: int, prompt: str) -> TokenCounter:
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(path)
    except Exception as error:  # the library raises bare Exception
        raise ModelUnavailableError(
            f"the tokenizer {Path(path)} cannot be read: {type(error).__name__}",
            remedy="Install the model again; its tokenizer.json is damaged or of a newer format.",
        ) from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return TokenCounter(tokenizer, tokenizer_sha256=sha256, model_tokens=model_tokens, prompt=prompt)
