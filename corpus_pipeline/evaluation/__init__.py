"""Golden queries against the staged generation, before readers see it.

Not here: the thresholds that block publication (quality) and search itself (retrieval).
"""

from corpus_pipeline.evaluation.calibration import Calibration, ScoreLimit, calibrate
from corpus_pipeline.evaluation.checking import Finding, FindingKind, check_golden_set
from corpus_pipeline.evaluation.comparison import Comparison, Drop
from corpus_pipeline.evaluation.evaluate import evaluate_generation, golden_set, published_outcomes
from corpus_pipeline.evaluation.golden import GoldenQuery, GoldenSet, load_golden_queries
from corpus_pipeline.evaluation.outcome import Hit, Miss, MissClass, Observed, QueryOutcome
from corpus_pipeline.evaluation.passage import Passage
from corpus_pipeline.evaluation.proposal import propose_query, query_line
from corpus_pipeline.evaluation.report import write_report
from corpus_pipeline.evaluation.repository import Evaluation, evaluation_results, latest_evaluation
from corpus_pipeline.evaluation.trend import TREND_FIGURES, TrendPoint, trend

__all__ = [
    "TREND_FIGURES",
    "Calibration",
    "Comparison",
    "Drop",
    "Evaluation",
    "Finding",
    "FindingKind",
    "GoldenQuery",
    "GoldenSet",
    "Hit",
    "Miss",
    "MissClass",
    "Observed",
    "Passage",
    "QueryOutcome",
    "ScoreLimit",
    "TrendPoint",
    "calibrate",
    "check_golden_set",
    "evaluate_generation",
    "evaluation_results",
    "golden_set",
    "latest_evaluation",
    "load_golden_queries",
    "propose_query",
    "published_outcomes",
    "query_line",
    "trend",
    "write_report",
]
