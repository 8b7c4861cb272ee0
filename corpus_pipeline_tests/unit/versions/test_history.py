"""What held on a day, from decisions for ranges of days and the dates of the documents themselves."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

from corpus_pipeline.records import ExclusionReason, Lifecycle, VersionDecision
from corpus_pipeline.versions import DayState, HeldDecision, states_on

KNOWN = datetime(2026, 1, 1, tzinfo=UTC)


def held(since: date, until: date | None = None, **decision: Any) -> HeldDecision:
    made = VersionDecision(
        corpus="handbook",
        document_id=decision.pop("document_id", "handbook/old.md"),
        family="f",
        lifecycle=Lifecycle.ACTIVE,
        **decision,
    )
    return HeldDecision(made, since, until, KNOWN, None)


def state(day: date, *decisions: HeldDecision) -> DayState | None:
    return next(iter(states_on(decisions, day)), None)


REPLACED = {"exclusion_reason": ExclusionReason.SUPERSEDED, "superseded_by": "handbook/new.md"}


def test_the_decision_that_covers_the_day_counts() -> None:
    nights = held(date(2026, 1, 1), date(2026, 3, 1)), held(date(2026, 3, 1), **REPLACED)
    before, after = state(date(2026, 2, 28), *nights), state(date(2026, 3, 1), *nights)
    assert before is not None
    assert after is not None
    assert (before.in_force, before.reason, before.basis) == (True, None, "")
    assert (after.in_force, after.reason) == (False, ExclusionReason.SUPERSEDED)


def test_a_date_learnt_later_corrects_the_days_before_the_night_that_learnt_it() -> None:
    learnt = held(date(2026, 4, 1), valid_until=date(2026, 2, 14), **REPLACED)
    nights = held(date(2026, 1, 1), date(2026, 4, 1)), learnt
    corrected = state(date(2026, 3, 1), *nights)
    assert corrected is not None
    assert (corrected.reason, corrected.basis) == (ExclusionReason.SUPERSEDED, "valid until 2026-02-14")
    as_known_before = state(date(2026, 3, 1), held(date(2026, 1, 1)))
    assert as_known_before is not None
    assert as_known_before.in_force


def test_one_night_answers_for_the_days_that_its_documents_date() -> None:
    night = held(date(2026, 6, 1), valid_from=date(2025, 1, 1), valid_until=date(2026, 2, 28), **REPLACED)
    answers = [state(day, night) for day in (date(2024, 12, 31), date(2026, 2, 28), date(2026, 3, 1))]
    assert [one and (one.in_force, one.reason) for one in answers] == [
        (False, ExclusionReason.NOT_YET_EFFECTIVE),
        (True, None),
        (False, ExclusionReason.SUPERSEDED),
    ]


def test_a_document_ahead_comes_into_force_and_one_expires_between_two_nights() -> None:
    ahead = held(date(2026, 1, 1), valid_from=date(2026, 2, 1), exclusion_reason=ExclusionReason.NOT_YET_EFFECTIVE)
    limited = held(date(2026, 1, 1), valid_until=date(2026, 1, 31))
    days = date(2026, 1, 31), date(2026, 2, 1)
    assert [(one := state(day, ahead)) and one.in_force for day in days] == [False, True]
    assert [(one := state(day, limited)) and one.reason for day in days] == [None, ExclusionReason.EXPIRED]


def test_what_nobody_decided_and_no_date_tells_is_left_out() -> None:
    assert state(date(2025, 12, 31), held(date(2026, 1, 1))) is None
    removed = held(date(2026, 1, 1), date(2026, 2, 1))
    assert state(date(2026, 2, 1), removed) is None
    assert [one.document_id for one in states_on([removed, held(date(2026, 1, 1), document_id="x")], KNOWN.date())] == [
        "handbook/old.md",
        "x",
    ]


def test_a_duplicate_is_in_force_though_it_is_not_served() -> None:
    found = state(date(2026, 1, 1), held(date(2026, 1, 1), exclusion_reason=ExclusionReason.DUPLICATE))
    assert found is not None
    assert (found.in_force, found.reason) == (True, ExclusionReason.DUPLICATE)
