"""From the states of a text's tokens to one vector: what sentence-transformers' pooling modules do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

__all__ = ["Pooling", "pooled", "pooling_of"]

Pooling = Literal["mean", "cls"]

_SIMPLE_MODULES = ("Transformer", "Pooling", "Normalize")
_FLAGS: dict[str, Pooling] = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}


def pooling_of(folder: Path) -> Pooling | None:
    """How a model folder pools, when that is all it does after the transformer.

    Returns:
        ``None`` for a model with further layers, several modes at once, or another mode: only
        sentence-transformers itself can run those.
    """
    modules = _read(folder / "modules.json")
    if not isinstance(modules, list) or len(modules) < 2:  # noqa: PLR2004 - transformer and pooling
        return None
    kinds = [str(module.get("type", "")).rsplit(".", 1)[-1] for module in modules]
    if tuple(kinds) != _SIMPLE_MODULES[: len(kinds)] or modules[0].get("path", ""):
        return None
    config = _read(folder / str(modules[1].get("path", "")) / "config.json")
    if not isinstance(config, dict) or not config.get("include_prompt", True):
        return None
    return _mode(config)


def pooled(states: npt.NDArray[np.float32], mask: npt.NDArray[np.int64], pooling: Pooling) -> npt.NDArray[np.float32]:
    """Vectors of a batch.

    Args:
        states: Shape ``(texts, tokens, dimensions)``.
        mask: Shape ``(texts, tokens)``, 1 for a token of the text and 0 for padding.
        pooling: The mean over the text's tokens, or the first token's state.

    Returns:
        Shape ``(texts, dimensions)``, not normalised.
    """
    if pooling == "cls":
        return np.ascontiguousarray(states[:, 0], dtype=np.float32)
    # One product a text instead of a masked copy of all states.
    sums = np.matmul(mask[:, None, :].astype(np.float32), states)[:, 0]
    return np.asarray(sums / np.maximum(mask.sum(axis=1, keepdims=True), 1), dtype=np.float32)


def _mode(config: dict[str, Any]) -> Pooling | None:
    named = config.get("pooling_mode")
    if named is not None:
        return named if named in ("mean", "cls") else None
    chosen = [name for name, value in config.items() if name.startswith("pooling_mode_") and value]
    return _FLAGS.get(chosen[0]) if len(chosen) == 1 else None


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
