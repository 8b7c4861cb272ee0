"""What held on a day, as the database knew it at a time: two axes, never mixed.

The *day* is valid time: the day a decision was made for, and the days for which documents say
they are valid. The *known* time is when the database came to hold a decision. "Valid on 1 March as
known on 5 April" therefore uses what the nights up to 5 April decided, whatever was learnt later.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from itertools import groupby

from corpus_pipeline.records import ExclusionReason, VersionDecision

__all__ = ["DayState", "HeldDecision", "states_on"]

_BY_DATE = frozenset({ExclusionReason.EXPIRED, ExclusionReason.NOT_YET_EFFECTIVE})


@dataclass(frozen=True)
class HeldDecision:
    """A decision with both its times.

    Attributes:
        decided_from: First day it was decided for; with ``decided_until`` (exclusive) a half-open range.
        known_from: When the database came to hold it; with ``known_until`` a half-open range.
    """

    decision: VersionDecision
    decided_from: date
    decided_until: date | None
    known_from: datetime
    known_until: datetime | None

    def covers(self, day: date) -> bool:
        """The day lies in the days decided for."""
        return self.decided_from <= day and (self.decided_until is None or day < self.decided_until)


@dataclass(frozen=True)
class DayState:
    """One document on one day.

    Attributes:
        decision: The decision that covers the day, else the first one made later.
        reason: What keeps the document out on that day; ``None`` when it served answers.
        in_force: Its text counted on that day; a duplicate's does, it is only not served twice.
        basis: Why the state is not simply that decision's; empty when it is.
    """

    document_id: str
    decision: VersionDecision
    reason: ExclusionReason | None
    in_force: bool
    basis: str = ""


def states_on(held: Iterable[HeldDecision], day: date) -> list[DayState]:
    """The states of documents on a day.

    Args:
        held: What was known at one time, in order of document and day.
        day: The day asked for. Before the first decision about a document it is answered only when
            the document itself dates its validity; other documents are left out.
    """
    states = []
    for _, group in groupby(held, key=lambda one: one.decision.document_id):
        state = _state_on(list(group), day)
        if state is not None:
            states.append(state)
    return states


def _state_on(held: list[HeldDecision], day: date) -> DayState | None:
    """The last decision knows most about the dates; the one of the day about everything else."""
    covering = next((one for one in reversed(held) if one.covers(day)), None)
    latest = held[-1].decision
    if covering is None:
        if day >= held[0].decided_from or latest.valid_from is None:
            return None  # removed by then, or nothing reaches back to that day
        covering = held[0]
    decision = covering.decision
    since, until = latest.valid_from, latest.valid_until
    if since is not None and day < since:
        return _dated(decision, ExclusionReason.NOT_YET_EFFECTIVE, f"valid from {since}")
    if until is not None and day > until:
        reason = ExclusionReason.SUPERSEDED if latest.superseded_by else ExclusionReason.EXPIRED
        return _dated(decision, reason, f"valid until {until}")
    if decision.exclusion_reason in _BY_DATE:
        return _dated(decision, None, f"valid from {since or 'the beginning'} until {until or 'further notice'}")
    if decision.exclusion_reason is ExclusionReason.SUPERSEDED and until is not None and until == decision.valid_until:
        return _dated(decision, None, f"replaced only after {until}")
    return _dated(decision, decision.exclusion_reason, "")


def _dated(decision: VersionDecision, reason: ExclusionReason | None, basis: str) -> DayState:
    in_force = reason is None or reason in (ExclusionReason.DUPLICATE, ExclusionReason.NEVER_ANSWER)
    same = reason is decision.exclusion_reason
    return DayState(decision.document_id, decision, reason, in_force, "" if same else basis)
