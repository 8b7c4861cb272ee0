"""JSON Schema of corpora.yaml, for editors."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

from corpus_pipeline.records import Lifecycle, TrustLevel
from corpus_pipeline.registry.declared import KEY_ALIASES, METADATA_KEYS
from corpus_pipeline.registry.loading import FILE_KEYS, FILE_VERSION
from corpus_pipeline.registry.models import PASSWORD_KEY, CorpusSpec

__all__ = ["json_schema", "write_json_schema"]

_SLUG_PATTERN = "^[a-z][a-z0-9_]{0,62}$"
_CHOICES = {
    "answer_use": ["any", "internal", "never"],
    "lifecycle": [choice.value for choice in Lifecycle],
    "trust_level": [choice.value for choice in TrustLevel],
}
_LISTS = ("acl_groups", "plan_tiers", "supersedes")


def json_schema() -> dict[str, Any]:
    """The schema of the file, made from the models.

    Editors cannot see that ``defaults:`` supplies a required key of every corpus, so a key is
    demanded of the corpora only where ``defaults:`` lacks it.
    """
    corpus = CorpusSpec.model_json_schema()
    definitions: dict[str, Any] = corpus.pop("$defs", {})
    for key in ("slug", "base_folder"):
        corpus["properties"].pop(key)
    corpus["properties"]["documents"]["additionalProperties"] = _overrides()
    required = [key for key in corpus.pop("required") if key in corpus["properties"]]
    corpus.update(title="Corpus", description="One corpus; the key is its slug.")
    definitions["CorpusSpec"] = corpus
    definitions.update(_without_required(corpus, definitions))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "corpora.yaml of corpus-pipeline",
        "type": "object",
        "additionalProperties": False,
        "required": ["version", "corpora"],
        "properties": dict(
            zip(
                FILE_KEYS,
                (
                    {"const": FILE_VERSION, "description": "Version of the file form."},
                    {"$ref": "#/$defs/Defaults", "description": "Merged under every corpus, nested maps included."},
                    {
                        "type": "object",
                        "minProperties": 1,
                        "propertyNames": {"pattern": _SLUG_PATTERN},
                        "additionalProperties": {"$ref": "#/$defs/CorpusSpec"},
                        "description": "Slug to corpus.",
                    },
                ),
                strict=True,
            )
        ),
        "allOf": [_required_somewhere(key) for key in required],
        "$defs": dict(sorted(definitions.items())),
    }


def write_json_schema(target: Path) -> Path:
    """Writes the schema as ``target``; the folder is made."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return target


def _required_somewhere(key: str) -> dict[str, Any]:
    return {
        "anyOf": [
            {"properties": {"defaults": {"required": [key]}}, "required": ["defaults"]},
            {"properties": {"corpora": {"additionalProperties": {"required": [key]}}}},
        ]
    }


def _without_required(corpus: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """Copies in which nothing is required, since ``defaults:`` may hold a part of a map."""
    copies = {"Defaults": corpus} | {
        f"Default{name}": value for name, value in definitions.items() if name != "CorpusSpec"
    }
    return {name: _partial(copy.deepcopy(value)) for name, value in copies.items()}


def _partial(value: Any) -> Any:
    if isinstance(value, list):
        return [_partial(item) for item in value]
    if not isinstance(value, dict):
        return value
    partial = {key: _partial(item) for key, item in value.items() if not (key == "required" and isinstance(item, list))}
    if isinstance(partial.get("$ref"), str):
        partial["$ref"] = partial["$ref"].replace("#/$defs/", "#/$defs/Default")
    return partial


def _overrides() -> dict[str, Any]:
    text_or_list = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
    properties: dict[str, Any] = {}
    for key in METADATA_KEYS:
        if key in _CHOICES:
            properties[key] = {"enum": _CHOICES[key]}
        elif key in _LISTS:
            properties[key] = text_or_list
        elif key == "attributes":
            properties[key] = {"type": "object", "description": "Keys of your own, for filters."}
        else:
            properties[key] = {"type": ["string", "number"]}
    for alias, key in sorted(KEY_ALIASES.items()):
        if key not in _CHOICES:
            properties[alias] = {**properties[key], "description": f"Same as {key}."}
    properties[PASSWORD_KEY] = {"type": "string", "description": "Opens an encrypted file; ${VAR} is filled in."}
    properties["status"] = {"type": "string", "description": "Same as lifecycle."}
    return {
        "type": "object",
        "description": "Metadata of the documents that the path or glob names.",
        "properties": properties,
        "patternProperties": {"^attributes\\.": {}},
        "additionalProperties": False,
    }
