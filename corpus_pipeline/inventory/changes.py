"""What became of the files since the last inventory, and the guard against short listings."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from corpus_pipeline.records import SourceFile

__all__ = ["ChangeKind", "Removals", "SourceChange", "find_changes", "guard_removals"]

ChangeKind = Literal["added", "changed", "removed", "restored"]


@dataclass(frozen=True)
class SourceChange:
    """One file that is not as it was.

    Attributes:
        sha256: Now; empty for a removed or unreadable file.
        previous_sha256: Before; empty for an added one. Equal to ``sha256`` when only metadata changed.
        renamed_from: Id of a removed document with the same bytes.
        approved_by: Who agreed to the removal, when the guard had held it.
    """

    document_id: str
    change: ChangeKind
    sha256: str
    previous_sha256: str
    renamed_from: str | None = None
    approved_by: str | None = None


@dataclass(frozen=True)
class Removals:
    """What happens to the files that a listing lacks.

    Attributes:
        removed: Taken out of the corpus.
        held: Kept until they reappear or a person approves.
    """

    removed: tuple[str, ...]
    held: tuple[str, ...]


def guard_removals(
    known: Collection[str], found: Collection[str], approved: Collection[str], max_removed_ratio: float
) -> Removals:
    """Decides whether missing files are believed to be gone.

    Args:
        known: Ids of the last inventory, held ones included.
        found: Ids in the listing.
        approved: Held ids whose removal a person approved.
        max_removed_ratio: Above this share of ``known``, or when nothing at all is left, all
            missing files are held.

    >>> guard_removals({"a", "b", "c"}, set(), set(), 1.0).held
    ('a', 'b', 'c')
    """
    missing = set(known) - set(found)
    agreed = missing & set(approved)
    doubtful = missing - agreed
    emptied = len(doubtful) == len(set(known))
    if doubtful and (emptied or len(doubtful) > max_removed_ratio * len(set(known))):
        return Removals(tuple(sorted(agreed)), tuple(sorted(doubtful)))
    return Removals(tuple(sorted(missing)), ())


def find_changes(
    before: Mapping[str, SourceFile],
    after: Mapping[str, SourceFile],
    *,
    restored: Collection[str],
    approvals: Mapping[str, str],
) -> list[SourceChange]:
    """Compares two inventories by content and declared metadata.

    Args:
        before: Files by id.
        after: Files by id, held ones included.
        restored: Ids that were removed or held earlier.
        approvals: Who approved the removal, by id.

    Returns:
        Changes in order of their ids.
    """
    removed = sorted(before.keys() - after.keys())
    by_content = {before[one].sha256: one for one in reversed(removed) if before[one].sha256}
    changes = [SourceChange(one, "removed", "", before[one].sha256, approved_by=approvals.get(one)) for one in removed]
    for one, file in after.items():
        old = before.get(one)
        if old is None:
            kind: ChangeKind = "restored" if one in restored else "added"
            changes.append(SourceChange(one, kind, file.sha256, "", renamed_from=by_content.get(file.sha256)))
        elif _content(old) != _content(file):
            changes.append(SourceChange(one, "changed", file.sha256, old.sha256))
        elif one in restored:
            changes.append(SourceChange(one, "restored", file.sha256, old.sha256))
    return sorted(changes, key=lambda change: change.document_id)


def _content(file: SourceFile) -> tuple[object, ...]:
    return file.sha256, file.declared, file.declared_by, file.extension, file.doubt, file.refusal
