"""Texts of like length together, so that next to nothing is computed for padding."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["BATCH_TOKENS", "token_batches"]

BATCH_TOKENS = 1024
"""Tokens of a batch, padding included: more do not fit the caches of a processor core next to the weights."""


def token_batches(lengths: Sequence[int], *, max_texts: int, max_tokens: int = BATCH_TOKENS) -> list[list[int]]:
    """Positions of texts in batches, longest first; a text longer than a batch is one by itself.

    Args:
        lengths: Tokens of each text.
        max_texts: Most texts of a batch.
        max_tokens: Most tokens of a batch, each text padded to the longest.

    >>> token_batches([3, 9, 4, 8], max_texts=8, max_tokens=20)
    [[1, 3], [2, 0]]
    """
    batches: list[list[int]] = []
    for position in sorted(range(len(lengths)), key=lambda at: (-lengths[at], at)):
        last = batches[-1] if batches else []
        if last and len(last) < max_texts and lengths[last[0]] * (len(last) + 1) <= max_tokens:
            last.append(position)
        else:
            batches.append([position])
    return batches
