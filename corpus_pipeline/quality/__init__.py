"""Gates: one Great Expectations suite per asset, its verdict stored where publication reads it.

Not here: what happens after a verdict (``store.chain_refusals``, ``index``) and how it is shown
(``orchestration``, ``cli``).
"""

from corpus_pipeline.quality.gate import check_stage
from corpus_pipeline.quality.suites import suite

__all__ = ["check_stage", "suite"]
