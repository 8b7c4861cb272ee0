"""Vectors out of a binary COPY, wherever its bytes are cut."""

from __future__ import annotations

import struct
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from corpus_pipeline.index.recall import _whole_rows

HEAD = b"PGCOPY\n\xff\r\n\x00" + struct.pack(">ii", 0, 0)
DIMENSIONS = 3
ROW = np.dtype([("head", "V10"), ("vector", ">f2", (DIMENSIONS,))])


@given(st.integers(0, 8), st.lists(st.integers(19, 200), max_size=6))
def test_every_row_is_taken_once_in_order(count: int, cuts: list[int]) -> None:
    vectors = np.arange(1, count * DIMENSIONS + 1, dtype=">f2").reshape(count, DIMENSIONS)
    rows = b"".join(struct.pack(">hihh", 1, 4 + 2 * DIMENSIONS, DIMENSIONS, 0) + each.tobytes() for each in vectors)
    sent = HEAD + rows + struct.pack(">h", -1)
    received, found = bytearray(), []
    bounds = [0, *sorted(min(cut, len(sent)) for cut in cuts), len(sent)]
    for start, end in pairwise(bounds):
        received += sent[start:end]
        found += list(_whole_rows(received, ROW))
    expected = vectors.astype(np.float32)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert np.allclose(np.vstack([np.empty((0, DIMENSIONS)), *found]), expected)
