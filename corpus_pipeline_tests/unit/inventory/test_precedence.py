"""Which declaration counts, and that a document cannot widen its own access."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from corpus_pipeline.inventory import merge_metadata
from corpus_pipeline.records import TrustLevel
from corpus_pipeline.registry import CorpusSpec, SourceSpec


def spec(**values: Any) -> CorpusSpec:
    return CorpusSpec(slug="one", base_folder=Path("/"), owner="us", source=SourceSpec(url="docs"), **values)


def merged(corpus: CorpusSpec, origin: str = "front matter", **declared: Any) -> Any:
    return merge_metadata(corpus, "a.md", declared, dict.fromkeys(declared, origin), {})


def test_defaults_are_weakest_then_properties_then_what_is_declared() -> None:
    properties = {"Title": "P", "language": "de", "version": "3", "modified": "D:20240131120000Z", "author": "x"}
    metadata, provenance = merge_metadata(
        spec(domain="billing"), "a.md", {"title": "F"}, {"title": "front matter"}, properties
    )
    assert (metadata.title, metadata.language, metadata.version, metadata.domain) == ("F", "de", "3", "billing")
    assert metadata.attributes == {"modified_on": "2024-01-31"}
    assert metadata.owner == "us"
    assert provenance["title"] == "front matter"
    assert provenance["language"] == provenance["attributes.modified_on"] == "document property"
    assert provenance["domain"] == provenance["acl_groups"] == "corpus default"


@pytest.mark.parametrize(
    ("allowed", "asked", "result"),
    [
        (("everyone",), ["hr"], ("hr",)),
        (("staff", "hr"), ["hr", "board"], ("hr",)),
        (("staff",), ["everyone"], ("staff",)),
        (("staff",), ["board"], ()),
        (("staff",), [], ()),
        (("everyone",), [], ()),
    ],
)
def test_front_matter_only_narrows_groups(allowed: tuple[str, ...], asked: list[str], result: tuple[str, ...]) -> None:
    assert merged(spec(access_groups=allowed), acl_groups=asked)[0].acl_groups == result


@pytest.mark.parametrize("origin", ["sidecar", "manifest", "registry"])
def test_people_who_keep_the_corpus_may_widen_access(origin: str) -> None:
    metadata, provenance = merged(
        spec(access_groups=("staff",), answer_use="never"), origin, acl_groups=["everyone"], answer_use="any"
    )
    assert (metadata.acl_groups, metadata.answer_use) == (("everyone",), "any")
    assert provenance["acl_groups"] == origin


@pytest.mark.parametrize(
    ("allowed", "asked", "result"),
    [("any", "internal", "internal"), ("internal", "any", "internal"), ("never", "internal", "never")],
)
def test_front_matter_only_narrows_use(allowed: Any, asked: str, result: str) -> None:
    assert merged(spec(answer_use=allowed), answer_use=asked)[0].answer_use == result


@pytest.mark.parametrize(("allowed", "asked", "result"), [("MEDIUM", "VERIFIED", "MEDIUM"), ("HIGH", "LOW", "LOW")])
def test_front_matter_only_lowers_trust(allowed: str, asked: str, result: str) -> None:
    metadata, provenance = merged(spec(trust_level=TrustLevel(allowed)), trust_level=asked)
    assert metadata.trust_level == result
    assert provenance["trust_level"] == ("corpus default" if allowed == result else "front matter")


def test_overrides_of_the_registry_also_name_members_of_archives() -> None:
    corpus = spec(documents={"*.zip!/*.md": {"domain": "d", "title": "G"}, "a.zip!/b.md": {"title": "E"}})
    metadata, provenance = merge_metadata(corpus, "a.zip!/b.md", {"title": "S"}, {"title": "sidecar"}, {})
    assert (metadata.title, metadata.domain) == ("E", "d")
    assert provenance["title"] == "registry"


def test_that_a_sidecar_holds_a_password_is_no_metadata() -> None:
    metadata, provenance = merged(spec(), "sidecar", title="Opened", password=True)
    assert metadata.title == "Opened"
    assert "password" not in provenance


def test_dates_come_out_as_dates() -> None:
    assert merged(spec(), valid_from="2024-01-31")[0].valid_from == date(2024, 1, 31)
