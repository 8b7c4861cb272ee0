"""The order of links, and what a tally keeps."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from corpus_pipeline.trust import BrokenLink, ChangedRoot, Link, LinkCount, PurgedDocument, PurgeReceipt, Verification
from corpus_pipeline.trust.links import Tally

FAULTS = st.lists(st.tuples(st.sampled_from(list(Link)), st.integers(1, 5)))


@given(FAULTS)
def test_the_first_broken_link_is_the_one_nearest_to_the_file(found: list[tuple[Link, int]]) -> None:
    tally = Tally()
    for position, (link, count) in enumerate(found):
        tally.fault(BrokenLink(link, f"c/{position}", None, "", "a", "b"), count)
    report = Verification("c", 1, "", tally.counts(), tally.faults())
    assert report.is_sound == (not found)
    if report.first is None:
        return
    order = list(Link)
    assert report.first.link is min((link for link, _ in found), key=order.index)
    first = next(position for position, (link, _) in enumerate(found) if link is report.first.link)
    assert report.first.document_id == f"c/{first}"
    assert sum(count.broken for count in report.counts) == sum(count for _, count in found)


def test_links_checked_elsewhere_come_last() -> None:
    fault = BrokenLink(Link.EVIDENCE_PACK, None, "ep_1", "", "a", "b")
    report = Verification("c", 1, "", (LinkCount(Link.FILE, 1, 0),), ()).extended(
        [LinkCount(Link.EVIDENCE_PACK, 1, 1)], [fault]
    )
    assert report.first == fault
    assert [count.link for count in report.counts] == [Link.FILE, Link.EVIDENCE_PACK]


def test_a_receipt_is_named_by_everything_it_says() -> None:
    def receipt(**values: object) -> PurgeReceipt:
        parts = {
            "reason": "asked for",
            "purged_by": "tester",
            "purged_at": datetime(2026, 11, 1, tzinfo=UTC),
            "documents": (PurgedDocument("a" * 64, ("b" * 64,), 0),),
            "removed": {"fragments": 2},
            "redacted": {},
            "roots": (ChangedRoot("c", 1, "a", "b", is_published=True),),
            "hidden_copies": 0,
            "refused_files": 1,
        }
        return PurgeReceipt(**(parts | values))  # type: ignore[arg-type]

    assert receipt().purge_id == receipt().purge_id
    assert receipt(removed={"fragments": 3}).purge_id != receipt().purge_id
    assert receipt().as_json()["purge_id"] == receipt().purge_id
