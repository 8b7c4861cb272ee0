"""What readers are told of where a remote file lies."""

from __future__ import annotations

import pytest

from corpus_pipeline.inventory.remote_listing import _without_login


@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        ("https://me:secret@host/docs/a.md", "https://host/docs/a.md"),
        ("https://host/docs/me@host.md", "https://host/docs/me@host.md"),
        ("s3://bucket/a#1.md", "s3://bucket/a#1.md"),
        ("memory:///a@b/c.md", "memory:///a@b/c.md"),
    ],
)
def test_a_login_is_no_part_of_a_location(uri: str, shown: str) -> None:
    assert _without_login(uri) == shown
