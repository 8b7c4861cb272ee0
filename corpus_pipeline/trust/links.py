"""The links of the hash chain and what became of each: records, no I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

__all__ = ["BrokenLink", "Link", "LinkCount", "Tally", "Verification"]


class Link(StrEnum):
    """Links from the bytes of a file to what is cited, in their order."""

    FILE = "file"
    CONVERSION = "conversion"
    FRAGMENT = "fragment"
    VECTOR = "vector"
    SERVING_ROW = "serving_row"
    GENERATION_ROOT = "generation_root"
    EVIDENCE_PACK = "evidence_pack"


_ORDER = {link: position for position, link in enumerate(Link)}


@dataclass(frozen=True)
class BrokenLink:
    """A place where the chain does not hold.

    Attributes:
        place: Fragment, parent or pack; ``None`` when it is the document or the corpus as a whole.
        what: What does not hold, in words; never text of a document.
        expected: The hash or value that the next link relies on.
        found: What was computed or is there.
    """

    link: Link
    document_id: str | None
    place: str | None
    what: str
    expected: str
    found: str


@dataclass(frozen=True)
class LinkCount:
    """How far a link was checked.

    Attributes:
        skipped: Why some or all of it could not be compared; empty when everything was.
    """

    link: Link
    checked: int
    broken: int
    skipped: str = ""


@dataclass(frozen=True)
class Verification:
    """What recomputing the chain of a published generation has shown.

    Attributes:
        broken: The first broken place of each broken link, in the order of links.
    """

    corpus: str
    generation: int
    root_sha256: str
    counts: tuple[LinkCount, ...]
    broken: tuple[BrokenLink, ...]

    @property
    def first(self) -> BrokenLink | None:
        """The first broken link."""
        return self.broken[0] if self.broken else None

    @property
    def is_sound(self) -> bool:
        """Every link that was checked holds."""
        return not self.broken

    def extended(self, counts: Iterable[LinkCount], broken: Iterable[BrokenLink]) -> Verification:
        """The same with links that were checked elsewhere."""
        return Verification(
            self.corpus, self.generation, self.root_sha256, (*self.counts, *counts), (*self.broken, *broken)
        )


@dataclass
class Tally:
    """Counts what is checked and keeps the first fault of each link."""

    checked: dict[Link, int] = field(default_factory=dict)
    broken: dict[Link, int] = field(default_factory=dict)
    skipped: dict[Link, str] = field(default_factory=dict)
    first: dict[Link, BrokenLink] = field(default_factory=dict)

    def add(self, link: Link, checked: int) -> None:
        """So many more were checked."""
        self.checked[link] = self.checked.get(link, 0) + checked

    def fault(self, fault: BrokenLink, count: int = 1) -> None:
        """So many were found broken; this one first."""
        self.broken[fault.link] = self.broken.get(fault.link, 0) + count
        self.first.setdefault(fault.link, fault)

    def counts(self) -> tuple[LinkCount, ...]:
        """One entry a link that was looked at, in their order."""
        links: Mapping[Link, object] = {**self.checked, **self.skipped, **self.broken}
        return tuple(
            LinkCount(link, self.checked.get(link, 0), self.broken.get(link, 0), self.skipped.get(link, ""))
            for link in sorted(links, key=_ORDER.__getitem__)
        )

    def faults(self) -> tuple[BrokenLink, ...]:
        """The first fault of each broken link, in their order."""
        return tuple(self.first[link] for link in sorted(self.first, key=_ORDER.__getitem__))
