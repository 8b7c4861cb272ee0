"""A document laid out for cutting: sections, token marks, and what a fragment may hold.

The budget of a fragment is ``min(child_tokens, parent_tokens, model limit)`` for the exact string
the model sees: prompt, special tokens, context path, newline, text. The context path gets at
most a quarter of it, and never more than :data:`MAX_CONTEXT_TOKENS`; a table's repeated caption
and header get at most a third of what is left.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from corpus_pipeline.chunking.pieces import Piece
from corpus_pipeline.chunking.sections import Section, one_line, section_tree
from corpus_pipeline.chunking.tokens import TokenCounter, TokenMarks
from corpus_pipeline.errors import ConfigurationError
from corpus_pipeline.records import ConvertedDocument
from corpus_pipeline.registry import ChunkingSpec

__all__ = ["MAX_CONTEXT_TOKENS", "Budget", "Child", "Layout", "budget_for"]

MAX_CONTEXT_TOKENS = 64
MIN_TEXT_TOKENS = 8
PATH_SEPARATOR = " > "


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits in tokens of the embedding model.

    Attributes:
        child_tokens: Most tokens of the string that is embedded, everything included.
        context_tokens: Most tokens of the context path.
        parent_tokens: Most tokens of a parent's text, without special tokens.
        overlap_tokens: Tokens a fragment repeats from the one before it in its section.
        target_tokens: Tokens of text that balanced fragments aim at, where nothing must stay whole.
    """

    child_tokens: int
    context_tokens: int
    parent_tokens: int
    overlap_tokens: int
    target_tokens: int


def budget_for(spec: ChunkingSpec, counter: TokenCounter) -> Budget:
    """The budget of a corpus.

    Raises:
        ConfigurationError: Prompt and special tokens leave no room for text.
    """
    child = min(spec.child_tokens, spec.parent_tokens, counter.model_tokens)
    context = min(MAX_CONTEXT_TOKENS, child // 4)
    room = child - context - counter.overhead_tokens
    if room < MIN_TEXT_TOKENS:
        raise ConfigurationError(
            f"chunking.child_tokens leaves {max(room, 0)} tokens for text beside {counter.overhead_tokens} for prompt "
            f"and special tokens and {context} for the context path; expected at least {MIN_TEXT_TOKENS}",
            remedy="Raise chunking.child_tokens or shorten embedding.passage_prompt in corpora.yaml.",
        )
    return Budget(child, context, spec.parent_tokens, min(spec.overlap_tokens, room // 2), spec.target_tokens)


@dataclass(frozen=True, slots=True)
class Child:
    """A fragment in the making.

    Attributes:
        char_start: With the overlap, if any; else equal to ``own_start``.
        own_start: Where its own text begins; own spans tile the document.
        section: Index of the section whose path it carries.
    """

    own_start: int
    char_start: int
    char_end: int
    section: int
    prefix: str = ""
    lead: str = ""


@dataclass
class Layout:
    """A document and all that is needed to cut it."""

    document: ConvertedDocument
    title: str
    counter: TokenCounter
    budget: Budget
    sections: list[Section]
    marks: TokenMarks
    _contexts: dict[tuple[tuple[str, ...], str], tuple[str, int]] = field(default_factory=dict)
    _prefixes: dict[tuple[str, int], tuple[str, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, document: ConvertedDocument, title: str, counter: TokenCounter, budget: Budget) -> Layout:
        """Finds sections and token marks of a document; an empty title is none."""
        starts = [0, *(block.char_start for block in document.blocks[1:])]
        spans = list(zip(starts, [*starts[1:], len(document.text)], strict=True))
        sections = section_tree(document, title)
        return cls(document, title, counter, budget, sections, counter.marks(document.text, spans))

    @property
    def text(self) -> str:
        """The converted text."""
        return self.document.text

    def tokens(self, char_start: int, char_end: int) -> int:
        """Estimated tokens of a span, without special tokens."""
        return self.marks.count(char_start, char_end)

    def room(self, section: int) -> int:
        """Tokens that text may take in a fragment of that section, overlap set aside."""
        _, context_tokens = self.context(section)
        return self.budget.child_tokens - self.counter.overhead_tokens - context_tokens - self.budget.overlap_tokens

    def opening_tokens(self, piece: Piece, section: int) -> int:
        """What a fragment costs that begins with that piece, beside its text."""
        _, with_lead = self.context(section, piece.lead)
        _, without = self.context(section)
        return self.prefix(piece.prefix, section)[1] + with_lead - without

    def prefix(self, prefix: str, section: int) -> tuple[str, int]:
        """A table's caption and header as repeated, within their share, and their tokens."""
        if not prefix:
            return "", 0
        allowed = self.room(section) // 3
        key = (prefix, allowed)
        if key not in self._prefixes:
            shown = self.counter.shortened(prefix.rstrip("\n"), allowed)
            shown = shown + "\n" if shown else ""
            self._prefixes[key] = (shown, self.counter.plain_counts([shown])[0])
        return self._prefixes[key]

    def context(self, section: int, lead: str = "") -> tuple[str, int]:
        """Context path of a section as it is embedded, with a lead-in as its last element, and its tokens."""
        key = (self.sections[section].path, lead)
        if key not in self._contexts:
            path = self._shortened_path([part for part in (self.title, *key[0], one_line(lead)) if part])
            self._contexts[key] = (path, self.counter.plain_counts([path])[0] if path else 0)
        return self._contexts[key]

    def _shortened_path(self, parts: list[str]) -> str:
        """The path, or its ends, or shortened ends, whichever fits first."""
        limit = self.budget.context_tokens
        candidates = [parts]
        if len(parts) > 2:  # noqa: PLR2004 - a middle to leave out
            candidates.append([parts[0], "…", parts[-1]])
        for candidate in candidates:
            path = PATH_SEPARATOR.join(candidate)
            if self.counter.plain_counts([path])[0] <= limit:
                return path
        share = (limit - 2) // 2
        ends = [self.counter.shortened(part, share) for part in (parts[0], parts[-1])] if len(parts) > 1 else []
        path = PATH_SEPARATOR.join(part for part in ends if part)
        if path and self.counter.plain_counts([path])[0] <= limit:
            return path
        return self.counter.shortened(parts[-1], limit)
