"""Facts of periodic editions: their series, their period, and which one is the latest.

The declared period orders a series; the last day of the period is read from the text. Where the two
tell different orders nothing is called the latest, and where a declared quarter is not the calendar's
the document is put up for review: whether it is fiscal or wrong is for a person to say
(``attributes: {fiscal: true}`` says it).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise

from corpus_pipeline.versions.families import Family, family_key
from corpus_pipeline.versions.members import Member
from corpus_pipeline.versions.names import Readiness
from corpus_pipeline.versions.periods import calendar_doubt, period_label

__all__ = ["Edition", "editions"]


@dataclass(frozen=True)
class Edition:
    """What filters may ask of a document; see ``records.VersionDecision``.

    Attributes:
        doubt: What a person should look at; empty when nothing is.
    """

    series_key: str | None = None
    period_label: str | None = None
    period_end: date | None = None
    is_latest: bool | None = None
    doubt: str = ""


def editions(
    members: Mapping[str, Member], families: Sequence[Family], in_force: Callable[[str], bool]
) -> dict[str, Edition]:
    """The editions among the documents, by id.

    Args:
        in_force: Says of an id that its text counts today; only such a document can be the latest.
    """
    found: dict[str, Edition] = {}
    grouped: set[str] = set()
    for family in families:
        grouped.update(member.id for member in family.members)
        if family.series:
            found.update(_of_series(family.key, family.members, in_force))
    for one, member in members.items():
        edition = member.edition
        if one not in grouped and edition is not None and edition.scheme == "quarter" and not member.independent:
            found.update(_of_series(family_key(member), (member,), in_force))
    return found


def _of_series(key: str, members: Sequence[Member], in_force: Callable[[str], bool]) -> dict[str, Edition]:
    candidates = [
        member
        for member in members
        if in_force(member.id) and not member.name.copy and member.name.readiness is not Readiness.DRAFT
    ]
    keyed = [member for member in candidates if member.edition is not None]
    disorder = _disorder(keyed)
    newest = max((member.edition for member in keyed if member.edition), default=None)
    made = {}
    for member in members:
        latest: bool | None = member in keyed and member.edition == newest
        if disorder or newest is None or (member in candidates and member not in keyed):
            latest = None
        doubt = "; ".join(part for part in (_doubt(member), disorder if member in keyed else "") if part)
        label = period_label(member.edition) if member.edition and member.edition.as_date else None
        made[member.id] = Edition(key, label, member.period_end, latest, doubt)
    return made


def _disorder(keyed: Sequence[Member]) -> str:
    """Why the order is open: periods of several kinds, or days that contradict them."""
    if len({member.edition.scheme for member in keyed if member.edition}) > 1:
        return "its series mixes quarters and dates, so that none is known to be the latest"
    dated = [(member.edition, member.period_end, member) for member in keyed if member.edition and member.period_end]
    dated.sort(key=lambda one: (one[0], one[1], one[2].id))
    for (period, end, older), (later, later_end, newer) in pairwise(dated):
        if period < later and end >= later_end:
            return (
                f"{newer.path} is declared later than {older.path}, but their texts end on {later_end.isoformat()} and "
                f"{end.isoformat()}: none is called the latest"
            )
    return ""


def _doubt(member: Member) -> str:
    if member.edition is None or member.period_end is None or member.is_fiscal:
        return ""
    said = calendar_doubt(member.edition, member.period_end)
    return f'{said} ("{member.evidence.period_quote}"): a fiscal quarter, or a wrong name?' if said else ""
