"""The benchmark's scores on real pages, held to a floor below what was measured."""

from __future__ import annotations

import pytest

from corpus_pipeline.records import BlockKind

pytestmark = [pytest.mark.data, pytest.mark.slow]


def test_structure_scores_stay_above_the_floor(real_data):
    pytest.importorskip("docling_metrics_table")
    from benchmarks.conversion.pdf_structure import SETS, scores_of, summary

    means = summary(scores_of("geometry", real_data / "pdf_structure", SETS))

    assert means["overall"] >= 0.84
    assert means["reading_order"] >= 0.96


def test_every_page_of_a_filing_is_covered(real_data, convert):
    path = next(iter(sorted((real_data / "sec_10q" / "docs").glob("*.pdf"))))
    document = convert(path, max_pages=500)

    assert {block.page for block in document.blocks} == set(range(1, document.page_count + 1))
    assert sum(block.kind is BlockKind.TABLE for block in document.blocks) >= document.page_count / 4
