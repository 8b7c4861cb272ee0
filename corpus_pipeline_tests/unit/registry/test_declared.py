"""Metadata keys as people write them."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus_pipeline.records import DocumentMetadata, canonical_json
from corpus_pipeline.registry import KEY_ALIASES, METADATA_KEYS, read_declared


def test_the_keys_are_those_of_the_record() -> None:
    assert set(METADATA_KEYS) == set(DocumentMetadata.model_fields)
    assert set(KEY_ALIASES.values()) <= set(METADATA_KEYS)
    assert not set(KEY_ALIASES) & set(METADATA_KEYS)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"Effective-Date": date(2024, 1, 31)}, {"valid_from": "2024-01-31"}),
        ({"expires_at": datetime(2024, 1, 31, 5, 6)}, {"valid_until": "2024-01-31"}),  # noqa: DTZ001 - as YAML gives it
        ({"valid_from": 20240131}, {"valid_from": "2024-01-31"}),
        ({"groups": ["hr", "hr", None, ""]}, {"acl_groups": ["hr"]}),
        ({"tier": "free"}, {"plan_tiers": ["free"]}),
        ({"replaces": "Refunds, 2023"}, {"supersedes": ["Refunds, 2023"]}),
        ({"status": "Superseded"}, {"lifecycle": "archived"}),
        ({"lifecycle": "IN_REVIEW"}, {"lifecycle": "draft"}),
        ({"trust_level": "high"}, {"trust_level": "HIGH"}),
        ({"title": None, "product": " "}, {}),
        ({"attributes": {"cost": 3}, "attributes.team": "x"}, {"attributes": {"cost": 3, "team": "x"}}),
        ({"acl_groups": []}, {"acl_groups": []}),
    ],
)
def test_values_take_their_canonical_form(raw: dict[str, Any], expected: dict[str, Any]) -> None:
    found = read_declared(raw)
    assert (found.values, found.problems) == (expected, [])


@pytest.mark.parametrize(
    ("raw", "values", "problem"),
    [
        ({"valid_from": "soon"}, {}, "expected a date such as 2024-01-31"),
        ({"valid_from": "2024-13-01"}, {}, "expected a date"),
        ({"title": ["a"]}, {}, "expected text"),
        ({"regon": "EU"}, {}, "did you mean 'region'?"),
        ({"answer_use": "sometimes"}, {"answer_use": "never"}, 'until then answer_use is "never"'),
        ({"trust_level": "best"}, {"trust_level": "UNVERIFIED"}, "expected one of VERIFIED"),
        ({"acl_groups": {"hr": True}}, {"acl_groups": []}, "until then acl_groups is []"),
        ({"acl_group": "hr"}, {"acl_groups": []}, "did you mean 'acl_groups'?"),
        ({"valid_from": "2025-01-01", "valid_until": "2024-01-01"}, None, "is before valid_from"),
        ({"valid_from": "2025-01-01", "effective_at": "2024-01-01"}, {"valid_from": "2025-01-01"}, "says the same"),
        ({"title": "x" * 3000}, {}, "longer than 2000"),
    ],
)
def test_what_cannot_be_read_is_a_problem_and_access_closes(
    raw: dict[str, Any], values: dict[str, Any] | None, problem: str
) -> None:
    found = read_declared(raw)
    assert values is None or found.values == values
    ((_, message),) = found.problems
    assert problem in message


def test_front_matter_keeps_unknown_keys_as_attributes() -> None:
    found = read_declared({"tags": ["a", "b"], "n": 1, "d": date(2024, 1, 1), "status": "my own"}, keep_unknown=True)
    assert found.problems == []
    assert found.values == {"attributes": {"tags": "a, b", "n": 1, "d": "2024-01-01", "status": "my own"}}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=4,
)
KEYS = st.text(max_size=12) | st.sampled_from([*METADATA_KEYS, *KEY_ALIASES])


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(KEYS, JSON, max_size=6), st.booleans())
def test_nothing_a_person_writes_raises_or_breaks_the_record(raw: dict[str, Any], keep_unknown: bool) -> None:
    found = read_declared(raw, keep_unknown=keep_unknown)
    DocumentMetadata.model_validate(found.values)
    assert "\x00" not in canonical_json(found.values)
    canonical_json(found.values).encode("utf-8")


def test_a_source_type_is_one_of_the_known_ones_however_it_is_written() -> None:
    assert read_declared({"source_type": "market data"}).values == {"source_type": "MARKET_DATA"}
    assert read_declared({"source_type": "USER_FEEDBACK"}).values == {"source_type": "USER_FEEDBACK"}
    (problem,) = read_declared({"source_type": "gossip"}).problems
    assert "COMPETITOR_ANALYSIS" in problem[1]
