"""Search: candidates, acceptance, diversity, the verdict whether they suffice, and explanations.

Not here: which documents may be served at all (versions and index decide that at ingestion),
who may see them (row-level security of the serving tables), and judging the results (evaluation).
"""

from corpus_pipeline.retrieval.candidate import Candidate
from corpus_pipeline.retrieval.explanation import Reason
from corpus_pipeline.retrieval.ranking import Question, Ranking, explain_documents, rank_fragments
from corpus_pipeline.retrieval.repository import SearchTarget
from corpus_pipeline.retrieval.request import SearchFilters, SearchRequest
from corpus_pipeline.retrieval.result import (
    AcceptedFragment,
    KeptOut,
    KeptOutReason,
    SearchResult,
    SkippedCorpus,
    StageTrace,
)
from corpus_pipeline.retrieval.search import search

__all__ = [
    "AcceptedFragment",
    "Candidate",
    "KeptOut",
    "KeptOutReason",
    "Question",
    "Ranking",
    "Reason",
    "SearchFilters",
    "SearchRequest",
    "SearchResult",
    "SearchTarget",
    "SkippedCorpus",
    "StageTrace",
    "explain_documents",
    "rank_fragments",
    "search",
]
