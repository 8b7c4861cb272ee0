from __future__ import annotations

import pytest

from corpus_pipeline.versions.names import NamedVersion, Readiness, parse_name, version_key


@pytest.mark.parametrize(
    ("path", "stem", "scheme", "parts"),
    [
        ("policy_v1.2.docx", "policy", "number", (1, 2)),
        ("policy.v3.md", "policy", "number", (3,)),
        ("spec-rev-B.pdf", "spec", "letter", (2,)),
        ("spec_revC.pdf", "spec", "letter", (3,)),
        ("handbook_2024-03.md", "handbook", "date", (2024, 3)),
        ("refund-policy-2023.md", "refund policy", "date", (2023,)),
        ("admob-trackers-policy.2020-08-11.md", "admob trackers policy", "date", (2020, 8, 11)),
        ("2022 Q3 AAPL.pdf", "aapl", "quarter", (2022, 3)),
        ("results-q1-2024.pdf", "results", "quarter", (2024, 1)),
        ("guide-1.10.md", "guide", "number", (1, 10)),
    ],
)
def test_a_version_token_is_taken_from_the_stem(path: str, stem: str, scheme: str, parts: tuple[int, ...]) -> None:
    name = parse_name(path)
    assert name.key is not None
    assert (name.stem, name.key.scheme, name.key.parts) == (stem, scheme, parts)


@pytest.mark.parametrize(
    ("path", "number"),
    [
        ("pep-0386.rst", ("pep", "386")),
        ("rfc2616.txt", ("rfc", "2616")),
        ("rfc2026.txt", ("rfc", "2026")),
        ("handbook-2024.md", None),
        ("v2.md", None),
        ("GPL-2.0.txt", None),
    ],
)
def test_a_number_in_a_series_is_not_a_version(path: str, number: tuple[str, str] | None) -> None:
    assert parse_name(path).number == number


def test_readiness_copy_and_newest_marks() -> None:
    assert parse_name("report-draft.md").readiness is Readiness.DRAFT
    assert parse_name("policy v2 (final).docx").readiness is Readiness.FINAL
    assert parse_name("drafting-contracts.md").readiness is Readiness.PLAIN
    for path in ("Policy (1).docx", "policy - Copy.docx", "Copy of policy.docx"):
        assert (parse_name(path).copy, parse_name(path).stem) == (True, "policy"), path
    assert parse_name("terms.current.md").newest


def test_folders_of_archives_and_versions() -> None:
    archived = parse_name("policies/archive/refund.md")
    assert (archived.folder, archived.archived) == ("policies", "archive")
    tree = parse_name("docs/v1.9/install/linux.md")
    assert (tree.folder, tree.tree, tree.key.parts if tree.key else None) == ("docs/{}/install", "numbered", (1, 9))
    assert parse_name("docs/latest/install/linux.md").tree == "newest"
    assert parse_name("docs/main/install/linux.md").tree == "development"


def test_equal_versions_have_equal_keys() -> None:
    assert version_key("2.0") == version_key("v2") == version_key("Version 2")
    assert version_key("unknown") is None
    assert version_key(None) is None


def test_numbers_compare_as_numbers() -> None:
    older, newer = version_key("1.9"), version_key("1.10")
    assert older is not None
    assert newer is not None
    assert older < newer
    assert isinstance(parse_name("a.md"), NamedVersion)
