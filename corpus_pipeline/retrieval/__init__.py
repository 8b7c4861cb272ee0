"""Search: candidates, acceptance, diversity, the verdict whether they suffice, and explanations.

Not here: which documents may be served at all (versions and index decide that at ingestion),
who may see them (row-level security of the serving tables), and judging the results (evaluation).
"""

from corpus_pipeline.retrieval.request import SearchFilters, SearchRequest
from corpus_pipeline.retrieval.result import (
    AcceptedFragment,
    KeptOut,
    KeptOutReason,
    SearchResult,
    SkippedCorpus,
    StageTrace,
)

__all__ = [
    "AcceptedFragment",
    "KeptOut",
    "KeptOutReason",
    "SearchFilters",
    "SearchRequest",
    "SearchResult",
    "SkippedCorpus",
    "StageTrace",
]
