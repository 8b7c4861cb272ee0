"""Search: routing, scope, candidates, fusion, acceptance, reranking, diversity, budget, verdict, explanations.

Not here: which documents may be served at all (versions and index decide that at ingestion),
who may see them (row-level security of the serving tables), and judging the results (evaluation).
"""

from corpus_pipeline.retrieval.candidate import Candidate
from corpus_pipeline.retrieval.explanation import Reason
from corpus_pipeline.retrieval.preparation import prepare_question
from corpus_pipeline.retrieval.ranking import Question, Ranking, explain_documents, rank_fragments
from corpus_pipeline.retrieval.request import NO_RERANKER, SearchFilters, SearchLimits, SearchRequest
from corpus_pipeline.retrieval.reranking import Reranker, load_reranker
from corpus_pipeline.retrieval.result import (
    AcceptedFragment,
    KeptOut,
    KeptOutReason,
    SearchResult,
    SearchScope,
    SkippedCorpus,
    StageTrace,
)
from corpus_pipeline.retrieval.routing import CentroidRouter, Router, Routing, RuleRouter
from corpus_pipeline.retrieval.rows import SearchTarget
from corpus_pipeline.retrieval.search import search
from corpus_pipeline.retrieval.sufficiency import Assessment, Verdict

__all__ = [
    "NO_RERANKER",
    "AcceptedFragment",
    "Assessment",
    "Candidate",
    "CentroidRouter",
    "KeptOut",
    "KeptOutReason",
    "Question",
    "Ranking",
    "Reason",
    "Reranker",
    "Router",
    "Routing",
    "RuleRouter",
    "SearchFilters",
    "SearchLimits",
    "SearchRequest",
    "SearchResult",
    "SearchScope",
    "SearchTarget",
    "SkippedCorpus",
    "StageTrace",
    "Verdict",
    "explain_documents",
    "load_reranker",
    "prepare_question",
    "rank_fragments",
    "search",
]
