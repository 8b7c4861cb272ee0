"""Cron expressions: accepted here exactly when the scheduler accepts them, macros apart."""

from __future__ import annotations

import pytest

from corpus_pipeline.registry.cron import cron_fault, timezone_fault

VALID = [
    "0 2 * * *",
    "*/15 * * * *",
    "0 2 * * mon-fri",
    "0 0 1,15 * *",
    "5/10 1-5/2 * jan,MAR 0-7",
    "0 0 29 2 *",
    "0 0 * * 7",
]
INVALID = [
    "",
    "0 2 * *",
    "0 2 * * * *",
    "60 * * * *",
    "0 24 * * *",
    "0 0 0 * *",
    "0 0 * 13 *",
    "0 0 * * 8",
    "a * * * *",
    "*/0 * * * *",
    "5-1 * * * *",
    "1,,2 * * * *",
]


@pytest.mark.parametrize("expression", VALID)
def test_valid_expressions_are_also_valid_for_the_scheduler(expression: str) -> None:
    from dagster._utils.schedules import is_valid_cron_string

    assert cron_fault(expression) == ""
    assert is_valid_cron_string(expression)


@pytest.mark.parametrize("expression", INVALID)
def test_invalid_expressions_are_told(expression: str) -> None:
    assert cron_fault(expression)


@pytest.mark.parametrize("name", ["", "Europe/Zurch", "../etc/passwd", "Europe", "a\0b"])
def test_unknown_time_zones_are_told(name: str) -> None:
    assert "Europe/Zurich" in timezone_fault(name)
