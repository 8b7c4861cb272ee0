"""Measures of structure: reading order, headings, lists and tables, each between 0 and 1.

Text distances come from rapidfuzz, table similarity (TEDS, Zhong et al. 2020,
https://arxiv.org/abs/1911.10683) from docling-metrics-table. Spaces and typographic variants
of quotes, dashes and ligatures are ignored everywhere: the truth of tagged PDFs lacks some.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import Any

from rapidfuzz import fuzz
from rapidfuzz.process import cdist
from scipy.optimize import linear_sum_assignment

from benchmarks.conversion.structure import Structure

SAME_TEXT = 0.8
"""Two headings or list items are the same from this similarity on."""
VARIANTS = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "−": "-", "‐": "-", "\u00ad": ""})


def bare(text: str) -> str:
    """Text without spaces and typographic variants."""
    return "".join(unicodedata.normalize("NFKC", text).translate(VARIANTS).split())


def reading_order(truth: Structure, found: Structure) -> float | None:
    """Normalised indel similarity of the whole text, in order."""
    expected = bare(truth.full_text())
    return fuzz.ratio(expected, bare(found.full_text())) / 100 if expected else None


def f1(truth: Sequence[str], found: Sequence[str]) -> float | None:
    """F1 of texts matched one to one in the best way; ``None`` where the truth has none."""
    if not truth:
        return None
    if not found:
        return 0.0
    return 2 * len(matched(truth, found)) / (len(truth) + len(found))


def matched(truth: Sequence[str], found: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of positions with the same text."""
    similarity = cdist([bare(text) for text in truth], [bare(text) for text in found], scorer=fuzz.ratio) / 100
    pairs = zip(*linear_sum_assignment(-similarity), strict=True)
    return [(int(left), int(right)) for left, right in pairs if similarity[left, right] >= SAME_TEXT]


def level_agreement(truth: Structure, found: Structure) -> float | None:
    """Share of pairs of matched headings that stand in the same relation: above, below or level."""
    left = [element for element in truth.elements if element.kind == "heading"]
    right = [element for element in found.elements if element.kind == "heading"]
    if not left or not right:
        return None
    pairs = matched([element.text for element in left], [element.text for element in right])
    agreed = compared = 0
    for position, (one, other) in enumerate(pairs):
        for second, third in pairs[position + 1 :]:
            compared += 1
            expected, got = left[one].level - left[second].level, right[other].level - right[third].level
            agreed += (expected > 0) == (got > 0) and (expected < 0) == (got < 0)
    return agreed / compared if compared else None


def tables(truth: Sequence[str], found: Sequence[str]) -> float | None:
    """Mean TEDS of the tables assigned to one another; a missing or surplus table counts 0."""
    if not truth:
        return None
    if not found:
        return 0.0
    scores = [[teds(expected, got) for got in found] for expected in truth]
    rows, columns = linear_sum_assignment([[-score for score in row] for row in scores])
    return sum(scores[row][column] for row, column in zip(rows, columns, strict=True)) / max(len(truth), len(found))


def teds(expected: str, got: str) -> float:
    """Tree edit distance similarity of two HTML tables, cell texts included."""
    from docling_metrics_table.docling_metrics_table import TableMetricHTMLInputSample

    sample = TableMetricHTMLInputSample(id="table", html_a=_plain(expected), html_b=_plain(got))
    return max(0.0, float(_table_metric().evaluate_sample(sample).teds.teds))


def _plain(table: str) -> str:
    """A table whose cells are all ``td``, with typographic variants evened out."""
    even = unicodedata.normalize("NFKC", table).translate(VARIANTS)
    return even.replace("<th", "<td").replace("</th", "</td")


@cache
def _table_metric() -> Any:
    from docling_metrics_table.docling_metrics_table import TableMetric, TableMetricKind

    return TableMetric([TableMetricKind.TEDS])
