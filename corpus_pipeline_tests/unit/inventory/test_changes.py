"""The guard against short listings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_pipeline.inventory.changes import Removals, guard_removals


@pytest.mark.parametrize(
    ("known", "found", "approved", "ratio", "expected"),
    [
        ("abcdefghij", "abcdefghij", "", 0.3, Removals((), ())),
        ("abcdefghij", "abcdefg", "", 0.3, Removals(("h", "i", "j"), ())),
        ("abcdefghij", "abcdef", "", 0.3, Removals((), ("g", "h", "i", "j"))),
        ("abcdefghij", "", "", 1.0, Removals((), tuple("abcdefghij"))),
        ("abcdefghij", "abcdef", "ghij", 0.3, Removals(("g", "h", "i", "j"), ())),
        ("abcdefghij", "abc", "hij", 0.3, Removals(("h", "i", "j"), ("d", "e", "f", "g"))),
        ("a", "", "a", 0.3, Removals(("a",), ())),
        ("ab", "b", "", 0.0, Removals((), ("a",))),
        ("", "abc", "", 0.3, Removals((), ())),
    ],
)
def test_too_many_missing_files_are_held(
    known: str, found: str, approved: str, ratio: float, expected: Removals
) -> None:
    assert guard_removals(set(known), set(found), set(approved), ratio) == expected


@given(st.sets(st.integers()), st.sets(st.integers()), st.sets(st.integers()), st.floats(0, 1))
def test_every_missing_file_is_either_removed_or_held(
    known: set[int], found: set[int], approved: set[int], ratio: float
) -> None:
    names = {str(one) for one in known}
    result = guard_removals(names, {str(one) for one in found}, {str(one) for one in approved}, ratio)
    assert set(result.removed) | set(result.held) == names - {str(one) for one in found}
    assert not set(result.removed) & set(result.held)
    unapproved = set(result.removed) - {str(one) for one in approved}
    assert len(unapproved) <= ratio * len(names)
