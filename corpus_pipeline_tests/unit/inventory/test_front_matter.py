"""Front matter, sidecars and manifests as bytes."""

from __future__ import annotations

import pytest

from corpus_pipeline.errors import RegistryError
from corpus_pipeline.inventory import split_front_matter
from corpus_pipeline.inventory.front_matter import read_front_matter
from corpus_pipeline.inventory.manifest import read_manifest
from corpus_pipeline.inventory.sidecars import match_sidecars, read_sidecar


@pytest.mark.parametrize(
    "head",
    [
        b"---\ntitle: A\n---\nBody", b"\xef\xbb\xbf---\r\ntitle: A\r\n---\r\nBody", b"--- \ntitle: A\n...\nBody",
        "---\ntitle: A\n---\n".encode("utf-16"), b"---\ntitle: A\n---",
    ],
)  # fmt: skip
def test_front_matter_is_found(head: bytes) -> None:
    found = read_front_matter(head, "a.md")
    assert (found.declared, found.problems) == ({"title": "A"}, ())


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"Body\n---\ntitle: A\n---\n",
        b"---\nA rule\n---\nBody",
        b"---\ntitle: A\nno end",
        b"----\ntitle: A\n---\n",
        b"\n---\ntitle: A\n---\n",
        b"---\n---\n",
    ],
)
def test_a_rule_is_no_front_matter(head: bytes) -> None:
    found = read_front_matter(head, "a.md")
    assert (found.declared, found.problems) == ({}, ())


def test_broken_front_matter_names_its_line_and_closes_only_what_speaks_of_access() -> None:
    plain = read_front_matter(b"---\ntitle: A\nb: c: d\n---\n", "a.md")
    assert plain.declared == {}
    assert plain.problems[0].startswith("a.md:3 (file): is not valid YAML")
    closed = read_front_matter(b"---\ngroups: [hr]\nb: c: d\n---\n", "a.md")
    assert closed.declared == {"acl_groups": []}


def test_duplicate_keys_are_problems() -> None:
    assert "written twice" in read_front_matter(b"---\ntitle: A\ntitle: B\n---\n", "a.md").problems[0]


def test_the_body_comes_apart_from_the_front_matter() -> None:
    assert split_front_matter("---\ntitle: A\n---\nBody") == ("title: A\n", "Body")
    assert split_front_matter("No\n---\n") == ("", "No\n---\n")


@pytest.mark.parametrize(
    "content", [b"\xff\xfe\x00", b"x" * 64_001, b"- a\n- acl_groups\n  x: [", b"a: " + b"[" * 5000]
)
def test_a_hostile_sidecar_is_a_problem(content: bytes) -> None:
    assert read_sidecar(content, "a.md.meta.yaml").problems


def test_an_empty_sidecar_says_nothing() -> None:
    found = read_sidecar(b"# later\n", "a.md.meta.yaml")
    assert (found.declared, found.problems) == ({}, ())


def test_the_fuller_name_of_a_sidecar_wins() -> None:
    matched, orphans = match_sidecars(
        ["x.pdf", "x.docx", "d/x.md"], ["x.meta.yaml", "x.pdf.meta.yaml", "x.pdf.meta.yml", "d/y.meta.yaml"]
    )
    assert matched == {"x.pdf": "x.pdf.meta.yaml", "x.docx": "x.meta.yaml"}
    assert orphans == ["d/y.meta.yaml"]


def test_a_manifest_is_csv_or_json_lines() -> None:
    csv = read_manifest(b'\xef\xbb\xbfpath,title,attributes.team\r\n./a.md,"A, b",core\r\nb.md,,\r\n', "m.csv")
    assert csv.rows["a.md"].declared == {"title": "A, b", "attributes": {"team": "core"}}
    assert csv.rows["b.md"].declared == {}
    lines = read_manifest(b'{"path": "a.md", "groups": ["hr"]}\n\n{"path": "b.md", "colour": 1}\n', "m.jsonl")
    assert lines.rows["a.md"].declared == {"acl_groups": ["hr"]}
    assert lines.rows["b.md"].problems[0].startswith("m.jsonl:3 colour: unknown key")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("m.csv", b"file,title\na,b\n", "expected a header with one 'path' column"),
        ("m.csv", b"path,title\na,b,c\n", "m.csv:2 .row.: has more cells than the header"),
        ("m.csv", b"path\na\na\n", "m.csv:3 path: 'a' has a row already"),
        ("m.csv", b"path,title\n,b\n", "m.csv:2 path: is missing"),
        ("m.csv", b"path\n\xff\n", "not UTF-8"),
        ("m.csv", b'path,title\na,"b\n', "not valid CSV"),
        ("m.jsonl", b'{"path": 1}\n', "m.jsonl:1 path: is missing"),
        ("m.jsonl", b"[1]\n", "expected a map"),
        ("m.jsonl", b"{", "not valid JSON"),
        ("m.jsonl", b"[" * 100_000, "not valid JSON"),
    ],
)
def test_a_broken_manifest_names_file_line_and_key(name: str, content: bytes, message: str) -> None:
    with pytest.raises(RegistryError, match=message):
        read_manifest(content, name)
