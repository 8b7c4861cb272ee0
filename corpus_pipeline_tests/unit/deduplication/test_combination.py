"""The hash of a set that is kept record by record."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from corpus_pipeline.deduplication.combination import Combination

RECORDS = st.lists(st.binary(max_size=6), unique=True, max_size=12)


def of(records: list[bytes]) -> Combination:
    made = Combination()
    made.add(records)
    return made


@given(RECORDS)
def test_the_way_to_a_set_makes_no_difference(records: list[bytes]) -> None:
    half = len(records) // 2
    there_and_back = of(records[half:])
    there_and_back.add(records[:half])
    there_and_back.add([b"gone again"])
    there_and_back = Combination(there_and_back.state)
    there_and_back.remove([b"gone again"])
    assert there_and_back.sha256 == of(sorted(records)).sha256


@given(RECORDS, RECORDS)
def test_other_sets_have_other_hashes(first: list[bytes], second: list[bytes]) -> None:
    assert (of(first).sha256 == of(second).sha256) == (set(first) == set(second))


def test_a_record_twice_is_another_set() -> None:
    assert of([b"a", b"a"]).sha256 != of([b"a"]).sha256
    assert len(of([b"a"]).state) == 2048
