"""From converted documents to parents and fragments, within exact token budgets.

Here: the section tree, what belongs together, packing, context paths, the strategies, and the
tables ``corpus.parents`` and ``corpus.fragments``. Not here: what a document says of itself
(conversion), which documents may answer (versions), vectors (embedding).
"""

from corpus_pipeline.chunking.documents import ChunkedDocument, chunk_document
from corpus_pipeline.chunking.fingerprint import chunker_fingerprint
from corpus_pipeline.chunking.layout import Budget, budget_for
from corpus_pipeline.chunking.repository import FragmentMark, fragment_marks, fragments, parents
from corpus_pipeline.chunking.stage import fragment_corpus
from corpus_pipeline.chunking.strategies import strategy_named
from corpus_pipeline.chunking.tokens import TokenCounter, token_counter

__all__ = [
    "Budget",
    "ChunkedDocument",
    "FragmentMark",
    "TokenCounter",
    "budget_for",
    "chunk_document",
    "chunker_fingerprint",
    "fragment_corpus",
    "fragment_marks",
    "fragments",
    "parents",
    "strategy_named",
    "token_counter",
]
