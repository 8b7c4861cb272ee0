"""How many cells of a known table an engine found: rows and columns aligned in order, texts compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from benchmarks.conversion.measures import bare

__all__ = ["best_window", "cell_scores", "f1_of"]

Rows = Sequence[Sequence[str]]


def f1_of(found: int, truth: int, given: int) -> float:
    """F1 from counts of matches, of true cells and of given cells."""
    return 2 * found / (truth + given) if truth + given else 0.0


def cell_scores(truth: Rows, given: Rows) -> tuple[float, float]:
    """Two F1 scores of the cells that are not empty.

    The first asks that a cell stands in its row: rows of both tables are aligned in order so
    that as many cells as possible agree. The second asks that it stands in its column too:
    columns are then aligned in the same way.
    """
    left, right = _bare_rows(truth), _bare_rows(given)
    pairs = _aligned(
        len(left),
        len(right),
        lambda i, j: sum((Counter(filter(None, left[i])) & Counter(filter(None, right[j]))).values()),
    )
    in_row = sum(count for _, _, count in pairs)
    columns = _aligned(
        max(map(len, left), default=0),
        max(map(len, right), default=0),
        lambda i, j: sum(_at(left[a], i) == _at(right[b], j) != "" for a, b, _ in pairs),
    )
    in_column = sum(count for _, _, count in columns)
    of_truth, of_given = (sum(1 for row in rows for cell in row if cell) for rows in (left, right))
    return f1_of(in_row, of_truth, of_given), f1_of(in_column, of_truth, of_given)


def best_window(truth: Rows, lines: Rows) -> Rows:
    """The lines of a page from the first to the last that has a cell of the table: what a reader would cut out."""
    left, right = _bare_rows(truth), _bare_rows(lines)
    pairs = _aligned(
        len(left),
        len(right),
        lambda i, j: sum((Counter(filter(None, left[i])) & Counter(filter(None, right[j]))).values()),
    )
    used = [position for _, position, count in pairs if count]
    return lines[min(used) : max(used) + 1] if used else []


def _at(row: Sequence[str], column: int) -> str:
    return row[column] if column < len(row) else ""


def _bare_rows(rows: Rows) -> list[list[str]]:
    return [[bare(cell) for cell in row] for row in rows]


def _aligned(first: int, second: int, weight: Callable[[int, int], int]) -> list[tuple[int, int, int]]:
    """Pairs ``(i, j, weight)`` in order on both sides with the largest sum (Needleman and Wunsch without gap costs)."""
    best = [[0] * (second + 1) for _ in range(first + 1)]
    weights = [[weight(i, j) for j in range(second)] for i in range(first)]
    for i in range(first):
        for j in range(second):
            best[i + 1][j + 1] = max(best[i][j + 1], best[i + 1][j], best[i][j] + weights[i][j])
    pairs = []
    i, j = first, second
    while i and j:
        if weights[i - 1][j - 1] and best[i][j] == best[i - 1][j - 1] + weights[i - 1][j - 1]:
            pairs.append((i - 1, j - 1, weights[i - 1][j - 1]))
            i, j = i - 1, j - 1
        elif best[i][j] == best[i - 1][j]:
            i -= 1
        else:
            j -= 1
    return pairs[::-1]
