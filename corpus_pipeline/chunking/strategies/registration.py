"""The names of the strategies."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache
from typing import Protocol

from corpus_pipeline.chunking.layout import Child, Layout
from corpus_pipeline.errors import ConfigurationError

__all__ = ["Strategy", "strategy", "strategy_named"]


class Strategy(Protocol):
    """Cuts one document.

    Attributes:
        overlaps_headings: Whether an overlap, where the corpus asks for one, may reach over a heading.
    """

    overlaps_headings: bool

    def children(self, layout: Layout) -> list[Child]:
        """Fragments in reading order; their own spans tile the document's text."""

    def parents(self, layout: Layout, children: list[Child]) -> list[list[Child]]:
        """The fragments grouped into parents, in order, none left out."""


_STRATEGIES: dict[str, Strategy] = {}


def strategy(name: str) -> Callable[[type[Strategy]], type[Strategy]]:
    """Registers a class of this folder under the name that corpora.yaml uses."""

    def register(kind: type[Strategy]) -> type[Strategy]:
        _STRATEGIES[name] = kind()
        return kind

    return register


def strategy_named(name: str) -> Strategy:
    """The strategy of that name.

    Raises:
        ConfigurationError: There is none; the message lists those that exist.
    """
    _import_all()
    if name not in _STRATEGIES:
        raise ConfigurationError(
            f"there is no chunking strategy {name!r}",
            remedy=f"Write one of: {', '.join(sorted(_STRATEGIES))}.",
        )
    return _STRATEGIES[name]


@cache
def _import_all() -> None:
    folder = __name__.rpartition(".")[0]
    for module in pkgutil.iter_modules(importlib.import_module(folder).__path__):
        importlib.import_module(f"{folder}.{module.name}")
