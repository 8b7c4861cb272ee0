"""Golden queries against the staged generation, before readers see it.

Not here: the thresholds that block publication (quality) and search itself (retrieval).
"""

from corpus_pipeline.evaluation.evaluate import evaluate_generation
from corpus_pipeline.evaluation.golden import GoldenQuery, GoldenSet, load_golden_queries
from corpus_pipeline.evaluation.outcome import Hit, Miss, MissClass, QueryOutcome
from corpus_pipeline.evaluation.repository import Evaluation, evaluation_results, latest_evaluation

__all__ = [
    "Evaluation",
    "GoldenQuery",
    "GoldenSet",
    "Hit",
    "Miss",
    "MissClass",
    "QueryOutcome",
    "evaluate_generation",
    "evaluation_results",
    "latest_evaluation",
    "load_golden_queries",
]
