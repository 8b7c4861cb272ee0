"""The published JSON Schema and the first corpora.yaml of a folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ruamel.yaml import YAML

from corpus_pipeline.errors import ConfigurationError
from corpus_pipeline.registry import json_schema, load_registry, write_json_schema, write_starter

PUBLISHED = Path(__file__).parents[3] / "docs" / "corpora.schema.json"


def complaints(text: str) -> list[str]:
    document: Any = YAML(typ="safe").load(text)
    return [error.message for error in jsonschema.Draft202012Validator(json_schema()).iter_errors(document)]


def test_the_published_schema_is_up_to_date(tmp_path: Path) -> None:
    fresh = write_json_schema(tmp_path / "fresh.json").read_text(encoding="utf-8")
    assert PUBLISHED.read_text(encoding="utf-8") == fresh, "call write_json_schema(docs/corpora.schema.json)"


def test_the_schema_is_valid_and_describes_each_key_of_a_corpus() -> None:
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    properties = schema["$defs"]["CorpusSpec"]["properties"]
    assert {"slug", "base_folder"}.isdisjoint(properties)
    assert [key for key, value in properties.items() if "description" not in value] == []


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("version: 1\ncorpora: {a: {owner: me, source: {url: d}}}", True),
        ("version: 1\ndefaults: {owner: me, gates: {min_documents: 1}}\ncorpora: {a: {source: {url: d}}}", True),
        ("version: 1\ndefaults: {source: {exclude: ['*.tmp']}}\ncorpora: {a: {owner: me, source: {url: d}}}", True),
        ("version: 1\ncorpora: {a: {owner: me, source: {url: d}, documents: {'*': {expires: '2026-01-01'}}}}", True),
        ("version: 1\ncorpora: {a: {source: {url: d}}}", False),
        ("version: 1\ncorpora: {a: {owner: me, source: {url: d}, ownr: x}}", False),
        ("version: 1\ncorpora: {A-b: {owner: me, source: {url: d}}}", False),
        ("version: 1\ncorpora: {a: {owner: me, source: {url: d}, documents: {'*': {colour: red}}}}", False),
        ("corpora: {a: {owner: me, source: {url: d}}}", False),
    ],
)
def test_the_schema_agrees_with_the_loader(tmp_path: Path, text: str, fits: bool) -> None:
    assert (complaints(text) == []) is fits
    (tmp_path / "corpora.yaml").write_text(text)
    try:
        load_registry(tmp_path / "corpora.yaml", check_files=False)
        loads = True
    except ConfigurationError:
        loads = False
    assert loads is fits


def test_a_first_file_can_be_loaded_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / '2024 Réfunds: #1 "best"'
    folder.mkdir()
    (folder / "a.md").write_text("x")
    (folder / "b.MD").write_text("x")
    (folder / "x.we\nird").write_text("x")
    target = write_starter(folder, tmp_path / "conf" / "corpora.yaml")
    text = target.read_text(encoding="utf-8")
    assert text.startswith("# yaml-language-server: $schema=.corpus/corpora.schema.json\n")
    assert "Found here: 2 md, 1 others" in text
    assert complaints(text) == []
    assert json.loads((tmp_path / "conf/.corpus/corpora.schema.json").read_text()) == json_schema()
    ((slug, spec),) = load_registry(target).corpora.items()
    assert slug == "corpus_2024_r_funds_1_best"
    assert (spec.base_folder / spec.source.url).resolve() == folder
    assert spec.owner


def test_a_first_file_never_replaces_one_and_needs_a_folder(tmp_path: Path) -> None:
    target = tmp_path / "corpora.yaml"
    target.write_text("mine")
    with pytest.raises(ConfigurationError, match="exists already"):
        write_starter(tmp_path, target)
    assert target.read_text() == "mine"
    with pytest.raises(ConfigurationError, match="is no folder"):
        write_starter(tmp_path / "none", tmp_path / "other.yaml")
