"""Golden queries against the staged generation, before readers see it.

Not here: the thresholds that block publication (quality) and search itself (retrieval).
"""

from corpus_pipeline.evaluation.golden import GoldenQuery, GoldenSet, load_golden_queries
from corpus_pipeline.evaluation.outcome import Hit, Miss, MissClass, QueryOutcome

__all__ = ["GoldenQuery", "GoldenSet", "Hit", "Miss", "MissClass", "QueryOutcome", "load_golden_queries"]
