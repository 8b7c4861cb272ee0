"""Ways to cut a document, one a file, registered by name.

To add one: a module in this folder with a class that has ``children`` and ``parents`` and the
decorator ``@strategy("its_name")``; every module here is imported when a strategy is first asked
for. Whatever a strategy does, the budget and the coverage of every character are checked after it.
"""

from corpus_pipeline.chunking.strategies.registration import Strategy, strategy, strategy_named

__all__ = ["Strategy", "strategy", "strategy_named"]
