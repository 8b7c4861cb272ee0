"""Bands reach the recall they promise, and the curves are those that are measured."""

from __future__ import annotations

import numpy as np
import pytest
from datasketch.lsh import _false_positive_probability

from corpus_pipeline.deduplication.parameters import (
    choose_bands,
    comparison_parameters,
    containment_recall,
    false_positive_area,
    recall_curve,
)
from corpus_pipeline.deduplication.signatures import band_keys
from corpus_pipeline.registry import DeduplicationSpec


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.8, 0.9, 1.0])
def test_bands_reach_the_recall_with_the_fewest_false_positives(threshold: float) -> None:
    bands, rows = choose_bands(threshold, 128, 0.995)
    assert bands * rows <= 128
    assert 1 - (1 - threshold**rows) ** bands >= 0.995
    better = [
        (b, r)
        for r in range(1, 129)
        for b in [128 // r]
        if 1 - (1 - threshold**r) ** b >= 0.995
        and false_positive_area(threshold, b, r) < false_positive_area(threshold, bands, rows)
    ]
    assert better == []


def test_false_positives_are_measured_as_datasketch_does() -> None:
    for bands, rows in [(21, 6), (9, 13), (128, 1)]:
        assert false_positive_area(0.8, bands, rows) == pytest.approx(
            _false_positive_probability(0.8, bands, rows), abs=1e-4
        )


def test_an_unreachable_recall_takes_a_band_a_value() -> None:
    assert choose_bands(0.05, 16, 0.999) == (16, 1)


def test_given_bands_are_taken() -> None:
    assert comparison_parameters(DeduplicationSpec(bands=32)).rows == 4
    capped = comparison_parameters(DeduplicationSpec(bands=1000, permutations=64))
    assert (capped.bands, capped.rows) == (64, 1)


def test_random_signatures_meet_in_a_band_as_often_as_the_curve_says() -> None:
    parameters = comparison_parameters(DeduplicationSpec())
    generator = np.random.default_rng(7)
    for similarity, expected in recall_curve(parameters, [0.5, 0.7, 0.8]):
        left = generator.integers(0, 2**32, (4000, 128), dtype=np.uint32)
        other = generator.integers(0, 2**32, (4000, 128), dtype=np.uint32)
        right = np.where(generator.random((4000, 128)) < similarity, left, other)
        met = (band_keys(left, parameters) == band_keys(right, parameters)).any(axis=1).mean()
        assert met == pytest.approx(expected, abs=0.03)


def test_containment_recall_rises_with_the_size_of_the_contained_text() -> None:
    rising = [containment_recall(shingles, 0.95) for shingles in (20, 50, 100, 300, 1000)]
    assert rising == sorted(rising)
    assert rising[-1] > 0.9999
    assert containment_recall(50, 0.95, larger=200) > 0.999
