"""Globs: one meaning for include, exclude, overrides and documents."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_pipeline.registry import matches_glob
from corpus_pipeline.registry.globs import glob_fault

MATCHES = [
    ("**/*", "a.md", True), ("**/*", "a/b/c.md", True), ("**", "a/b.md", True), ("*", "a/b.md", True),
    ("*.md", "a.md", True), ("*.md", "x/y/a.md", True), ("x/*.md", "x/a.md", True),
    ("x/*.md", "x/y/a.md", False), ("x/**", "x/y/a.md", True), ("x/**/a.md", "x/a.md", True), ("x/", "x/y/z", True),
    ("x/", "xx/y", False), ("a?.md", "ab.md", True), ("a?.md", "a/.md", False), ("[a-c].md", "b.md", True),
    ("[!a-c].md", "b.md", False), ("[!a].md", "b.md", True), ("*.{md,pdf}", "q/a.pdf", True),
    ("*.{md,pdf}", "a.txt", False), ("{a,b}/{c,d}.md", "b/c.md", True),
    ("*.md", "a.MD", False), ("a+b.md", "a+b.md", True),
    ("**/archive/**", "x/archive/y.md", True), ("**/archive/**", "archive/y.md", True),
    ("*.md", "line\nbreak.md", True),
    ("x/[!a]b", "x//b", False),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "path", "expected"), MATCHES)
def test_globs_match_paths(pattern: str, path: str, expected: bool) -> None:
    assert glob_fault(pattern) == ""
    assert matches_glob(pattern, path) is expected


@pytest.mark.parametrize(
    ("pattern", "fault"),
    [("", "is empty"), ("a\\b", "backslash"), ("/x", "absolute"), ("C:/x", "absolute"), ("../x", "leaves the source"),
     ("[a", "without its ]"), ("[z-a]", "not valid"), ("{a", "without its }"), ("a}", "without {"),
     ("{a,{b}}", "nested"), ("{a,b,c}" * 4, "more than 64")],
)  # fmt: skip
def test_a_bad_glob_says_what_to_write(pattern: str, fault: str) -> None:
    assert fault in glob_fault(pattern)


@given(st.text(max_size=12), st.text(max_size=12))
def test_no_text_makes_a_glob_fail_in_another_way(pattern: str, path: str) -> None:
    if not glob_fault(pattern):
        assert matches_glob(pattern, path) in (True, False)
